//! Finds the id of a request that cannot be parsed: it is too long or too deeply nested, or has a lone
//! surrogate or a number out of range. It keeps only the id in memory.

use serde_json::Value;

/// Longer ids are ignored.
const MAX_ID_BYTES: usize = 256;

/// Scans a message byte by byte.
#[derive(Default)]
pub(super) struct IdFinder {
    /// How many objects and arrays are open.
    depth: usize,
    string: StringState,
    /// The current position in the outermost object.
    position: MemberPosition,
    /// The bytes of the current key or value.
    token: Vec<u8>,
    id: Option<Value>,
}

/// Whether the scanner is inside a string.
#[derive(Default)]
enum StringState {
    #[default]
    Outside,
    Inside,
    /// After a backslash.
    Escaped,
}

/// A position in the outermost object.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum MemberPosition {
    #[default]
    Key,
    /// The value of the key `id`.
    Id,
    /// Any other value.
    Value,
}

impl IdFinder {
    /// Scans the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push_byte(byte);
        }
    }

    /// The id, or null.
    pub(super) fn id(self) -> Value {
        self.id.unwrap_or_default()
    }

    fn push_byte(&mut self, byte: u8) {
        let is_outermost = self.depth == 1;
        match (&self.string, byte) {
            (StringState::Inside, b'\\') => self.string = StringState::Escaped,
            (StringState::Inside, b'"') => self.string = StringState::Outside,
            (StringState::Escaped, _) | (StringState::Outside, b'"') => {
                self.string = StringState::Inside;
            }
            (StringState::Outside, b'{' | b'[') => self.depth += 1,
            (StringState::Outside, b'}' | b']') => {
                if is_outermost {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            (StringState::Outside, b':') if is_outermost => return self.end_key(),
            (StringState::Outside, b',') if is_outermost => return self.end_value(),
            (StringState::Inside | StringState::Outside, _) => {}
        }
        if is_outermost && self.token.len() <= MAX_ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_key(&mut self) {
        let is_id = self.token.trim_ascii() == br#""id""#;
        self.position = if is_id {
            MemberPosition::Id
        } else {
            MemberPosition::Value
        };
        self.token.clear();
    }

    fn end_value(&mut self) {
        if self.position == MemberPosition::Id && self.token.len() <= MAX_ID_BYTES {
            let id = serde_json::from_slice(&self.token).ok();
            self.id = id.filter(|id: &Value| id.is_string() || id.is_number());
        }
        self.position = MemberPosition::Key;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn id(text: &str) -> Value {
        let mut whole = IdFinder::default();
        whole.push(text.as_bytes());
        let mut pieces = IdFinder::default();
        text.bytes().for_each(|byte| pieces.push(&[byte]));
        let id = whole.id();
        assert_eq!(pieces.id(), id);
        id
    }

    #[test]
    fn the_id_is_found_at_any_position() {
        assert_eq!(id(r#"{"id":7,"method":"x"}"#), 7);
        assert_eq!(
            id(r#"{"method":"x","params":{"id":8},"id":"a\"b"}"#),
            r#"a"b"#
        );
        assert_eq!(id(r#" { "a" : [ { "id" : 1 } ] , "id" : 2.5 } "#), 2.5);
        assert_eq!(id(r#"{"text":"},\"id\":3,","id":4}"#), 4);
    }

    #[test]
    fn the_rest_of_the_message_may_be_invalid() {
        assert_eq!(id(r#"{"id":7,"params":{"a":"\ud800"}}"#), 7);
        assert_eq!(id(r#"{"id":7,"params":1e999,"#), 7);
        assert_eq!(
            id(&format!(r#"{{"id":7,"params":{}"#, "[".repeat(100_000))),
            7
        );
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(id(&format!(r#"{{"params":{nested},"id":7}}"#)), 7);
        assert_eq!(id(r#"{"id":7,"id2" oops"#), 7);
    }

    #[test]
    fn anything_but_a_valid_top_level_id_is_ignored() {
        for text in [
            "",
            "}",
            "]]]:,,{",
            "[]",
            r#"[{"id":7}]"#,
            r#"{"params":{"id":7}}"#,
            r#"{"ID":7}"#,
            r#"{"id":null}"#,
            r#"{"id":[7]}"#,
            r#"{"id":{"id":7}}"#,
            r#"{"id":1e999}"#,
            r#"{"id":7"#,
            r#"{"id","x":7}"#,
            "oops",
        ] {
            assert_eq!(id(text), json!(null), "{text}");
        }
        assert_eq!(
            id(&format!(r#"{{"id":"{}"}}"#, "x".repeat(300))),
            json!(null)
        );
    }
}
