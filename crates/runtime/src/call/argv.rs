//! Turns typed arguments into a command line.

use std::borrow::Cow;

use climax_core::scalar::{Number, boolean};
use climax_policy::limit::shown;

use crate::call::expand::expand_set;

/// The command line of one call while it is written, and what goes beside it.
#[derive(Default)]
pub struct Argv<'a> {
    /// The program and its arguments.
    pub(crate) words: Vec<Cow<'a, str>>,
    /// Where it runs, if the call says so.
    pub(crate) directory: Option<&'a str>,
    /// What it reads, if the call says so.
    pub(crate) stdin: Option<&'a str>,
    /// Arguments whose values are meant to new with a dash, by name.
    pub(crate) allowing_leading_dash: Vec<&'a str>,
    /// Why the call is refused.
    pub(crate) errors: Vec<String>,
    /// Whether it is only shown: then variables stay as they are written.
    is_preview: bool,
}

impl<'a> Argv<'a> {
    /// Begins with a base command, expanded already, and a tool's own words.
    pub(crate) fn new(base: &'a str, command: &'a str) -> Self {
        let words = base.split_whitespace().chain(command.split_whitespace());
        Self {
            words: words.map(Cow::Borrowed).collect(),
            ..Self::default()
        }
    }

    /// Begins one that is only shown.
    pub(crate) fn begin_preview(base: &'a str, command: &'a str) -> Self {
        Self {
            is_preview: true,
            ..Self::new(base, command)
        }
    }

    /// A value as the command gets it, if all its variables are set.
    fn expanded(&self, value: &'static str) -> Option<Cow<'static, str>> {
        if self.is_preview {
            Some(value.into())
        } else {
            expand_set(value)
        }
    }

    /// A word of its own, whatever it looks like.
    #[inline(never)]
    pub fn word(&mut self, value: impl IntoArgvWord<'a>) {
        if let Some(word) = value.into_argv_word() {
            self.words.push(word.text());
        }
    }

    /// Free text as a word of its own. One that looks like an option would be taken for one.
    #[inline(never)]
    pub fn positional(&mut self, name: &'static str, value: impl IntoArgvWord<'a>) {
        let Some(word) = value.into_argv_word() else {
            return;
        };
        if word.looks_like_option() && !self.allowing_leading_dash.contains(&name) {
            let text = shown(&word.text());
            self.errors.push(format!(
                "Argument '{name}': value '{text}' would be read as an option"
            ));
        } else {
            self.words.push(word.text());
        }
    }

    /// A flag and its value.
    #[inline(never)]
    pub fn flag(&mut self, flag: &'static str, value: impl IntoArgvWord<'a>) {
        let Some(word) = value.into_argv_word() else {
            return;
        };
        // `--` itself says that what follows is no option.
        let is_long = flag.starts_with("--") && flag != "--";
        let is_short = flag.starts_with('-') && flag.chars().count() == 2 && flag != "--";
        if word.looks_like_option() && (is_long || is_short) {
            // As a word of its own it could be taken for another option.
            let joint = if is_long { "=" } else { "" };
            let text = word.text();
            self.words.push(format!("{flag}{joint}{text}").into());
        } else {
            self.words.push(flag.into());
            self.words.push(word.text());
        }
    }

    /// A value joined to its flag: `file=notes`.
    #[inline(never)]
    pub fn inline(&mut self, flag: &'static str, value: impl IntoArgvWord<'a>) {
        if let Some(word) = value.into_argv_word() {
            self.words.push(format!("{flag}{}", word.text()).into());
        }
    }

    /// A flag that is there or not.
    #[inline(never)]
    pub fn switch(&mut self, flag: &'static str, value: impl IntoArgvWord<'a>) {
        if let Some(ArgvWord::Boolean(true)) = value.into_argv_word() {
            self.words.push(flag.into());
        }
    }

    /// The directory to run in. An empty one is none.
    #[inline(never)]
    pub fn directory(&mut self, value: impl Into<Option<&'a str>>) {
        self.directory = value.into().filter(|directory| !directory.is_empty());
    }

    /// What the command reads.
    #[inline(never)]
    pub fn stdin(&mut self, value: impl Into<Option<&'a str>>) {
        self.stdin = value.into();
    }

    /// An argument of every command: left out if a variable in it is not set, or nothing is left.
    #[inline(never)]
    pub fn global(&mut self, flag: &'static str, value: &'static str) {
        let Some(value) = self.expanded(value).filter(|value| !value.is_empty()) else {
            return;
        };
        if flag.ends_with('=') {
            self.words.push(format!("{flag}{value}").into());
        } else {
            self.words.push(flag.into());
            self.words.push(value);
        }
    }

    /// A flag of every command: there if its value is true.
    #[inline(never)]
    pub fn global_switch(&mut self, flag: &'static str, value: &'static str) {
        let value = self.expanded(value).unwrap_or_default();
        if boolean(&value) == Some(true) || value == "1" {
            self.words.push(flag.into());
        }
    }
}

/// A value that can become a word.
#[derive(Clone, Copy)]
pub enum ArgvWord<'a> {
    /// Text
    Text(&'a str),
    /// Text that stands for a number
    Literal(&'a str),
    /// A whole number
    Integer(i64),
    /// A number
    Number(Number),
    /// `true` or `false`
    Boolean(bool),
}

impl<'a> ArgvWord<'a> {
    pub(crate) fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) | Self::Literal(text) => text.into(),
            Self::Integer(integer) => integer.to_string().into(),
            Self::Number(number) => number.to_string().into(),
            Self::Boolean(true) => "true".into(),
            Self::Boolean(false) => "false".into(),
        }
    }

    /// The number that it is, if it is one.
    pub(crate) fn number(self) -> Option<Number> {
        match self {
            Self::Integer(integer) => Some(Number::Integer(integer)),
            Self::Number(number) => Some(number),
            Self::Text(_) | Self::Literal(_) | Self::Boolean(_) => None,
        }
    }

    /// Text like `-x`. A single `-` is a value by custom, and negative numbers are numbers.
    fn looks_like_option(self) -> bool {
        matches!(self, Self::Text(text) if text.starts_with('-') && text != "-")
    }
}

/// A typed argument that goes into a command line, if it is there.
pub trait IntoArgvWord<'a> {
    /// The word, if there is one.
    fn into_argv_word(self) -> Option<ArgvWord<'a>>;
}

impl<'a> IntoArgvWord<'a> for ArgvWord<'a> {
    fn into_argv_word(self) -> Option<ArgvWord<'a>> {
        Some(self)
    }
}

impl<'a> IntoArgvWord<'a> for &'a str {
    fn into_argv_word(self) -> Option<ArgvWord<'a>> {
        Some(ArgvWord::Text(self))
    }
}

impl<'a> IntoArgvWord<'a> for i64 {
    fn into_argv_word(self) -> Option<ArgvWord<'a>> {
        Some(ArgvWord::Integer(self))
    }
}

impl<'a> IntoArgvWord<'a> for Number {
    fn into_argv_word(self) -> Option<ArgvWord<'a>> {
        Some(ArgvWord::Number(self))
    }
}

impl<'a> IntoArgvWord<'a> for bool {
    fn into_argv_word(self) -> Option<ArgvWord<'a>> {
        Some(ArgvWord::Boolean(self))
    }
}

impl<'a, T: IntoArgvWord<'a>> IntoArgvWord<'a> for Option<T> {
    fn into_argv_word(self) -> Option<ArgvWord<'a>> {
        self.and_then(IntoArgvWord::into_argv_word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(write: impl FnOnce(&mut Argv<'static>)) -> Vec<String> {
        let mut argv = Argv::default();
        write(&mut argv);
        assert_eq!(argv.errors, [""; 0]);
        argv.words.into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn the_base_command_and_the_tools_words_are_split_on_white_space() {
        let argv = Argv::new("python  -m\tmyapp", "users list");
        assert_eq!(argv.words, ["python", "-m", "myapp", "users", "list"]);
    }

    #[test]
    fn a_flags_value_is_the_next_word() {
        assert_eq!(words(|argv| argv.flag("-n", 3)), ["-n", "3"]);
        assert_eq!(words(|argv| argv.flag("-n", -3)), ["-n", "-3"]);
        assert_eq!(words(|argv| argv.flag("-m", "a b")), ["-m", "a b"]);
        assert_eq!(words(|argv| argv.flag("-m", None::<&str>)), [""; 0]);
    }

    #[test]
    fn a_value_like_an_option_is_joined_to_its_flag() {
        assert_eq!(
            words(|argv| argv.flag("--message", "-- fix")),
            ["--message=-- fix"]
        );
        assert_eq!(words(|argv| argv.flag("-m", "-- fix")), ["-m-- fix"]);
        assert_eq!(words(|argv| argv.flag("-name", "-foo")), ["-name", "-foo"]);
        assert_eq!(words(|argv| argv.flag("-m", "-")), ["-m", "-"]);
        assert_eq!(words(|argv| argv.flag("--", "-x")), ["--", "-x"]);
    }

    #[test]
    fn a_positional_value_like_an_option_is_refused() {
        let mut argv = Argv::default();
        argv.positional("path", "--output=x");
        argv.positional("path", "-");
        argv.positional("count", -3);
        assert_eq!(argv.words, ["-", "-3"]);
        assert_eq!(
            argv.errors,
            ["Argument 'path': value '--output=x' would be read as an option"]
        );
    }

    #[test]
    fn an_inline_flag_is_one_word_with_its_value() {
        assert_eq!(words(|argv| argv.inline("file=", "-x y")), ["file=-x y"]);
    }

    #[test]
    fn a_switch_is_there_when_true() {
        assert_eq!(words(|argv| argv.switch("-a", true)), ["-a"]);
        assert_eq!(words(|argv| argv.switch("-a", Some(false))), [""; 0]);
    }

    #[test]
    fn global_arguments_go_when_their_variable_is_unset() {
        assert_eq!(
            words(|argv| argv.global("vault=", "notes")),
            ["vault=notes"]
        );
        assert_eq!(words(|argv| argv.global("--as", "me")), ["--as", "me"]);
        assert_eq!(
            words(|argv| argv.global("--as", "$CLIMAX_NO_SUCH")),
            [""; 0]
        );
        assert_eq!(words(|argv| argv.global("--as", "")), [""; 0]);
        assert_eq!(words(|argv| argv.global_switch("-q", "True")), ["-q"]);
        assert_eq!(words(|argv| argv.global_switch("-q", "no")), [""; 0]);
    }
}
