//! Works out again how tools are found and what follows from what is said about them, for what policies at
//! the start have left of a catalog. It is done when it is first needed.

use climax_core::pieces::{description, unquoted};
use climax_discovery::derive;
use climax_discovery::facts::{Argument, Cli, Facts, Tool};
use climax_discovery::tables::{Parameter, Record};
use climax_policy::limit::Bounds;
use serde_json::Value;

use crate::catalog::selection::Numbers;
use crate::catalog::{Catalog, Discovery};

/// What follows for a catalog that was narrowed; `numbers` are those that its tools had before.
pub(crate) fn derived(catalog: &'static Catalog, numbers: &Numbers) -> Discovery {
    let about = catalog.clis.iter().map(|cli| {
        [cli.description, cli.category, cli.tags].map(|json| parsed(json.of(catalog.text)))
    });
    let about: Vec<[Value; 3]> = about.collect();
    let texts = catalog.tools.iter().map(|tool| {
        let schema = parsed(tool.schema.of(catalog.text));
        (description(tool.head.of(catalog.text)), schema)
    });
    let texts: Vec<(String, Value)> = texts.collect();
    let clis = catalog.clis.iter().zip(&about);
    let clis = clis.map(|(cli, [description, category, tags])| Cli {
        name: cli.name.of(catalog.text),
        description: text(description),
        command: cli.command.of(catalog.text),
        category: category.as_str(),
        tags: list(tags).iter().map(text).collect(),
    });
    // Baked limits and those of policies are in the narrowed catalog; the rest is as it was baked.
    let records = catalog.discovery.records();
    let tools = (0..).zip(catalog.tools).zip(&texts);
    let tools = tools.map(|((number, tool), (description, schema))| {
        let record = records.record(numbers.tools[number as usize]);
        let parameters = record.iter().flat_map(Record::parameters);
        let argument = |parameter| argument(catalog, number, schema, parameter);
        Tool {
            cli: tool.cli as usize,
            name: tool.name.of(catalog.text),
            description,
            command: tool.command.of(catalog.text),
            arguments: parameters.filter_map(argument).collect(),
            timeout_ms: tool.timeout_ms,
            risk: tool.risk,
        }
    });
    let facts = Facts {
        clis: clis.collect(),
        tools: tools.collect(),
    };
    let derived = derive(&facts);
    Discovery {
        text: derived.tables.text.leak(),
        rows: derived.tables.rows.leak(),
        lists: derived.tables.lists.leak(),
        terms: derived.index.terms.leak(),
        term_rows: derived.index.rows.leak(),
        postings: derived.index.postings.leak(),
        posting_notes: derived.index.notes.leak(),
        trigram_rows: derived.index.trigrams.rows.leak(),
        trigram_words: derived.index.trigrams.words.leak(),
        rarest: derived.index.rarest,
    }
}

fn argument<'f>(
    catalog: &'static Catalog,
    tool: u32,
    schema: &'f Value,
    parameter: Parameter<'_>,
) -> Option<Argument<'f>> {
    let Parameter {
        kind,
        required,
        place,
        ..
    } = parameter;
    let name = parsed(&format!("\\\"{}\\\"", parameter.name));
    let properties = schema["properties"].as_object()?;
    let (name, property) = properties.get_key_value(name.as_str()?)?;
    let limits = catalog.limits_of(tool).iter();
    let limits = limits.filter(|limit| limit.argument.of(catalog.text) == name);
    Some(Argument {
        name,
        description: text(&property["description"]),
        kind,
        required,
        default: property.get("default").cloned(),
        choices: list(&property["enum"]).to_vec(),
        place,
        limits: limits
            .map(|limit| Bounds {
                pattern: limit.pattern.of(catalog.text),
                automaton: limit.automaton.of_bytes(catalog.automata),
                min: limit.min,
                max: limit.max,
            })
            .collect(),
    })
}

/// JSON that stands in a string of JSON.
fn parsed(quoted: &str) -> Value {
    serde_json::from_str(&unquoted(quoted)).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
