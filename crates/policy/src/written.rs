//! Turns YAML nodes into a policy as written: known fields with the right types and their positions. The
//! `check` module decides whether their values make sense.

use climax_core::scalar::Number;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::{Fields, Spanned, boolean, map, number, one_of, text, texts};
use climax_input::yaml::{Node, YamlValue};

/// One policy file.
pub struct WrittenPolicy {
    /// The first field.
    pub span: SourceSpan,
    /// `executor`
    pub executor: Option<WrittenExecutor>,
    /// `default`
    pub default: Option<Spanned<UnlistedTools>>,
    /// `tools`
    pub tools: Vec<(Spanned<String>, WrittenToolRule)>,
    /// `approval`
    pub approval: Option<WrittenApproval>,
    /// `env`
    pub env: Option<WrittenEnvironment>,
    /// `roots`
    pub roots: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Whether tools that a policy does not name are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnlistedTools {
    /// They are removed.
    #[default]
    Disabled,
    /// They are allowed.
    Enabled,
}

/// `executor`
pub struct WrittenExecutor {
    /// The first field.
    pub span: SourceSpan,
    /// `type`
    pub kind: Option<Spanned<ExecutorKind>>,
    /// `image`
    pub image: Option<Spanned<String>>,
    /// `volumes`
    pub volumes: Option<Spanned<Vec<Spanned<String>>>>,
    /// `working_dir`
    pub working_dir: Option<Spanned<String>>,
    /// `network`
    pub network: Option<Spanned<String>>,
}

/// Where commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutorKind {
    /// On the host.
    Local,
    /// In a container.
    Docker,
}

/// An entry of `tools`
#[derive(Default)]
pub struct WrittenToolRule {
    /// `description`
    pub description: Option<Spanned<String>>,
    /// `args`
    pub args: Vec<(Spanned<String>, WrittenLimit)>,
    /// `require_approval`
    pub require_approval: Option<Spanned<bool>>,
}

/// An entry of `args`
#[derive(Default)]
pub struct WrittenLimit {
    /// `pattern`
    pub pattern: Option<Spanned<String>>,
    /// `min`
    pub min: Option<Spanned<Number>>,
    /// `max`
    pub max: Option<Spanned<Number>>,
    /// `required`, which only policies set here
    pub required: Option<Spanned<bool>>,
}

/// `approval`
pub struct WrittenApproval {
    /// The first field.
    pub span: SourceSpan,
    /// `global`
    pub global: Option<Spanned<ApprovalLevel>>,
    /// `tools`
    pub tools: Vec<(Spanned<String>, Spanned<bool>)>,
}

/// The lowest risk that requires approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalLevel {
    /// No tool requires it.
    None,
    /// Destructive tools require it.
    Destructive,
    /// Tools that write and destructive tools require it.
    Write,
    /// All tools require it.
    All,
}

/// `env`
pub struct WrittenEnvironment {
    /// `inherit`
    pub inherit: Option<Spanned<InheritedVariables>>,
    /// `allow`
    pub allow: Option<Spanned<Vec<Spanned<String>>>>,
    /// `deny`
    pub deny: Vec<Spanned<String>>,
}

/// The variables of the server that commands inherit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InheritedVariables {
    /// All variables.
    #[default]
    All,
    /// All variables except those that look like secrets.
    Safe,
    /// Only variables that most programs need.
    Minimal,
}

impl InheritedVariables {
    /// The names of all levels in policies and on the command line.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("all", Self::All),
        ("safe", Self::Safe),
        ("minimal", Self::Minimal),
    ];
}

/// Reads a policy.
pub fn policy(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenPolicy> {
    let span = first_field_span(&node);
    let mut fields = Fields::open_complete(node, "a policy", report)?;
    let policy = WrittenPolicy {
        span,
        executor: fields.optional("executor", executor),
        default: fields.optional("default", unlisted_tools),
        tools: fields.optional("tools", tools).unwrap_or_default(),
        approval: fields.optional("approval", approval),
        env: fields.optional("env", env),
        roots: fields.optional("roots", texts_at),
    };
    fields.close();
    Some(policy)
}

/// The span of the first field, since the span of a mapping often starts in the white space before it.
fn first_field_span(node: &Node) -> SourceSpan {
    match &node.value {
        YamlValue::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        _ => node.span,
    }
}

fn executor(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenExecutor> {
    let span = first_field_span(&node);
    let mut fields = Fields::open_complete(node, "an executor", report)?;
    let executor = WrittenExecutor {
        span,
        kind: fields.optional("type", |node, report| {
            let kinds = [
                ("local", ExecutorKind::Local),
                ("docker", ExecutorKind::Docker),
            ];
            one_of(node, &kinds, report)
        }),
        image: fields.optional("image", text),
        volumes: fields.optional("volumes", texts_at),
        working_dir: fields.optional("working_dir", text),
        network: fields.optional("network", text),
    };
    fields.close();
    Some(executor)
}

fn texts_at(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<Vec<Spanned<String>>>> {
    let span = node.span;
    texts(node, report).map(|value| Spanned { value, span })
}

fn unlisted_tools(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<UnlistedTools>> {
    let values = [
        ("disabled", UnlistedTools::Disabled),
        ("enabled", UnlistedTools::Enabled),
    ];
    one_of(node, &values, report)
}

fn tools(
    node: Node,
    report: &mut Vec<Diagnostic>,
) -> Option<Vec<(Spanned<String>, WrittenToolRule)>> {
    named_entries(node, report, |node, report| {
        // `git_status:` without a value allows the tool without limits.
        if matches!(node.value, YamlValue::Null) {
            return Some(WrittenToolRule::default());
        }
        let mut fields = Fields::open_complete(node, "a tool's policy", report)?;
        let tool = WrittenToolRule {
            description: fields.optional("description", text),
            args: fields
                .optional("args", |node, report| named_entries(node, report, limit))
                .unwrap_or_default(),
            require_approval: fields.optional("require_approval", boolean),
        };
        fields.close();
        Some(tool)
    })
}

fn limit(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenLimit> {
    let mut fields = Fields::open_complete(node, "a limit", report)?;
    let limit = WrittenLimit {
        pattern: fields.optional("pattern", text),
        min: fields.optional("min", number),
        max: fields.optional("max", number),
        required: fields.optional("required", boolean),
    };
    fields.close();
    Some(limit)
}

fn approval(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenApproval> {
    let span = first_field_span(&node);
    let mut fields = Fields::open_complete(node, "`approval`", report)?;
    let approval = WrittenApproval {
        span,
        global: fields.optional("global", |node, report| {
            let levels = [
                ("none", ApprovalLevel::None),
                ("destructive", ApprovalLevel::Destructive),
                ("write", ApprovalLevel::Write),
                ("all", ApprovalLevel::All),
            ];
            one_of(node, &levels, report)
        }),
        tools: fields
            .optional("tools", |node, report| named_entries(node, report, boolean))
            .unwrap_or_default(),
    };
    // Accepted for compatibility. It has no effect, because policies that require approval are refused.
    fields.optional("headless", |node, report| {
        one_of(node, &[("deny", ()), ("approve", ())], report)
    });
    fields.close();
    Some(approval)
}

fn env(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenEnvironment> {
    let mut fields = Fields::open_complete(node, "`env`", report)?;
    let env = WrittenEnvironment {
        inherit: fields.optional("inherit", |node, report| {
            one_of(node, &InheritedVariables::NAMES, report)
        }),
        allow: fields.optional("allow", texts_at),
        deny: fields.optional("deny", texts).unwrap_or_default(),
    };
    fields.close();
    Some(env)
}

/// Reads a mapping from names to values that `read` accepts.
fn named_entries<T>(
    node: Node,
    report: &mut Vec<Diagnostic>,
    read: impl Fn(Node, &mut Vec<Diagnostic>) -> Option<T>,
) -> Option<Vec<(Spanned<String>, T)>> {
    let mut entries = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(value)) = (text(key, report), read(value, report)) {
            entries.push((key, value));
        }
    }
    Some(entries)
}
