//! The discovery suite: four tools for agents that want more than keyword search. docs/discovery.md tells
//! the rules by which answers are made.

mod cache;
mod capability;
mod categories;
mod details;
mod find;
mod hints;
mod registration;
mod request;
mod result;

use std::time::Instant;

use chrono::Utc;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::catalog::selection::Selection;
pub(crate) use cache::Cache;
use cache::Prepared;
pub(crate) use registration::registration;
pub(crate) use request::RESULTS;
use request::{Request, shortened};

/// The version of the form of answers.
const VERSION: &str = "1.0";

const SERIALISABLE: &str = "responses have text keys and finite numbers";

/// An answer of the suite.
pub(crate) struct Answered {
    /// JSON.
    pub(crate) json: String,
    pub(crate) is_error: bool,
    /// What it is about, for the log.
    pub(crate) about: String,
    /// How many results it has, for the log.
    pub(crate) results: usize,
}

/// A tool of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupTool {
    Search,
    Details,
    Categories,
    Capability,
}

impl LookupTool {
    const ALL: [Self; 4] = [
        Self::Search,
        Self::Details,
        Self::Categories,
        Self::Capability,
    ];

    /// The tool that has a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The name under which it is registered.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Search => find::NAME,
            Self::Details => details::NAME,
            Self::Categories => categories::NAME,
            Self::Capability => capability::NAME,
        }
    }
}

/// Answers a request to one of the four tools.
pub(crate) fn answer(
    selection: &Selection,
    cache: &Cache,
    tool: LookupTool,
    arguments: Map<String, Value>,
) -> Answered {
    let prepare = match tool {
        LookupTool::Search => {
            |selection: &_, arguments| Ok(find::respond(selection, arguments)?.0.prepared())
        }
        LookupTool::Capability => {
            |selection: &_, arguments| Ok(capability::respond(selection, arguments)?.prepared())
        }
        LookupTool::Details => return details::answer(selection, arguments),
        LookupTool::Categories => return categories::answer(selection),
    };
    let start = Instant::now();
    let request = format!("{} {}", tool.name(), Value::Object(arguments.clone()));
    let prepared = cache.get(&request).map_or_else(
        || {
            let prepared: Prepared = prepare(selection, arguments)?;
            cache.put(request, &prepared);
            Ok::<_, Refusal>(prepared)
        },
        Ok,
    );
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => return refusal.answered(),
    };
    let end = End {
        execution_time: (tool == LookupTool::Search).then(|| seconds_since(start)),
        ..End::now()
    };
    Answered {
        json: with_end(&prepared.json, &end),
        is_error: false,
        about: prepared.about,
        results: prepared.results,
    }
}

/// A response without its end, which is the same each time a query is asked.
struct Response<B> {
    body: B,
    /// What it is about, for the log.
    about: String,
    /// How many results it has, for the log.
    results: usize,
}

impl<B: Serialize> Response<B> {
    fn prepared(self) -> Prepared {
        Prepared {
            json: to_json(&self.body),
            about: self.about,
            results: self.results,
        }
    }
}

/// A whole response.
#[derive(Serialize)]
struct Finished<B> {
    #[serde(flatten)]
    body: B,
    #[serde(flatten)]
    end: End,
}

/// The end of every response that does not report an error.
#[derive(Serialize)]
struct End {
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_time: Option<f64>,
    timestamp: String,
    version: &'static str,
    success: bool,
}

impl End {
    fn now() -> Self {
        Self {
            execution_time: None,
            timestamp: timestamp(),
            version: VERSION,
            success: true,
        }
    }
}

fn seconds_since(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 1e6).round() / 1e6
}

/// A response that was kept, and the end that it has today.
fn with_end(body: &str, end: &End) -> String {
    let body = body
        .strip_suffix('}')
        .expect("a body is an object with fields");
    let end = to_json(end);
    format!("{body},{}", &end[1..])
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect(SERIALISABLE)
}

/// Why a request cannot be answered.
struct Refusal {
    tool: &'static str,
    request: Request,
    /// What the request was about.
    context: String,
}

impl Refusal {
    fn problems(&self) -> String {
        self.request.problems.join("; ")
    }

    fn answered(self) -> Answered {
        let message = format!("Parameter validation errors: {}", self.problems());
        let response =
            ErrorResponse::new(self.tool, message, &self.context, self.request.suggestions);
        Answered {
            json: to_json(&response),
            is_error: true,
            about: self.context,
            results: 0,
        }
    }
}

/// A response that reports an error.
#[derive(Serialize)]
struct ErrorResponse {
    success: bool,
    error: ErrorDetails,
}

#[derive(Serialize)]
struct ErrorDetails {
    tool: &'static str,
    message: String,
    context: Option<String>,
    timestamp: String,
    suggestions: Vec<String>,
}

impl ErrorResponse {
    fn new(tool: &'static str, message: String, context: &str, suggestions: Vec<String>) -> Self {
        let context = Some(context).filter(|context| !context.is_empty());
        Self {
            success: false,
            error: ErrorDetails {
                tool,
                message,
                context: context.map(|context| shortened(context).into_owned()),
                timestamp: timestamp(),
                suggestions,
            },
        }
    }
}

/// The tools that fit a query, for a front that shows them in its own way.
pub(crate) struct FoundTools {
    response: Response<find::Body>,
    /// How many tools fit at all.
    pub(crate) total: usize,
    start: Instant,
}

/// A tool that fits a query.
pub(crate) struct FoundTool<'f> {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// From 0 to 1.
    pub(crate) score: f64,
    pub(crate) confidence: &'static str,
    pub(crate) reasons: &'f [String],
}

/// Finds the tools that fit a query.
///
/// # Errors
/// What is wrong with the query.
pub(crate) fn find_tools(
    selection: &Selection,
    query: &str,
    limit: usize,
) -> Result<FoundTools, String> {
    let start = Instant::now();
    let arguments = [("query", query.into()), ("max_results", limit.into())];
    let arguments = arguments.map(|(name, value)| (name.to_owned(), value));
    let (response, total) = find::respond(selection, arguments.into_iter().collect())
        .map_err(|refusal| refusal.problems())?;
    Ok(FoundTools {
        response,
        total,
        start,
    })
}

impl FoundTools {
    /// The best first.
    pub(crate) fn tools(&self) -> impl ExactSizeIterator<Item = FoundTool<'_>> {
        let results = self.response.body.results.iter();
        results.map(find::SearchResult::found_tool)
    }

    /// The response of `search_mcp_tools`, for people to read.
    pub(crate) fn json(self) -> String {
        let finished = Finished {
            body: self.response.body,
            end: End {
                execution_time: Some(seconds_since(self.start)),
                ..End::now()
            },
        };
        serde_json::to_string_pretty(&finished).expect(SERIALISABLE)
    }
}

/// The current time as answers show it: `2026-11-16 17:30:00 UTC`.
fn timestamp() -> String {
    Utc::now().format("%F %T UTC").to_string()
}
