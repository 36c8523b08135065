//! Describes the four tools of the discovery suite for registration.

use serde_json::{Value, json};

use super::LookupTool;
use crate::registration::{BehaviourHints, ToolDescription, json_object};

/// The tools of the suite.
pub(crate) fn registered_tools() -> [ToolDescription; 4] {
    [
        search_tool(),
        details_tool(),
        categories_tool(),
        capability_tool(),
    ]
}

fn search_tool() -> ToolDescription {
    lookup_tool(
        LookupTool::Search,
        "Search tools in plain words",
        "Search for tools by what they do, in plain words. Results come with a confidence, reasons, \
         parameters, schema and an example call.",
        json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "The task in plain words, or the name of a tool",
                    "maxLength": 1000,
                },
                "category": {
                    "type": "string",
                    "description": "Only tools of this category (see list_tool_categories)",
                },
                "tool_type": {
                    "type": "string",
                    "enum": ["system", "custom", "third_party"],
                    "description": "Only standard operating system commands (system), scripts and programs named by a path (custom), or all other programs (third_party)",
                },
                "max_results": max_results_schema(),
                "include_examples": flag_schema("Whether to include an example call"),
                "search_mode": {
                    "type": "string",
                    "enum": ["semantic", "hybrid", "keyword"],
                    "default": "hybrid",
                    "description": "What counts: words (keyword), meaning (semantic), or both (hybrid)",
                },
            },
            "required": ["query"],
        }),
    )
}

fn details_tool() -> ToolDescription {
    lookup_tool(
        LookupTool::Details,
        "Get tool details",
        "Get full details of a tool: parameters, schema, example calls, related tools, best practices \
         and common pitfalls. A list of names returns a list of details.",
        json!({
            "type": "object",
            "properties": {
                "tool_id": {
                    "anyOf": [
                        {"type": "string"},
                        {"type": "array", "items": {"type": "string"}, "maxItems": 50},
                    ],
                    "description": "The name of the tool, or a list of names",
                },
                "include_schema": flag_schema("Whether to include the JSON Schema of the arguments"),
                "include_examples": flag_schema("Whether to include example calls"),
                "include_relationships": flag_schema(
                    "Whether to include alternatives, complementary tools and prerequisites"
                ),
                "include_usage_guidance": flag_schema(
                    "Whether to include best practices and common pitfalls"
                ),
            },
            "required": ["tool_id"],
        }),
    )
}

fn categories_tool() -> ToolDescription {
    lookup_tool(
        LookupTool::Categories,
        "List tool categories",
        "List all tool categories, each with a description, the number of tools, the CLIs and up to three \
         representative tools.",
        json!({"type": "object", "properties": {}}),
    )
}

fn capability_tool() -> ToolDescription {
    lookup_tool(
        LookupTool::Capability,
        "Search tools by capability",
        "Search for tools by what they can do and which parameters they take. Each result explains what \
         matches and what does not.",
        json!({
            "type": "object",
            "properties": {
                "capability_description": {
                    "type": "string",
                    "description": "What the tool must be able to do",
                    "maxLength": 1000,
                },
                "required_parameters": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Parameters that the tool must have, ignoring case and separators; common synonyms (path, file, file_path) count as equal",
                },
                "preferred_complexity": {
                    "type": "string",
                    "enum": ["simple", "moderate", "complex", "any"],
                    "default": "any",
                    "description": "Preferred complexity; other tools are ranked lower",
                },
                "max_results": max_results_schema(),
            },
            "required": ["capability_description"],
        }),
    )
}

fn lookup_tool(
    tool: LookupTool,
    title: &'static str,
    description: &'static str,
    input_schema: Value,
) -> ToolDescription {
    ToolDescription {
        name: tool.name(),
        title: Some(title),
        description,
        input_schema: json_object(input_schema),
        hints: Some(BehaviourHints::LOOKUP),
        is_always_loaded: false,
    }
}

fn max_results_schema() -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 10,
        "description": "Maximum number of results",
    })
}

/// The schema of a boolean that is true by default.
fn flag_schema(description: &str) -> Value {
    json!({"type": "boolean", "default": true, "description": description})
}
