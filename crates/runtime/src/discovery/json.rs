//! Puts JSON together as it stands in a string of JSON: with a backslash before each quote. Answers are such
//! strings, and what is baked has the backslashes.

use climax_core::pieces::{json, quoted};

/// JSON that grows.
#[derive(Default)]
pub(super) struct Json(pub(super) String);

impl Json {
    /// Begins an object or a list.
    pub(super) fn open(&mut self, bracket: char) {
        self.separate();
        self.0.push(bracket);
    }

    /// Ends one.
    pub(super) fn close(&mut self, bracket: char) {
        self.0.push(bracket);
    }

    /// A key of an object; its value comes next.
    pub(super) fn key(&mut self, key: &str) {
        self.separate();
        self.0 += r#"\""#;
        self.0 += key;
        self.0 += r#"\":"#;
    }

    /// A value that is written so already.
    pub(super) fn raw(&mut self, value: &str) {
        self.separate();
        self.0 += value;
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) {
        self.separate();
        self.0 += &quoted(&json(text));
    }

    /// Text that needs no escapes but those that it has.
    pub(super) fn plain(&mut self, text: &str) {
        self.separate();
        self.0 += r#"\""#;
        self.0 += text;
        self.0 += r#"\""#;
    }

    /// A key and its text.
    pub(super) fn field(&mut self, key: &str, text: &str) {
        self.key(key);
        self.text(text);
    }

    /// A key and its value, which is written so already.
    pub(super) fn raw_field(&mut self, key: &str, value: &str) {
        self.key(key);
        self.raw(value);
    }

    /// A key and a list of texts.
    pub(super) fn texts<'t>(&mut self, key: &str, texts: impl IntoIterator<Item = &'t str>) {
        self.key(key);
        self.open('[');
        for text in texts {
            self.text(text);
        }
        self.close(']');
    }

    /// Values are separated, but not from the key or the bracket before them.
    fn separate(&mut self) {
        if !self.0.is_empty() && !self.0.ends_with(['{', '[', ':']) {
            self.0.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use climax_core::pieces::unquoted;

    #[test]
    fn values_are_separated_and_text_is_escaped() {
        let mut json = Json::default();
        json.open('{');
        json.field("a", "say \"hi\" [");
        json.texts("b", ["x:", "y{", ""]);
        json.texts("c", []);
        json.key("d");
        json.open('[');
        json.open('{');
        json.raw_field("e", "1");
        json.close('}');
        json.plain("f");
        json.close(']');
        json.close('}');
        assert_eq!(
            unquoted(&json.0),
            r#"{"a":"say \"hi\" [","b":["x:","y{",""],"c":[],"d":[{"e":1},"f"]}"#
        );
    }
}
