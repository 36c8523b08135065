//! The four tools of the discovery suite as clients see them.

use serde_json::{Value, json};

use super::LookupTool;
use crate::registration::{Hints, ToolDescription, object};

/// The tools.
pub(crate) fn registration() -> [ToolDescription; 4] {
    [search(), details(), categories(), capability()]
}

fn search() -> ToolDescription {
    tool(
        LookupTool::Search,
        "Search tools in plain words",
        "Search for tools by what they do, in plain words. Results come with a confidence, reasons, \
         parameters, schema and an example call for climax_call.",
        json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What is to be done, in plain words, or the name of a tool",
                    "maxLength": 1000,
                },
                "category": {
                    "type": "string",
                    "description": "Only tools of this category (see list_tool_categories)",
                },
                "tool_type": {
                    "type": "string",
                    "enum": ["system", "custom", "third_party"],
                    "description": "Only base commands of the operating system, only programs of the team's own, or only others",
                },
                "max_results": max_results(),
                "include_examples": flag("Whether results have an example call"),
                "search_mode": {
                    "type": "string",
                    "enum": ["semantic", "hybrid", "keyword"],
                    "default": "hybrid",
                    "description": "How words are compared: as they are (keyword), also with words that are written alike (hybrid), or with more of them (semantic)",
                },
            },
            "required": ["query"],
        }),
    )
}

fn details() -> ToolDescription {
    tool(
        LookupTool::Details,
        "Show all about a tool",
        "Get all that is known about a tool: parameters, schema, example calls, related tools, and what \
         to do and to watch for. A list of names gives a list of answers.",
        json!({
            "type": "object",
            "properties": {
                "tool_id": {
                    "anyOf": [
                        {"type": "string"},
                        {"type": "array", "items": {"type": "string"}, "maxItems": 50},
                    ],
                    "description": "The name of the tool, or several names",
                },
                "include_schema": flag("Whether to include the schema of its arguments"),
                "include_examples": flag("Whether to include example calls"),
                "include_relationships": flag(
                    "Whether to include alternatives, complementary tools and prerequisites"
                ),
                "include_usage_guidance": flag(
                    "Whether to include best practices and common pitfalls"
                ),
            },
            "required": ["tool_id"],
        }),
    )
}

fn categories() -> ToolDescription {
    tool(
        LookupTool::Categories,
        "List categories of tools",
        "List the categories of tools: what they are about, how many tools they have, their CLIs, and \
         three representative tools each.",
        json!({"type": "object", "properties": {}}),
    )
}

fn capability() -> ToolDescription {
    tool(
        LookupTool::Capability,
        "Search tools by capability",
        "Search for tools that can do something and take certain parameters. Each result tells what fits \
         and what does not.",
        json!({
            "type": "object",
            "properties": {
                "capability_description": {
                    "type": "string",
                    "description": "What the tool has to be able to do",
                    "maxLength": 1000,
                },
                "required_parameters": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Parameters that it must have; case, separators and usual synonyms (path, file, file_path) make no difference",
                },
                "preferred_complexity": {
                    "type": "string",
                    "enum": ["simple", "moderate", "complex", "any"],
                    "default": "any",
                    "description": "How much there should be to it; others are ranked lower",
                },
                "max_results": max_results(),
            },
            "required": ["capability_description"],
        }),
    )
}

fn tool(
    tool: LookupTool,
    title: &'static str,
    description: &'static str,
    input_schema: Value,
) -> ToolDescription {
    ToolDescription {
        name: tool.name(),
        title: Some(title),
        description,
        input_schema: object(input_schema),
        hints: Some(Hints::LOOKUP),
        is_always_shown: false,
    }
}

fn max_results() -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 10,
        "description": "How many results at most",
    })
}

/// A flag that is set unless a request says otherwise.
fn flag(description: &str) -> Value {
    json!({"type": "boolean", "default": true, "description": description})
}
