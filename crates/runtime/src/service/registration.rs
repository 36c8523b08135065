//! The tools that a mode registers.

use serde_json::json;

use super::ServerMode;
use crate::catalog::selection::Selection;
use crate::discovery;
use crate::registration::{CALL, Hints, SEARCH, ToolDescription, object};

/// The registered tools of a mode.
pub(super) fn tools(selection: &Selection, mode: ServerMode) -> Vec<ToolDescription> {
    match mode {
        ServerMode::MetaTools => meta_tools(),
        ServerMode::Explore => {
            let mut tools = meta_tools();
            tools.extend(discovery::registration());
            tools
        }
        ServerMode::Classic => classic_tools(selection),
    }
}

fn meta_tools() -> Vec<ToolDescription> {
    vec![
        ToolDescription {
            name: SEARCH,
            title: Some("Search CLI tools"),
            description: "Search for available CLI tools by keyword, category, or CLI name. \
                          Call with no filters to get a summary of all available CLIs.",
            input_schema: object(json!({
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
            hints: Some(Hints::LOOKUP),
            is_always_shown: true,
        },
        ToolDescription {
            name: CALL,
            title: Some("Call a CLI tool"),
            description: "Execute a CLI tool by name. Use climax_search first to discover available \
                          tools and their argument schemas.",
            input_schema: object(json!({
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
            hints: Some(Hints::ANY_CALL),
            is_always_shown: true,
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
            input_schema: selection.schema(&tool),
            hints: tool.risk.map(Hints::of_risk),
            is_always_shown: false,
        })
        .collect()
}
