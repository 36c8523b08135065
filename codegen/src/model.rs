//! The model: configs after checking, with all defaults filled in and no YAML left.

pub use climax_core::risk::Risk;
pub use climax_core::scalar::ArgumentType;
use climax_core::scalar::Scalar;

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
}

/// One argument.
pub struct ArgumentModel {
    /// The name of the property in the input schema.
    pub name: String,
    /// What the argument is for; may be empty.
    pub description: String,
    /// The type of the value.
    pub argument_type: ArgumentType,
    /// Whether every call must contain the argument.
    pub required: bool,
    /// The value for calls that do not contain the argument.
    pub default: Option<Scalar<'static>>,
    /// The values of `enum`.
    pub choices: Option<Vec<Scalar<'static>>>,
    /// Where the value goes.
    pub placement: ArgumentPlacement,
}

/// Where the value of an argument goes.
#[derive(Debug, PartialEq, Eq)]
pub enum ArgumentPlacement {
    /// A word without a flag.
    Positional,
    /// A flag, with the value as the next word.
    Flag(String),
    /// A flag such as `key=`, with the value in the same word.
    JoinedFlag(String),
    /// A flag without a value, present if the argument is true.
    Switch(String),
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
