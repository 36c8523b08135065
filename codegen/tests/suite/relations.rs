//! Measures the precision of the derived relations between the shipped tools against manual labels.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use climax_codegen::check::check;
use climax_codegen::facts::facts;
use climax_codegen::read_configs;
use climax_discovery::index::build_index;
use climax_discovery::relations::relations;
use climax_discovery::vectors::Vectors;
use climax_input::source::read;

const LABELS: &str = include_str!("../relations.yaml");
const KINDS: [&str; 3] = ["alternatives", "complementary", "prerequisites"];

#[test]
fn at_least_four_of_five_relations_of_each_kind_are_correct() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = read(&root, &["configs".into()], None)
        .unwrap_or_else(|_| panic!("the shipped configs can be read"));
    let mut diagnostics = Vec::new();
    let configs = read_configs(&sources.all, &mut diagnostics);
    let (clis, _) = check(configs, &mut diagnostics);
    let facts = facts(&clis);
    let vectors = Vectors::new(&facts, &build_index(&facts));
    let relations = relations(&facts, &vectors);
    let labels = labels();
    assert_eq!(labels.len(), 30);
    let mut report = String::new();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let (mut total, mut correct) = (0, 0);
        for (tool, relation) in facts.tools.iter().zip(&relations) {
            let Some(label) = labels.get(tool.name) else {
                continue;
            };
            let lists = [
                &relation.alternatives,
                &relation.complementary,
                &relation.prerequisites,
            ];
            for other in lists[number] {
                let other = facts.tools[*other as usize].name;
                total += 1;
                if label[kind].contains(&other) {
                    correct += 1;
                } else {
                    let _ = writeln!(report, "{kind} of {}: {other} is wrong", tool.name);
                }
            }
        }
        let _ = writeln!(report, "{kind}: {correct} of {total} are correct");
        assert!(total >= 5 && correct * 5 >= total * 4, "{report}");
    }
    // To see the report: `cargo test -p climax-codegen relations -- --nocapture`.
    eprintln!("{report}");
}

/// For each labelled tool and each kind of relation, the names of the related tools.
fn labels() -> BTreeMap<&'static str, BTreeMap<&'static str, Vec<&'static str>>> {
    let mut labels = BTreeMap::new();
    let mut tool = "";
    for line in LABELS.lines() {
        if let Some(name) = line.strip_prefix("- tool: ") {
            tool = name;
        } else if let Some((kind, tools)) = line.trim().split_once(": [")
            && !line.trim().starts_with('#')
        {
            let tools = tools.trim_end_matches(']').split(", ");
            let tools = tools.filter(|tool| !tool.is_empty()).collect();
            labels
                .entry(tool)
                .or_insert_with(BTreeMap::new)
                .insert(kind, tools);
        }
    }
    labels
}
