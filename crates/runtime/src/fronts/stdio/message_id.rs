//! Finds the id of a request that cannot be read as a whole: it is too long, half a surrogate pair
//! is in it, a number out of range, nesting without end. It holds nothing but the id.

use serde_json::Value;

/// An id that is longer is not worth keeping.
const MAX_ID_BYTES: usize = 256;

/// Reads a message byte by byte.
#[derive(Default)]
pub(super) struct IdFinder {
    /// How many objects and lists are open.
    depth: usize,
    string: StringState,
    /// Where the outermost object is.
    position: MemberPosition,
    /// What was read of that.
    text: Vec<u8>,
    id: Option<Value>,
}

/// Whether a string is open.
#[derive(Default)]
enum StringState {
    #[default]
    Outside,
    Inside,
    /// After a backslash.
    Escaped,
}

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
    /// Takes the next bytes.
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
                self.string = StringState::Inside
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
        if is_outermost && self.text.len() <= MAX_ID_BYTES {
            self.text.push(byte);
        }
    }

    fn end_key(&mut self) {
        let is_id = self.text.trim_ascii() == br#""id""#;
        self.position = if is_id {
            MemberPosition::Id
        } else {
            MemberPosition::Value
        };
        self.text.clear();
    }

    fn end_value(&mut self) {
        if self.position == MemberPosition::Id && self.text.len() <= MAX_ID_BYTES {
            let id = serde_json::from_slice(&self.text).ok();
            self.id = id.filter(|id: &Value| id.is_string() || id.is_number());
        }
        self.position = MemberPosition::Key;
        self.text.clear();
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
    fn the_id_is_found_wherever_it_stands() {
        assert_eq!(id(r#"{"id":7,"method":"x"}"#), 7);
        assert_eq!(
            id(r#"{"method":"x","params":{"id":8},"id":"a\"b"}"#),
            r#"a"b"#
        );
        assert_eq!(id(r#" { "a" : [ { "id" : 1 } ] , "id" : 2.5 } "#), 2.5);
        assert_eq!(id(r#"{"text":"},\"id\":3,","id":4}"#), 4);
    }

    #[test]
    fn the_rest_may_be_bad() {
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
    fn what_is_no_id_is_none() {
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
