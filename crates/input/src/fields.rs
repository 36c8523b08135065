//! Reads the fields of YAML mappings: checks their names and types, and returns values with positions.

use climax_core::scalar::Number;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, SourceSpan};
use crate::yaml::{Node, Yaml11Reading, YamlValue};

/// A value with its position.
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The position.
    pub span: SourceSpan,
}

/// The fields of one mapping. Fields not read before [`Fields::close`] are unknown.
pub struct Fields<'r> {
    /// What the mapping describes, with its article: "a policy".
    subject: &'static str,
    span: SourceSpan,
    entries: Vec<(Node, Node)>,
    known: Vec<&'static str>,
    report: &'r mut Vec<Diagnostic>,
}

impl<'r> Fields<'r> {
    /// Opens a mapping. Any other node is an error.
    pub fn open(
        node: Node,
        subject: &'static str,
        report: &'r mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let span = node.span;
        match node.value {
            YamlValue::Map(entries) => Some(Self {
                subject,
                // The span of a mapping often starts in the white space before it.
                span: entries.first().map_or(span, |(key, _)| key.span),
                entries,
                known: Vec::new(),
                report,
            }),
            other => {
                let message = format!("{subject} must be a mapping, found {}", other.kind());
                report.push(
                    Diagnostic::new(Code::WrongType, span, message)
                        .help("write its fields as `name: value`, one per line"),
                );
                None
            }
        }
    }

    /// Opens a mapping in which every field needs a value.
    pub fn open_complete(
        node: Node,
        subject: &'static str,
        report: &'r mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let fields = Self::open(node, subject, report)?;
        for (key, value) in &fields.entries {
            if let (YamlValue::Text(name), YamlValue::Null) = (&key.value, &value.value) {
                let message = format!("`{name}` has no value");
                fields.report.push(
                    Diagnostic::new(Code::WrongType, key.span, message)
                        .help("add a value, or remove the line"),
                );
            }
        }
        Some(fields)
    }

    /// Reads an optional field. `null` counts as absent.
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

    /// Reads a required field.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Node, &mut Vec<Diagnostic>) -> Option<T>,
    ) -> Option<T> {
        let before = self.report.len();
        let key_span = self
            .position(name)
            .map(|position| self.entries[position].0.span);
        let value = self.optional(name, read);
        if value.is_none() && self.report.len() == before {
            let (span, message, help) = match key_span {
                Some(span) => (
                    span,
                    format!("`{name}` has no value"),
                    format!("add a value: {} needs this field", self.subject),
                ),
                None => (
                    self.span,
                    format!("{} needs the field `{name}`", self.subject),
                    format!("add `{name}: ...`"),
                ),
            };
            let missing = Diagnostic::new(Code::MissingField, span, message);
            self.report.push(missing.help(help));
        }
        value
    }

    fn position(&self, name: &str) -> Option<usize> {
        let has_name =
            |(key, _): &(Node, Node)| matches!(&key.value, YamlValue::Text(key) if key == name);
        self.entries.iter().position(has_name)
    }

    /// Reports all fields that were not read.
    pub fn close(self) {
        for (key, _) in self.entries {
            let YamlValue::Text(name) = &key.value else {
                let kind = key.value.kind();
                let message = format!(
                    "the field names of {} must be text, found {kind}",
                    self.subject
                );
                self.report.push(
                    Diagnostic::new(Code::WrongType, key.span, message)
                        .help(format!("the fields are: {}", self.known.join(", "))),
                );
                continue;
            };
            // As in compose files, `x-` keys are free for YAML anchors.
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
                    format!("{} has no field `{name}`", self.subject),
                )
                .help(help),
            );
        }
    }
}

/// The known name with the smallest edit distance, if it is close enough to be a typo of it.
#[must_use]
pub fn closest<'n>(typo: &str, known: &[&'n str]) -> Option<&'n str> {
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(typo, name), *name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}

/// A diagnostic for a node of an unexpected type.
#[must_use]
pub fn wrong_type(node: &Node, expected: &str, help: &str) -> Diagnostic {
    let found = node.value.kind();
    let message = format!("expected {expected}, found {found}");
    Diagnostic::new(Code::WrongType, node.span, message).help(help)
}

/// Reads text. A scalar that YAML 1.1 or 1.2 reads as something else must be quoted.
pub fn text(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<String>> {
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
            Some(wrong_type(&node, "text", "write a single text value"))
        }
        (YamlValue::Boolean(_) | YamlValue::Integer(_) | YamlValue::Float(_), _) => {
            Some(wrong_type(&node, "text", quote))
        }
    };
    match (error, node.value) {
        (None, YamlValue::Text(value)) => Some(Spanned {
            value,
            span: node.span,
        }),
        (error, _) => {
            report.extend(error);
            None
        }
    }
}

/// Reads a list of text values.
pub fn texts(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Spanned<String>>> {
    Some(
        list(node, report)?
            .into_iter()
            .filter_map(|node| text(node, report))
            .collect(),
    )
}

/// Reads a mapping of text to text.
pub fn pairs(
    node: Node,
    report: &mut Vec<Diagnostic>,
) -> Option<Vec<(Spanned<String>, Spanned<String>)>> {
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
pub fn boolean(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<bool>> {
    let value = match (&node.value, node.yaml_1_1_reading) {
        (YamlValue::Boolean(value), _) => *value,
        // Existing configs may say `required: yes`, which is not ambiguous for a boolean field.
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
    Some(Spanned {
        value,
        span: node.span,
    })
}

/// Reads a number.
#[expect(clippy::needless_pass_by_value, reason = "every reader takes its node")]
pub fn number(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<Number>> {
    let value = match (&node.value, node.yaml_1_1_reading) {
        (YamlValue::Integer(integer), None) => Number::Integer(*integer),
        (YamlValue::Float(float), None) => Number::Float(*float),
        (_, Some(reading)) => {
            let message = format!("YAML 1.1 reads this as {reading}, YAML 1.2 does not");
            report.push(
                Diagnostic::new(Code::AmbiguousScalar, node.span, message)
                    .help("write it as a plain decimal number"),
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
    Some(Spanned {
        value,
        span: node.span,
    })
}

/// Reads one of a fixed set of names, and returns the value for it.
pub fn one_of<T: Copy>(
    node: Node,
    values: &[(&'static str, T)],
    report: &mut Vec<Diagnostic>,
) -> Option<Spanned<T>> {
    let Spanned { value: name, span } = text(node, report)?;
    if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
        return Some(Spanned {
            value: *value,
            span,
        });
    }
    let names: Vec<&str> = values.iter().map(|(known, _)| *known).collect();
    let help = match closest(&name, &names) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("expected one of: {}", names.join(", ")),
    };
    report.push(
        Diagnostic::new(Code::UnknownValue, span, format!("unknown value `{name}`")).help(help),
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
        "write it as a list: `[a, b]`, or one `- item` per line",
    ));
    None
}

/// Reads a mapping with arbitrary keys.
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
    fn a_typo_suggests_the_closest_known_name() {
        let known = ["name", "required", "default", "description"];
        assert_eq!(closest("requred", &known), Some("required"));
        assert_eq!(closest("nmae", &known), Some("name"));
        assert_eq!(closest("desc", &known), None);
        assert_eq!(closest("shell", &known), None);
    }
}
