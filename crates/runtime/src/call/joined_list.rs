//! Recognises text that an agent gave for a list, but that holds several values.

use climax_policy::limit::truncate_for_message;
use serde_json::json;

/// The values of a text that joins them with commas, or of paths that it joins with spaces.
pub(crate) fn joined_values(text: &str) -> Option<Vec<&str>> {
    several(text.split(',').map(str::trim)).or_else(|| {
        let paths = text.split_whitespace();
        several(paths).filter(|paths| paths.iter().all(|path| path.contains(['.', '/', '*'])))
    })
}

/// The words of a text.
pub(crate) fn joined_words(text: &str) -> Option<Vec<&str>> {
    several(text.split_whitespace())
}

/// A line about a text for a list that is either several values or one.
pub(crate) fn several_values_line(argument: &str, text: &str, values: &[&str]) -> String {
    let [several, one] = [json!(values), json!([text])].map(|list| list.to_string());
    let [several, one] = [&several, &one].map(|list| truncate_for_message(list));
    format!("Argument '{argument}': pass a list: {several}, or {one} for one value")
}

/// The parts of a text, if there are several and each could be a value. `*.{c,h}` is one value, and so is
/// `Accept: text/html, text/plain`.
fn several<'t>(parts: impl Iterator<Item = &'t str>) -> Option<Vec<&'t str>> {
    let parts: Vec<&str> = parts.collect();
    let is_value = |part: &&str| {
        let is_text = !part.is_empty() && !part.starts_with('-');
        is_text && !part.contains(|c: char| c.is_whitespace() || "[]{}\"'".contains(c))
    };
    (parts.len() > 1 && parts.iter().all(is_value)).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_commas_or_with_paths_is_a_list_unless_a_part_cannot_be_a_value() {
        for (text, values) in [
            ("a, b", ["a", "b"]),
            ("*.py,*.tmp", ["*.py", "*.tmp"]),
            ("a.txt src/b", ["a.txt", "src/b"]),
        ] {
            assert_eq!(joined_values(text), Some(values.into()), "{text}");
        }
        for text in [
            "a",
            "a,",
            "a,-f",
            "[\"a\",\"b\"]",
            "*.{c,h}",
            "Accept: text/html, text/plain",
            "my file.txt",
            "",
        ] {
            assert_eq!(joined_values(text), None, "{text}");
        }
        assert_eq!(joined_words("my file"), Some(vec!["my", "file"]));
    }
}
