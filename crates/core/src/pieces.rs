//! The pieces of JSON that answers are made of. A binary holds them as they stand in the text of a
//! result, which is a string of JSON: with a backslash before each quote and backslash. So a search
//! copies them and looks at no character.

use serde_json::Value;

use crate::words::fold;

/// Text as a JSON string.
#[must_use]
pub fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// JSON as it stands in a string of JSON. There are no characters in it that would need another
/// escape.
#[must_use]
pub fn quoted(json: &str) -> String {
    json.replace('\\', r"\\").replace('"', r#"\""#)
}

/// JSON out of the string that it stands in.
#[must_use]
pub fn unquoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = rest.find('\\') {
        let (before, after) = (&rest[..backslash], &rest[backslash + 1..]);
        // What follows a backslash is a quote or a backslash, and stands for itself.
        let (escaped, after) = after.split_at(after.chars().next().map_or(0, char::len_utf8));
        json += before;
        json += escaped;
        rest = after;
    }
    json + rest
}

/// What begins both a search result and an entry of `tools/list`, after its first key: the tool's
/// name, and `"description":` with its description.
#[must_use]
pub fn head(name: &str, description: &str) -> String {
    let (name, description) = (json(name), json(description));
    quoted(&format!(r#"{name},"description":{description}"#))
}

/// Where a tool's name begins in its head. It needs no escapes.
pub const NAME_IN_HEAD: u32 = 2;

/// Where the text of a tool's description begins in its head.
#[must_use]
pub fn description_in_head(name: &str) -> usize {
    NAME_IN_HEAD as usize + name.len() + r#"\",\"description\":\""#.len()
}

/// The description in a head.
#[must_use]
pub fn description(head: &str) -> String {
    let object = format!(r#"{{"name":{}}}"#, unquoted(head));
    let object: Value = serde_json::from_str(&object).unwrap_or_default();
    object["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The line that is searched for a tool: its name, its description, and more.
#[must_use]
pub fn line(name: &str, description: &str, more: &[&str]) -> String {
    let mut parts = vec![name, description];
    parts.extend(more);
    fold(&parts.join(" "))
}

/// The same line for a tool whose description has changed.
#[must_use]
pub fn line_with(line: &str, name: &str, old: &str, new: &str) -> String {
    // Folding goes character by character, so a part of the line is the folded part.
    let rest = line.get(self::line(name, old, &[]).len()..);
    self::line(name, new, &[]) + rest.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comes_out_of_its_string() {
        for json in ["", r#"{"a":"b\\c\"d\n"}"#, r#""""#, "ä\\\\"] {
            let value = Value::from(json).to_string();
            assert_eq!(unquoted(&value[1..value.len() - 1]), json);
            assert_eq!(unquoted(&quoted(json)), json);
        }
    }

    #[test]
    fn a_head_has_the_name_and_gives_the_description_back() {
        let head = head("git_log", "say \"hi\"\nİ");
        assert!(head[NAME_IN_HEAD as usize..].starts_with("git_log\\\""));
        assert!(head[description_in_head("git_log")..].starts_with("say "));
        assert_eq!(description(&head), "say \"hi\"\nİ");
    }

    #[test]
    fn a_line_changes_its_description_only() {
        let old = line("git_log", "Show İt", &["git", "vcs"]);
        let new = line("git_log", "Look", &["git", "vcs"]);
        assert_eq!(line_with(&old, "git_log", "Show İt", "Look"), new);
        assert_eq!(new, "git_log look git vcs");
    }
}
