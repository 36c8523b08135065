//! Reads YAML nodes into configs as written: known fields of the expected types, with their source positions.
//! `check` validates their values.

use climax_core::scalar::Number;
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_input::fields::{
    Fields, Spanned, boolean, list, map, number, one_of, pairs, text, texts,
};
use climax_input::yaml::Node;

use crate::model::{ArgumentType, Risk};

/// One config file. If a required field is missing, it is `None`, and an error has been reported.
pub struct WrittenConfig {
    /// `name`
    pub name: Option<Spanned<String>>,
    /// `description`
    pub description: Option<Spanned<String>>,
    /// `command`
    pub command: Option<Spanned<String>>,
    /// `env`
    pub env: Vec<(Spanned<String>, Spanned<String>)>,
    /// `working_dir`
    pub working_dir: Option<Spanned<String>>,
    /// `category`
    pub category: Option<Spanned<String>>,
    /// `tags`
    pub tags: Vec<Spanned<String>>,
    /// `global_args`
    pub global_args: Vec<WrittenArgument>,
    /// `tools`
    pub tools: Vec<WrittenTool>,
}

/// One entry of `tools`.
pub struct WrittenTool {
    /// `name`
    pub name: Option<Spanned<String>>,
    /// `description`
    pub description: Option<Spanned<String>>,
    /// `command`
    pub command: Option<Spanned<String>>,
    /// `args`
    pub args: Vec<WrittenArgument>,
    /// `timeout`
    pub timeout: Option<Spanned<Number>>,
    /// `risk`
    pub risk: Option<Spanned<Risk>>,
    /// `confirm_message`
    pub confirm_message: Option<Spanned<String>>,
    /// `resolve`
    pub resolve: Vec<(Spanned<String>, WrittenResolve)>,
}

/// One entry of `args` or `global_args`.
pub struct WrittenArgument {
    /// `name`
    pub name: Option<Spanned<String>>,
    /// `description`
    pub description: Option<Spanned<String>>,
    /// `type`
    pub argument_type: Option<Spanned<ArgumentType>>,
    /// `required`
    pub required: Option<Spanned<bool>>,
    /// `default`
    pub default: Option<Node>,
    /// `flag`
    pub flag: Option<Spanned<String>>,
    /// `positional`
    pub positional: Option<Spanned<bool>>,
    /// `cwd`
    pub cwd: Option<Spanned<bool>>,
    /// `stdin`
    pub stdin: Option<Spanned<bool>>,
    /// `enum`
    pub choices: Option<Spanned<Vec<Node>>>,
}

/// One entry of `resolve`: a command that looks up a readable name for an opaque value.
pub struct WrittenResolve {
    /// The values of `args`, which may contain placeholders.
    pub templates: Vec<Spanned<String>>,
}

/// Reads a config.
pub fn read_config(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenConfig> {
    let mut fields = Fields::open(node, "a config", report)?;
    let config = WrittenConfig {
        name: fields.optional("name", text),
        description: fields.optional("description", text),
        command: fields.required("command", text),
        env: fields.optional("env", pairs).unwrap_or_default(),
        working_dir: fields.optional("working_dir", text),
        category: fields.optional("category", text),
        tags: fields.optional("tags", texts).unwrap_or_default(),
        global_args: fields
            .optional("global_args", read_arguments)
            .unwrap_or_default(),
        tools: fields.required("tools", read_tools).unwrap_or_default(),
    };
    fields.close();
    Some(config)
}

fn read_tools(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<WrittenTool>> {
    let span = node.span;
    let tools = list(node, report)?;
    if tools.is_empty() {
        report.push(
            Diagnostic::new(Code::NoTools, span, "a config needs at least one tool")
                .help("add an entry with `name`, `description` and `command`"),
        );
    }
    Some(
        tools
            .into_iter()
            .filter_map(|node| read_tool(node, report))
            .collect(),
    )
}

fn read_tool(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenTool> {
    let mut fields = Fields::open(node, "a tool", report)?;
    let tool = WrittenTool {
        name: fields.required("name", text),
        description: fields.required("description", text),
        command: fields.optional("command", text),
        args: fields.optional("args", read_arguments).unwrap_or_default(),
        timeout: fields.optional("timeout", number),
        risk: fields.optional("risk", read_risk),
        confirm_message: fields.optional("confirm_message", text),
        resolve: fields
            .optional("resolve", read_resolve_entries)
            .unwrap_or_default(),
    };
    fields.close();
    Some(tool)
}

fn read_arguments(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<WrittenArgument>> {
    Some(
        list(node, report)?
            .into_iter()
            .filter_map(|node| read_argument(node, report))
            .collect(),
    )
}

fn read_argument(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenArgument> {
    let mut fields = Fields::open(node, "an argument", report)?;
    let argument = WrittenArgument {
        name: fields.required("name", text),
        description: fields.optional("description", text),
        argument_type: fields.optional("type", read_argument_type),
        required: fields.optional("required", boolean),
        default: fields.optional("default", |node, _| Some(node)),
        flag: fields.optional("flag", text),
        positional: fields.optional("positional", boolean),
        cwd: fields.optional("cwd", boolean),
        stdin: fields.optional("stdin", boolean),
        choices: fields.optional("enum", |node, report| {
            let span = node.span;
            list(node, report).map(|value| Spanned { value, span })
        }),
    };
    fields.close();
    Some(argument)
}

fn read_resolve_entries(
    node: Node,
    report: &mut Vec<Diagnostic>,
) -> Option<Vec<(Spanned<String>, WrittenResolve)>> {
    let mut entries = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(resolve)) = (text(key, report), read_resolve_entry(value, report)) {
            entries.push((key, resolve));
        }
    }
    Some(entries)
}

fn read_resolve_entry(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenResolve> {
    let mut fields = Fields::open(node, "a resolve entry", report)?;
    // `resolve` is not used yet, so these fields are only checked for their type.
    let _: Option<Spanned<String>> = fields.required("command", text);
    let _: Option<Spanned<Number>> = fields.optional("timeout", number);
    let templates = fields.optional("args", pairs).unwrap_or_default();
    fields.close();
    Some(WrittenResolve {
        templates: templates
            .into_iter()
            .map(|(_, template)| template)
            .collect(),
    })
}

fn read_argument_type(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<ArgumentType>> {
    let argument_types = [
        ArgumentType::String,
        ArgumentType::Integer,
        ArgumentType::Number,
        ArgumentType::Boolean,
    ];
    let by_name = argument_types.map(|argument_type| (argument_type.name(), argument_type));
    one_of(node, &by_name, report)
}

fn read_risk(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<Risk>> {
    let by_name = Risk::ALL.map(|risk| (risk.name(), risk));
    one_of(node, &by_name, report)
}
