//! Configs as meant: checked, complete, and free of YAML.

pub use climax_core::risk::Risk;
pub use climax_core::scalar::Kind;
use climax_core::scalar::Number;
pub use climax_policy::limit::Limit;
pub use climax_policy::rules::Surroundings;

/// Everything that is baked.
pub struct Catalog {
    /// The CLIs in the order read.
    pub clis: Vec<Cli>,
    /// The files they come from, by name.
    pub files: Vec<String>,
    /// A digest of the names and contents of these files.
    pub hash: String,
    /// Where and with what commands run, if a policy says something about it.
    pub surroundings: Option<Surroundings>,
}

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
    /// Variables for the child.
    pub env: Vec<(String, String)>,
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
    pub kind: Kind,
    /// Whether a call must have it.
    pub required: bool,
    /// What an absent one is taken for.
    pub default: Option<Scalar>,
    /// The only values it may have.
    pub choices: Option<Vec<Scalar>>,
    /// Where its value goes.
    pub place: Place,
    /// What a policy allows.
    pub limit: Option<Limit>,
}

/// Where an argument's value goes.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// A word of its own.
    Positional,
    /// The flag, and the value after it (or none: a boolean).
    Flag(String),
    /// The directory in which the command runs.
    Directory,
    /// The command's standard input.
    Stdin,
}

/// A value of one of the kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Text
    Text(String),
    /// A whole number
    Integer(i64),
    /// A number
    Number(Number),
    /// `true` or `false`
    Boolean(bool),
}

impl Scalar {
    /// The value as a word of a command line.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(integer) => integer.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }

    /// Whether a call means the same with either.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.is_same(*other),
            _ => self == other,
        }
    }

    /// The value as JSON.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Integer(integer) | Self::Number(Number::Integer(integer)) => (*integer).into(),
            Self::Number(Number::Float(float)) => (*float).into(),
            Self::Boolean(boolean) => (*boolean).into(),
        }
    }
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
