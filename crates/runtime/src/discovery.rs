//! Answers calls of the discovery suite: four tools for agents that need more than keyword search.
//! docs/discovery.md describes them.

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
pub(crate) use cache::ResponseCache;
use cache::SerialisedBody;
pub(crate) use details::similar_names;
pub(crate) use registration::registered_tools;
use request::{RequestArguments, excerpt};
pub(crate) use result::example_calls;

/// The version of the response format.
const RESPONSE_VERSION: &str = "1.0";

const SERIALISABLE: &str = "responses have text keys and finite numbers";

/// A response of the suite.
pub(crate) struct LookupResponse {
    pub(crate) json: String,
    pub(crate) is_error: bool,
    /// The query or the names of the request, for the log.
    pub(crate) subject: String,
    /// For the log.
    pub(crate) result_count: usize,
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

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Search => find::NAME,
            Self::Details => details::NAME,
            Self::Categories => categories::NAME,
            Self::Capability => capability::NAME,
        }
    }
}

/// Answers a call of one of the four tools.
pub(crate) fn answer(
    selection: &Selection,
    cache: &ResponseCache,
    tool: LookupTool,
    arguments: Map<String, Value>,
) -> LookupResponse {
    let respond = match tool {
        LookupTool::Search => {
            |selection: &_, arguments| Ok(find::respond(selection, arguments)?.serialised())
        }
        LookupTool::Capability => {
            |selection: &_, arguments| Ok(capability::respond(selection, arguments)?.serialised())
        }
        LookupTool::Details => return details::respond(selection, arguments),
        LookupTool::Categories => return categories::respond(selection),
    };
    let start = Instant::now();
    let request = format!("{} {}", tool.name(), Value::Object(arguments.clone()));
    let body = cache.get(&request).map_or_else(
        || {
            let body: SerialisedBody = respond(selection, arguments)?;
            cache.put(request, &body);
            Ok::<_, LookupRefusal>(body)
        },
        Ok,
    );
    let body = match body {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    let footer = ResponseFooter {
        execution_time: (tool == LookupTool::Search).then(|| seconds_since(start)),
        ..ResponseFooter::now()
    };
    LookupResponse {
        json: append_footer(&body.json, &footer),
        is_error: false,
        subject: body.subject,
        result_count: body.result_count,
    }
}

/// The body of a response. It depends on the request alone, so it can be cached.
struct LookupBody<B> {
    body: B,
    /// See [`LookupResponse`].
    subject: String,
    result_count: usize,
}

impl<B: Serialize> LookupBody<B> {
    fn serialised(self) -> SerialisedBody {
        SerialisedBody {
            json: to_json(&self.body),
            subject: self.subject,
            result_count: self.result_count,
        }
    }
}

#[derive(Serialize)]
struct CompleteResponse<B> {
    #[serde(flatten)]
    body: B,
    #[serde(flatten)]
    footer: ResponseFooter,
}

/// The last fields of every successful response. They differ from call to call.
#[derive(Serialize)]
struct ResponseFooter {
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_time: Option<f64>,
    timestamp: String,
    version: &'static str,
    success: bool,
}

impl ResponseFooter {
    fn now() -> Self {
        Self {
            execution_time: None,
            timestamp: timestamp(),
            version: RESPONSE_VERSION,
            success: true,
        }
    }
}

fn seconds_since(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 1e6).round() / 1e6
}

/// Joins the JSON objects of a body and a footer.
fn append_footer(body: &str, footer: &ResponseFooter) -> String {
    let body = body
        .strip_suffix('}')
        .expect("a body is an object with fields");
    let footer = to_json(footer);
    format!("{body},{}", &footer[1..])
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect(SERIALISABLE)
}

/// A request with invalid arguments.
struct LookupRefusal {
    tool: &'static str,
    /// The arguments with the problems found in them.
    arguments: RequestArguments,
    /// The query or the names of the request.
    context: String,
}

impl LookupRefusal {
    fn into_response(self) -> LookupResponse {
        let problems = self.arguments.problems.join("; ");
        let message = format!("Parameter validation errors: {problems}");
        let suggestions = self.arguments.suggestions;
        let error = LookupError::new(self.tool, message, &self.context, suggestions);
        LookupResponse {
            json: to_json(&error),
            is_error: true,
            subject: self.context,
            result_count: 0,
        }
    }
}

/// The JSON of an error.
#[derive(Serialize)]
struct LookupError {
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

impl LookupError {
    fn new(tool: &'static str, message: String, context: &str, suggestions: Vec<String>) -> Self {
        let context = Some(context).filter(|context| !context.is_empty());
        Self {
            success: false,
            error: ErrorDetails {
                tool,
                message,
                context: context.map(|context| excerpt(context).into_owned()),
                timestamp: timestamp(),
                suggestions,
            },
        }
    }
}

/// The current time as responses show it: `2026-11-16 17:30:00 UTC`.
fn timestamp() -> String {
    Utc::now().format("%F %T UTC").to_string()
}
