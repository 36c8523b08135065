//! Turns a tool's typed arguments into a command line.

use std::borrow::Cow;
use std::iter;

use bumpalo::Bump;
use climax_core::scalar::{Number, parse_boolean};
use climax_policy::limit::truncate_for_message;

use crate::expand::expand_if_set;

/// The command line of a call, its working directory, its standard input and its files, built argument by
/// argument.
pub struct Argv<'a> {
    /// The program and its arguments.
    pub words: Vec<Cow<'a, str>>,
    /// The words of the tool's command at the end of `words`, as long as nothing was appended to them.
    command_word_count: usize,
    /// The words that go after `--`.
    separated_words: Vec<Cow<'a, str>>,
    /// The working directory, if the call sets it.
    pub directory: Option<&'a str>,
    /// Standard input, if the call sets it.
    pub stdin: Option<&'a str>,
    /// The texts that the command reads from files.
    pub files: Vec<CallFile<'a>>,
    /// The directory of these files. It need not exist yet.
    pub file_directory: &'a str,
    /// The names of the arguments whose values may start with a dash.
    pub(crate) allowing_leading_dash: Vec<&'a str>,
    /// Why the call is refused.
    pub(crate) errors: Vec<String>,
    /// Owns the words that are made of several values.
    arena: &'a Bump,
    /// Whether the command line is only displayed. Then variables are not expanded.
    is_preview: bool,
}

/// A text that the command reads from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFile<'a> {
    /// The name of the file, without its directory.
    pub name: &'a str,
    /// Its contents.
    pub text: &'a str,
}

impl<'a> Argv<'a> {
    /// Starts with the words of the base command, already expanded, and of the tool's command.
    #[must_use]
    pub fn new(base: &'a str, command: &'a str, arena: &'a Bump) -> Self {
        let mut words: Vec<Cow<'a, str>> = base.split_whitespace().map(Cow::Borrowed).collect();
        let base_word_count = words.len();
        words.extend(command.split_whitespace().map(Cow::Borrowed));
        Self {
            command_word_count: words.len() - base_word_count,
            words,
            separated_words: Vec::new(),
            directory: None,
            stdin: None,
            files: Vec::new(),
            file_directory: "",
            allowing_leading_dash: Vec::new(),
            errors: Vec::new(),
            arena,
            is_preview: false,
        }
    }

    /// Starts a command line that is only displayed.
    #[must_use]
    pub fn new_preview(base: &'a str, command: &'a str, arena: &'a Bump) -> Self {
        Self {
            is_preview: true,
            file_directory: "/tmp/climax",
            ..Self::new(base, command, arena)
        }
    }

    pub(crate) fn arena(&self) -> &'a Bump {
        self.arena
    }

    /// Expands the variables in a value. Returns `None` if one is not set.
    fn expand(&self, value: &'a str) -> Option<Cow<'a, str>> {
        if self.is_preview {
            Some(value.into())
        } else {
            expand_if_set(value)
        }
    }

    /// Removes the words of the tool's command, so that other words can go before them.
    pub fn take_command(&mut self) -> Vec<Cow<'a, str>> {
        let base_word_count = self.words.len() - self.command_word_count;
        self.words.split_off(base_word_count)
    }

    /// Appends the words of the tool's command again.
    pub fn put_command(&mut self, mut command: Vec<Cow<'a, str>>) {
        self.words.append(&mut command);
    }

    /// Appends values as words, even if they look like options.
    #[inline(never)]
    pub fn word(&mut self, values: impl IntoArgvWords<'a>) {
        let words = values.into_argv_words();
        self.words.extend(words.map(ArgvWord::text));
    }

    /// Adds values as words after `--`, where nothing is read as an option.
    #[inline(never)]
    pub fn separated_word(&mut self, values: impl IntoArgvWords<'a>) {
        let words = values.into_argv_words();
        self.separated_words.extend(words.map(ArgvWord::text));
    }

    /// Appends `--` and the words that go after it, if there are any.
    pub(crate) fn append_separated_words(&mut self) {
        if !self.separated_words.is_empty() {
            self.words.push("--".into());
            self.words.append(&mut self.separated_words);
        }
    }

    /// Appends a positional argument. Refuses text that the command would read as an option.
    #[inline(never)]
    pub fn positional(&mut self, name: &str, values: impl IntoArgvWords<'a>) {
        for word in values.into_argv_words() {
            if word.looks_like_option() && !self.allowing_leading_dash.contains(&name) {
                let text = truncate_for_message(&word.text());
                self.errors.push(format!(
                    "Argument '{name}': value '{text}' would be read as an option"
                ));
            } else {
                self.words.push(word.text());
            }
        }
    }

    /// Appends a flag and its value, once for each value.
    #[inline(never)]
    pub fn flag(&mut self, flag: &'a str, values: impl IntoArgvWords<'a>) {
        // A word after `--` is never read as an option.
        let is_long = flag.starts_with("--") && flag != "--";
        let is_short = flag.starts_with('-') && flag.chars().count() == 2 && flag != "--";
        for word in values.into_argv_words() {
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
    }

    /// Appends a flag joined with its value, `file=notes` or `-j4`, once for each value.
    #[inline(never)]
    pub fn inline(&mut self, flag: &str, values: impl IntoArgvWords<'a>) {
        let words = values.into_argv_words();
        let words = words.map(|word| format!("{flag}{}", word.text()).into());
        self.words.extend(words);
    }

    /// Appends a flag if the value is true.
    #[inline(never)]
    pub fn switch(&mut self, flag: &'a str, value: impl IntoArgvWords<'a>) {
        self.switch_pair(flag, "", value);
    }

    /// Appends one flag if the value is true, another one if it is false, and none if it is absent. An empty flag
    /// adds no word.
    #[inline(never)]
    pub fn switch_pair(
        &mut self,
        if_true: &'a str,
        if_false: &'a str,
        value: impl IntoArgvWords<'a>,
    ) {
        for word in value.into_argv_words() {
            let flag = match word {
                ArgvWord::Boolean(true) => if_true,
                _ => if_false,
            };
            if !flag.is_empty() {
                self.words.push(flag.into());
            }
        }
    }

    /// Joins the items of a list to one value; `None` if there are none. Refuses items that contain the
    /// separator.
    #[inline(never)]
    pub fn joined(
        &mut self,
        name: &str,
        separator: &str,
        items: impl IntoArgvWords<'a>,
    ) -> Option<&'a str> {
        let items: Vec<Cow<'a, str>> = items.into_argv_words().map(ArgvWord::text).collect();
        for item in items.iter().filter(|item| item.contains(separator)) {
            let item = truncate_for_message(item);
            self.errors.push(format!(
                "Argument '{name}': item '{item}' must not contain the separator '{separator}'"
            ));
        }
        (!items.is_empty()).then(|| &*self.arena.alloc_str(&items.join(separator)))
    }

    /// Puts a text into a file that exists during the call. Returns the path of the file.
    #[inline(never)]
    pub fn file(
        &mut self,
        name: &str,
        suffix: &str,
        text: impl Into<Option<&'a str>>,
    ) -> Option<&'a str> {
        let text = text.into()?;
        let is_safe = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
        let stem: String = name.chars().filter(is_safe).collect();
        let number = self.files.len() + 1;
        let name = self.arena.alloc_str(&format!("{stem}-{number}{suffix}"));
        self.files.push(CallFile { name, text });
        Some(
            self.arena
                .alloc_str(&format!("{}/{name}", self.file_directory)),
        )
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
    pub fn global(&mut self, flag: &'a str, value: &'a str) {
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
    pub fn global_switch(&mut self, flag: &'a str, value: &'a str) {
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
    /// The text.
    #[must_use]
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) | Self::Literal(text) => text.into(),
            Self::Integer(integer) => integer.to_string().into(),
            Self::Number(number) => number.to_string().into(),
            Self::Boolean(true) => "true".into(),
            Self::Boolean(false) => "false".into(),
        }
    }

    /// The value as a number, if it is one.
    #[must_use]
    pub fn number(self) -> Option<Number> {
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

/// A typed argument as words of a command line: none if it is absent, one for each item of a list.
pub trait IntoArgvWords<'a> {
    /// The words.
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>>;
}

impl<'a> IntoArgvWords<'a> for ArgvWord<'a> {
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>> {
        iter::once(self)
    }
}

impl<'a> IntoArgvWords<'a> for &'a str {
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>> {
        iter::once(ArgvWord::Text(self))
    }
}

impl<'a> IntoArgvWords<'a> for i64 {
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>> {
        iter::once(ArgvWord::Integer(self))
    }
}

impl<'a> IntoArgvWords<'a> for Number {
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>> {
        iter::once(ArgvWord::Number(self))
    }
}

impl<'a> IntoArgvWords<'a> for bool {
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>> {
        iter::once(ArgvWord::Boolean(self))
    }
}

impl<'a, T: IntoArgvWords<'a>> IntoArgvWords<'a> for Option<T> {
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>> {
        self.into_iter().flat_map(IntoArgvWords::into_argv_words)
    }
}

impl<'a, T: Copy + IntoArgvWords<'a>> IntoArgvWords<'a> for &'a [T] {
    fn into_argv_words(self) -> impl Iterator<Item = ArgvWord<'a>> {
        let items = self.iter().copied();
        items.flat_map(IntoArgvWords::into_argv_words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(write: impl FnOnce(&mut Argv<'_>)) -> Vec<String> {
        let arena = Bump::new();
        let mut argv = Argv::new("", "", &arena);
        write(&mut argv);
        assert_eq!(argv.errors, [""; 0]);
        argv.append_separated_words();
        argv.words.into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn the_base_command_and_the_tools_words_are_split_on_white_space() {
        let arena = Bump::new();
        let argv = Argv::new("python  -m\tmyapp", "users list", &arena);
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
        let arena = Bump::new();
        let mut argv = Argv::new("", "", &arena);
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
