//! Turns a policy as written into rules, held against the tools that there are. Whatever could leave
//! a tool less guarded than its author thinks is an error.

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Scalar};
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, Span};
use climax_input::fields::{At, closest};

use crate::limit::Limit;
use crate::pattern::Pattern;
use crate::rules::{Container, Env, Policy, Surroundings, Tool};
use crate::written::{self, ExecutorKind, Inherit, Level, Unnamed};

/// When a policy is held against tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// All tools are known.
    Build,
    /// The policy may be meant for several servers with different tools.
    Start,
}

/// The tools that a policy is held against.
pub struct Known<'k> {
    /// All of them.
    pub tools: Vec<KnownTool<'k>>,
    /// What is wrong on this machine with a volume or a root, where that counts.
    pub trouble: &'k dyn Fn(Local, &str) -> Option<Diagnostic>,
}

/// A text of a policy that is about the machine on which the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    /// One of `executor.volumes`
    Volume,
    /// One of `roots`
    Root,
}

impl Known<'_> {
    fn tool(&self, name: &str) -> Option<&KnownTool<'_>> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    fn help(&self, name: &str) -> String {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
        match closest(name, &names) {
            Some(known) => format!("did you mean `{known}`?"),
            None => "`climax list` shows the tools that there are".to_owned(),
        }
    }
}

/// What a policy needs to know of a tool.
pub struct KnownTool<'k> {
    /// Its name.
    pub name: &'k str,
    /// What a call may do.
    pub risk: Option<Risk>,
    /// Its arguments.
    pub arguments: Vec<KnownArgument<'k>>,
}

/// What a policy needs to know of an argument.
pub struct KnownArgument<'k> {
    /// Its name.
    pub name: &'k str,
    /// Its type.
    pub kind: ArgumentType,
    /// What an absent one is taken for.
    pub default: Option<&'k Scalar<'k>>,
    /// The only values it may have, if there are some.
    pub choices: &'k [Scalar<'k>],
}

/// Checks a policy.
pub fn check(
    written: written::Policy,
    known: &Known<'_>,
    moment: Moment,
    report: &mut Vec<Diagnostic>,
) -> Policy {
    // What could not be read would be missed below.
    let is_complete = report.is_empty();
    let unnamed = written
        .default
        .as_ref()
        .map_or(Unnamed::default(), |default| default.value);
    let code = match (moment, unnamed) {
        (Moment::Start, Unnamed::Disabled) => Code::IgnoredTool,
        _ => Code::UnknownTool,
    };
    let approved = written.approval.iter().flat_map(|approval| &approval.tools);
    let names = written.tools.iter().map(|(name, _)| name);
    for name in names.chain(approved.map(|(name, _)| name)) {
        if known.tool(&name.value).is_none() {
            let message = format!("there is no tool `{}`", name.value);
            let help = known.help(&name.value);
            report.push(Diagnostic::new(code, name.span, message).help(help));
        }
    }
    approvals(&written, unnamed, known, report);
    let executor = written.executor.as_ref();
    let volumes = executor.and_then(|executor| executor.volumes.as_ref());
    for (kind, texts) in [
        (Local::Volume, volumes),
        (Local::Root, written.roots.as_ref()),
    ] {
        let texts = texts.iter().flat_map(|texts| &texts.value);
        for text in texts.filter(|text| !text.value.is_empty()) {
            let span = Some(text.span);
            let trouble = (known.trouble)(kind, &text.value);
            report.extend(trouble.map(|trouble| Diagnostic { span, ..trouble }));
        }
    }
    let roots_span = written.roots.as_ref().map(|roots| roots.span);
    let surroundings = Surroundings {
        origin: String::new(),
        container: written
            .executor
            .filter(|_| is_complete)
            .and_then(|executor| container(executor, report)),
        env: written.env.map(|it| env(it, report)).unwrap_or_default(),
        roots: roots(written.roots, report),
    };
    if let (Some(_), Some(span)) = (&surroundings.container, roots_span) {
        let message = "`roots` are directories of this machine, and commands run in a container";
        report.push(
            Diagnostic::new(Code::BadRoot, span, message)
                .help("remove `roots`: a container sees its `volumes` only"),
        );
    }
    let is_empty = written.tools.is_empty();
    let tools = written
        .tools
        .into_iter()
        .filter_map(|(name, written)| {
            let known = known.tool(&name.value)?;
            let tool = tool(written, &known.arguments, report);
            Some((name.value, tool))
        })
        .collect();
    let policy = Policy {
        unnamed,
        tools,
        surroundings,
    };
    if is_complete && policy.tools.is_empty() && unnamed == Unnamed::Disabled {
        let (message, help) = if is_empty {
            (
                "this policy allows no tool",
                "name the allowed ones under `tools`, or say `default: enabled`",
            )
        } else {
            (
                "none of the tools that this policy allows is here",
                "take the policy of these tools, or the tools of this policy",
            )
        };
        report.push(Diagnostic::new(Code::NoToolLeft, written.span, message).help(help));
    }
    policy
}

fn tool(
    written: written::Tool,
    arguments: &[KnownArgument<'_>],
    report: &mut Vec<Diagnostic>,
) -> Tool {
    if let Some(description) = &written.description
        && description.value.trim().is_empty()
    {
        report.push(
            Diagnostic::new(
                Code::EmptyDescription,
                description.span,
                "the description is empty",
            )
            .help("say what the tool does, or remove the line to keep the config's"),
        );
    }
    let mut limits = Vec::new();
    for (name, written) in written.args {
        let argument = arguments.iter().find(|it| it.name == name.value);
        let Some(argument) = argument else {
            let names: Vec<&str> = arguments.iter().map(|it| it.name).collect();
            let message = format!("the tool has no argument `{}`", name.value);
            let help = match closest(&name.value, &names) {
                Some(known) => format!("did you mean `{known}`?"),
                None if names.is_empty() => "it has none at all: remove `args`".to_owned(),
                None => format!("it has: {}", names.join(", ")),
            };
            report.push(Diagnostic::new(Code::UnknownArgument, name.span, message).help(help));
            continue;
        };
        if let Some(limit) = limit(written, &name, argument, report) {
            limits.push((name.value, limit));
        }
    }
    Tool {
        description: written.description.map(|text| text.value),
        limits: limits.into_iter().collect(),
    }
}

fn limit(
    written: written::Limit,
    name: &At<String>,
    argument: &KnownArgument<'_>,
    report: &mut Vec<Diagnostic>,
) -> Option<Limit> {
    let before = report.len();
    let is_number = matches!(argument.kind, ArgumentType::Integer | ArgumentType::Number);
    for (bound, key) in [(&written.min, "min"), (&written.max, "max")] {
        let Some(bound) = bound else { continue };
        if !is_number {
            let message = format!(
                "`{key}` is for numbers, and `{}` is a {}",
                name.value,
                argument.kind.name()
            );
            report.push(
                Diagnostic::new(Code::BoundOfText, bound.span, message)
                    .help("use `pattern`, or change the argument's type in the config"),
            );
        } else if !bound.value.to_f64().is_finite() {
            report.push(
                Diagnostic::new(Code::BoundOfText, bound.span, "this is no number")
                    .help("give a finite one, or remove the line"),
            );
        }
    }
    if let (Some(min), Some(max)) = (&written.min, &written.max)
        && min.value.compare(max.value) == Some(std::cmp::Ordering::Greater)
    {
        report.push(
            Diagnostic::new(Code::EmptyRange, min.span, "`min` is above `max`")
                .related(max.span, "the other end")
                .help("exchange the two"),
        );
    }
    let mut limit = Limit {
        pattern: None,
        min: written.min.map(|min| min.value),
        max: written.max.map(|max| max.value),
    };
    let mut span = name.span;
    if let Some(pattern) = written.pattern {
        span = pattern.span;
        match Pattern::parse(&pattern.value) {
            Ok(parsed) => limit.pattern = Some(parsed),
            Err(problem) => report.push(
                Diagnostic::new(Code::BadPattern, pattern.span, problem.message).help(problem.help),
            ),
        }
    }
    if report.len() > before {
        return None;
    }
    values(&limit, span, argument, report);
    Some(limit)
}

/// What is given in the config must be possible under the limit.
fn values(limit: &Limit, span: Span, argument: &KnownArgument<'_>, report: &mut Vec<Diagnostic>) {
    let name = argument.name;
    if let Some(default) = argument.default
        && !limit.bounds().allows(default)
    {
        let text = default.to_string();
        let message = format!("the default of `{name}`, `{text}`, is not allowed by this limit");
        report.push(
            Diagnostic::new(Code::DefaultNotAllowed, span, message)
                .help("widen the limit, or change the default in the config"),
        );
    }
    let booleans = [true, false].map(Scalar::Boolean);
    let values = match argument.kind {
        ArgumentType::Boolean => &booleans[..],
        _ => argument.choices,
    };
    if !values.is_empty() && !values.iter().any(|value| limit.bounds().allows(value)) {
        let words: Vec<String> = values.iter().map(Scalar::to_string).collect();
        let message = format!("no value of `{name}` is allowed by this limit");
        report.push(
            Diagnostic::new(Code::NoValueLeft, span, message)
                .help(format!("its values are: {}", words.join(", "))),
        );
    }
}

/// What asks for approval is refused, because nothing would ask.
fn approvals(
    written: &written::Policy,
    unnamed: Unnamed,
    known: &Known<'_>,
    report: &mut Vec<Diagnostic>,
) {
    let refused = |span, message: String, help: &str| {
        Diagnostic::new(Code::Approval, span, message).help(help)
    };
    let mut settled: Vec<&str> = Vec::new();
    let asked = written.tools.iter().filter_map(|(name, tool)| {
        let asked = tool.require_approval.as_ref()?;
        Some((name, asked))
    });
    let approval = written.approval.as_ref();
    let listed = approval.iter().flat_map(|approval| &approval.tools);
    for (name, is_asked) in asked.chain(listed.map(|(name, is_asked)| (name, is_asked))) {
        // The tool's own entry counts before the one under `approval`.
        if settled.contains(&name.value.as_str()) {
            continue;
        }
        settled.push(&name.value);
        if is_asked.value {
            let message = format!(
                "`{}` is to run only with approval, and this version cannot ask for it",
                name.value
            );
            let help = "remove the tool from the policy, or say `false`";
            report.push(refused(is_asked.span, message, help));
        }
    }
    let level = match approval {
        Some(approval) => approval
            .global
            .as_ref()
            .map_or(Level::Write, |global| global.value),
        None => Level::Write,
    };
    let is_covered = |risk: Option<Risk>| match level {
        Level::None => false,
        Level::Destructive => risk == Some(Risk::Destructive),
        Level::Write => risk >= Some(Risk::Write),
        Level::All => true,
    };
    let is_allowed = |name: &str| {
        unnamed == Unnamed::Enabled || written.tools.iter().any(|(it, _)| it.value == name)
    };
    let covered: Vec<&str> = known
        .tools
        .iter()
        .filter(|tool| is_covered(tool.risk) && is_allowed(tool.name))
        .map(|tool| tool.name)
        .filter(|name| !settled.contains(name))
        .collect();
    let Some(first) = covered.first() else { return };
    let tools = match covered.len() {
        1 => format!("`{first}`"),
        2 => format!("`{first}` and one other"),
        many => format!("`{first}` and {} others", many - 1),
    };
    match approval {
        Some(approval) => {
            let span = approval.global.as_ref().map_or(approval.span, |it| it.span);
            let message =
                format!("{tools} would run only with approval, and this version cannot ask for it");
            let help = "say `global: none`, or allow only tools that need no approval";
            report.push(refused(span, message, help));
        }
        None => report.push(
            Diagnostic::new(
                Code::NoApproval,
                written.span,
                format!("{tools} may change or destroy something, and nobody is asked before"),
            )
            .help("add `approval: {global: none}` to say that this is meant"),
        ),
    }
}

fn container(executor: written::Executor, report: &mut Vec<Diagnostic>) -> Option<Container> {
    let is_docker = matches!(&executor.kind, Some(kind) if kind.value == ExecutorKind::Docker);
    if !is_docker {
        let idle = [
            (executor.image.map(|it| it.span), "image"),
            (executor.volumes.map(|it| it.span), "volumes"),
            (executor.working_dir.map(|it| it.span), "working_dir"),
            (executor.network.map(|it| it.span), "network"),
        ];
        for (span, key) in idle {
            if let Some(span) = span {
                let message = format!("`{key}` is for containers, and there is none");
                report.push(
                    Diagnostic::new(Code::NoContainer, span, message)
                        .help("add `type: docker` to the executor, or remove the line"),
                );
            }
        }
        return None;
    }
    let texts = executor.volumes.iter().flat_map(|it| &it.value);
    let texts = texts.chain(&executor.image).chain(&executor.working_dir);
    for text in texts.chain(&executor.network) {
        if text.value.is_empty() || text.value.starts_with('-') || text.value.contains('\0') {
            let message = format!(
                "`{}` cannot be handed to docker here",
                text.value.escape_debug()
            );
            report.push(
                Diagnostic::new(Code::BadContainer, text.span, message)
                    .help("give a text that is not empty and does not begin with `-`"),
            );
        }
    }
    let Some(image) = executor.image else {
        report.push(
            Diagnostic::new(
                Code::BadContainer,
                executor.span,
                "a docker executor needs an image",
            )
            .help("add `image: ...`"),
        );
        return None;
    };
    let volumes = executor.volumes.into_iter().flat_map(|it| it.value);
    Some(Container {
        image: image.value,
        volumes: volumes.map(|volume| volume.value).collect(),
        network: executor.network.map(|network| network.value),
        working_dir: executor.working_dir.map(|directory| directory.value),
    })
}

fn env(written: written::Env, report: &mut Vec<Diagnostic>) -> Env {
    let is_minimal = matches!(&written.inherit, Some(it) if it.value == Inherit::Minimal);
    if let (false, Some(allow)) = (is_minimal, &written.allow) {
        report.push(
            Diagnostic::new(
                Code::IdleAllow,
                allow.span,
                "`allow` has no effect: all variables are inherited",
            )
            .help("add `inherit: minimal`, or remove `allow`"),
        );
    }
    let allow = written.allow.map(|allow| allow.value).unwrap_or_default();
    for name in allow.iter().chain(&written.deny) {
        let beginning = name.value.strip_suffix('*').unwrap_or(&name.value);
        if name.value.is_empty() || beginning.contains(['=', '*', '\0']) {
            let message = format!("`{}` is no name of a variable", name.value.escape_debug());
            report.push(
                Diagnostic::new(Code::BadVariable, name.span, message)
                    .help("write `NAME`, or `PREFIX_*` for all that begin so"),
            );
        }
    }
    let values = |names: Vec<At<String>>| names.into_iter().map(|name| name.value).collect();
    Env {
        is_minimal,
        allow: values(allow),
        deny: values(written.deny),
    }
}

fn roots(written: Option<At<Vec<At<String>>>>, report: &mut Vec<Diagnostic>) -> Vec<String> {
    let Some(At { value: roots, span }) = written else {
        return Vec::new();
    };
    if roots.is_empty() {
        report.push(
            Diagnostic::new(Code::BadRoot, span, "`roots` names no directory")
                .help("name one, or remove `roots` to allow any"),
        );
    }
    for root in &roots {
        if root.value.is_empty() || root.value.contains('\0') {
            report.push(
                Diagnostic::new(Code::BadRoot, root.span, "this is no directory")
                    .help("give the path of one"),
            );
        }
    }
    roots.into_iter().map(|root| root.value).collect()
}
