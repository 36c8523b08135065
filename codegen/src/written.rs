//! Reads YAML nodes into configs as written: known fields of the expected types, with their source positions.
//! `check` validates their values.

use climax_core::scalar::Number;
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::{
    Fields, Spanned, boolean, list, map, number, one_of, pairs, text, texts, wrong_type,
};
use climax_input::yaml::{Node, YamlValue};
use climax_policy::written::WrittenLimit;

use crate::model::{ArgumentType, ArgvSection, Risk};

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
    /// `pass_env`
    pub pass_env: Vec<Spanned<String>>,
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
    /// `exclusive`
    pub exclusive: Vec<Spanned<Vec<Spanned<String>>>>,
    /// `at_least_one`
    pub at_least_one: Vec<Spanned<Vec<Spanned<String>>>>,
    /// `requires`
    pub requires: Vec<WrittenRequirement>,
    /// `ok_exit_codes`
    pub ok_exit_codes: Vec<Spanned<Number>>,
    /// `examples`
    pub examples: Vec<WrittenExample>,
    /// `keywords`
    pub keywords: Vec<Spanned<String>>,
    /// `output: json`
    pub has_json_output: bool,
}

/// One entry of `args` or `global_args`.
pub struct WrittenArgument {
    /// `name`
    pub name: Option<Spanned<String>>,
    /// `description`
    pub description: Option<Spanned<String>>,
    /// `type`
    pub argument_type: Option<Spanned<WrittenType>>,
    /// `items`
    pub items: Option<Spanned<ArgumentType>>,
    /// `min_items`
    pub min_items: Option<Spanned<Number>>,
    /// `max_items`
    pub max_items: Option<Spanned<Number>>,
    /// `separator`
    pub separator: Option<Spanned<String>>,
    /// `key_value`
    pub key_value: Option<Spanned<String>>,
    /// `keys`
    pub keys: Option<Spanned<String>>,
    /// `required`
    pub required: Option<Spanned<bool>>,
    /// `default`
    pub default: Option<Node>,
    /// `flag`
    pub flag: Option<WrittenFlag>,
    /// `joined`
    pub joined: Option<Spanned<bool>>,
    /// `positional`
    pub positional: Option<Spanned<bool>>,
    /// `cwd`
    pub cwd: Option<Spanned<bool>>,
    /// `stdin`
    pub stdin: Option<Spanned<bool>>,
    /// `enum`
    pub choices: Option<Spanned<Vec<Node>>>,
    /// `place`
    pub place: Option<Spanned<ArgvSection>>,
    /// `after_separator`
    pub after_separator: Option<Spanned<bool>>,
    /// `as_file`: the suffix of the file, empty for `true`.
    pub as_file: Option<Spanned<String>>,
    /// `path`
    pub path: Option<Spanned<bool>>,
    /// `pattern`, `min` and `max`
    pub limit: WrittenLimit,
}

/// The value of `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenType {
    /// `string`, `integer`, `number` or `boolean`
    Scalar(ArgumentType),
    /// `array`
    Array,
    /// `object`
    Object,
}

/// The value of `flag`.
pub enum WrittenFlag {
    /// A flag
    Single(Spanned<String>),
    /// `{true: ..., false: ...}`: a flag for each value of a boolean
    Pair {
        /// `true`
        if_true: Option<Spanned<String>>,
        /// `false`
        if_false: Option<Spanned<String>>,
        /// The mapping
        span: SourceSpan,
    },
}

impl WrittenFlag {
    /// The position.
    #[must_use]
    pub fn span(&self) -> SourceSpan {
        match self {
            Self::Single(flag) => flag.span,
            Self::Pair { span, .. } => *span,
        }
    }
}

/// One entry of `requires`.
pub struct WrittenRequirement {
    /// The argument that needs others.
    pub argument: Spanned<String>,
    /// The arguments that it needs.
    pub required: Vec<Spanned<String>>,
}

/// One entry of `examples`.
pub struct WrittenExample {
    /// `request`
    pub request: Spanned<String>,
    /// `args`
    pub args: Vec<(Node, Node)>,
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
        pass_env: fields.optional("pass_env", texts).unwrap_or_default(),
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
        exclusive: fields
            .optional("exclusive", read_groups)
            .unwrap_or_default(),
        at_least_one: fields
            .optional("at_least_one", read_groups)
            .unwrap_or_default(),
        requires: fields
            .optional("requires", read_requires)
            .unwrap_or_default(),
        ok_exit_codes: fields
            .optional("ok_exit_codes", numbers)
            .unwrap_or_default(),
        examples: fields
            .optional("examples", read_examples)
            .unwrap_or_default(),
        keywords: fields.optional("keywords", texts).unwrap_or_default(),
        has_json_output: fields.optional("output", read_output).is_some(),
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
        flag: fields.optional("flag", read_flag),
        positional: fields.optional("positional", boolean),
        cwd: fields.optional("cwd", boolean),
        stdin: fields.optional("stdin", boolean),
        choices: fields.optional("enum", |node, report| {
            let span = node.span;
            list(node, report).map(|value| Spanned { value, span })
        }),
        items: fields.optional("items", read_item_type),
        min_items: fields.optional("min_items", number),
        max_items: fields.optional("max_items", number),
        separator: fields.optional("separator", text),
        key_value: fields.optional("key_value", text),
        keys: fields.optional("keys", text),
        joined: fields.optional("joined", boolean),
        place: fields.optional("place", read_place),
        after_separator: fields.optional("after_separator", boolean),
        as_file: fields.optional("as_file", read_as_file),
        path: fields.optional("path", boolean),
        limit: WrittenLimit {
            pattern: fields.optional("pattern", text),
            min: fields.optional("min", number),
            max: fields.optional("max", number),
            required: None,
        },
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

fn read_argument_type(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<WrittenType>> {
    let scalars = [
        ArgumentType::String,
        ArgumentType::Integer,
        ArgumentType::Number,
        ArgumentType::Boolean,
    ];
    let scalars = scalars.map(|scalar| (scalar.name(), WrittenType::Scalar(scalar)));
    let collections = [
        ("array", WrittenType::Array),
        ("object", WrittenType::Object),
    ];
    one_of_types(node, &[&scalars[..], &collections].concat(), report)
}

fn read_item_type(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<ArgumentType>> {
    let types = [
        ArgumentType::String,
        ArgumentType::Integer,
        ArgumentType::Number,
    ];
    one_of_types(node, &types.map(|scalar| (scalar.name(), scalar)), report)
}

/// Reads the name of a type. The names of types in programming languages get the right one as help.
fn one_of_types<T: Copy>(
    node: Node,
    types: &[(&'static str, T)],
    report: &mut Vec<Diagnostic>,
) -> Option<Spanned<T>> {
    const ALIASES: [(&str, &[&str]); 6] = [
        ("string", &["str", "text", "path", "file", "directory"]),
        ("integer", &["int", "long"]),
        ("number", &["float", "double", "decimal"]),
        ("boolean", &["bool", "flag", "switch"]),
        ("array", &["list", "sequence", "tuple", "strings"]),
        ("object", &["dict", "map", "mapping", "hash"]),
    ];
    if let YamlValue::Text(name) = &node.value {
        let lower = name.to_ascii_lowercase();
        let mut aliases = ALIASES.iter();
        let alias = aliases.find(|(known, aliases)| {
            let is_offered = types.iter().any(|(offered, _)| offered == known);
            is_offered && (aliases.contains(&lower.as_str()) || *known == lower && *known != name)
        });
        if let Some((known, _)) = alias {
            report.push(
                Diagnostic::new(
                    Code::UnknownValue,
                    node.span,
                    format!("unknown value `{name}`"),
                )
                .help(format!("write `{known}`")),
            );
            return None;
        }
    }
    one_of(node, types, report)
}

fn read_risk(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<Risk>> {
    let by_name = Risk::ALL.map(|risk| (risk.name(), risk));
    one_of(node, &by_name, report)
}

fn read_place(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<ArgvSection>> {
    let places = [
        ("before_command", ArgvSection::BeforeCommand),
        ("after_flags", ArgvSection::AfterFlags),
    ];
    one_of(node, &places, report)
}

fn read_output(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<()>> {
    one_of(node, &[("json", ())], report)
}

fn read_flag(node: Node, report: &mut Vec<Diagnostic>) -> Option<WrittenFlag> {
    let YamlValue::Map(entries) = node.value else {
        return text(node, report).map(WrittenFlag::Single);
    };
    let (mut if_true, mut if_false) = (None, None);
    for (key, value) in entries {
        match key.value {
            YamlValue::Boolean(true) => if_true = text(value, report),
            YamlValue::Boolean(false) => if_false = text(value, report),
            _ => report.push(wrong_type(
                &key,
                "true or false",
                "write `flag: {true: --color, false: --no-color}`",
            )),
        }
    }
    Some(WrittenFlag::Pair {
        if_true,
        if_false,
        span: node.span,
    })
}

/// `as_file: true` and `as_file: ".yaml"`; `false` counts as absent.
fn read_as_file(node: Node, report: &mut Vec<Diagnostic>) -> Option<Spanned<String>> {
    let span = node.span;
    match node.value {
        YamlValue::Boolean(false) => None,
        YamlValue::Boolean(true) => Some(Spanned {
            value: String::new(),
            span,
        }),
        _ => text(node, report),
    }
}

fn numbers(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<Spanned<Number>>> {
    let numbers = list(node, report)?.into_iter();
    Some(numbers.filter_map(|node| number(node, report)).collect())
}

fn read_groups(
    node: Node,
    report: &mut Vec<Diagnostic>,
) -> Option<Vec<Spanned<Vec<Spanned<String>>>>> {
    let groups = list(node, report)?.into_iter();
    let groups = groups.filter_map(|node| {
        let span = node.span;
        texts(node, report).map(|value| Spanned { value, span })
    });
    Some(groups.collect())
}

fn read_requires(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<WrittenRequirement>> {
    let mut entries = Vec::new();
    for (key, value) in map(node, report)? {
        if let (Some(key), Some(names)) = (text(key, report), texts(value, report)) {
            entries.push(WrittenRequirement {
                argument: key,
                required: names,
            });
        }
    }
    Some(entries)
}

fn read_examples(node: Node, report: &mut Vec<Diagnostic>) -> Option<Vec<WrittenExample>> {
    let mut examples = Vec::new();
    for node in list(node, report)? {
        let mut fields = Fields::open(node, "an example", report)?;
        let request = fields.required("request", text);
        let args = fields.optional("args", map).unwrap_or_default();
        fields.close();
        examples.extend(request.map(|request| WrittenExample { request, args }));
    }
    Some(examples)
}
