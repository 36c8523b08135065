//! Turns YAML nodes into configs as written: the right fields with the right shapes, each with its
//! place. Whether they make sense together is for `check`.

use climax_core::scalar::Number;
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_input::fields::{At, Fields, boolean, list, map, number, one_of, pairs, text, texts};
use climax_input::yaml::Node;

use crate::model::{ArgumentType, Risk};

/// One config file. A required field that is missing has been reported and is `None`.
pub struct Config {
    /// `name`
    pub name: Option<At<String>>,
    /// `description`
    pub description: Option<At<String>>,
    /// `command`
    pub command: Option<At<String>>,
    /// `env`
    pub env: Vec<(At<String>, At<String>)>,
    /// `working_dir`
    pub working_dir: Option<At<String>>,
    /// `category`
    pub category: Option<At<String>>,
    /// `tags`
    pub tags: Vec<At<String>>,
    /// `global_args`
    pub global_args: Vec<Arg>,
    /// `tools`
    pub tools: Vec<Tool>,
}

/// One entry of `tools`.
pub struct Tool {
    /// `name`
    pub name: Option<At<String>>,
    /// `description`
    pub description: Option<At<String>>,
    /// `command`
    pub command: Option<At<String>>,
    /// `args`
    pub args: Vec<Arg>,
    /// `timeout`
    pub timeout: Option<At<Number>>,
    /// `risk`
    pub risk: Option<At<Risk>>,
    /// `confirm_message`
    pub confirm_message: Option<At<String>>,
    /// `resolve`
    pub resolve: Vec<(At<String>, Resolve)>,
}

/// One entry of `args` or `global_args`.
pub struct Arg {
    /// `name`
    pub name: Option<At<String>>,
    /// `description`
    pub description: Option<At<String>>,
    /// `type`
    pub kind: Option<At<ArgumentType>>,
    /// `required`
    pub required: Option<At<bool>>,
    /// `default`
    pub default: Option<Node>,
    /// `flag`
    pub flag: Option<At<String>>,
    /// `positional`
    pub positional: Option<At<bool>>,
    /// `cwd`
    pub cwd: Option<At<bool>>,
    /// `stdin`
    pub stdin: Option<At<bool>>,
    /// `enum`
    pub choices: Option<At<Vec<Node>>>,
}

/// One entry of `resolve`: a command that makes an opaque value readable.
pub struct Resolve {
    /// The values of `args`: templates
    pub templates: Vec<At<String>>,
}

/// Reads a config.
pub fn config(node: Node, report: &mut Vec<Diagnostic>) -> Option<Config> {
    let mut fields = Fields::open(node, "a config", report)?;
    let config = Config {
        name: fields.optional("name", text),
        description: fields.optional("description", text),
        command: fields.required("command", text),
        env: fields.optional("env", pairs).unwrap_or_default(),
        working_dir: fields.optional("working_dir", text),
        category: fields.optional("category", text),
        tags: fields.optional("tags", texts).unwrap_or_default(),
        global_args: fields.optional("global_args", args).unwrap_or_default(),
        tools: fields.required("tools", tools).unwrap_or_default(),
    };
    fields.close();
    Some(config)
}

fn tools(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Tool>> {
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
            .filter_map(|node| tool(node, report))
            .collect(),
    )
}

fn tool(node: Node, report: &mut Vec<Diagnostic>) -> Option<Tool> {
    let mut fields = Fields::open(node, "a tool", report)?;
    let tool = Tool {
        name: fields.required("name", text),
        description: fields.required("description", text),
        command: fields.optional("command", text),
        args: fields.optional("args", args).unwrap_or_default(),
        timeout: fields.optional("timeout", number),
        risk: fields.optional("risk", risk),
        confirm_message: fields.optional("confirm_message", text),
        resolve: fields.optional("resolve", resolves).unwrap_or_default(),
    };
    fields.close();
    Some(tool)
}

fn args(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Arg>> {
    Some(
        list(node, report)?
            .into_iter()
            .filter_map(|node| arg(node, report))
            .collect(),
    )
}

fn arg(node: Node, report: &mut Vec<Diagnostic>) -> Option<Arg> {
    let mut fields = Fields::open(node, "an argument", report)?;
    let arg = Arg {
        name: fields.required("name", text),
        description: fields.optional("description", text),
        kind: fields.optional("type", kind),
        required: fields.optional("required", boolean),
        default: fields.optional("default", |node, _| Some(node)),
        flag: fields.optional("flag", text),
        positional: fields.optional("positional", boolean),
        cwd: fields.optional("cwd", boolean),
        stdin: fields.optional("stdin", boolean),
        choices: fields.optional("enum", |node, report| {
            let span = node.span;
            list(node, report).map(|value| At { value, span })
        }),
    };
    fields.close();
    Some(arg)
}

fn resolves(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<(At<String>, Resolve)>> {
    let mut resolves = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(resolve)) = (text(key, report), resolve(value, report)) {
            resolves.push((key, resolve));
        }
    }
    Some(resolves)
}

fn resolve(node: Node, report: &mut Vec<Diagnostic>) -> Option<Resolve> {
    let mut fields = Fields::open(node, "a resolve entry", report)?;
    let _: Option<At<String>> = fields.required("command", text);
    let _: Option<At<Number>> = fields.optional("timeout", number);
    let templates = fields.optional("args", pairs).unwrap_or_default();
    fields.close();
    Some(Resolve {
        templates: templates
            .into_iter()
            .map(|(_, template)| template)
            .collect(),
    })
}

fn kind(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<ArgumentType>> {
    let kinds = [
        ArgumentType::String,
        ArgumentType::Integer,
        ArgumentType::Number,
        ArgumentType::Boolean,
    ];
    one_of(node, &kinds.map(|kind| (kind.name(), kind)), report)
}

fn risk(node: Node, report: &mut Vec<Diagnostic>) -> Option<At<Risk>> {
    let risks = [
        ("read", Risk::Read),
        ("write", Risk::Write),
        ("destructive", Risk::Destructive),
    ];
    one_of(node, &risks, report)
}
