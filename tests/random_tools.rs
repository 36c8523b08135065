//! Generates configs of random tools that together use every field of an argument. The build script bakes them, and
//! the test of random calls generates the same ones again, because the seed is fixed.

use serde_json::{Map, Value, json};

const SEED: u64 = 21;
const CONFIG_COUNT: usize = 8;
const TOOLS_PER_CONFIG: usize = 32;
const MAX_ARGUMENTS: usize = 6;

/// Names that are keywords, need escaping, or can be spelt in another case.
const NAMES: [&str; 14] = [
    "path",
    "max_count",
    "type",
    "self",
    "dry-run",
    "Größe",
    "1st",
    "files",
    "label",
    "outputDir",
    "in put",
    "message",
    "no_verify_ssl",
    "x",
];

const LOWER_CASE: &str = "[a-z]+";
const LOWER_CASE_OR_DASH: &str = "[a-z-]+";
/// The only pattern whose matches all begin with a dash.
pub(crate) const DASHED: &str = "-[a-z]+";
pub(crate) const DIGITS: &str = "[0-9]{1,3}";
const DECIMAL: &str = "-?[0-9.]+";
const ENTRY: &str = "[a-z]+=.*";

/// Whether one of these patterns matches a whole text.
pub(crate) fn is_match(pattern: &str, text: &str) -> bool {
    let is_lower_case = |byte: u8| byte.is_ascii_lowercase();
    match pattern {
        LOWER_CASE => is_all(text, is_lower_case),
        LOWER_CASE_OR_DASH => is_all(text, |byte| is_lower_case(byte) || byte == b'-'),
        DASHED => is_all(text.strip_prefix('-').unwrap_or_default(), is_lower_case),
        DIGITS => text.len() <= 3 && is_all(text, |byte| byte.is_ascii_digit()),
        DECIMAL => is_all(text.strip_prefix('-').unwrap_or(text), |byte| {
            byte.is_ascii_digit() || byte == b'.'
        }),
        ENTRY => {
            let (key, value) = text.split_once('=').unwrap_or_default();
            is_all(key, is_lower_case) && !value.contains('\n')
        }
        other => panic!("unknown pattern {other}"),
    }
}

fn is_all(text: &str, is_allowed: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(is_allowed)
}

/// Pseudorandom numbers: `SplitMix64`, which gives the same numbers everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let remainder = self.next() % u64::try_from(count).expect("a small number");
        usize::try_from(remainder).expect("a small number")
    }

    /// True once in `count` times.
    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of some items.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }

    /// Up to `count` different items, in random order.
    fn pick_several<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut items = items.to_vec();
        let mut picked = Vec::new();
        while picked.len() < count && !items.is_empty() {
            picked.push(items.swap_remove(self.below(items.len())));
        }
        picked
    }
}

/// The configs.
pub(crate) fn configs() -> Vec<Value> {
    let mut random = Random(SEED);
    (0..CONFIG_COUNT)
        .map(|number| config(&mut random, number))
        .collect()
}

fn config(random: &mut Random, number: usize) -> Value {
    let global_arguments = [
        json!({"name": "vault", "flag": "vault=", "default": "notes"}),
        json!({"name": "as_user", "default": "$HOME"}),
        json!({"name": "gone", "default": "$CLIMAX_UNSET_VARIABLE"}),
        json!({"name": "empty", "default": ""}),
        json!({"name": "mixed", "flag": "-x", "default": "in ${HOME}-$CLIMAX_UNSET_VARIABLE"}),
        json!({"name": "root", "flag": "--root=", "default": "in ${HOME}"}),
        json!({"name": "depth", "type": "integer", "default": 5}),
        json!({"name": "ratio", "type": "number", "default": 2.0}),
        json!({"name": "quiet", "type": "boolean", "flag": "-q", "default": true}),
        json!({"name": "loud", "type": "boolean", "default": false}),
        json!({"name": "debug", "type": "boolean", "default": "$CLIMAX_UNSET_VARIABLE"}),
    ];
    let global_count = random.below(5);
    let mut config = json!({
        "name": format!("random-{number}"),
        "description": "Random tools",
        "command": random.pick(&["program", "program  --plain", "program $HOME"]),
        "category": "random",
        "global_args": random.pick_several(&global_arguments, global_count),
    });
    if random.one_in(2) {
        config["working_dir"] = "/srv".into();
    }
    let tools = (0..TOOLS_PER_CONFIG).map(|tool_number| tool(random, number, tool_number));
    config["tools"] = tools.collect();
    config
}

fn tool(random: &mut Random, config_number: usize, number: usize) -> Value {
    let count = random.below(MAX_ARGUMENTS + 1);
    let names = random.pick_several(&NAMES, count);
    let mut arguments = ArgumentGenerator::new(random);
    let definitions: Vec<Value> = names.iter().map(|name| arguments.generate(name)).collect();
    let mut tool = json!({
        "name": format!("random_{config_number}_{number}"),
        "description": "A random tool",
        "command": random.pick(&["", "run", "run  it", "users list"]),
        "args": definitions,
    });
    if let Some(risk) = random.pick(&[None, Some("read"), Some("write"), Some("destructive")]) {
        tool["risk"] = (*risk).into();
    }
    if names.len() < 2 {
        return tool;
    }
    // An argument that is always there cannot be exclusive.
    let definitions = tool["args"].as_array().cloned().unwrap_or_default();
    let optional = definitions
        .iter()
        .filter(|definition| definition["required"] != true && definition.get("default").is_none());
    let optional: Vec<&str> = optional
        .filter_map(|definition| definition["name"].as_str())
        .collect();
    for (field, names) in [("exclusive", &optional), ("at_least_one", &names)] {
        if names.len() > 1 && random.one_in(3) {
            let groups = (0..=random.below(2)).map(|_| {
                let count = 2 + random.below(2);
                random.pick_several(names, count)
            });
            tool[field] = json!(groups.collect::<Vec<_>>());
        }
    }
    if random.one_in(3) {
        let mut requires = Map::new();
        for _ in 0..=random.below(2) {
            let count = 2 + random.below(2);
            let members = random.pick_several(&names, count);
            requires.insert(members[0].to_owned(), json!(members[1..]));
        }
        tool["requires"] = requires.into();
    }
    tool
}

/// Generates the arguments of one tool.
struct ArgumentGenerator<'r> {
    random: &'r mut Random,
    /// The number of arguments so far, which makes flags unique.
    count: u8,
    has_directory: bool,
    has_stdin: bool,
    has_optional_positional: bool,
}

impl<'r> ArgumentGenerator<'r> {
    fn new(random: &'r mut Random) -> Self {
        Self {
            random,
            count: 0,
            has_directory: false,
            has_stdin: false,
            has_optional_positional: false,
        }
    }

    fn generate(&mut self, name: &str) -> Value {
        const TYPES: [&str; 10] = [
            "string", "string", "string", "integer", "number", "boolean", "array", "array",
            "array", "object",
        ];
        self.count += 1;
        let argument_type = *self.random.pick(&TYPES);
        let mut argument = json!({"name": name, "type": argument_type});
        let mut item_type = argument_type;
        if argument_type == "string" && self.random.one_in(2) {
            argument = json!({"name": name});
        }
        if argument_type == "array" {
            item_type = *self.random.pick(&["string", "string", "integer", "number"]);
            if item_type != "string" || self.random.one_in(2) {
                argument["items"] = item_type.into();
            }
            self.add_list_fields(&mut argument);
        }
        if argument_type == "object" {
            self.add_map_fields(&mut argument);
        } else {
            self.add_choices(&mut argument, item_type);
            self.add_limits(&mut argument, item_type);
        }
        self.add_placement(&mut argument, argument_type);
        self.add_file(&mut argument, argument_type, item_type);
        match self.random.below(3) {
            0 => argument["required"] = true.into(),
            1 if argument_type != "object" => self.add_default(&mut argument, item_type),
            _ => {}
        }
        self.order_positionals(&mut argument);
        argument
    }

    fn add_list_fields(&mut self, argument: &mut Value) {
        if self.random.one_in(3) {
            argument["separator"] = (*self.random.pick(&[",", ":", ", "])).into();
        }
        let min = self.random.below(3);
        if self.random.one_in(4) {
            argument["min_items"] = min.into();
        }
        if self.random.one_in(4) {
            argument["max_items"] = (min.max(1) + self.random.below(3)).into();
        }
    }

    fn add_map_fields(&mut self, argument: &mut Value) {
        if self.random.one_in(3) {
            argument["key_value"] = (*self.random.pick(&[":", ": ", "="])).into();
        }
        if self.random.one_in(3) {
            argument["keys"] = (*self.random.pick(&[LOWER_CASE, DASHED])).into();
        }
        if self.random.one_in(4) {
            argument["pattern"] = (*self.random.pick(&[ENTRY, DASHED])).into();
        }
    }

    fn add_choices(&mut self, argument: &mut Value, item_type: &str) {
        let choices = match item_type {
            "string" if self.random.one_in(8) => json!([""]),
            "string" => json!(["text", "json", "-x", "plain text", "", "true", "1", "a:b"]),
            "integer" => json!([1, "2", -3, 42, "+7"]),
            "number" => json!([1, 2.5, "3", -0.5, "4.50"]),
            _ => return,
        };
        if !self.random.one_in(4) {
            return;
        }
        let count = 1 + self.random.below(4);
        let choices = choices.as_array().map_or(&[][..], Vec::as_slice);
        let mut choices = self.random.pick_several(choices, count);
        if let Some(separator) = argument["separator"].as_str() {
            choices.retain(|choice| !choice.to_string().contains(separator));
        }
        if !choices.is_empty() {
            argument["enum"] = choices.into();
        }
    }

    fn add_limits(&mut self, argument: &mut Value, item_type: &str) {
        let has_choices = argument.get("enum").is_some();
        match item_type {
            "string" if self.random.one_in(4) => {
                let pattern = *self
                    .random
                    .pick(&[LOWER_CASE, LOWER_CASE_OR_DASH, DASHED, DIGITS]);
                let choices = argument["enum"].as_array();
                let mut choices = choices.into_iter().flatten().filter_map(Value::as_str);
                if !has_choices || choices.any(|choice| is_match(pattern, choice)) {
                    argument["pattern"] = pattern.into();
                }
            }
            "boolean" if self.random.one_in(8) => argument["pattern"] = LOWER_CASE.into(),
            "integer" | "number" if self.random.one_in(3) => {
                let (min, max) = *self.random.pick(&[(-3.0, 42.5), (1.0, 50.0), (-0.5, 3.0)]);
                let mut choices = argument["enum"].as_array().into_iter().flatten();
                if !has_choices || choices.any(|choice| (min..=max).contains(&number(choice))) {
                    argument["min"] = min.into();
                    argument["max"] = max.into();
                    let unused = *self.random.pick(&["min", "max", "none"]);
                    argument.as_object_mut().map(|fields| fields.remove(unused));
                }
            }
            "integer" | "number" if !has_choices && self.random.one_in(6) => {
                argument["pattern"] = (*self.random.pick(&[DIGITS, DECIMAL])).into();
            }
            _ => {}
        }
    }

    fn add_placement(&mut self, argument: &mut Value, argument_type: &str) {
        match self.random.below(8) {
            0 | 1 => argument["positional"] = true.into(),
            2 => {
                argument["after_separator"] = true.into();
                return;
            }
            3 if argument_type == "string" && !self.has_directory => {
                self.has_directory = true;
                argument["cwd"] = true.into();
                return;
            }
            4 if argument_type == "string" && !self.has_stdin => {
                self.has_stdin = true;
                argument["stdin"] = true.into();
                return;
            }
            _ => self.add_flag(argument, argument_type),
        }
        if self.random.one_in(3) {
            argument["place"] = (*self.random.pick(&["before_command", "after_flags"])).into();
        }
    }

    fn add_flag(&mut self, argument: &mut Value, argument_type: &str) {
        let number = self.count;
        let letter = char::from(b'a' + number);
        let is_boolean = argument_type == "boolean";
        let is_collection = matches!(argument_type, "array" | "object");
        argument["flag"] = match self.random.below(8) {
            0 | 1 => return,
            2 => format!("--long-{number}").into(),
            3 => format!("-{letter}").into(),
            4 => format!("-name{number}").into(),
            5 if is_boolean => {
                json!({"true": format!("--on-{number}"), "false": format!("--off-{number}")})
            }
            6 if is_boolean => json!({"true": format!("--on-{number}")}),
            7 if is_boolean => json!({"false": format!("-{letter}")}),
            5 => format!("key{number}=").into(),
            6 => format!("--key-{number}=").into(),
            _ if number == 1 && !is_collection => "--".into(),
            _ => format!("word{number}").into(),
        };
        if !is_boolean && self.random.one_in(4) {
            argument["joined"] = true.into();
        }
    }

    fn add_file(&mut self, argument: &mut Value, argument_type: &str, item_type: &str) {
        let is_word = argument.get("cwd").or(argument.get("stdin")).is_none();
        let is_free = argument.get("enum").is_none();
        if argument_type == "string" && is_word && is_free && self.random.one_in(5) {
            argument["as_file"] = self.random.pick(&[json!(true), json!(".yaml")]).clone();
        } else if item_type == "string" && self.random.one_in(6) {
            argument["path"] = true.into();
        }
    }

    fn add_default(&mut self, argument: &mut Value, item_type: &str) {
        let values = match item_type {
            "string" => json!(["text", "a", "-x", "-", "", "two words", "12"]),
            "integer" => json!([-3, 0, 1, 5, 42]),
            "number" => json!([0, 1, 0.5, 3.0, -0.5]),
            _ => json!([true, false]),
        };
        let values = argument.get("enum").unwrap_or(&values).as_array();
        let mut values = values.cloned().unwrap_or_default();
        values.retain(|value| is_allowed_default(argument, item_type, value));
        if values.is_empty() {
            return;
        }
        let is_list = argument["type"] == "array";
        // The default must have an allowed number of items.
        if argument.get("min_items").is_some() || argument.get("max_items").is_some() {
            return;
        }
        argument["default"] = if is_list && !self.random.one_in(4) {
            let count = self.random.below(4);
            self.random.pick_several(&values, count).into()
        } else {
            self.random.pick(&values).clone()
        };
    }

    /// Moves a positional argument behind the flags if the program would confuse it with an optional one before it,
    /// which is a warning.
    fn order_positionals(&mut self, argument: &mut Value) {
        if argument.get("positional").is_none() || argument.get("place").is_some() {
            return;
        }
        let is_present = argument["required"] == true || argument.get("default").is_some();
        if is_present && self.has_optional_positional {
            argument["place"] = "after_flags".into();
        }
        self.has_optional_positional |= !is_present;
    }
}

/// The number in the enum of an argument, where it may be text.
fn number(choice: &Value) -> f64 {
    let text = choice.as_str().and_then(|text| text.parse().ok());
    choice.as_f64().or(text).expect("a number")
}

/// Whether a value may be a default: it has the right type, no limit excludes it, and it is not read as an option.
fn is_allowed_default(argument: &Value, item_type: &str, value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        let number = value.as_f64().unwrap_or_default();
        let min = argument["min"].as_f64().unwrap_or(f64::MIN);
        let max = argument["max"].as_f64().unwrap_or(f64::MAX);
        let has_pattern = argument.get("pattern").is_some() && item_type != "boolean";
        return !has_pattern && (min..=max).contains(&number);
    };
    let is_option = text.starts_with('-') && text != "-";
    let is_positional = argument.get("positional").is_some() && argument.get("enum").is_none();
    let pattern = argument["pattern"].as_str();
    item_type == "string"
        && !(is_option && is_positional)
        && pattern.is_none_or(|pattern| is_match(pattern, text))
}
