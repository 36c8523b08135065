//! Translates patterns from the syntax of Python's `re` to that of the regex engine and of JSON Schema.
//! Unsupported syntax is an error, and so is syntax that Python and the engine interpret differently.

/// The reason why a pattern is refused.
#[derive(Debug, PartialEq, Eq)]
pub struct PatternProblem {
    /// The problem.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl PatternProblem {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }

    fn unsupported(feature: &str, help: &str) -> Self {
        Self::new(format!("{feature} is not supported in patterns"), help)
    }
}

/// A pattern in the two dialects that it is translated to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TranslatedPattern {
    /// For the regex engine.
    pub(crate) engine: String,
    /// For JSON Schema, if it can be expressed there. It is anchored, since JSON Schema searches for a match.
    pub(crate) schema: Option<String>,
}

/// Translates a pattern.
pub(crate) fn translate(pattern: &str) -> Result<TranslatedPattern, PatternProblem> {
    if pattern.is_empty() {
        return Err(PatternProblem::new(
            "the pattern is empty, so it would allow only the empty text",
            "write `.*` to allow any text, or remove the line",
        ));
    }
    let mut translator = Translator {
        rest: pattern,
        engine: String::with_capacity(pattern.len()),
        schema: String::with_capacity(pattern.len()),
        has_flags: false,
        has_alternation: false,
    };
    translator.run()?;
    let Translator {
        engine,
        schema,
        has_flags,
        has_alternation,
        ..
    } = translator;
    let is_start_anchored = schema.starts_with('^');
    let is_end_anchored = schema.ends_with('$') && !schema.ends_with("\\$");
    let schema = if is_start_anchored && is_end_anchored && !has_alternation {
        schema
    } else {
        format!("^(?:{schema})$")
    };
    Ok(TranslatedPattern {
        engine,
        schema: (!has_flags).then_some(schema),
    })
}

struct Translator<'p> {
    rest: &'p str,
    engine: String,
    schema: String,
    /// JSON Schema cannot express `(?i)`.
    has_flags: bool,
    has_alternation: bool,
}

/// White space: in Python, four more control characters than in Unicode.
const SPACE: &str = r"\s\x1c-\x1f";

const SINGLE_REPETITION_HELP: &str = "use only one of `*`, `+`, `?` or `{n}` after an item; to repeat a \
     repetition, put it in `(?:...)`";

impl Translator<'_> {
    fn run(&mut self) -> Result<(), PatternProblem> {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' | '{' => self.repetition()?,
                // Literal, because no bracket is open.
                '}' | ']' => {
                    self.literal(first, false);
                    self.rest = &self.rest[1..];
                }
                other => {
                    self.has_alternation |= other == '|';
                    self.copy(other.len_utf8());
                }
            }
        }
        Ok(())
    }

    /// Copies a piece that is the same in all dialects.
    fn copy(&mut self, length: usize) {
        let (piece, rest) = self.rest.split_at(length);
        self.engine += piece;
        self.schema += piece;
        self.rest = rest;
    }

    fn replace(&mut self, length: usize, engine: &str, schema: &str) {
        self.engine += engine;
        self.schema += schema;
        self.rest = &self.rest[length..];
    }

    fn escape(&mut self, is_in_class: bool) -> Result<(), PatternProblem> {
        let Some(escaped) = self.rest[1..].chars().next() else {
            return Err(PatternProblem::new(
                "the pattern ends with a single `\\`",
                "write `\\\\` for a backslash",
            ));
        };
        let length = 1 + escaped.len_utf8();
        match escaped {
            'Z' if !is_in_class => self.replace(length, r"\z", "$"),
            'A' if !is_in_class => self.replace(length, r"\A", "^"),
            'b' if is_in_class => self.replace(length, r"\x08", r"\x08"),
            'b' | 'B' if self.rest[length..].starts_with('{') => {
                return Err(PatternProblem::new(
                    "a word boundary cannot be repeated",
                    "write `\\{` for a literal brace",
                ));
            }
            '0' => {
                return Err(PatternProblem::unsupported(
                    "an octal escape (`\\0`)",
                    "write the character code in hexadecimal: `\\x41`",
                ));
            }
            '1'..='9' => {
                return Err(PatternProblem::unsupported(
                    &format!("a backreference (`\\{escaped}`)"),
                    "write out what the group may match; for a character code, use `\\x41`",
                ));
            }
            'N' => {
                return Err(PatternProblem::unsupported(
                    "a named character (`\\N`)",
                    "write the character itself, or its code: `\\u00e9`",
                ));
            }
            's' | 'S' => {
                let engine = match (escaped, is_in_class) {
                    ('s', true) => SPACE.to_owned(),
                    ('s', false) => format!("[{SPACE}]"),
                    _ => format!("[^{SPACE}]"),
                };
                self.replace(length, &engine, &format!("\\{escaped}"));
            }
            // The bell character, for which JSON Schema has no escape.
            'a' => self.replace(length, r"\x07", r"\x07"),
            'u' | 'U' | 'x' => self.character_code(escaped, is_in_class)?,
            'f' | 'n' | 'r' | 't' | 'v' | 'b' | 'B' | 'd' | 'D' | 'w' | 'W' => self.copy(length),
            'A'..='Z' | 'a'..='z' => {
                return Err(PatternProblem::new(
                    format!("unknown escape `\\{escaped}`"),
                    format!("write `{escaped}` for the letter itself"),
                ));
            }
            _ => {
                self.literal(escaped, is_in_class);
                self.rest = &self.rest[length..];
            }
        }
        Ok(())
    }

    /// Adds a literal character, escaped as each dialect requires.
    fn literal(&mut self, character: char, is_in_class: bool) {
        self.engine += &regex_syntax::escape(character.encode_utf8(&mut [0; 4]));
        // JSON Schema does not allow unnecessary backslashes.
        let is_special = "^$\\.*+?()[]{}|/".contains(character);
        if is_special || (is_in_class && character == '-') {
            self.schema.push('\\');
        }
        self.schema.push(character);
    }

    /// Translates a character code, such as `\x41`, `\u00e9` or `\U0001f600`.
    fn character_code(&mut self, kind: char, is_in_class: bool) -> Result<(), PatternProblem> {
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            _ => 8,
        };
        let code = self.rest.get(2..2 + digits);
        let code = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        let Some(character) = code.and_then(char::from_u32) else {
            return Err(PatternProblem::new(
                format!("`\\{kind}` is not followed by a valid character code"),
                format!("write {digits} hexadecimal digits after it"),
            ));
        };
        // A dash or bracket that is written as a code is literal, also in a class.
        self.literal(character, is_in_class);
        self.rest = &self.rest[2 + digits..];
        Ok(())
    }

    fn class(&mut self) -> Result<(), PatternProblem> {
        self.copy(1);
        if self.rest.starts_with('^') {
            self.copy(1);
        }
        // A `]` at the start of a class is literal.
        if self.rest.starts_with(']') {
            self.replace(1, r"\]", r"\]");
        }
        loop {
            let Some(first) = self.rest.chars().next() else {
                return Err(PatternProblem::new(
                    "a `[` is not closed",
                    "close it with `]`, or write `\\[` for a literal bracket",
                ));
            };
            match first {
                ']' => {
                    self.copy(1);
                    return Ok(());
                }
                '\\' => self.escape(true)?,
                // The regex engine would read these as nested classes and set operations.
                '[' => self.replace(1, r"\[", r"\["),
                '&' | '~' => self.replace(1, &format!("\\{first}"), &first.to_string()),
                '-' if self.rest.starts_with("--") => {
                    return Err(PatternProblem::new(
                        "`--` in a character class is ambiguous",
                        "write `\\-` for a literal dash",
                    ));
                }
                other => self.copy(other.len_utf8()),
            }
        }
    }

    fn group(&mut self) -> Result<(), PatternProblem> {
        let after = &self.rest[1..];
        let Some(extension) = after.strip_prefix('?') else {
            self.copy(1);
            return Ok(());
        };
        for (prefix, feature) in [
            ("=", "look-ahead (`(?=`)"),
            ("!", "negative look-ahead (`(?!`)"),
            ("<=", "look-behind (`(?<=`)"),
            ("<!", "negative look-behind (`(?<!`)"),
        ] {
            if extension.starts_with(prefix) {
                return Err(PatternProblem::unsupported(
                    feature,
                    "describe the values that are allowed, not those that are forbidden",
                ));
            }
        }
        let help = "write out what the group may match";
        if extension.starts_with("P=") {
            return Err(PatternProblem::unsupported(
                "a backreference (`(?P=`)",
                help,
            ));
        }
        if extension.starts_with('(') {
            return Err(PatternProblem::unsupported("a condition (`(?(`)", help));
        }
        if extension.starts_with('>') {
            return Err(PatternProblem::unsupported(
                "an atomic group (`(?>`)",
                "write `(?:...)`: every pattern matches in linear time",
            ));
        }
        if extension.starts_with('#') {
            return Err(PatternProblem::unsupported(
                "a comment (`(?#`)",
                "write a YAML comment (`#`) instead",
            ));
        }
        if extension.starts_with("P<") {
            self.replace("(?P<".len(), "(?P<", "(?<");
            return Ok(());
        }
        if extension.starts_with(':') {
            self.copy("(?:".len());
            return Ok(());
        }
        let end = extension.find([':', ')']).unwrap_or(extension.len());
        let flags = &extension[..end];
        if let Some(flag) = flags
            .chars()
            .find(|flag| !matches!(flag, 'i' | 'm' | 's' | 'u' | '-'))
        {
            let help = match flag {
                'x' => "write the pattern without white space and comments",
                'a' => "write `[0-9]` for `\\d` and `[A-Za-z0-9_]` for `\\w`",
                _ => "the supported flags are `i`, `m` and `s`",
            };
            return Err(PatternProblem::unsupported(
                &format!("the flag `{flag}`"),
                help,
            ));
        }
        self.has_flags = true;
        self.copy("(?".len() + end);
        Ok(())
    }

    fn repetition(&mut self) -> Result<(), PatternProblem> {
        if self.rest.starts_with('{') {
            let count = self.rest[1..].split_once('}').map(|(count, _)| count);
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let count = count.filter(|count| match count.split_once(',') {
                Some((min, max)) => is_number(min) && is_number(max),
                None => !count.is_empty() && is_number(count),
            });
            let Some(count) = count else {
                // Python reads any other brace as a literal.
                self.replace(1, r"\{", r"\{");
                return Ok(());
            };
            let length = count.len() + "{}".len();
            if let Some(max) = count.strip_prefix(',') {
                let text = format!("{{0,{max}}}");
                self.replace(length, &text, &text);
            } else {
                self.copy(length);
            }
        } else {
            self.copy(1);
        }
        if self.rest.starts_with('?') {
            self.copy(1);
        }
        if self.rest.starts_with('+') {
            return Err(PatternProblem::unsupported(
                "a possessive repetition",
                SINGLE_REPETITION_HELP,
            ));
        }
        if self.rest.starts_with(['*', '?']) {
            return Err(PatternProblem::new(
                "a repetition cannot be repeated",
                SINGLE_REPETITION_HELP,
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_translated_to_both_dialects() {
        for (pattern, engine, schema) in [
            ("^[a-z]+$", "^[a-z]+$", "^[a-z]+$"),
            ("src/.*", "src/.*", "^(?:src/.*)$"),
            ("^a|b$", "^a|b$", "^(?:^a|b$)$"),
            (r"\Aa\Z", r"\Aa\z", "^a$"),
            (r"\<a\>", "<a>", "^(?:<a>)$"),
            (r"a\-\ \#\.", r"a\- \#\.", r"^(?:a- #\.)$"),
            (r"[\w-]", r"[\w-]", r"^(?:[\w-])$"),
            (r"\S", r"[^\s\x1c-\x1f]", r"^(?:\S)$"),
            (r"\x41\u00e9", "Aé", "^(?:Aé)$"),
            ("a{,}", "a{0,}", "^(?:a{0,})$"),
            ("a]}", r"a\]\}", r"^(?:a\]\})$"),
            ("[[a]", r"[\[a]", r"^(?:[\[a])$"),
            ("[a&&b~~]", r"[a\&\&b\~\~]", "^(?:[a&&b~~])$"),
            ("[]a]", r"[\]a]", r"^(?:[\]a])$"),
            ("a{,3}", "a{0,3}", "^(?:a{0,3})$"),
            ("a{x}", r"a\{x\}", r"^(?:a\{x\})$"),
            ("(?P<n>a)", "(?P<n>a)", "^(?:(?<n>a))$"),
            (r"a\$", r"a\$", r"^(?:a\$)$"),
            (r"[\b]", r"[\x08]", r"^(?:[\x08])$"),
            ("a{2}?", "a{2}?", "^(?:a{2}?)$"),
        ] {
            let translated = translate(pattern).expect(pattern);
            assert_eq!(translated.engine, engine, "{pattern}");
            assert_eq!(translated.schema.as_deref(), Some(schema), "{pattern}");
        }
        let case_insensitive = translate("(?i)a").expect("a valid flag");
        assert_eq!(case_insensitive.engine, "(?i)a");
        assert_eq!(case_insensitive.schema, None);
    }

    #[test]
    fn unsupported_syntax_is_named() {
        for (pattern, part) in [
            ("(?=a)", "look-ahead"),
            ("(?!a)", "negative look-ahead"),
            ("(?<=a)b", "look-behind"),
            ("(?<!a)b", "negative look-behind"),
            (r"(a)\1", "backreference"),
            ("(?P<n>a)(?P=n)", "backreference"),
            ("(a)?(?(1)b|c)", "condition"),
            ("(?>a)", "atomic"),
            ("a++", "possessive"),
            ("a**", "repeated"),
            ("(?x)a b", "flag `x`"),
            ("(?a)\\w", "flag `a`"),
            ("(?#c)a", "comment"),
            (r"\p{L}", "unknown escape `\\p`"),
            (r"\N{BULLET}", "named character"),
            ("[a--b]", "ambiguous"),
            ("", "is empty"),
            ("[a", "not closed"),
            ("a\\", "single `\\`"),
        ] {
            let problem = translate(pattern).expect_err(pattern);
            assert!(problem.message.contains(part), "{pattern}: {problem:?}");
        }
    }
}
