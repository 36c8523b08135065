//! The codes of messages about configs and policies, and what `explain` says about each.

use crate::diagnostic::Severity;

/// What a message is about. Its number never changes; a number of 100 and above is a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is explained below")]
pub enum Code {
    Unreadable = 1,
    Syntax = 2,
    DuplicateKey = 3,
    SeveralDocuments = 4,
    AliasBomb = 5,
    MissingField = 10,
    UnknownField = 11,
    WrongType = 12,
    AmbiguousScalar = 13,
    UnknownValue = 14,
    NoTools = 15,
    EmptyCommand = 16,
    BadVariable = 17,
    NulCharacter = 18,
    BadToolName = 20,
    DuplicateTool = 21,
    EmptyDescription = 22,
    BadTimeout = 23,
    BadPlaceholder = 24,
    BadArgumentName = 30,
    DuplicateArgument = 31,
    BadDefault = 32,
    DefaultNotInEnum = 33,
    EmptyEnum = 34,
    DuplicateEnumValue = 35,
    BooleanEnum = 36,
    BadEnumValue = 37,
    PositionalFlag = 38,
    SeveralPlaces = 39,
    SecondPlace = 40,
    PlaceNeedsString = 41,
    UnknownTool = 50,
    UnknownArgument = 51,
    BadPattern = 52,
    BoundOfText = 53,
    EmptyRange = 54,
    DefaultNotAllowed = 55,
    NoValueLeft = 56,
    NoToolLeft = 57,
    Approval = 58,
    BadContainer = 59,
    NoContainer = 60,
    IdleAllow = 61,
    BadRoot = 62,
    UnsetVariable = 63,
    SecondContainer = 64,
    RequiredDefault = 100,
    ZeroTimeout = 101,
    LongDescription = 102,
    ConvertedDefault = 103,
    UnlimitedDestructive = 104,
    NoCategory = 105,
    IdleGlobalArgument = 106,
    ShellSyntax = 107,
    IgnoredTool = 108,
    NoApproval = 109,
}

impl Code {
    /// The code as users see it.
    #[must_use]
    pub fn id(self) -> String {
        format!("CLX{:03}", self as u16)
    }

    /// The code that has an id, in any case.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        let id = id.to_ascii_uppercase();
        let mut codes = EXPLANATIONS.iter().map(|(code, _)| *code);
        codes.find(|code| code.id() == id)
    }

    /// Whether it stops the build.
    #[must_use]
    pub fn severity(self) -> Severity {
        if (self as u16) < Self::RequiredDefault as u16 {
            Severity::Error
        } else {
            Severity::Warning
        }
    }

    /// What it means, why it is so, and what to do.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        let found = EXPLANATIONS.iter().find(|(code, _)| *code == self);
        found.map_or("", |(_, explanation)| explanation)
    }
}

/// Every code with its explanation, in the order of their numbers.
pub const EXPLANATIONS: &[(Code, &str)] = &[
    (
        Code::Unreadable,
        "\
A path that the build names cannot be read: it does not exist, the folder holds no `*.yaml` or
`*.yml` file, a file may not be read, or it is not UTF-8 text.

CLIMAX_CONFIGS names folders and files, joined by `:` as in PATH; relative paths count from the
folder of the crate that is built. Without it, `configs` is read.",
    ),
    (
        Code::Syntax,
        "\
The text is not YAML. The usual reasons: a tab where only spaces may indent, lines of one mapping
that begin in different columns, a value with `: ` or ` #` in it that is not in quotes, a quote or
bracket that is not closed.

    description: Files: list them       # wrong
    description: \"Files: list them\"     # right",
    ),
    (
        Code::DuplicateKey,
        "\
A mapping has the same key twice. Other YAML readers silently take the last one; which one was
meant, only you can know. Keep one of the two.",
    ),
    (
        Code::SeveralDocuments,
        "\
A config is one YAML document, and a line `---` begins a second one. Put it into a file of its own:
every file in the folder is a config.",
    ),
    (
        Code::AliasBomb,
        "\
Aliases (`*name`) that stand for lists of aliases can make a short text stand for a huge document,
which would eat all memory. Configs have no use for it: write out what is meant.",
    ),
    (
        Code::MissingField,
        "\
A field that must be there is not. A config needs `command` and `tools`; a tool needs `name` and
`description`; an argument needs `name`.

    command: git
    tools:
      - name: git_status
        description: Show the state of the working tree",
    ),
    (
        Code::UnknownField,
        "\
There is no such field. It is an error, because a typo would otherwise be ignored, and the tool
would do something else than meant.

Keys that begin with `x-` are free for your own use, such as YAML anchors.",
    ),
    (
        Code::WrongType,
        "\
The field is there, but its value is of the wrong type: a list where text is expected, a number
where text is expected, and the like. Text that looks like a number, a date or a boolean needs
quotes.

    tags: vcs          # wrong: a list is expected
    tags: [vcs]        # right
    env: {PORT: 80}    # wrong: text is expected
    env: {PORT: \"80\"}  # right",
    ),
    (
        Code::AmbiguousScalar,
        "\
YAML 1.1 (which CLImax in Python reads) and YAML 1.2 (which CLImax reads) disagree about this word:
`yes`, `no`, `on` and `off` are booleans or text, `010` is 8 or 10, `12:30` is 750 or text,
`2026-01-31` is a date or text. Put it in quotes if it is meant as text; write `true` or `false`, or
a number without a leading zero, if that is meant.",
    ),
    (
        Code::UnknownValue,
        "\
The field takes one of a few words, and this is none of them. `type` is string, integer, number or
boolean; `risk` is read, write or destructive.",
    ),
    (
        Code::NoTools,
        "\
A config without tools offers nothing. Add at least one entry with `name` and `description`, or
remove the file.",
    ),
    (
        Code::EmptyCommand,
        "\
`command` names the program that all tools of the config run, and words that they share. It must
have at least one word.",
    ),
    (
        Code::BadVariable,
        "\
The name of an environment variable is not empty and has no `=` in it; no system takes another.",
    ),
    (
        Code::NulCharacter,
        "\
A NUL character ends a text for the operating system, so that no command line and no environment
variable can hold one.",
    ),
    (
        Code::BadToolName,
        "\
Tool names are limited by what MCP clients accept: 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.`
and `-`.",
    ),
    (
        Code::DuplicateTool,
        "\
Tool names are unique over all configs of a build, since an agent calls a tool by its name only. Two
names that differ in case alone are refused too: agents mix them up. A prefix helps: `git_status`,
`svn_status`.",
    ),
    (
        Code::EmptyDescription,
        "\
An agent chooses a tool by its description. Say what the tool does, and when to use it.",
    ),
    (
        Code::BadTimeout,
        "\
`timeout` is how many seconds a call may take, a number above 0. Leave it out for the default of 30
seconds.",
    ),
    (
        Code::BadPlaceholder,
        "\
`{name}` in `confirm_message` stands for the value of an argument or of a `resolve` entry, and in
the `args` of a `resolve` entry for the value of an argument. This one stands for neither. Write
`{{` and `}}` for braces that are meant as such.",
    ),
    (
        Code::BadArgumentName,
        "\
An argument's name is the name of a property in the tool's input schema, and is not empty.",
    ),
    (
        Code::DuplicateArgument,
        "\
Two arguments of one tool have the same name. A call could give a value to one of them only.",
    ),
    (
        Code::BadDefault,
        "\
The default is not of the argument's type, and cannot be converted to it without loss.

    {name: count, type: integer, default: many}   # wrong
    {name: count, type: integer, default: 10}     # right",
    ),
    (
        Code::DefaultNotInEnum,
        "\
The default is none of the values that `enum` allows, so that a call without the argument would do
what a call with it may not.",
    ),
    (
        Code::EmptyEnum,
        "\
An empty `enum` allows no value at all. List the values, or remove `enum` to allow any.",
    ),
    (
        Code::DuplicateEnumValue,
        "A value is listed twice in `enum`. Remove one of the two.",
    ),
    (
        Code::BooleanEnum,
        "\
A boolean is true or false, which `enum` cannot narrow in a useful way. Remove `enum`, or make the
argument a string.",
    ),
    (
        Code::BadEnumValue,
        "\
A value in `enum` is not of the argument's type, or has control characters in it. Values of a string
argument that look like numbers need quotes.

    {name: level, enum: [1, 2]}                  # wrong: the type is string
    {name: level, enum: [\"1\", \"2\"]}              # right
    {name: level, type: integer, enum: [1, 2]}   # right",
    ),
    (
        Code::PositionalFlag,
        "\
A positional argument is a word without a flag, so that `flag` would have no effect. Remove `flag`,
or `positional`. To put a value after all options, use `flag: \"--\"` alone.",
    ),
    (
        Code::SeveralPlaces,
        "\
The value of an argument goes to one place: into the command line (`positional`), to the working
directory (`cwd`) or to standard input (`stdin`).",
    ),
    (
        Code::SecondPlace,
        "\
A command has one working directory and one standard input, so a tool has at most one argument with
`cwd` and one with `stdin`.",
    ),
    (
        Code::PlaceNeedsString,
        "\
The working directory and standard input are text: an argument with `cwd` or `stdin` has the type
string.",
    ),
    (
        Code::UnknownTool,
        "\
The policy names a tool that is not there. Under `default: enabled` the tool that was meant would go
on without limits; under `default: disabled` it would not be there. Correct the name, or remove the
entry.",
    ),
    (
        Code::UnknownArgument,
        "\
The policy limits an argument that the tool does not have, so that the one that was meant would take
any value.",
    ),
    (
        Code::BadPattern,
        "\
A pattern is a regular expression as in Python's `re`, and has to match a value in full. What would
need more time the longer a value gets, and more than its length accounts for, is not supported:
look-around (`(?=`, `(?!`, `(?<=`, `(?<!`), backreferences (`\\1`, `(?P=name)`), conditions and
possessive repetitions. Neither are the flags `a`, `L` and `x`, and what Python and others read
differently.

    pattern: \"(?!main$).*\"            # wrong: look-ahead
    pattern: \"feature/[a-z0-9-]+\"      # right: say what is allowed",
    ),
    (
        Code::BoundOfText,
        "\
`min` and `max` are for arguments of the type integer or number, and are finite numbers. For a
string, use `pattern`; or give the argument its right type in the config.",
    ),
    (
        Code::EmptyRange,
        "\
`min` is above `max`, so that no value is allowed. Both ends belong to the range.",
    ),
    (
        Code::DefaultNotAllowed,
        "\
The argument has a default that breaks the limit, so that a call without the argument would do what
a call with it may not. Widen the limit, or change the default in the config.",
    ),
    (
        Code::NoValueLeft,
        "\
The argument is a boolean or has an `enum`, and the limit allows none of its values. A boolean's
values are `true` and `false`, in lower case.",
    ),
    (
        Code::NoToolLeft,
        "\
Nothing is left that an agent could use: the policy allows no tool, or several policies have no tool
in common.",
    ),
    (
        Code::Approval,
        "\
The policy asks for a person's approval before certain tools run. This version cannot ask, and does
not run them without: it refuses the policy. Say `approval: {global: none}` and `false` for the
tools that may run without approval, and remove the others from the policy.",
    ),
    (
        Code::BadContainer,
        "\
A docker executor needs an `image`, and image, volumes, network and working_dir are handed to
`docker run` as they are: none is empty or begins with a dash, which would make it an option.",
    ),
    (
        Code::NoContainer,
        "\
Image, volumes, network and working_dir of an executor are for containers, and the executor is
`local`, so that commands would run without one. Add `type: docker`, or remove them.",
    ),
    (
        Code::IdleAllow,
        "\
`env.allow` names variables that commands get besides the usual ones. Without `inherit: minimal`
they get all, so that it would limit nothing.",
    ),
    (
        Code::BadRoot,
        "\
`roots` names directories of this machine that exist when the server starts. A call's working
directory is in one of them. `~` and variables are expanded. In a container they mean nothing: there
a call sees what `volumes` names.",
    ),
    (
        Code::UnsetVariable,
        "\
A volume or root of the policy has a variable in it that is not set where the server starts, or is
empty. With nothing in its place it would mean another directory, so the server does not start.",
    ),
    (
        Code::SecondContainer,
        "\
Several policies hold at once, and two of them name different containers. A command runs in one.",
    ),
    (
        Code::RequiredDefault,
        "\
A required argument is always given, so its default is never used. Remove `required` if calls may
leave the argument out, or `default` if they may not.",
    ),
    (
        Code::ZeroTimeout,
        "\
A timeout of 0 means the default of 30 seconds, as in CLImax for Python, and not \"no limit\". Give
the number of seconds that is meant.",
    ),
    (
        Code::LongDescription,
        "\
MCP clients cut descriptions after 2,048 bytes. Say first what decides about the choice of the tool,
and leave the rest to the program's own help.",
    ),
    (
        Code::ConvertedDefault,
        "\
The default is of another type than the argument and was converted: `\"5\"` to 5, for example. Write
it as what it is, so that a reader is not misled.",
    ),
    (
        Code::UnlimitedDestructive,
        "\
The policy allows a tool with `risk: destructive` and does not limit these arguments, so an agent
can destroy anything that the program can reach. Limit the values with `pattern` in the policy, or
with `enum` in the config if all values are known.",
    ),
    (
        Code::NoCategory,
        "\
Agents narrow a search by category, and a CLI without one is not found that way. Add `category`,
such as vcs, containers or files.",
    ),
    (
        Code::IdleGlobalArgument,
        "\
A global argument is added to each command with its default as value. It is not in any tool's
schema, so no call can set it, and without a default it does nothing. Neither do `positional`,
`cwd`, `stdin`, `required` and `enum`.",
    ),
    (
        Code::ShellSyntax,
        "\
Commands run without a shell: `command` is split at white space, and a `flag` is one word. Quotes,
pipes, redirections and the like are not understood but handed to the program as they are. Leave out
quotes; for a pipe, write a script and describe that. Two words of which the second is fixed are no
flag: put them into the tool's `command`.",
    ),
    (
        Code::IgnoredTool,
        "\
The policy names a tool that this server does not have. It grants nothing and is left out: a policy
may be meant for several servers. Correct the name if it is a typo.",
    ),
    (
        Code::NoApproval,
        "\
The policy allows tools that change or destroy something (`risk: write` or `destructive`) and says
nothing about approval. CLImax for Python asks a person before each of their calls; this version
does not. Say `approval: {global: none}` if that is meant.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_number_and_an_explanation() {
        let ids: Vec<String> = EXPLANATIONS.iter().map(|(code, _)| code.id()).collect();
        let mut sorted = ids.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(ids, sorted, "in order, and none twice");
        for (code, explanation) in EXPLANATIONS {
            assert!(explanation.len() > 40, "{code:?}");
            assert!(
                explanation.lines().all(|line| line.len() <= 100),
                "{code:?}"
            );
            assert_eq!(Code::from_id(&code.id().to_lowercase()), Some(*code));
        }
    }
}
