//! Lists the tools that a server registers in each mode.

use serde_json::json;

use super::ServerMode;
use crate::catalog::selection::Selection;
use crate::discovery;
use crate::registration::{BehaviourHints, CALL_TOOL, SEARCH_TOOL, ToolDescription, json_object};

/// The tools registered in a mode.
pub(super) fn registered_tools(selection: &Selection, mode: ServerMode) -> Vec<ToolDescription> {
    match mode {
        ServerMode::MetaTools => meta_tools(),
        ServerMode::Explore => {
            let mut tools = meta_tools();
            tools.extend(discovery::registered_tools());
            tools
        }
        ServerMode::Classic => classic_tools(selection),
    }
}

fn meta_tools() -> Vec<ToolDescription> {
    vec![
        ToolDescription {
            name: SEARCH_TOOL,
            title: Some("Search CLI tools"),
            description: "Search for available CLI tools by keyword, category, or CLI name. \
                          Call with no filters to get a summary of all available CLIs.",
            input_schema: json_object(json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "Search keyword (matched against tool name, description, CLI name, category, tags)",
                    },
                    "category": {
                        "type": "string",
                        "description": "Filter by CLI category (exact match, case-insensitive)",
                    },
                    "cli": {
                        "type": "string",
                        "description": "Filter by CLI name (exact match, case-insensitive)",
                    },
                    "limit": {
                        "type": "integer",
                        "description": "Maximum number of results to return (default: 10)",
                        "default": 10,
                    },
                },
            })),
            hints: Some(BehaviourHints::LOOKUP),
            is_always_loaded: true,
        },
        ToolDescription {
            name: CALL_TOOL,
            title: Some("Call a CLI tool"),
            description: "Execute a CLI tool by name. Use climax_search first to discover available \
                          tools and their argument schemas.",
            input_schema: json_object(json!({
                "type": "object",
                "properties": {
                    "tool_name": {
                        "type": "string",
                        "description": "The exact name of the tool to execute (as returned by climax_search)",
                    },
                    "args": {
                        "type": "object",
                        "description": "Arguments to pass to the tool (see tool's input_schema from climax_search)",
                    },
                },
                "required": ["tool_name"],
            })),
            hints: Some(BehaviourHints::ANY_CALL),
            is_always_loaded: true,
        },
    ]
}

fn classic_tools(selection: &Selection) -> Vec<ToolDescription> {
    let clis = selection.clis();
    let tools = clis.flat_map(|cli| selection.tools_of(&cli).iter());
    tools
        .map(|tool| ToolDescription {
            name: selection.text(tool.name),
            title: None,
            description: selection.text(tool.description),
            input_schema: selection.input_schema(&tool),
            hints: tool.risk.map(BehaviourHints::from_risk),
            is_always_loaded: false,
        })
        .collect()
}
