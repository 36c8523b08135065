//! Checks that examples may have the values that calls may have.

use climax_codegen::compile;
use climax_input::source::{Source, Sources};

/// The errors and warnings for a tool with one argument and an example of it.
fn problems(argument: &str, value: &str) -> Vec<String> {
    let text = format!(
        "{{command: x, category: x, tools: [{{name: x, description: x, \
         args: [{{name: x, positional: true, {argument}}}], \
         examples: [{{request: x, args: {{x: {value}}}}}]}}]}}"
    );
    let sources = Sources::from(vec![Source {
        path: "x.yaml".to_owned(),
        stem: "x".to_owned(),
        file_name: "x.yaml".to_owned(),
        text,
        invalid_utf8_offset: None,
    }]);
    let diagnostics = compile(&sources).diagnostics.into_iter();
    diagnostics
        .map(|diagnostic| diagnostic.help.unwrap_or(diagnostic.message))
        .collect()
}

#[test]
fn an_example_may_begin_with_a_dash_where_a_call_may() {
    let refusal = "Argument 'x': value '-1,2' would be read as an option";
    let list = "type: array, separator: \",\"";
    assert_eq!(problems(list, "[\"-1\", \"2\"]"), [refusal]);
    assert_eq!(
        problems(&format!("{list}, items: integer"), "[-1, 2]"),
        [""; 0]
    );
    assert_eq!(problems("as_file: true", "\"- item\""), [""; 0]);
}

#[test]
fn an_example_of_a_list_has_only_values_of_the_enum() {
    let argument = "type: array, enum: [\"\"]";
    assert_eq!(problems(argument, "[\"\"]"), [""; 0]);
    assert_eq!(problems(argument, "[a]"), ["Argument 'x' must be one of: "]);
}
