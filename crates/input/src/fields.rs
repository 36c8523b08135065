//! Reads the fields of YAML mappings: the right names with the right shapes, each with its place.

use climax_core::scalar::Number;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, SourceSpan};
use crate::yaml::{Node, Yaml11Reading, YamlValue};

/// A value and its place.
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub span: SourceSpan,
}

/// The fields of one mapping. What is left when it closes is unknown.
pub struct Fields<'r> {
    what: &'static str,
    span: SourceSpan,
    entries: Vec<(Node, Node)>,
    known: Vec<&'static str>,
    report: &'r mut Vec<Diagnostic>,
}

impl<'r> Fields<'r> {
    /// Opens a mapping. Anything else is reported.
    pub fn open(node: Node, what: &'static str, report: &'r mut Vec<Diagnostic>) -> Option<Self> {
        let span = node.span;
        match node.value {
            YamlValue::Map(entries) => Some(Self {
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

    /// Opens a mapping in which no field may be left without a value.
    pub fn open_complete(
        node: Node,
        what: &'static str,
        report: &'r mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let fields = Self::open(node, what, report)?;
        for (key, value) in &fields.entries {
            if let (YamlValue::Text(name), YamlValue::Null) = (&key.value, &value.value) {
                let message = format!("`{name}` has no value");
                fields.report.push(
                    Diagnostic::new(Code::WrongType, key.span, message)
                        .help("give it one, or remove the line"),
                );
            }
        }
        Some(fields)
    }

    /// A field that may be there. One that is `null` counts as absent.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Node, &mut Vec<Diagnostic>) -> Option<T>,
    ) -> Option<T> {
        self.known.push(name);
        let position = self.position(name)?;
        let (_, node) = self.entries.remove(position);
        match node.value {
            YamlValue::Null => None,
            _ => read(node, self.report),
        }
    }

    /// A field that must be there.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Node, &mut Vec<Diagnostic>) -> Option<T>,
    ) -> Option<T> {
        let before = self.report.len();
        // If there is one, but nothing in it.
        let empty = self.position(name).map(|at| self.entries[at].0.span);
        let value = self.optional(name, read);
        if value.is_none() && self.report.len() == before {
            let (span, message, help) = match empty {
                Some(span) => (
                    span,
                    format!("`{name}` has no value"),
                    format!("{} needs one", self.what),
                ),
                None => (
                    self.span,
                    format!("{} needs the field `{name}`", self.what),
                    format!("add `{name}: ...`"),
                ),
            };
            let missing = Diagnostic::new(Code::MissingField, span, message);
            self.report.push(missing.help(help));
        }
        value
    }

    fn position(&self, name: &str) -> Option<usize> {
        let is_it =
            |(key, _): &(Node, Node)| matches!(&key.value, YamlValue::Text(key) if key == name);
        self.entries.iter().position(is_it)
    }

    /// Reports what was not asked for.
    pub fn close(self) {
        for (key, _) in self.entries {
            let YamlValue::Text(name) = &key.value else {
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

/// A message about a node that is of another kind than expected.
#[must_use]
pub fn wrong_type(node: &Node, expected: &str, help: &str) -> Diagnostic {
    let found = node.value.kind();
    let message = format!("expected {expected}, found {found}");
    Diagnostic::new(Code::WrongType, node.span, message).help(help)
}

/// Reads text. Anything that any YAML version takes for something else must be quoted.
pub fn text(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<String>> {
    let quote = "put it in quotes if it is meant as text";
    let error = match (&node.value, node.yaml_1_1_reading) {
        (YamlValue::Text(_), None) => None,
        (YamlValue::Text(text), Some(reading)) => Some(
            Diagnostic::new(
                Code::AmbiguousScalar,
                node.span,
                format!("`{text}` is text in YAML 1.2 and {reading} in YAML 1.1"),
            )
            .help(quote),
        ),
        (YamlValue::List(_) | YamlValue::Map(_) | YamlValue::Null, _) => {
            Some(wrong_type(&node, "text", "give one text"))
        }
        (YamlValue::Boolean(_) | YamlValue::Integer(_) | YamlValue::Float(_), _) => {
            Some(wrong_type(&node, "text", quote))
        }
    };
    match (error, node.value) {
        (None, YamlValue::Text(value)) => Some(At {
            value,
            span: node.span,
        }),
        (error, _) => {
            report.extend(error);
            None
        }
    }
}

/// Reads a list of texts.
pub fn texts(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<At<String>>> {
    Some(
        list(node, report)?
            .into_iter()
            .filter_map(|node| text(node, report))
            .collect(),
    )
}

/// Reads a mapping of text to text.
pub fn pairs(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(At<String>, At<String>)>> {
    let mut pairs = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(value)) = (text(key, report), text(value, report)) {
            pairs.push((key, value));
        }
    }
    Some(pairs)
}

/// Reads `true` or `false`.
#[expect(clippy::needless_pass_by_value, reason = "every reader takes its node")]
pub fn boolean(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<bool>> {
    let value = match (&node.value, node.yaml_1_1_reading) {
        (YamlValue::Boolean(value), _) => *value,
        // Existing configs may say `required: yes`; nothing else can be meant.
        (_, Some(Yaml11Reading::Boolean(value))) => value,
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

/// Reads a number.
#[expect(clippy::needless_pass_by_value, reason = "every reader takes its node")]
pub fn number(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<Number>> {
    let value = match (&node.value, node.yaml_1_1_reading) {
        (YamlValue::Integer(integer), None) => Number::Integer(*integer),
        (YamlValue::Float(float), None) => Number::Float(*float),
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

/// Reads one of the given names, and returns what it stands for.
pub fn one_of<T: Copy>(
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

/// Reads a list.
pub fn list(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Node>> {
    if let YamlValue::List(items) = node.value {
        return Some(items);
    }
    report.push(wrong_type(
        &node,
        "a list",
        "write it as a list: `[a, b]`, or a `- ` before each item",
    ));
    None
}

/// Reads a mapping whose keys are not known beforehand.
pub fn map(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(Node, Node)>> {
    if let YamlValue::Map(entries) = node.value {
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
