//! Turns a tool's typed arguments into a command line.

use std::borrow::Cow;

use climax_core::scalar::{Number, parse_boolean};
use climax_policy::limit::truncate_for_message;

use crate::call::expand::expand_if_set;

/// The command line of a call, its working directory and its standard input, built argument by argument.
#[derive(Default)]
pub struct Argv<'a> {
    /// The program and its arguments.
    pub(crate) words: Vec<Cow<'a, str>>,
    /// The working directory, if the call sets it.
    pub(crate) directory: Option<&'a str>,
    /// Standard input, if the call sets it.
    pub(crate) stdin: Option<&'a str>,
    /// The names of the arguments whose values may start with a dash.
    pub(crate) allowing_leading_dash: Vec<&'a str>,
    /// Why the call is refused.
    pub(crate) errors: Vec<String>,
    /// Whether the command line is only displayed. Then variables are not expanded.
    is_preview: bool,
}

impl<'a> Argv<'a> {
    /// Starts with the words of the base command, already expanded, and of the tool's command.
    pub(crate) fn new(base: &'a str, command: &'a str) -> Self {
        let words = base.split_whitespace().chain(command.split_whitespace());
        Self {
            words: words.map(Cow::Borrowed).collect(),
            ..Self::default()
        }
    }

    /// Starts a command line that is only displayed.
    pub(crate) fn new_preview(base: &'a str, command: &'a str) -> Self {
        Self {
            is_preview: true,
            ..Self::new(base, command)
        }
    }

    /// Expands the variables in a value. Returns `None` if one is not set.
    fn expand(&self, value: &'static str) -> Option<Cow<'static, str>> {
        if self.is_preview {
            Some(value.into())
        } else {
            expand_if_set(value)
        }
    }

    /// Appends a value as a word, even if it looks like an option.
    #[inline(never)]
    pub fn word(&mut self, value: impl IntoArgvWord<'a>) {
        if let Some(word) = value.into_argv_word() {
            self.words.push(word.text());
        }
    }

    /// Appends a positional argument. Refuses text that the command would read as an option.
    #[inline(never)]
    pub fn positional(&mut self, name: &'static str, value: impl IntoArgvWord<'a>) {
        let Some(word) = value.into_argv_word() else {
            return;
        };
        if word.looks_like_option() && !self.allowing_leading_dash.contains(&name) {
            let text = truncate_for_message(&word.text());
            self.errors.push(format!(
                "Argument '{name}': value '{text}' would be read as an option"
            ));
        } else {
            self.words.push(word.text());
        }
    }

    /// Appends a flag and its value.
    #[inline(never)]
    pub fn flag(&mut self, flag: &'static str, value: impl IntoArgvWord<'a>) {
        let Some(word) = value.into_argv_word() else {
            return;
        };
        // A word after `--` is never read as an option.
        let is_long = flag.starts_with("--") && flag != "--";
        let is_short = flag.starts_with('-') && flag.chars().count() == 2 && flag != "--";
        if word.looks_like_option() && (is_long || is_short) {
            // The command could read the value as an option of its own.
            let separator = if is_long { "=" } else { "" };
            let text = word.text();
            self.words.push(format!("{flag}{separator}{text}").into());
        } else {
            self.words.push(flag.into());
            self.words.push(word.text());
        }
    }

    /// Appends a flag joined with its value: `file=notes`.
    #[inline(never)]
    pub fn inline(&mut self, flag: &'static str, value: impl IntoArgvWord<'a>) {
        if let Some(word) = value.into_argv_word() {
            self.words.push(format!("{flag}{}", word.text()).into());
        }
    }

    /// Appends a flag if the value is true.
    #[inline(never)]
    pub fn switch(&mut self, flag: &'static str, value: impl IntoArgvWord<'a>) {
        if let Some(ArgvWord::Boolean(true)) = value.into_argv_word() {
            self.words.push(flag.into());
        }
    }

    /// Sets the working directory, unless it is empty.
    #[inline(never)]
    pub fn directory(&mut self, value: impl Into<Option<&'a str>>) {
        self.directory = value.into().filter(|directory| !directory.is_empty());
    }

    /// Sets the standard input.
    #[inline(never)]
    pub fn stdin(&mut self, value: impl Into<Option<&'a str>>) {
        self.stdin = value.into();
    }

    /// Appends a global argument, unless it uses an unset variable or is empty.
    #[inline(never)]
    pub fn global(&mut self, flag: &'static str, value: &'static str) {
        let Some(value) = self.expand(value).filter(|value| !value.is_empty()) else {
            return;
        };
        if flag.ends_with('=') {
            self.words.push(format!("{flag}{value}").into());
        } else {
            self.words.push(flag.into());
            self.words.push(value);
        }
    }

    /// Appends a global flag if its value is true.
    #[inline(never)]
    pub fn global_switch(&mut self, flag: &'static str, value: &'static str) {
        let value = self.expand(value).unwrap_or_default();
        if parse_boolean(&value) == Some(true) || value == "1" {
            self.words.push(flag.into());
        }
    }
}

/// A value that can become a word of a command line.
#[derive(Clone, Copy)]
pub enum ArgvWord<'a> {
    /// A string
    Text(&'a str),
    /// The text of a number
    Literal(&'a str),
    /// An integer
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

    /// The value as a number, if it is one.
    pub(crate) fn number(self) -> Option<Number> {
        match self {
            Self::Integer(integer) => Some(Number::Integer(integer)),
            Self::Number(number) => Some(number),
            Self::Text(_) | Self::Literal(_) | Self::Boolean(_) => None,
        }
    }

    /// Whether it is text like `-x`. A single `-` conventionally means standard input, and negative numbers
    /// are numbers.
    fn looks_like_option(self) -> bool {
        matches!(self, Self::Text(text) if text.starts_with('-') && text != "-")
    }
}

/// A typed argument that may become a word of a command line.
pub trait IntoArgvWord<'a> {
    /// The word, unless the argument is absent.
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
    fn a_value_that_looks_like_an_option_is_joined_to_its_flag() {
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
    fn a_positional_value_that_looks_like_an_option_is_refused() {
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
    fn a_switch_is_present_if_its_value_is_true() {
        assert_eq!(words(|argv| argv.switch("-a", true)), ["-a"]);
        assert_eq!(words(|argv| argv.switch("-a", Some(false))), [""; 0]);
    }

    #[test]
    fn global_arguments_are_left_out_if_their_variable_is_unset() {
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
