//! Turns YAML nodes into a policy as written: the right fields with the right shapes, each with its
//! place. Whether they make sense is for `check`.

use climax_core::scalar::Number;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::{At, Fields, boolean, map, number, one_of, text, texts};
use climax_input::yaml::{Node, YamlValue};

/// One policy file.
pub struct WrittenPolicy {
    /// Its beginning.
    pub span: SourceSpan,
    /// `executor`
    pub executor: Option<WrittenExecutor>,
    /// `default`
    pub default: Option<At<UnlistedTools>>,
    /// `tools`
    pub tools: Vec<(At<String>, WrittenToolRule)>,
    /// `approval`
    pub approval: Option<WrittenApproval>,
    /// `env`
    pub env: Option<WrittenEnvironment>,
    /// `roots`
    pub roots: Option<At<Vec<At<String>>>>,
}

/// What becomes of tools that a policy does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnlistedTools {
    /// They are not there.
    #[default]
    Disabled,
    /// They are there.
    Enabled,
}

/// `executor`
pub struct WrittenExecutor {
    /// Its first field.
    pub span: SourceSpan,
    /// `type`
    pub kind: Option<At<ExecutorKind>>,
    /// `image`
    pub image: Option<At<String>>,
    /// `volumes`
    pub volumes: Option<At<Vec<At<String>>>>,
    /// `working_dir`
    pub working_dir: Option<At<String>>,
    /// `network`
    pub network: Option<At<String>>,
}

/// What runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutorKind {
    /// This machine.
    Local,
    /// A container.
    Docker,
}

/// An entry of `tools`
#[derive(Default)]
pub struct WrittenToolRule {
    /// `description`
    pub description: Option<At<String>>,
    /// `args`
    pub args: Vec<(At<String>, WrittenLimit)>,
    /// `require_approval`
    pub require_approval: Option<At<bool>>,
}

/// An entry of `args`
pub struct WrittenLimit {
    /// `pattern`
    pub pattern: Option<At<String>>,
    /// `min`
    pub min: Option<At<Number>>,
    /// `max`
    pub max: Option<At<Number>>,
}

/// `approval`
pub struct WrittenApproval {
    /// Its first field.
    pub span: SourceSpan,
    /// `global`
    pub global: Option<At<ApprovalLevel>>,
    /// `tools`
    pub tools: Vec<(At<String>, At<bool>)>,
}

/// From which risk on a tool needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalLevel {
    /// Never.
    None,
    /// Destructive tools.
    Destructive,
    /// Tools that write, and destructive ones.
    Write,
    /// Always.
    All,
}

/// `env`
pub struct WrittenEnvironment {
    /// `inherit`
    pub inherit: Option<At<InheritedVariables>>,
    /// `allow`
    pub allow: Option<At<Vec<At<String>>>>,
    /// `deny`
    pub deny: Vec<At<String>>,
}

/// Which of the server's variables commands get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InheritedVariables {
    /// All.
    All,
    /// Those that most programs need.
    Minimal,
}

/// Reads a policy.
pub fn policy(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenPolicy> {
    let span = beginning(&node);
    let mut fields = Fields::open_complete(node, "a policy", report)?;
    let policy = WrittenPolicy {
        span,
        executor: fields.optional("executor", executor),
        default: fields.optional("default", unnamed),
        tools: fields.optional("tools", tools).unwrap_or_default(),
        approval: fields.optional("approval", approval),
        env: fields.optional("env", env),
        roots: fields.optional("roots", texts_at),
    };
    fields.close();
    Some(policy)
}

/// A mapping's own place is often the white space before it.
fn beginning(node: &Node) -> SourceSpan {
    match &node.value {
        YamlValue::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        _ => node.span,
    }
}

fn executor(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenExecutor> {
    let span = beginning(&node);
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

fn texts_at(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<Vec<At<String>>>> {
    let span = node.span;
    texts(node, report).map(|value| At { value, span })
}

fn unnamed(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<UnlistedTools>> {
    let values = [
        ("disabled", UnlistedTools::Disabled),
        ("enabled", UnlistedTools::Enabled),
    ];
    one_of(node, &values, report)
}

fn tools(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(At<String>, WrittenToolRule)>> {
    named(node, report, |node, report| {
        // `git_status:` with nothing after it is a tool without limits.
        if matches!(node.value, YamlValue::Null) {
            return Some(WrittenToolRule::default());
        }
        let mut fields = Fields::open_complete(node, "a tool's policy", report)?;
        let tool = WrittenToolRule {
            description: fields.optional("description", text),
            args: fields
                .optional("args", |node, report| named(node, report, limit))
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
    };
    fields.close();
    Some(limit)
}

fn approval(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenApproval> {
    let span = beginning(&node);
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
            .optional("tools", |node, report| named(node, report, boolean))
            .unwrap_or_default(),
    };
    // Without approvals there is nothing that a missing screen would change.
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
            let values = [
                ("all", InheritedVariables::All),
                ("minimal", InheritedVariables::Minimal),
            ];
            one_of(node, &values, report)
        }),
        allow: fields.optional("allow", texts_at),
        deny: fields.optional("deny", texts).unwrap_or_default(),
    };
    fields.close();
    Some(env)
}

/// A mapping from names to something.
fn named<T>(
    node: Node,
    report: &mut Vec<Diagnostic>,
    read: impl Fn(Node, &mut Vec<Diagnostic>) -> Option<T>,
) -> Option<Vec<(At<String>, T)>> {
    let mut entries = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(value)) = (text(key, report), read(value, report)) {
            entries.push((key, value));
        }
    }
    Some(entries)
}
