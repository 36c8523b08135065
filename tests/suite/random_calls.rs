//! Compares the generated code with an interpreter of configs, over random calls of random tools.

use std::thread;

use climax_runtime::internals::{PlannedCall, plan};
use serde_json::{Map, Value, json};

use crate::interpreter::{ArgumentDefinition, ConfigDefinition, ToolDefinition, interpret};
use crate::random_tools::{DASHED, DIGITS, Random, configs};

climax_runtime::catalog!("random.rs");

const CALLS: usize = 100_000;
/// Each batch has its own seed.
const BATCHES: u64 = 20;
const CALLS_PER_BATCH: usize = CALLS / 20;

#[test]
fn the_generated_code_and_an_interpreter_of_configs_agree_about_100_000_random_calls() {
    let configs: Vec<ConfigDefinition> = configs()
        .into_iter()
        .map(|config| serde_json::from_value(config).expect("a config"))
        .collect();
    // Without optimisation this takes seconds, so there are two threads.
    let accepted: usize = thread::scope(|scope| {
        let configs = &configs;
        let threads = [0, 1].map(|first| {
            let batches = (first..BATCHES).step_by(2);
            scope.spawn(move || {
                batches
                    .map(|seed| compare_batch(configs, seed))
                    .sum::<usize>()
            })
        });
        let counts = threads.map(|thread| thread.join().expect("all calls agree"));
        counts.into_iter().sum()
    });
    assert!(
        accepted > CALLS / 4 && accepted < CALLS / 4 * 3,
        "{accepted} of {CALLS} calls are accepted, which is too few or too many"
    );
}

/// Compares random calls. Returns the number of calls that are accepted.
fn compare_batch(configs: &[ConfigDefinition], seed: u64) -> usize {
    let junk = junk();
    let mut random = Random(seed);
    let mut accepted = 0;
    for _ in 0..CALLS_PER_BATCH {
        let config = random.pick(configs);
        let tool = random.pick(&config.tools);
        let arguments = arguments(&mut random, &junk, tool);
        let planned = plan(&CATALOG, &tool.name, arguments.clone()).map(with_relative_paths);
        let expected = interpret(config, tool, &arguments);
        accepted += usize::from(expected.is_ok());
        assert_eq!(
            planned,
            expected,
            "{:#}\nwith the arguments {}",
            written_tool(&tool.name),
            Value::from(arguments)
        );
    }
    accepted
}

/// A tool as its config defines it.
fn written_tool(name: &str) -> Value {
    let configs = configs();
    let tools = configs
        .iter()
        .filter_map(|config| config["tools"].as_array());
    let tool = tools.flatten().find(|tool| tool["name"] == name);
    tool.expect("the tool exists").clone()
}

/// Removes the directory of files, which is another one for each call.
fn with_relative_paths(mut call: PlannedCall) -> PlannedCall {
    for (path, _) in &mut call.files {
        let directory = path.rsplit_once('/').expect("an absolute path").0;
        let directory = format!("{directory}/");
        for word in &mut call.words {
            *word = word.replace(&directory, "");
        }
        *path = path.replace(&directory, "");
    }
    call
}

/// The arguments of a random call.
fn arguments(random: &mut Random, junk: &[Value], tool: &ToolDefinition) -> Map<String, Value> {
    // Many calls must be valid as a whole, so junk is rare in most of them.
    let junk_interval = *random.pick(&[1000, 1000, 20, 3]);
    let absent_interval = *random.pick(&[100, 5, 2]);
    let mut arguments = Map::new();
    for definition in &tool.args {
        let is_needed = definition.required && !random.one_in(10);
        if !is_needed && random.one_in(absent_interval) {
            continue;
        }
        let value = if random.one_in(junk_interval) {
            random.pick(junk).clone()
        } else {
            value(random, definition)
        };
        let name = definition.name.as_str();
        if random.one_in(20) {
            arguments.insert(spelling(random, name), value.clone());
        }
        if !random.one_in(20) {
            arguments.insert(name.to_owned(), value);
        }
    }
    if random.one_in(50) {
        arguments.insert("zz".to_owned(), 1.into());
    }
    arguments
}

/// Another spelling of a name.
fn spelling(random: &mut Random, name: &str) -> String {
    match random.below(3) {
        0 => name.to_ascii_uppercase(),
        1 => name.replace('_', "-"),
        _ => {
            let mut words = name.split(['_', '-']);
            let first = words.next().unwrap_or_default().to_owned();
            words.fold(first, |camel, word| {
                let (initial, rest) = word.split_at(1);
                camel + &initial.to_uppercase() + rest
            })
        }
    }
}

/// A value that an argument probably accepts.
fn value(random: &mut Random, definition: &ArgumentDefinition) -> Value {
    match definition.argument_type() {
        "array" => list(random, definition),
        "object" => map(random, definition),
        _ => item(random, definition),
    }
}

/// A list, also as text or as its only item.
fn list(random: &mut Random, definition: &ArgumentDefinition) -> Value {
    let min = definition.min_items.unwrap_or(1.0);
    let max = definition.max_items.unwrap_or(4.0);
    let mut items = Vec::new();
    let mut count = 0.0;
    while count < max && (count < min || random.one_in(2)) {
        items.push(item(random, definition));
        count += 1.0;
    }
    match (random.below(10), &items[..]) {
        (0, _) => Value::from(items).to_string().into(),
        (1 | 2, [item]) => item.clone(),
        _ => items.into(),
    }
}

/// A map, also as text.
fn map(random: &mut Random, definition: &ArgumentDefinition) -> Value {
    let is_dashed = [&definition.keys, &definition.pattern]
        .into_iter()
        .any(|pattern| pattern.as_deref() == Some(DASHED));
    let keys: &[&str] = if is_dashed {
        &["-a", "-key"]
    } else {
        &["a", "key", "name", "long-key", "a:b", "x=y"]
    };
    let key_count = keys.len().min(2 + random.below(5));
    let mut entries = Map::new();
    for _ in 0..=random.below(2) {
        let key = *random.pick(&keys[..key_count]);
        let value = item(random, &ArgumentDefinition::default());
        entries.insert(key.to_owned(), value);
    }
    if random.one_in(10) {
        Value::from(entries).to_string().into()
    } else {
        entries.into()
    }
}

fn item(random: &mut Random, definition: &ArgumentDefinition) -> Value {
    if let Some(choices) = &definition.choices
        && !random.one_in(20)
    {
        return random.pick(choices).clone();
    }
    match (definition.value_type(), definition.pattern.as_deref()) {
        (_, Some(DASHED)) => random.pick(&[json!("-x"), json!("-abc")]).clone(),
        (_, Some(DIGITS)) => random.pick(&[json!("12"), json!(7), json!("3")]).clone(),
        ("string", Some(_)) => random
            .pick(&[json!("abc"), json!("x"), json!(true)])
            .clone(),
        ("string", None) => {
            let texts = [
                "text",
                "two words",
                "",
                "-",
                "ä/ö",
                "a,b",
                "12",
                "[x]",
                "-v",
                "line\nbreak",
            ];
            let text_count = 1 + random.below(texts.len());
            (*random.pick(&texts[..text_count])).into()
        }
        ("integer", _) => {
            let integers = [
                json!(1),
                json!(3),
                json!(3.0),
                json!("2"),
                json!(" 1 "),
                json!(true),
            ];
            random.pick(&integers).clone()
        }
        ("number", _) => {
            let numbers = [
                json!(1),
                json!(2.5),
                json!("3"),
                json!(1.0),
                json!("1e0"),
                json!(true),
            ];
            random.pick(&numbers).clone()
        }
        _ => {
            let booleans = [json!(true), json!(false), json!("True"), json!(0), json!(2)];
            random.pick(&booleans).clone()
        }
    }
}

/// Values of all types, most of which most arguments refuse.
fn junk() -> Vec<Value> {
    let texts = [
        "",
        "-",
        "-x",
        "--output=x",
        "3",
        " 42 ",
        "+7",
        "-0",
        "3.0",
        "1e-5",
        "nan",
        "inf",
        "1e999",
        "TRUE",
        "false",
        "yes",
        "a,b",
        "a:b",
        "a, b",
        "abc",
        "two words",
        "line\nbreak",
        "ß",
        "[1, 2]",
        " [\"a\", \"-x\"] ",
        "[]",
        "[broken",
        "[\"broken",
        "[null]",
        "{\"a\": 1}",
        "{}",
        "{broken",
        "{\"broken\": ",
        "9223372036854775807",
        "9223372036854775808",
    ];
    let mut junk: Vec<Value> = texts.map(Value::from).into();
    junk.extend([
        Value::Null,
        json!([]),
        json!({}),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1000),
        json!(3.0),
        json!(3.7),
        json!(-0.0),
        json!(1e16),
        json!(1e19),
        json!(1e300),
        json!(0.00001),
        json!(u64::MAX),
        json!(i64::MIN),
        json!("ä".repeat(201)),
        json!(["a", "-x", "b"]),
        json!(["a,b", "c:d"]),
        json!([1, "2", 3.0]),
        json!([-1, 2.5, true]),
        json!([null]),
        json!([["a"]]),
        json!([{"a": 1}]),
        json!(["a", "b", "c", "d", "e"]),
        json!({"a": "b"}),
        json!({"": "x", "a=b": "x", "c:d": "x"}),
        json!({"A": 1.5, "b": true, "-c": "-d"}),
        json!({"a": null, "b": ["c"], "c": 1e300}),
    ]);
    junk
}
