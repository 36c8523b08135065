//! Lists the tools that a server registers in each mode.

use climax_core::risk::Risk;
use serde_json::json;

use super::ServerMode;
use crate::catalog::selection::Selection;
use crate::discovery;
use crate::registration::{BehaviourHints, CallTools, SEARCH_TOOL, ToolDescription, json_object};

/// The tools registered in a mode.
pub(super) fn registered_tools(selection: &Selection, mode: ServerMode) -> Vec<ToolDescription> {
    match mode {
        ServerMode::MetaTools => meta_tools(selection),
        ServerMode::Explore => {
            let mut tools = meta_tools(selection);
            tools.extend(discovery::registered_tools());
            tools
        }
        ServerMode::Classic => classic_tools(selection),
    }
}

fn meta_tools(selection: &Selection) -> Vec<ToolDescription> {
    let mut tools = vec![search_tool()];
    let offered_risks = selection.offered_risks();
    match selection.call_tools {
        CallTools::Single => {
            let max_risk = offered_risks.last().copied().unwrap_or(Risk::Read);
            tools.push(call_tool(CallTools::Single, max_risk));
        }
        CallTools::ByRisk => {
            let risks = offered_risks.iter();
            tools.extend(risks.map(|risk| call_tool(CallTools::ByRisk, *risk)));
        }
    }
    tools
}

fn search_tool() -> ToolDescription {
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
    }
}

/// The meta tool that calls tools of up to this risk.
fn call_tool(call_tools: CallTools, max_risk: Risk) -> ToolDescription {
    let (title, description) = match (call_tools, max_risk) {
        (CallTools::Single, _) => (
            "Call a CLI tool",
            "Execute a CLI tool by name. Use climax_search first to discover available \
             tools and their argument schemas.",
        ),
        (CallTools::ByRisk, Risk::Read) => (
            "Call a CLI tool that changes nothing",
            "Execute a CLI tool that changes nothing (risk: read), by name. Use climax_search first to \
             discover available tools and their argument schemas.",
        ),
        (CallTools::ByRisk, Risk::Write) => (
            "Call a CLI tool that may change something",
            "Execute a CLI tool that may change something (risk: write), by name. Use climax_search first to \
             discover available tools and their argument schemas.",
        ),
        (CallTools::ByRisk, Risk::Destructive) => (
            "Call a CLI tool that may destroy something",
            "Execute a CLI tool that may destroy something (risk: destructive, or not declared), by name. \
             Use climax_search first to discover available tools and their argument schemas.",
        ),
    };
    ToolDescription {
        name: call_tools.name(max_risk),
        title: Some(title),
        description,
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
        hints: Some(BehaviourHints::for_calls(max_risk)),
        is_always_loaded: true,
    }
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
