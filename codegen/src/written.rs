//! Turns YAML nodes into configs as written: the right fields with the right shapes, each with its
//! place. Whether they make sense together is for `check`.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Kind, Risk};
use crate::yaml::{Node, OldReading, Value};

/// A value and its place.
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub span: Span,
}

/// One config file. A required field that is missing has been reported and is `None`.
pub struct Config {
    /// `name`
    pub name: Option<At<String>>,
    /// `description`
    pub description: Option<At<String>>,
    /// `command`
    pub command: Option<At<String>>,
    /// `env`
    pub env: Vec<(At<String>, At<String>)>,
    /// `working_dir`
    pub working_dir: Option<At<String>>,
    /// `category`
    pub category: Option<At<String>>,
    /// `tags`
    pub tags: Vec<At<String>>,
    /// `global_args`
    pub global_args: Vec<Arg>,
    /// `tools`
    pub tools: Vec<Tool>,
}

/// One entry of `tools`.
pub struct Tool {
    /// `name`
    pub name: Option<At<String>>,
    /// `description`
    pub description: Option<At<String>>,
    /// `command`
    pub command: Option<At<String>>,
    /// `args`
    pub args: Vec<Arg>,
    /// `timeout`
    pub timeout: Option<At<f64>>,
    /// `risk`
    pub risk: Option<At<Risk>>,
    /// `confirm_message`
    pub confirm_message: Option<At<String>>,
    /// `resolve`
    pub resolve: Vec<(At<String>, Resolve)>,
}

/// One entry of `args` or `global_args`.
pub struct Arg {
    /// `name`
    pub name: Option<At<String>>,
    /// `description`
    pub description: Option<At<String>>,
    /// `type`
    pub kind: Option<At<Kind>>,
    /// `required`
    pub required: Option<At<bool>>,
    /// `default`
    pub default: Option<Node>,
    /// `flag`
    pub flag: Option<At<String>>,
    /// `positional`
    pub positional: Option<At<bool>>,
    /// `cwd`
    pub cwd: Option<At<bool>>,
    /// `stdin`
    pub stdin: Option<At<bool>>,
    /// `enum`
    pub choices: Option<At<Vec<Node>>>,
}

/// One entry of `resolve`: a command that makes an opaque value readable.
pub struct Resolve {
    /// The values of `args`: templates
    pub templates: Vec<At<String>>,
}

/// Reads a config.
pub fn config(node: Node, report: &mut Vec<Diagnostic>) -> Option<Config> {
    let mut fields = Fields::open(node, "a config", report)?;
    let config = Config {
        name: fields.optional("name", text),
        description: fields.optional("description", text),
        command: fields.required("command", text),
        env: fields.optional("env", env).unwrap_or_default(),
        working_dir: fields.optional("working_dir", text),
        category: fields.optional("category", text),
        tags: fields.optional("tags", texts).unwrap_or_default(),
        global_args: fields.optional("global_args", args).unwrap_or_default(),
        tools: fields.required("tools", tools).unwrap_or_default(),
    };
    fields.close();
    Some(config)
}

fn tools(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Tool>> {
    let span = node.span;
    let tools = list(node, report)?;
    if tools.is_empty() {
        report.push(
            Diagnostic::new(Code::NoTools, span, "a config needs at least one tool")
                .help("add an entry with `name`, `description` and `command`"),
        );
    }
    Some(
        tools
            .into_iter()
            .filter_map(|node| tool(node, report))
            .collect(),
    )
}

fn tool(node: Node, report: &mut Vec<Diagnostic>) -> Option<Tool> {
    let mut fields = Fields::open(node, "a tool", report)?;
    let tool = Tool {
        name: fields.required("name", text),
        description: fields.required("description", text),
        command: fields.optional("command", text),
        args: fields.optional("args", args).unwrap_or_default(),
        timeout: fields.optional("timeout", number),
        risk: fields.optional("risk", risk),
        confirm_message: fields.optional("confirm_message", text),
        resolve: fields.optional("resolve", resolves).unwrap_or_default(),
    };
    fields.close();
    Some(tool)
}

fn args(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Arg>> {
    Some(
        list(node, report)?
            .into_iter()
            .filter_map(|node| arg(node, report))
            .collect(),
    )
}

fn arg(node: Node, report: &mut Vec<Diagnostic>) -> Option<Arg> {
    let mut fields = Fields::open(node, "an argument", report)?;
    let arg = Arg {
        name: fields.required("name", text),
        description: fields.optional("description", text),
        kind: fields.optional("type", kind),
        required: fields.optional("required", boolean),
        default: fields.optional("default", |node, _| Some(node)),
        flag: fields.optional("flag", text),
        positional: fields.optional("positional", boolean),
        cwd: fields.optional("cwd", boolean),
        stdin: fields.optional("stdin", boolean),
        choices: fields.optional("enum", |node, report| {
            let span = node.span;
            list(node, report).map(|value| At { value, span })
        }),
    };
    fields.close();
    Some(arg)
}

fn resolves(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(At<String>, Resolve)>> {
    let mut resolves = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(resolve)) = (text(key, report), resolve(value, report)) {
            resolves.push((key, resolve));
        }
    }
    Some(resolves)
}

fn resolve(node: Node, report: &mut Vec<Diagnostic>) -> Option<Resolve> {
    let mut fields = Fields::open(node, "a resolve entry", report)?;
    let _: Option<At<String>> = fields.required("command", text);
    let _: Option<At<f64>> = fields.optional("timeout", number);
    let templates = fields.optional("args", env).unwrap_or_default();
    fields.close();
    Some(Resolve {
        templates: templates
            .into_iter()
            .map(|(_, template)| template)
            .collect(),
    })
}

/// The fields of one mapping. What is left when it closes is unknown.
struct Fields<'r> {
    what: &'static str,
    span: Span,
    entries: Vec<(Node, Node)>,
    known: Vec<&'static str>,
    report: &'r mut Vec<Diagnostic>,
}

impl<'r> Fields<'r> {
    fn open(node: Node, what: &'static str, report: &'r mut Vec<Diagnostic>) -> Option<Self> {
        let span = node.span;
        match node.value {
            Value::Map(entries) => Some(Self {
                what,
                // A mapping's own place is often the white space before it.
                span: entries.first().map_or(span, |(key, _)| key.span),
                entries,
                known: Vec::new(),
                report,
            }),
            other => {
                let message = format!("{what} is a mapping, and this is {}", other.kind());
                report.push(
                    Diagnostic::new(Code::WrongType, span, message)
                        .help("give it fields: `name: value`, one a line"),
                );
                None
            }
        }
    }

    /// A field that is `null` counts as absent.
    fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Node, &mut Vec<Diagnostic>) -> Option<T>,
    ) -> Option<T> {
        self.known.push(name);
        let is_it = |(key, _): &(Node, Node)| matches!(&key.value, Value::Text(key) if key == name);
        let position = self.entries.iter().position(is_it)?;
        let (_, node) = self.entries.remove(position);
        match node.value {
            Value::Null => None,
            _ => read(node, self.report),
        }
    }

    fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Node, &mut Vec<Diagnostic>) -> Option<T>,
    ) -> Option<T> {
        let before = self.report.len();
        let value = self.optional(name, read);
        if value.is_none() && self.report.len() == before {
            self.report.push(
                Diagnostic::new(
                    Code::MissingField,
                    self.span,
                    format!("{} needs the field `{name}`", self.what),
                )
                .help(format!("add `{name}: ...`")),
            );
        }
        value
    }

    fn close(self) {
        for (key, _) in self.entries {
            let Value::Text(name) = &key.value else {
                let kind = key.value.kind();
                let message = format!("the fields of {} have names, and this is {kind}", self.what);
                self.report.push(
                    Diagnostic::new(Code::WrongType, key.span, message)
                        .help(format!("the fields are: {}", self.known.join(", "))),
                );
                continue;
            };
            // As in compose files: a place for YAML anchors.
            if name.starts_with("x-") {
                continue;
            }
            let help = match closest(name, &self.known) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("the fields are: {}", self.known.join(", ")),
            };
            self.report.push(
                Diagnostic::new(
                    Code::UnknownField,
                    key.span,
                    format!("{} has no field `{name}`", self.what),
                )
                .help(help),
            );
        }
    }
}

/// The known name that a typo most likely stands for.
#[must_use]
pub fn closest<'n>(typo: &str, known: &[&'n str]) -> Option<&'n str> {
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(typo, name), *name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}

fn wrong_type(node: &Node, expected: &str, help: &str) -> Diagnostic {
    let found = node.value.kind();
    let message = format!("expected {expected}, found {found}");
    Diagnostic::new(Code::WrongType, node.span, message).help(help)
}

/// Reads text. Anything that any YAML version takes for something else must be quoted.
pub fn text(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<String>> {
    let quote = "put it in quotes if it is meant as text";
    let error = match (&node.value, node.old_reading) {
        (Value::Text(_), None) => None,
        (Value::Text(text), Some(reading)) => Some(
            Diagnostic::new(
                Code::AmbiguousScalar,
                node.span,
                format!("`{text}` is text in YAML 1.2 and {reading} in YAML 1.1"),
            )
            .help(quote),
        ),
        (Value::List(_) | Value::Map(_) | Value::Null, _) => {
            Some(wrong_type(&node, "text", "give one text"))
        }
        (Value::Boolean(_) | Value::Integer(_) | Value::Float(_), _) => {
            Some(wrong_type(&node, "text", quote))
        }
    };
    match (error, node.value) {
        (None, Value::Text(value)) => Some(At {
            value,
            span: node.span,
        }),
        (error, _) => {
            report.extend(error);
            None
        }
    }
}

fn texts(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<At<String>>> {
    Some(
        list(node, report)?
            .into_iter()
            .filter_map(|node| text(node, report))
            .collect(),
    )
}

/// A mapping of text to text.
fn env(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(At<String>, At<String>)>> {
    let mut pairs = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(value)) = (text(key, report), text(value, report)) {
            pairs.push((key, value));
        }
    }
    Some(pairs)
}

#[expect(clippy::needless_pass_by_value, reason = "every reader takes its node")]
fn boolean(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<bool>> {
    let value = match (&node.value, node.old_reading) {
        (Value::Boolean(value), _) => *value,
        // Existing configs may say `required: yes`; nothing else can be meant.
        (_, Some(OldReading::Boolean(value))) => value,
        _ => {
            report.push(wrong_type(
                &node,
                "true or false",
                "write `true` or `false`, without quotes",
            ));
            return None;
        }
    };
    Some(At {
        value,
        span: node.span,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "every reader takes its node")]
fn number(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<f64>> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds beyond 2^53 are no timeout"
    )]
    let value = match (&node.value, node.old_reading) {
        (Value::Integer(integer), None) => *integer as f64,
        (Value::Float(float), None) => *float,
        (_, Some(reading)) => {
            let message = format!("YAML 1.1 takes this for {reading}, YAML 1.2 does not");
            report.push(
                Diagnostic::new(Code::AmbiguousScalar, node.span, message)
                    .help("write it in plain digits"),
            );
            return None;
        }
        _ => {
            report.push(wrong_type(
                &node,
                "a number",
                "write a number, without quotes",
            ));
            return None;
        }
    };
    Some(At {
        value,
        span: node.span,
    })
}

fn kind(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<Kind>> {
    let kinds = [Kind::String, Kind::Integer, Kind::Number, Kind::Boolean];
    one_of(node, &kinds.map(|kind| (kind.name(), kind)), report)
}

fn risk(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<Risk>> {
    let risks = [
        ("read", Risk::Read),
        ("write", Risk::Write),
        ("destructive", Risk::Destructive),
    ];
    one_of(node, &risks, report)
}

fn one_of<T: Copy>(
    node: Node,
    values: &[(&'static str, T)],
    report: &mut Vec<Diagnostic>,
) -> Option<At<T>> {
    let At { value: name, span } = text(node, report)?;
    if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
        return Some(At {
            value: *value,
            span,
        });
    }
    let names: Vec<&str> = values.iter().map(|(known, _)| *known).collect();
    let help = match closest(&name, &names) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("it can be: {}", names.join(", ")),
    };
    report.push(
        Diagnostic::new(
            Code::UnknownValue,
            span,
            format!("`{name}` is not known here"),
        )
        .help(help),
    );
    None
}

fn list(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Node>> {
    if let Value::List(items) = node.value {
        return Some(items);
    }
    report.push(wrong_type(
        &node,
        "a list",
        "write it as a list: `[a, b]`, or a `- ` before each item",
    ));
    None
}

fn map(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(Node, Node)>> {
    if let Value::Map(entries) = node.value {
        return Some(entries);
    }
    report.push(wrong_type(
        &node,
        "a mapping",
        "write it as a mapping: `name: value`",
    ));
    None
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_typo_finds_the_field_that_was_meant() {
        let known = ["name", "required", "default", "description"];
        assert_eq!(closest("requred", &known), Some("required"));
        assert_eq!(closest("nmae", &known), Some("name"));
        assert_eq!(closest("desc", &known), None);
        assert_eq!(closest("shell", &known), None);
    }
}
