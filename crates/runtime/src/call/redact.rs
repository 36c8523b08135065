//! Removes secrets from what is logged about a call: values of arguments, options, variables and headers whose names
//! look like those of secrets.

use std::borrow::Cow;

use climax_core::secret::is_secret_name;
use serde_json::{Map, Value};

/// Stands for a secret in the log.
const REDACTED: &str = "***";

/// The longest argument that is logged in full, in characters.
const MAX_LOGGED_CHARACTERS: usize = 120;

/// The secrets among the arguments of a call.
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Finds the values of arguments that have the name of a secret, and secrets in the values of others, such as
    /// headers.
    pub(crate) fn of(arguments: &Map<String, Value>) -> Self {
        let mut secrets = Self(Vec::new());
        for (name, value) in arguments {
            secrets.add(is_secret_name(name), value);
        }
        secrets
    }

    /// Adds the secrets in a value. All of a value with the name of a secret is one.
    fn add(&mut self, has_secret_name: bool, value: &Value) {
        let text = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            Value::Number(number) => Cow::Owned(number.to_string()),
            Value::Array(items) => {
                for item in items {
                    self.add(has_secret_name, item);
                }
                return;
            }
            Value::Object(entries) => {
                for (key, entry) in entries {
                    self.add(has_secret_name || is_secret_name(key), entry);
                }
                return;
            }
            Value::Null | Value::Bool(_) => return,
        };
        let secret = if has_secret_name {
            Some(&*text)
        } else {
            named_secret(&text)
        };
        let secret = secret.filter(|secret| !secret.is_empty());
        self.0.extend(secret.map(str::to_owned));
    }

    /// Replaces the secrets in a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        let redact = |text: String, secret: &String| text.replace(secret.as_str(), REDACTED);
        self.0.iter().fold(text.to_owned(), redact)
    }

    /// Formats a command line without secrets, and with long arguments cut off.
    pub(crate) fn format_words(&self, words: &[Cow<'_, str>]) -> String {
        let mut is_secret = false;
        let formatted = words.iter().map(|word| {
            let redacted = match named_secret(word) {
                _ if is_secret => REDACTED.to_owned(),
                Some(secret) => word.replace(secret, REDACTED),
                None => self.redact(word),
            };
            // The word after `--token` is the token.
            is_secret = word.starts_with('-') && is_secret_name(word.trim_start_matches('-'));
            match redacted.char_indices().nth(MAX_LOGGED_CHARACTERS) {
                None => format!("{redacted:?}"),
                Some((end, _)) => format!("{:?}… ({} bytes)", &redacted[..end], word.len()),
            }
        });
        formatted.collect::<Vec<_>>().join(" ")
    }
}

/// The secret in `--token=SECRET`, `TOKEN=SECRET` or `Authorization: SECRET`.
fn named_secret(text: &str) -> Option<&str> {
    let (name, secret) = text.split_once([':', '='])?;
    let name = name.trim_start_matches('-').trim();
    let secret = secret.trim();
    (is_secret_name(name) && !secret.is_empty()).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn format(arguments: &Value, words: &[&str]) -> String {
        let arguments = arguments.as_object().expect("an object");
        let words: Vec<Cow<'_, str>> = words.iter().map(|&word| word.into()).collect();
        Secrets::of(arguments).format_words(&words)
    }

    #[test]
    fn secrets_are_not_in_a_formatted_command_line() {
        for (arguments, words, formatted) in [
            (
                json!({}),
                vec!["git", "log", "-n=3"],
                r#""git" "log" "-n=3""#,
            ),
            (
                json!({"headers": ["Authorization: Bearer abc"], "form": {"api_key": "def"}}),
                vec!["x", "-HAuthorization: Bearer abc", "-Fapi_key=def"],
                r#""x" "-HAuthorization: ***" "-Fapi_key=***""#,
            ),
            (json!({}), vec!["x", "--token=abc"], r#""x" "--token=***""#),
            (
                json!({}),
                vec!["x", "--api-key", "abc", "y"],
                r#""x" "--api-key" "***" "y""#,
            ),
            (
                json!({}),
                vec!["env", "DB_PASSWORD=a=b"],
                r#""env" "DB_PASSWORD=***""#,
            ),
            (
                json!({"header": "Authorization: Bearer abc"}),
                vec!["curl", "-H", "Authorization: Bearer abc"],
                r#""curl" "-H" "Authorization: ***""#,
            ),
            (
                json!({"token": "abc", "pin": 1}),
                vec!["x", "-tabc", "1", "https://abc@host"],
                r#""x" "-t***" "1" "https://***@host""#,
            ),
            (
                json!({"user_password": 1234}),
                vec!["x", "-p", "1234"],
                r#""x" "-p" "***""#,
            ),
        ] {
            assert_eq!(format(&arguments, &words), formatted);
        }
    }

    #[test]
    fn the_log_shortens_long_arguments() {
        let line = format(&json!({}), &["git", &"ä".repeat(1000)]);
        assert!(line.starts_with("\"git\" \"ää"), "{line}");
        assert!(
            line.ends_with("… (2000 bytes)") && line.len() < 300,
            "{line}"
        );
        let line = format(&json!({"token": "abc"}), &[&"abc".repeat(100)]);
        assert!(!line.contains("abc"), "{line}");
    }

    #[test]
    fn secrets_are_not_in_a_refusal() {
        let arguments = json!({"token": "abc", "header": "X-Api-Key: def", "path": "ghi"});
        let secrets = Secrets::of(arguments.as_object().expect("an object"));
        assert_eq!(
            secrets.redact("'abc', 'X-Api-Key: def', 'ghi'"),
            "'***', 'X-Api-Key: ***', 'ghi'"
        );
    }
}
