//! Turns YAML nodes into a policy as written: the right fields with the right shapes, each with its
//! place. Whether they make sense is for `check`.

use climax_core::scalar::Number;
use climax_input::diagnostic::{Diagnostic, Span};
use climax_input::fields::{At, Fields, boolean, map, number, one_of, text, texts};
use climax_input::yaml::{Node, Value};

/// One policy file.
pub struct Policy {
    /// Its beginning.
    pub span: Span,
    /// `executor`
    pub executor: Option<Executor>,
    /// `default`
    pub default: Option<At<Unnamed>>,
    /// `tools`
    pub tools: Vec<(At<String>, Tool)>,
    /// `approval`
    pub approval: Option<Approval>,
    /// `env`
    pub env: Option<Env>,
    /// `roots`
    pub roots: Option<At<Vec<At<String>>>>,
}

/// What becomes of tools that a policy does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unnamed {
    /// They are not there.
    #[default]
    Disabled,
    /// They are there.
    Enabled,
}

/// `executor`
pub struct Executor {
    /// Its first field.
    pub span: Span,
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
pub struct Tool {
    /// `description`
    pub description: Option<At<String>>,
    /// `args`
    pub args: Vec<(At<String>, Limit)>,
    /// `require_approval`
    pub require_approval: Option<At<bool>>,
}

/// An entry of `args`
pub struct Limit {
    /// `pattern`
    pub pattern: Option<At<String>>,
    /// `min`
    pub min: Option<At<Number>>,
    /// `max`
    pub max: Option<At<Number>>,
}

/// `approval`
pub struct Approval {
    /// Its first field.
    pub span: Span,
    /// `global`
    pub global: Option<At<Level>>,
    /// `tools`
    pub tools: Vec<(At<String>, At<bool>)>,
}

/// From which risk on a tool needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
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
pub struct Env {
    /// `inherit`
    pub inherit: Option<At<Inherit>>,
    /// `allow`
    pub allow: Option<At<Vec<At<String>>>>,
    /// `deny`
    pub deny: Vec<At<String>>,
}

/// Which of the server's variables commands get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherit {
    /// All.
    All,
    /// Those that most programs need.
    Minimal,
}

/// Reads a policy.
pub fn policy(node: Node, report: &mut Vec<Diagnostic>) -> Option<Policy> {
    let span = beginning(&node);
    let mut fields = Fields::open_complete(node, "a policy", report)?;
    let policy = Policy {
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
fn beginning(node: &Node) -> Span {
    match &node.value {
        Value::Map(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        _ => node.span,
    }
}

fn executor(node: Node, report: &mut Vec<Diagnostic>) -> Option<Executor> {
    let span = beginning(&node);
    let mut fields = Fields::open_complete(node, "an executor", report)?;
    let executor = Executor {
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

fn unnamed(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<Unnamed>> {
    let values = [
        ("disabled", Unnamed::Disabled),
        ("enabled", Unnamed::Enabled),
    ];
    one_of(node, &values, report)
}

fn tools(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(At<String>, Tool)>> {
    named(node, report, |node, report| {
        // `git_status:` with nothing after it is a tool without limits.
        if matches!(node.value, Value::Null) {
            return Some(Tool::default());
        }
        let mut fields = Fields::open_complete(node, "a tool's policy", report)?;
        let tool = Tool {
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

fn limit(node: Node, report: &mut Vec<Diagnostic>) -> Option<Limit> {
    let mut fields = Fields::open_complete(node, "a limit", report)?;
    let limit = Limit {
        pattern: fields.optional("pattern", text),
        min: fields.optional("min", number),
        max: fields.optional("max", number),
    };
    fields.close();
    Some(limit)
}

fn approval(node: Node, report: &mut Vec<Diagnostic>) -> Option<Approval> {
    let span = beginning(&node);
    let mut fields = Fields::open_complete(node, "`approval`", report)?;
    let approval = Approval {
        span,
        global: fields.optional("global", |node, report| {
            let levels = [
                ("none", Level::None),
                ("destructive", Level::Destructive),
                ("write", Level::Write),
                ("all", Level::All),
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

fn env(node: Node, report: &mut Vec<Diagnostic>) -> Option<Env> {
    let mut fields = Fields::open_complete(node, "`env`", report)?;
    let env = Env {
        inherit: fields.optional("inherit", |node, report| {
            let values = [("all", Inherit::All), ("minimal", Inherit::Minimal)];
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
