//! The model: configs after checking, with all defaults filled in and no YAML left.

use climax_catalog::facts::CombinationFacts;
pub use climax_core::risk::Risk;
pub use climax_core::scalar::ArgumentType;
use climax_core::scalar::Scalar;
pub use climax_core::scalar::ValueShape;
use climax_input::diagnostic::SourceSpan;
use climax_policy::limit::{Limit, LimitTarget};
use serde_json::{Map, Value};

/// One config.
pub struct CliModel {
    /// The file name without its extension.
    pub stem: String,
    /// `name`, or `climax` if the config has none.
    pub name: String,
    /// What the CLI is for; may be empty.
    pub description: String,
    /// The base command. `~` and variables are expanded at run time.
    pub command: String,
    /// Environment variables for commands, each as `NAME=value`.
    pub env: Vec<String>,
    /// The working directory, unless a call sets another.
    pub working_dir: Option<String>,
    /// The category for the search filter.
    pub category: Option<String>,
    /// Additional search words.
    pub tags: Vec<String>,
    /// Variables that commands inherit although they look like secrets: those of `pass_env`, and those that the
    /// config refers to.
    pub pass_env: Vec<String>,
    /// Arguments that are appended to every command.
    pub global_arguments: Vec<GlobalArgument>,
    /// The tools in definition order.
    pub tools: Vec<ToolModel>,
}

/// One tool.
pub struct ToolModel {
    /// The name, which is unique across all configs.
    pub name: String,
    /// What the tool does.
    pub description: String,
    /// The words that follow the base command, joined by single spaces.
    pub command: String,
    /// The arguments in definition order.
    pub arguments: Vec<ArgumentModel>,
    /// Indices into `arguments`, in command-line order.
    pub argv_order: Vec<usize>,
    /// The time limit of a call, in milliseconds.
    pub timeout_ms: u64,
    /// The declared risk.
    pub risk: Option<Risk>,
    /// Which arguments a call may combine.
    pub combinations: Vec<CombinationFacts>,
    /// Exit codes other than 0 that are not errors.
    pub ok_exit_codes: Vec<i64>,
    /// Example calls, not checked yet.
    pub examples: Vec<ExampleModel>,
    /// Search words that are not shown.
    pub keywords: Vec<String>,
    /// Whether the output is a JSON object.
    pub has_json_output: bool,
}

/// An example call.
pub struct ExampleModel {
    /// What a person would ask for.
    pub request: String,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// The position of each argument, and of the request for everything else.
    pub spans: Vec<(String, SourceSpan)>,
    /// The position of the request.
    pub span: SourceSpan,
}

/// One argument.
pub struct ArgumentModel {
    /// The name of the property in the input schema.
    pub name: String,
    /// What the argument is for; may be empty.
    pub description: String,
    /// The type of the value, or of each value.
    pub argument_type: ArgumentType,
    /// Whether there is one value or several, and how several become words.
    pub form: ValueForm,
    /// Whether every call must contain the argument.
    pub required: bool,
    /// The value for calls that do not contain the argument; empty if there is none. A list may have several.
    pub default: Vec<Scalar<'static>>,
    /// The values of `enum`.
    pub choices: Option<Vec<Scalar<'static>>>,
    /// Where the value goes.
    pub placement: ArgumentPlacement,
    /// The part of the command line that contains it.
    pub section: ArgvSection,
    /// The suffix of the file that contains the value, if the command gets the path of a file instead of the
    /// value. May be empty.
    pub file_suffix: Option<String>,
    /// Whether the value is a path.
    pub is_path: bool,
    /// The limits for its values, its keys and their number.
    pub limits: Vec<(LimitTarget, Limit)>,
}

/// Whether an argument has one value or several, and how several become words.
#[derive(Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// One value
    Single,
    /// A list. With a separator, all items become one word.
    List {
        /// Between two items.
        separator: Option<String>,
    },
    /// A map
    Map {
        /// Between a key and its value.
        key_value: String,
    },
}

impl ValueForm {
    /// The shape.
    #[must_use]
    pub fn shape(&self) -> ValueShape {
        match self {
            Self::Single => ValueShape::Single,
            Self::List { .. } => ValueShape::List,
            Self::Map { .. } => ValueShape::Map,
        }
    }
}

/// A part of the command line, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArgvSection {
    /// Between the base command and the words of the tool.
    BeforeCommand,
    /// Positional arguments.
    Positionals,
    /// Flags, and what is not on the command line.
    Flags,
    /// After all flags.
    AfterFlags,
    /// After the global arguments and `--`.
    AfterSeparator,
}

/// Where the value of an argument goes.
#[derive(Debug, PartialEq, Eq)]
pub enum ArgumentPlacement {
    /// A word without a flag.
    Positional,
    /// A flag, with the value as the next word.
    Flag(String),
    /// A flag such as `key=` or `-j`, with the value in the same word.
    JoinedFlag(String),
    /// A flag without a value, present if the argument is true.
    Switch(String),
    /// A flag for each value of a boolean; an empty one adds no word.
    SwitchPair {
        /// If the argument is true.
        if_true: String,
        /// If the argument is false.
        if_false: String,
    },
    /// The working directory of the command.
    Directory,
    /// The standard input of the command.
    Stdin,
}

/// An argument that is appended to every command of a CLI.
pub struct GlobalArgument {
    /// The flag.
    pub flag: String,
    /// The value. Variables are expanded at run time.
    pub value: String,
    /// Whether the flag is a switch: present without a value if the value is true.
    pub is_switch: bool,
}
