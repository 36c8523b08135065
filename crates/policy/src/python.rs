//! Turns a pattern as Python's `re` reads it into one that means the same here, or says what in it
//! does not exist here. What both take but read differently is never let through.

/// Why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub struct PatternProblem {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl PatternProblem {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }

    fn unsupported(what: &str, help: &str) -> Self {
        Self::new(format!("{what} is not supported in patterns"), help)
    }
}

/// A pattern in other dialects than the one it is written in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Translated {
    /// For the engine here.
    pub(crate) engine: String,
    /// For JSON Schema, if it can be said there. It is to match the whole value too.
    pub(crate) schema: Option<String>,
}

/// Translates a pattern.
pub(crate) fn translate(pattern: &str) -> Result<Translated, PatternProblem> {
    if pattern.is_empty() {
        return Err(PatternProblem::new(
            "the pattern is empty, so that only the empty text would be allowed",
            "write `.*` to allow any text, or remove the line",
        ));
    }
    let mut translator = Translator {
        rest: pattern,
        engine: String::with_capacity(pattern.len()),
        schema: String::with_capacity(pattern.len()),
        has_flags: false,
        has_alternatives: false,
    };
    translator.run()?;
    let Translator {
        engine,
        schema,
        has_flags,
        has_alternatives,
        ..
    } = translator;
    let begins = schema.starts_with('^');
    let ends = schema.ends_with('$') && !schema.ends_with("\\$");
    let schema = if begins && ends && !has_alternatives {
        schema
    } else {
        format!("^(?:{schema})$")
    };
    Ok(Translated {
        engine,
        schema: (!has_flags).then_some(schema),
    })
}

struct Translator<'p> {
    rest: &'p str,
    engine: String,
    schema: String,
    /// JSON Schema has no way to say `(?i)`.
    has_flags: bool,
    has_alternatives: bool,
}

/// Python has four control characters more than Unicode.
const SPACE: &str = r"\s\x1c-\x1f";

const ONE_AT_A_TIME: &str = "write one of `*`, `+`, `?` or `{n}` after an item, and put the item in \
     `(?:...)` to repeat a repetition";

impl Translator<'_> {
    fn run(&mut self) -> Result<(), PatternProblem> {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' | '{' => self.repetition()?,
                // Without their other halves they stand for themselves.
                '}' | ']' => {
                    self.literal(first, false);
                    self.rest = &self.rest[1..];
                }
                other => {
                    self.has_alternatives |= other == '|';
                    self.copy(other.len_utf8());
                }
            }
        }
        Ok(())
    }

    /// What is written the same way in all dialects.
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
                    "write `\\{` for a brace that is meant as one",
                ));
            }
            '0' => {
                return Err(PatternProblem::unsupported(
                    "an octal number (`\\0`)",
                    "write a character by its number as `\\x41`",
                ));
            }
            '1'..='9' => {
                return Err(PatternProblem::unsupported(
                    &format!("a backreference (`\\{escaped}`)"),
                    "write out what the group may match; for a character by its number, `\\x41`",
                ));
            }
            'N' => {
                return Err(PatternProblem::unsupported(
                    "a character by its name (`\\N`)",
                    "write the character itself, or its number: `\\u00e9`",
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
            // The bell, which is no escape in JSON Schema.
            'a' => self.replace(length, r"\x07", r"\x07"),
            'u' | 'U' | 'x' => self.character(escaped, is_in_class)?,
            'f' | 'n' | 'r' | 't' | 'v' | 'b' | 'B' | 'd' | 'D' | 'w' | 'W' => self.copy(length),
            'A'..='Z' | 'a'..='z' => {
                return Err(PatternProblem::new(
                    format!("`\\{escaped}` has no meaning in a pattern"),
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

    /// A character that stands for itself, whatever it means elsewhere.
    fn literal(&mut self, character: char, is_in_class: bool) {
        self.engine += &regex_syntax::escape(character.encode_utf8(&mut [0; 4]));
        // JSON Schema allows no backslash where none is needed.
        let is_sign = "^$\\.*+?()[]{}|/".contains(character);
        if is_sign || (is_in_class && character == '-') {
            self.schema.push('\\');
        }
        self.schema.push(character);
    }

    /// A character by its number, such as `\x41`, `\u00e9` or `\U0001f600`.
    fn character(&mut self, kind: char, is_in_class: bool) -> Result<(), PatternProblem> {
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            _ => 8,
        };
        let number = self.rest.get(2..2 + digits);
        let number = number.filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let number = number.and_then(|number| u32::from_str_radix(number, 16).ok());
        let Some(character) = number.and_then(char::from_u32) else {
            return Err(PatternProblem::new(
                format!("`\\{kind}` is not followed by the number of a character"),
                format!("write {digits} hexadecimal digits after it"),
            ));
        };
        // A dash or bracket by its number is no sign of a class.
        self.literal(character, is_in_class);
        self.rest = &self.rest[2 + digits..];
        Ok(())
    }

    fn class(&mut self) -> Result<(), PatternProblem> {
        self.copy(1);
        if self.rest.starts_with('^') {
            self.copy(1);
        }
        // The first one is no end.
        if self.rest.starts_with(']') {
            self.replace(1, r"\]", r"\]");
        }
        loop {
            let Some(first) = self.rest.chars().next() else {
                return Err(PatternProblem::new(
                    "a `[` is not closed",
                    "close it with `]`, or write `\\[` for a bracket that is meant as one",
                ));
            };
            match first {
                ']' => {
                    self.copy(1);
                    return Ok(());
                }
                '\\' => self.escape(true)?,
                // Here they would open a class in the class, and combine classes.
                '[' => self.replace(1, r"\[", r"\["),
                '&' | '~' => self.replace(1, &format!("\\{first}"), &first.to_string()),
                '-' if self.rest.starts_with("--") => {
                    return Err(PatternProblem::new(
                        "`--` in brackets can be read in two ways",
                        "write `\\-` for a dash that is meant as one",
                    ));
                }
                other => self.copy(other.len_utf8()),
            }
        }
    }

    fn group(&mut self) -> Result<(), PatternProblem> {
        let after = &self.rest[1..];
        let Some(mark) = after.strip_prefix('?') else {
            self.copy(1);
            return Ok(());
        };
        for (sign, what) in [
            ("=", "look-ahead (`(?=`)"),
            ("!", "negative look-ahead (`(?!`)"),
            ("<=", "look-behind (`(?<=`)"),
            ("<!", "negative look-behind (`(?<!`)"),
        ] {
            if mark.starts_with(sign) {
                return Err(PatternProblem::unsupported(
                    what,
                    "say what a value may be, in place of what it may not be",
                ));
            }
        }
        let help = "write out what the group may match";
        if mark.starts_with("P=") {
            return Err(PatternProblem::unsupported(
                "a backreference (`(?P=`)",
                help,
            ));
        }
        if mark.starts_with('(') {
            return Err(PatternProblem::unsupported("a condition (`(?(`)", help));
        }
        if mark.starts_with('>') {
            return Err(PatternProblem::unsupported(
                "an atomic group (`(?>`)",
                "write `(?:...)`: no pattern takes long here",
            ));
        }
        if mark.starts_with('#') {
            return Err(PatternProblem::unsupported(
                "a comment (`(?#`)",
                "write it into the YAML, after a `#`",
            ));
        }
        if mark.starts_with("P<") {
            self.replace("(?P<".len(), "(?P<", "(?<");
            return Ok(());
        }
        if mark.starts_with(':') {
            self.copy("(?:".len());
            return Ok(());
        }
        let end = mark.find([':', ')']).unwrap_or(mark.len());
        let flags = &mark[..end];
        if let Some(flag) = flags
            .chars()
            .find(|it| !matches!(it, 'i' | 'm' | 's' | 'u' | '-'))
        {
            let help = match flag {
                'x' => "write the pattern in one line, without comments",
                'a' => "write `[0-9]` for `\\d` and `[A-Za-z0-9_]` for `\\w`",
                _ => "the flags are `i`, `m` and `s`",
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
                Some((least, most)) => is_number(least) && is_number(most),
                None => !count.is_empty() && is_number(count),
            });
            let Some(count) = count else {
                // A brace that is meant as one.
                self.replace(1, r"\{", r"\{");
                return Ok(());
            };
            let length = count.len() + "{}".len();
            if let Some(most) = count.strip_prefix(',') {
                let text = format!("{{0,{most}}}");
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
                ONE_AT_A_TIME,
            ));
        }
        if self.rest.starts_with(['*', '?']) {
            return Err(PatternProblem::new(
                "a repetition is repeated",
                ONE_AT_A_TIME,
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_meaning() {
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
        let ignoring_case = translate("(?i)a").expect("a flag");
        assert_eq!(ignoring_case.engine, "(?i)a");
        assert_eq!(ignoring_case.schema, None);
    }

    #[test]
    fn what_does_not_exist_here_is_named() {
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
            (r"\p{L}", "`\\p` has no meaning"),
            (r"\N{BULLET}", "by its name"),
            ("[a--b]", "two ways"),
            ("", "is empty"),
            ("[a", "not closed"),
            ("a\\", "single `\\`"),
        ] {
            let problem = translate(pattern).expect_err(pattern);
            assert!(problem.message.contains(part), "{pattern}: {problem:?}");
        }
    }
}
