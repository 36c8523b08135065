//! Configs as meant: checked, complete, and free of YAML.

pub use climax_core::risk::Risk;
pub use climax_core::scalar::ArgumentType;
use climax_core::scalar::Scalar;

/// One config.
pub struct Cli {
    /// The file's name without its ending.
    pub stem: String,
    /// The config's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The base command as written: `~` and variables are expanded at run time.
    pub command: String,
    /// Variables for the child, each as `NAME=value`.
    pub env: Vec<String>,
    /// Where commands run, unless a call says otherwise.
    pub working_dir: Option<String>,
    /// For the category filter.
    pub category: Option<String>,
    /// More words to be found by.
    pub tags: Vec<String>,
    /// Appended to every command.
    pub global_args: Vec<GlobalArg>,
    /// Its tools.
    pub tools: Vec<Tool>,
}

/// One tool.
pub struct Tool {
    /// Unique over all configs.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The words after the base command, joined by single spaces.
    pub command: String,
    /// Its arguments in definition order.
    pub args: Vec<Arg>,
    /// The numbers of the arguments in the order in which they go into the command line.
    pub argv_order: Vec<usize>,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What a call may do, where the config says so.
    pub risk: Option<Risk>,
}

/// One argument.
pub struct Arg {
    /// The property in the input schema.
    pub name: String,
    /// What it is; may be empty.
    pub description: String,
    /// The type of its value.
    pub kind: ArgumentType,
    /// Whether a call must have it.
    pub required: bool,
    /// What an absent one is taken for.
    pub default: Option<Scalar<'static>>,
    /// The only values it may have.
    pub choices: Option<Vec<Scalar<'static>>>,
    /// Where its value goes.
    pub placement: ArgumentPlacement,
}

/// Where an argument's value goes.
#[derive(Debug, PartialEq, Eq)]
pub enum ArgumentPlacement {
    /// A word of its own.
    Positional,
    /// A flag, and the value as the next word.
    Flag(String),
    /// A flag such as `key=`, and the value in the same word.
    JoinedFlag(String),
    /// A flag that stands for `true`.
    Switch(String),
    /// The directory in which the command runs.
    Directory,
    /// The command's standard input.
    Stdin,
}

/// An argument that every command of a CLI gets.
pub struct GlobalArg {
    /// Its flag.
    pub flag: String,
    /// Its value as written: variables are expanded at run time.
    pub value: String,
    /// Whether the flag goes alone, if the value is true.
    pub is_switch: bool,
}
