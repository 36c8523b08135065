//! Configs as the interpreter reads them.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A config.
#[derive(Deserialize)]
pub(crate) struct ConfigDefinition {
    pub(crate) command: String,
    pub(crate) working_dir: Option<String>,
    pub(crate) global_args: Vec<ArgumentDefinition>,
    pub(crate) tools: Vec<ToolDefinition>,
}

/// A tool.
#[derive(Deserialize)]
pub(crate) struct ToolDefinition {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) args: Vec<ArgumentDefinition>,
    pub(crate) risk: Option<String>,
    #[serde(default)]
    pub(crate) exclusive: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) at_least_one: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) requires: Map<String, Value>,
}

/// An argument.
#[derive(Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of configs")]
pub(crate) struct ArgumentDefinition {
    pub(crate) name: String,
    #[serde(rename = "type")]
    argument_type: Option<String>,
    items: Option<String>,
    pub(crate) required: bool,
    pub(crate) default: Value,
    #[serde(rename = "enum")]
    pub(crate) choices: Option<Vec<Value>>,
    pub(crate) flag: Value,
    pub(crate) joined: bool,
    pub(crate) positional: bool,
    pub(crate) cwd: bool,
    pub(crate) stdin: bool,
    pub(crate) after_separator: bool,
    pub(crate) path: bool,
    pub(crate) as_file: Option<Value>,
    place: Option<String>,
    pub(crate) separator: Option<String>,
    pub(crate) min_items: Option<f64>,
    pub(crate) max_items: Option<f64>,
    pub(crate) key_value: Option<String>,
    pub(crate) keys: Option<String>,
    pub(crate) pattern: Option<String>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

impl ArgumentDefinition {
    /// The type of the argument.
    pub(crate) fn argument_type(&self) -> &str {
        self.argument_type.as_deref().unwrap_or("string")
    }

    /// The type of the value, of each item of a list, or of each entry of a map.
    pub(crate) fn value_type(&self) -> &str {
        match self.argument_type() {
            "array" => self.items.as_deref().unwrap_or("string"),
            "object" => "string",
            single => single,
        }
    }

    /// The section of the command line that contains the argument.
    pub(super) fn section(&self) -> &str {
        let usual = if self.positional {
            "positionals"
        } else {
            "flags"
        };
        if self.after_separator {
            "after_separator"
        } else {
            self.place.as_deref().unwrap_or(usual)
        }
    }
}
