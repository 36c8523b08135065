//! Turns a policy as written into rules, checked against the known tools. Anything that would leave a tool
//! less restricted than the author intended is an error.

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Scalar, ValueShape};
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::{Spanned, closest};

use crate::limit::Limit;
use crate::pattern::Pattern;
use crate::rules::{ContainerRule, EnvironmentRule, ExecutionRules, Policy, ToolRule};
use crate::written::{
    ApprovalLevel, ExecutorKind, InheritedVariables, UnlistedTools, WrittenEnvironment,
    WrittenExecutor, WrittenLimit, WrittenPolicy, WrittenToolRule,
};

/// When a policy is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyStage {
    /// At build time: all tools are known.
    Build,
    /// At server startup: the policy may be written for several servers with different tools.
    Start,
}

/// The tools that a policy is checked against.
pub struct KnownTools<'k> {
    /// All tools.
    pub tools: Vec<KnownTool<'k>>,
    /// Finds the problem with a volume or root on this host. At build time it finds none, because the server
    /// may run elsewhere.
    pub host_path_problem: &'k dyn Fn(HostPathKind, &str) -> Option<Diagnostic>,
}

/// The fields of a policy that contain host paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPathKind {
    /// An entry of `executor.volumes`
    Volume,
    /// An entry of `roots`
    Root,
}

impl KnownTools<'_> {
    fn tool(&self, name: &str) -> Option<&KnownTool<'_>> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    fn unknown_tool_help(&self, name: &str) -> String {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
        match closest(name, &names) {
            Some(known) => format!("did you mean `{known}`?"),
            None => "run `climax list` to see all tools".to_owned(),
        }
    }
}

/// The properties of a tool that policies are checked against.
pub struct KnownTool<'k> {
    /// The name.
    pub name: &'k str,
    /// The risk of a call.
    pub risk: Option<Risk>,
    /// The arguments.
    pub arguments: Vec<KnownArgument<'k>>,
}

/// The properties of an argument that policies are checked against.
pub struct KnownArgument<'k> {
    /// The name.
    pub name: &'k str,
    /// The type of its value, or of each of its values.
    pub kind: ArgumentType,
    /// Whether it has one value or several.
    pub shape: ValueShape,
    /// The value if a call omits the argument; empty if there is none. A list may have several.
    pub default: &'k [Scalar<'k>],
    /// The values of `enum`; empty if any value is allowed.
    pub choices: &'k [Scalar<'k>],
}

/// Checks a policy and returns its rules. `report` may already contain errors from reading it.
pub fn check(
    written: WrittenPolicy,
    known: &KnownTools<'_>,
    stage: PolicyStage,
    report: &mut Vec<Diagnostic>,
) -> Policy {
    // Fields that could not be read would cause misleading errors below.
    let is_complete = report.is_empty();
    let unlisted = written
        .default
        .as_ref()
        .map_or(UnlistedTools::default(), |default| default.value);
    let unknown_tool_code = match (stage, unlisted) {
        (PolicyStage::Start, UnlistedTools::Disabled) => Code::IgnoredTool,
        _ => Code::UnknownTool,
    };
    let approval_entries = written.approval.iter().flat_map(|approval| &approval.tools);
    let names = written.tools.iter().map(|(name, _)| name);
    for name in names.chain(approval_entries.map(|(name, _)| name)) {
        if known.tool(&name.value).is_none() {
            let message = format!("there is no tool `{}`", name.value);
            let help = known.unknown_tool_help(&name.value);
            report.push(Diagnostic::new(unknown_tool_code, name.span, message).help(help));
        }
    }
    check_approval(&written, unlisted, known, report);
    let executor = written.executor.as_ref();
    let volumes = executor.and_then(|executor| executor.volumes.as_ref());
    for (kind, texts) in [
        (HostPathKind::Volume, volumes),
        (HostPathKind::Root, written.roots.as_ref()),
    ] {
        let texts = texts.iter().flat_map(|texts| &texts.value);
        for text in texts.filter(|text| !text.value.is_empty()) {
            let span = Some(text.span);
            let problem = (known.host_path_problem)(kind, &text.value);
            report.extend(problem.map(|problem| Diagnostic { span, ..problem }));
        }
    }
    let roots_span = written.roots.as_ref().map(|roots| roots.span);
    let execution = ExecutionRules {
        origin: String::new(),
        container: written
            .executor
            .filter(|_| is_complete)
            .and_then(|executor| container_rule(executor, report)),
        env: written
            .env
            .map(|env| environment_rule(env, report))
            .unwrap_or_default(),
        roots: roots(written.roots, report),
    };
    if let (Some(_), Some(span)) = (&execution.container, roots_span) {
        let message = "`roots` lists directories of the host, but commands run in a container";
        report.push(
            Diagnostic::new(Code::BadRoot, span, message)
                .help("remove `roots`: a container sees only its `volumes`"),
        );
    }
    let lists_no_tools = written.tools.is_empty();
    let tools = written
        .tools
        .into_iter()
        .filter_map(|(name, written)| {
            let known = known.tool(&name.value)?;
            let rule = tool_rule(written, &known.arguments, report);
            Some((name.value, rule))
        })
        .collect();
    let policy = Policy {
        unlisted,
        tools,
        execution,
    };
    if is_complete && policy.tools.is_empty() && unlisted == UnlistedTools::Disabled {
        let (message, help) = if lists_no_tools {
            (
                "this policy allows no tools",
                "list the allowed tools under `tools`, or set `default: enabled`",
            )
        } else {
            (
                "none of the tools that this policy allows exists",
                "check that the policy is meant for these tools",
            )
        };
        report.push(Diagnostic::new(Code::NoToolAllowed, written.span, message).help(help));
    }
    policy
}

fn tool_rule(
    written: WrittenToolRule,
    arguments: &[KnownArgument<'_>],
    report: &mut Vec<Diagnostic>,
) -> ToolRule {
    if let Some(description) = &written.description
        && description.value.trim().is_empty()
    {
        report.push(
            Diagnostic::new(
                Code::EmptyDescription,
                description.span,
                "the description is empty",
            )
            .help("describe the tool, or remove the line to keep the description of the config"),
        );
    }
    let mut limits = Vec::new();
    for (name, written) in written.args {
        let argument = arguments
            .iter()
            .find(|argument| argument.name == name.value);
        let Some(argument) = argument else {
            let names: Vec<&str> = arguments.iter().map(|argument| argument.name).collect();
            let message = format!("the tool has no argument `{}`", name.value);
            let help = match closest(&name.value, &names) {
                Some(known) => format!("did you mean `{known}`?"),
                None if names.is_empty() => "the tool has no arguments: remove `args`".to_owned(),
                None => format!("its arguments are: {}", names.join(", ")),
            };
            report.push(Diagnostic::new(Code::UnknownArgument, name.span, message).help(help));
            continue;
        };
        if let Some(limit) = check_limit(written, &name, argument, report) {
            limits.push((name.value, limit));
        }
    }
    ToolRule {
        description: written.description.map(|text| text.value),
        limits: limits.into_iter().collect(),
    }
}

/// Checks the limit for an argument. Fails if there are errors.
pub fn check_limit(
    written: WrittenLimit,
    name: &Spanned<String>,
    argument: &KnownArgument<'_>,
    report: &mut Vec<Diagnostic>,
) -> Option<Limit> {
    let previous_errors = report.len();
    let is_number = matches!(argument.kind, ArgumentType::Integer | ArgumentType::Number);
    for (bound, key) in [(&written.min, "min"), (&written.max, "max")] {
        let Some(bound) = bound else { continue };
        if !is_number {
            let message = format!(
                "`{key}` applies only to numbers, but `{}` is {}",
                name.value,
                match argument.shape {
                    ValueShape::Map => "a map",
                    ValueShape::List => "a list of text",
                    ValueShape::Single => argument.kind.with_article(),
                }
            );
            report.push(
                Diagnostic::new(Code::BoundOnNonNumber, bound.span, message)
                    .help("use `pattern`, or change the argument's type in the config"),
            );
        } else if !bound.value.to_f64().is_finite() {
            report.push(
                Diagnostic::new(
                    Code::BoundOnNonNumber,
                    bound.span,
                    "this is not a finite number",
                )
                .help("write a finite number, or remove the line"),
            );
        }
    }
    if let (Some(min), Some(max)) = (&written.min, &written.max)
        && min.value.compare(max.value) == Some(std::cmp::Ordering::Greater)
    {
        report.push(
            Diagnostic::new(Code::EmptyRange, min.span, "`min` is above `max`")
                .related(max.span, "`max` is set here")
                .help("swap the two values"),
        );
    }
    let mut limit = Limit {
        pattern: None,
        min: written.min.map(|min| min.value),
        max: written.max.map(|max| max.value),
        is_required: written.required.is_some_and(|required| required.value),
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
    if report.len() > previous_errors {
        return None;
    }
    check_config_values(&limit, span, argument, report);
    Some(limit)
}

/// Checks that a limit allows the config's default, and at least one of the possible values.
fn check_config_values(
    limit: &Limit,
    span: SourceSpan,
    argument: &KnownArgument<'_>,
    report: &mut Vec<Diagnostic>,
) {
    let name = argument.name;
    let mut defaults = argument.default.iter();
    if let Some(default) = defaults.find(|default| !limit.borrowed().allows(default)) {
        let text = default.to_string();
        let message = format!("this limit excludes the default of `{name}`: `{text}`");
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
    if !values.is_empty() && !values.iter().any(|value| limit.borrowed().allows(value)) {
        let texts: Vec<String> = values.iter().map(Scalar::to_string).collect();
        let message = format!("this limit allows no value of `{name}`");
        report.push(
            Diagnostic::new(Code::NoValueAllowed, span, message)
                .help(format!("the possible values are: {}", texts.join(", "))),
        );
    }
}

/// Refuses a policy that requires approval, because this version cannot ask for it.
fn check_approval(
    written: &WrittenPolicy,
    unlisted: UnlistedTools,
    known: &KnownTools<'_>,
    report: &mut Vec<Diagnostic>,
) {
    let refusal = |span, message: String, help: &str| {
        Diagnostic::new(Code::ApprovalUnsupported, span, message).help(help)
    };
    let mut explicit: Vec<&str> = Vec::new();
    let tool_entries = written.tools.iter().filter_map(|(name, tool)| {
        let is_required = tool.require_approval.as_ref()?;
        Some((name, is_required))
    });
    let approval = written.approval.as_ref();
    let approval_entries = approval.iter().flat_map(|approval| &approval.tools);
    let approval_entries = approval_entries.map(|(name, is_required)| (name, is_required));
    for (name, is_required) in tool_entries.chain(approval_entries) {
        // `require_approval` of a tool takes precedence over `approval.tools`.
        if explicit.contains(&name.value.as_str()) {
            continue;
        }
        explicit.push(&name.value);
        if is_required.value {
            let message = format!(
                "`{}` requires approval, which this version cannot ask for",
                name.value
            );
            let help = "remove the tool from the policy, or set this to `false`";
            report.push(refusal(is_required.span, message, help));
        }
    }
    let level = match approval {
        Some(approval) => approval
            .global
            .as_ref()
            .map_or(ApprovalLevel::Write, |global| global.value),
        None => ApprovalLevel::Write,
    };
    let is_covered = |risk: Option<Risk>| match level {
        ApprovalLevel::None => false,
        ApprovalLevel::Destructive => risk == Some(Risk::Destructive),
        ApprovalLevel::Write => risk >= Some(Risk::Write),
        ApprovalLevel::All => true,
    };
    let is_allowed = |name: &str| {
        unlisted == UnlistedTools::Enabled
            || written.tools.iter().any(|(tool, _)| tool.value == name)
    };
    let covered: Vec<&str> = known
        .tools
        .iter()
        .filter(|tool| is_covered(tool.risk) && is_allowed(tool.name))
        .map(|tool| tool.name)
        .filter(|name| !explicit.contains(name))
        .collect();
    let Some(first) = covered.first() else { return };
    let tools = match covered.len() {
        1 => format!("`{first}`"),
        2 => format!("`{first}` and one other"),
        many => format!("`{first}` and {} others", many - 1),
    };
    match approval {
        Some(approval) => {
            let span = approval
                .global
                .as_ref()
                .map_or(approval.span, |global| global.span);
            let message =
                format!("{tools} would require approval, which this version cannot ask for");
            let help = "set `global: none`, or allow only tools that need no approval";
            report.push(refusal(span, message, help));
        }
        None => report.push(
            Diagnostic::new(
                Code::ApprovalUnspecified,
                written.span,
                format!("{tools} can change or destroy data without approval"),
            )
            .help("add `approval: {global: none}` if this is intended"),
        ),
    }
}

fn container_rule(
    executor: WrittenExecutor,
    report: &mut Vec<Diagnostic>,
) -> Option<ContainerRule> {
    let is_docker = matches!(&executor.kind, Some(kind) if kind.value == ExecutorKind::Docker);
    if !is_docker {
        let container_fields = [
            (executor.image.map(|image| image.span), "image"),
            (executor.volumes.map(|volumes| volumes.span), "volumes"),
            (executor.working_dir.map(|path| path.span), "working_dir"),
            (executor.network.map(|network| network.span), "network"),
        ];
        for (span, key) in container_fields {
            if let Some(span) = span {
                let message =
                    format!("`{key}` applies only to containers, but the executor is local");
                report.push(
                    Diagnostic::new(Code::ContainerFieldWithoutDocker, span, message)
                        .help("add `type: docker` to the executor, or remove the line"),
                );
            }
        }
        return None;
    }
    let texts = executor.volumes.iter().flat_map(|volumes| &volumes.value);
    let texts = texts.chain(&executor.image).chain(&executor.working_dir);
    for text in texts.chain(&executor.network) {
        if text.value.is_empty() || text.value.starts_with('-') || text.value.contains('\0') {
            let message = format!(
                "`{}` cannot be passed to docker here",
                text.value.escape_debug()
            );
            report.push(
                Diagnostic::new(Code::BadContainer, text.span, message)
                    .help("use a value that is not empty and does not start with `-`"),
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
    let volumes = executor
        .volumes
        .into_iter()
        .flat_map(|volumes| volumes.value);
    Some(ContainerRule {
        image: image.value,
        volumes: volumes.map(|volume| volume.value).collect(),
        network: executor.network.map(|network| network.value),
        working_dir: executor.working_dir.map(|directory| directory.value),
    })
}

fn environment_rule(written: WrittenEnvironment, report: &mut Vec<Diagnostic>) -> EnvironmentRule {
    let inherit = written
        .inherit
        .map(|inherit| inherit.value)
        .unwrap_or_default();
    if let (InheritedVariables::All, Some(allow)) = (inherit, &written.allow) {
        report.push(
            Diagnostic::new(
                Code::IneffectiveAllow,
                allow.span,
                "`allow` has no effect: all variables are inherited",
            )
            .help("add `inherit: safe` or `inherit: minimal`, or remove `allow`"),
        );
    }
    let allow = written.allow.map(|allow| allow.value).unwrap_or_default();
    check_variable_patterns(allow.iter().chain(&written.deny), report);
    let values = |names: Vec<Spanned<String>>| names.into_iter().map(|name| name.value).collect();
    EnvironmentRule {
        inherit,
        allow: values(allow),
        deny: values(written.deny),
    }
}

/// Checks names of variables, or prefixes followed by `*`.
pub fn check_variable_patterns<'w>(
    patterns: impl Iterator<Item = &'w Spanned<String>>,
    report: &mut Vec<Diagnostic>,
) {
    for pattern in patterns {
        let prefix = pattern.value.strip_suffix('*').unwrap_or(&pattern.value);
        if pattern.value.is_empty() || prefix.contains(['=', '*', '\0']) {
            let message = format!(
                "`{}` is not a valid variable name",
                pattern.value.escape_debug()
            );
            report.push(
                Diagnostic::new(Code::BadVariable, pattern.span, message)
                    .help("write `NAME`, or `PREFIX_*` for all names with that prefix"),
            );
        }
    }
}

fn roots(
    written: Option<Spanned<Vec<Spanned<String>>>>,
    report: &mut Vec<Diagnostic>,
) -> Vec<String> {
    let Some(Spanned { value: roots, span }) = written else {
        return Vec::new();
    };
    if roots.is_empty() {
        report.push(
            Diagnostic::new(Code::BadRoot, span, "`roots` is empty")
                .help("add a directory, or remove `roots` to allow any"),
        );
    }
    for root in &roots {
        if root.value.is_empty() || root.value.contains('\0') {
            report.push(
                Diagnostic::new(Code::BadRoot, root.span, "this is not a valid path")
                    .help("write the path of a directory"),
            );
        }
    }
    roots.into_iter().map(|root| root.value).collect()
}
