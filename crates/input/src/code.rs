//! The diagnostic codes, and the explanation of each that `climax-codegen explain` prints.

use crate::diagnostic::Severity;

/// The kind of a diagnostic. Numbers never change; from 100 on they are warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "EXPLANATIONS documents each")]
pub enum Code {
    Unreadable = 1,
    Syntax = 2,
    DuplicateKey = 3,
    MultipleDocuments = 4,
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
    ReservedToolName = 25,
    BadCombination = 26,
    BadExample = 27,
    ShellOperator = 28,
    BadExitCode = 29,
    BadArgumentName = 30,
    DuplicateArgument = 31,
    BadDefault = 32,
    DefaultNotInEnum = 33,
    EmptyEnum = 34,
    DuplicateEnumValue = 35,
    BooleanEnum = 36,
    BadEnumValue = 37,
    PositionalFlag = 38,
    ConflictingPlacements = 39,
    DuplicatePlacement = 40,
    PlacementNeedsString = 41,
    MisplacedField = 42,
    BadFlag = 43,
    BadSeparator = 44,
    BadFileSuffix = 45,
    BadItemCount = 46,
    AddedField = 47,
    UnknownTool = 50,
    UnknownArgument = 51,
    BadPattern = 52,
    BoundOnNonNumber = 53,
    EmptyRange = 54,
    DefaultNotAllowed = 55,
    NoValueAllowed = 56,
    NoToolAllowed = 57,
    ApprovalUnsupported = 58,
    BadContainer = 59,
    ContainerFieldWithoutDocker = 60,
    IneffectiveAllow = 61,
    BadRoot = 62,
    UnsetVariable = 63,
    ConflictingContainers = 64,
    RequiredDefault = 100,
    ZeroTimeout = 101,
    LongDescription = 102,
    ConvertedDefault = 103,
    UnlimitedDestructive = 104,
    NoCategory = 105,
    IneffectiveGlobalArgument = 106,
    ShellSyntax = 107,
    IgnoredTool = 108,
    ApprovalUnspecified = 109,
    DuplicateFlag = 110,
    OptionalBeforeRequired = 111,
}

impl Code {
    /// The code as users see it.
    #[must_use]
    pub fn id(self) -> String {
        format!("CLX{:03}", self as u16)
    }

    /// Finds the code with an id, ignoring case.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        let id = id.to_ascii_uppercase();
        let mut codes = EXPLANATIONS.iter().map(|(code, _)| *code);
        codes.find(|code| code.id() == id)
    }

    /// Whether it is an error or a warning.
    #[must_use]
    pub fn severity(self) -> Severity {
        if (self as u16) < Self::RequiredDefault as u16 {
            Severity::Error
        } else {
            Severity::Warning
        }
    }

    /// The meaning, the reason and the fix.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        let found = EXPLANATIONS.iter().find(|(code, _)| *code == self);
        found.map_or("", |(_, explanation)| explanation)
    }
}

/// Every code with its explanation, ordered by number.
pub const EXPLANATIONS: &[(Code, &str)] = &[
    (
        Code::Unreadable,
        "\
A path cannot be read: it does not exist, the folder contains no `*.yaml` or `*.yml` file, the file
cannot be opened, or the file is not UTF-8.

CLIMAX_CONFIGS lists folders and files, separated by `:` as in PATH. Relative paths are resolved
from the folder of the crate that is built. The default is `configs`.",
    ),
    (
        Code::Syntax,
        "\
The file is not valid YAML. Common causes: a tab used for indentation, entries of one mapping that
start in different columns, an unquoted value that contains `: ` or ` #`, an unclosed quote or
bracket.

    description: Files: list them       # wrong
    description: \"Files: list them\"     # right",
    ),
    (
        Code::DuplicateKey,
        "\
A mapping has the same key twice. Many YAML parsers silently use the last one, which may not be the
intended one. Remove one of the two.",
    ),
    (
        Code::MultipleDocuments,
        "\
A file holds one YAML document, but a `---` line starts a second one. Move it to a separate file:
every file in the folder is a config.",
    ),
    (
        Code::AliasBomb,
        "\
Aliases (`*name`) expand to more than 1,000,000 nodes, or an alias refers to a node that contains
it. Nested aliases could make a short file exhaust the memory. Write the values out, or nest fewer
aliases.",
    ),
    (
        Code::MissingField,
        "\
A required field is missing. A config needs `command` and `tools`; a tool needs `name` and
`description`; an argument needs `name`.

    command: git
    tools:
      - name: git_status
        description: Show the state of the working tree",
    ),
    (
        Code::UnknownField,
        "\
There is no such field. This is an error because ignoring a typo would silently change what the tool
does.

Keys that start with `x-` are ignored. Use them for YAML anchors.",
    ),
    (
        Code::WrongType,
        "\
The value of a field has the wrong type. A typical case is a number where text is expected: text
that looks like a number, a date or a boolean needs quotes.

    tags: vcs          # wrong: a list is expected
    tags: [vcs]        # right
    env: {PORT: 80}    # wrong: text is expected
    env: {PORT: \"80\"}  # right",
    ),
    (
        Code::AmbiguousScalar,
        "\
YAML 1.1 and YAML 1.2 read this value differently. CLImax for Python uses YAML 1.1, and this version
uses YAML 1.2: `yes`, `no`, `on` and `off` are booleans or text, `010` is 8 or 10, `12:30` is 750 or
text, `2026-01-31` is a date or text. Put text in quotes; write booleans as `true` or `false`, and
numbers without a leading zero.",
    ),
    (
        Code::UnknownValue,
        "\
The field accepts only certain values, and this is not one of them. In a config, `type` is string,
integer, number or boolean; `risk` is read, write or destructive.",
    ),
    (
        Code::NoTools,
        "\
The config has no tools, so it offers nothing. Add at least one entry with `name` and `description`,
or remove the file.",
    ),
    (
        Code::EmptyCommand,
        "\
`command` is empty. It names the program that all tools of the config run, followed by arguments
that they share.",
    ),
    (
        Code::BadVariable,
        "\
The name of an environment variable must not be empty and must not contain `=`. In a policy, `*` is
allowed at the end and matches any rest of the name.",
    ),
    (
        Code::NulCharacter,
        "\
A value contains a NUL character. The operating system terminates strings with it, so no command
line and no environment variable can contain one.",
    ),
    (
        Code::BadToolName,
        "\
A tool name is empty, too long, or contains an unsupported character. MCP clients accept 1 to 64 of
the characters A-Z, a-z, 0-9, `_`, `.` and `-`.",
    ),
    (
        Code::DuplicateTool,
        "\
Two tools have the same name, or names that differ only in case. Agents call a tool by its name
alone and confuse similar names, so names must be unique across all configs of a build. Use a
prefix: `git_status`, `svn_status`.",
    ),
    (
        Code::EmptyDescription,
        "\
A description is empty. Agents choose a tool by its description, so say what the tool does and when
to use it.",
    ),
    (
        Code::BadTimeout,
        "\
A timeout is not above 0. `timeout` is the time limit of a call in seconds. Remove it to use the
default of 30 seconds.",
    ),
    (
        Code::BadPlaceholder,
        "\
A placeholder names no argument or `resolve` entry, or its brace is not closed. In
`confirm_message`, `{name}` is replaced by the value of an argument or of a `resolve` entry; in the
`args` of a `resolve` entry, by the value of an argument. Write `{{` and `}}` for literal braces.",
    ),
    (
        Code::ReservedToolName,
        "\
A tool has the name of a built-in tool: `climax_search`, `climax_call`, `climax_read`,
`climax_write`, `climax_destructive` or `climax_output`. Agents could not tell the two apart.",
    ),
    (
        Code::BadCombination,
        "\
`exclusive`, `at_least_one` or `requires` names an argument that the tool does not have, names one
twice, or names too few.

    exclusive: [[lines, bytes]]      # at most one of the two
    at_least_one: [[name, id]]       # one or both
    requires: {password: [user]}     # no password without a user",
    ),
    (
        Code::BadExample,
        "\
A call with the arguments of an example would be refused, or its request is empty. Examples are
checked by the code that reads calls: argument names must be exact, and values must satisfy types,
enums, patterns and rules about combinations. The message shows what a call would answer.",
    ),
    (
        Code::ShellOperator,
        "\
A command contains a shell operator as a word of its own: `|`, `||`, `&&`, `;`, `&`, `>`, `>>`, `<`
or `2>&1`. Commands run without a shell, so the program would get it as an argument. Write a script
that contains the pipe or redirection, and use it as the command. Such characters inside of a word,
as in a jq filter, are fine.",
    ),
    (
        Code::BadExitCode,
        "\
An entry of `ok_exit_codes` is not an exit code. Exit codes are whole numbers from 0 to 255. 0 is
never an error and need not be listed.",
    ),
    (
        Code::BadArgumentName,
        "\
The name of an argument is empty. It is a property name in the input schema of the tool, which
agents use to pass the value.",
    ),
    (
        Code::DuplicateArgument,
        "\
Two arguments of one tool have the same name. A call could set only one of them. Rename one.",
    ),
    (
        Code::BadDefault,
        "\
The default does not have the type of the argument, and cannot be converted to it without loss.

    {name: count, type: integer, default: many}   # wrong
    {name: count, type: integer, default: 10}     # right",
    ),
    (
        Code::DefaultNotInEnum,
        "\
The default is not one of the values in `enum`. A call that omits the argument would use a value
that no call may pass. Change the default, or add it to `enum`.",
    ),
    (
        Code::EmptyEnum,
        "\
An empty `enum` allows no value. List the values, or remove `enum` to allow any value.",
    ),
    (
        Code::DuplicateEnumValue,
        "A value is listed twice in `enum`. Remove one of the two.",
    ),
    (
        Code::BooleanEnum,
        "\
A boolean argument has an `enum`. A boolean is always true or false, so `enum` is not supported for
it. Remove `enum`, or change the type to string.",
    ),
    (
        Code::BadEnumValue,
        "\
A value in `enum` does not have the type of the argument, or contains control characters. For a
string argument, quote values that look like numbers.

    {name: level, enum: [1, 2]}                  # wrong: the type is string
    {name: level, enum: [\"1\", \"2\"]}              # right
    {name: level, type: integer, enum: [1, 2]}   # right",
    ),
    (
        Code::PositionalFlag,
        "\
An argument has both `positional` and `flag`. A positional argument is passed without a flag, so
`flag` would have no effect. Remove one of the two. To pass a value after all options, use
`flag: \"--\"` alone.",
    ),
    (
        Code::ConflictingPlacements,
        "\
An argument has more than one of `positional`, `cwd` and `stdin`. Its value goes to only one
destination: the command line, the working directory or standard input. Keep one of these fields.",
    ),
    (
        Code::DuplicatePlacement,
        "\
Two arguments of one tool have `cwd`, or two have `stdin`. A command has only one working directory
and one standard input.",
    ),
    (
        Code::PlacementNeedsString,
        "\
An argument with `cwd` or `stdin` does not have the type string. A working directory and standard
input are text.",
    ),
    (
        Code::MisplacedField,
        "\
A field does not go with the other fields of the argument: `items`, `separator`, `min_items` and
`max_items` need `type: array`; `keys` and `key_value` need `type: object`, which can have neither
`enum` nor `default`; `joined` needs a flag with a value; a flag for `true` and `false` needs `type:
boolean`; `place` needs a word of the command line; `as_file` and `path` need text.",
    ),
    (
        Code::BadFlag,
        "\
A flag is empty, or the flag of a boolean ends with `=`. Without `flag`, the flag is made of the
argument's name; for a value without a flag, set `positional: true`. A boolean adds its flag without
a value, so nothing could follow the `=`. To pass `--flag=true`, use a string with an enum.",
    ),
    (
        Code::BadSeparator,
        "\
`separator` or `key_value` is empty, or a value of the enum contains the separator of the list, so
the program could not tell where the item ends.",
    ),
    (
        Code::BadFileSuffix,
        "\
The value of `as_file` is neither `true` nor an ending such as \".yaml\". An ending begins with a dot
and contains only letters, digits, dots, dashes and underscores.",
    ),
    (
        Code::BadItemCount,
        "\
`min_items` or `max_items` is not a whole number from 0 to 1,000,000.",
    ),
    (
        Code::AddedField,
        "\
With `--base-schema`, `climax-codegen check` reports every field and value that CLImax for Python
does not have. Remove it if the config must work with both.",
    ),
    (
        Code::UnknownTool,
        "\
The policy names a tool that does not exist. With `default: enabled`, the intended tool would run
without its limits; with `default: disabled`, it would be missing. Correct the name, or remove the
entry.",
    ),
    (
        Code::UnknownArgument,
        "\
The policy limits an argument that the tool does not have. The intended argument would accept any
value. Correct the name, or remove the entry.",
    ),
    (
        Code::BadPattern,
        "\
A pattern is invalid or uses unsupported syntax. A pattern is a regular expression in the syntax of
Python's `re`, and must match the whole value. Features that prevent matching in linear time are not
supported: look-around (`(?=`, `(?!`, `(?<=`, `(?<!`), backreferences (`\\1`, `(?P=name)`),
conditions and possessive repetitions. The flags `a`, `L` and `x` are not supported either, nor is
syntax that Python and other engines read differently.

    pattern: \"(?!main$).*\"            # wrong: look-ahead
    pattern: \"feature/[a-z0-9-]+\"      # right: describes the allowed values",
    ),
    (
        Code::BoundOnNonNumber,
        "\
`min` or `max` is not a finite number, or limits an argument that is not a number. For a string, use
`pattern`; if the argument is a number, set its type to integer or number in the config.",
    ),
    (
        Code::EmptyRange,
        "\
`min` is above `max`, so no value is allowed. Both bounds are inclusive.",
    ),
    (
        Code::DefaultNotAllowed,
        "\
The limit excludes the default of the argument. A call that omits the argument would use a value
that no call may pass. Widen the limit, or change the default in the config.",
    ),
    (
        Code::NoValueAllowed,
        "\
The argument is a boolean or has an `enum`, and the limit allows none of its values. The values of a
boolean are `true` and `false`, in lower case.",
    ),
    (
        Code::NoToolAllowed,
        "\
The policy allows no tools, or several policies have no allowed tool in common. The server would
offer nothing.",
    ),
    (
        Code::ApprovalUnsupported,
        "\
The policy requires approval by a person before certain tools run. This version cannot ask for
approval and never skips it, so it refuses the policy. Set `approval: {global: none}`, and `false`
for tools that may run without approval; remove all other such tools from the policy.",
    ),
    (
        Code::BadContainer,
        "\
A docker executor has no `image`, or one of its fields cannot be passed to docker. Image, volumes,
network and working_dir are passed to `docker run` unchanged, so they must not be empty or start
with a dash, which would make them options.",
    ),
    (
        Code::ContainerFieldWithoutDocker,
        "\
A local executor has fields that apply only to containers. With image, volumes, network or
working_dir, the author expects a container, but commands would run on the host. Add `type: docker`,
or remove the fields.",
    ),
    (
        Code::IneffectiveAllow,
        "\
`env.allow` has no effect without `inherit: safe` or `inherit: minimal`. It names variables that
commands inherit in addition, but by default they inherit all variables.",
    ),
    (
        Code::BadRoot,
        "\
An entry of `roots` cannot be used. `roots` lists directories of the host that must exist when the
server starts, and the working directory of a call must be inside one of them. `~` and variables are
expanded. `roots` cannot be combined with a container, which sees only its `volumes`.",
    ),
    (
        Code::UnsetVariable,
        "\
A volume or root of the policy contains a variable that is unset or empty. The path would then name
a different directory, so the server does not start. Set the variable in the server's environment.",
    ),
    (
        Code::ConflictingContainers,
        "\
Two policies specify different containers. All policies apply at once, and a command runs in only
one container. Specify the same one in both, or remove one `executor`.",
    ),
    (
        Code::RequiredDefault,
        "\
A required argument has a default. Every call passes a required argument, so the default is never
used. Remove `required` if calls may omit the argument; otherwise remove `default`.",
    ),
    (
        Code::ZeroTimeout,
        "\
A timeout of 0 means the default of 30 seconds, as in CLImax for Python. It does not mean \"no
limit\". Set the intended number of seconds.",
    ),
    (
        Code::LongDescription,
        "\
A description is longer than 2,048 bytes, after which MCP clients truncate it. Start with what an
agent needs to choose the tool, and leave the details to the help of the program.",
    ),
    (
        Code::ConvertedDefault,
        "\
The default has a different type than the argument and was converted. For example, `\"5\"` became 5.
Write it in the type of the argument, so that nobody is misled.",
    ),
    (
        Code::UnlimitedDestructive,
        "\
The policy allows a tool with `risk: destructive` and does not limit these arguments, so an agent
can destroy anything that the program can reach. Limit the values with `pattern` in the policy, or
with `pattern` or `enum` in the config.",
    ),
    (
        Code::NoCategory,
        "\
The config has no category. Agents narrow searches by category, and such searches do not find a CLI
without one. Add `category`, for example vcs, containers or files.",
    ),
    (
        Code::IneffectiveGlobalArgument,
        "\
A global argument, or one of its fields, has no effect. A global argument is added to every command
with its default as the value. It is in no input schema, so calls cannot set it, and it needs a
default. `positional`, `cwd`, `stdin`, `required` and `enum` have no effect on it.",
    ),
    (
        Code::ShellSyntax,
        "\
A command contains quotes, or a flag contains several words. Commands run without a shell: `command`
is split at white space, and a `flag` is a single word. Quotes are passed to the program unchanged;
remove them. If the second word of a flag is fixed, put both words into the `command` of the tool.",
    ),
    (
        Code::IgnoredTool,
        "\
The policy names a tool that this server does not have. The entry has no effect, since a policy may
be written for several servers. Correct the name if it is a typo.",
    ),
    (
        Code::ApprovalUnspecified,
        "\
The policy allows tools that change or destroy data, but does not set `approval`. CLImax for Python
asks a person before each call of a tool with `risk: write` or `destructive`; this version does not.
Set `approval: {global: none}` to confirm that they may run without approval.",
    ),
    (
        Code::DuplicateFlag,
        "\
Two arguments of a tool have the same flag. Most programs use only the last one. If the program
accepts the flag several times, use one argument with `type: array`.",
    ),
    (
        Code::OptionalBeforeRequired,
        "\
An optional positional argument comes before one that is always present. If a call omits the first,
the program takes the second for it. Make the first one required, or define it last.",
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
        assert_eq!(ids, sorted, "sorted and unique");
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
