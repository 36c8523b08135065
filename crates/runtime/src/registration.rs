//! Describes the tools that a server registers with its client.

use climax_core::risk::Risk;
use serde_json::{Map, Value};

/// The name of the meta tool that searches for tools.
pub(crate) const SEARCH_TOOL: &str = "climax_search";
/// The name of the meta tool that calls other tools.
pub(crate) const CALL_TOOL: &str = "climax_call";

/// A registered tool, as clients see it in `tools/list`.
pub(crate) struct ToolDescription {
    pub(crate) name: &'static str,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: &'static str,
    /// A JSON Schema.
    pub(crate) input_schema: Map<String, Value>,
    pub(crate) hints: Option<BehaviourHints>,
    /// Whether clients that load tools on demand should always load this one. True for the meta tools, because
    /// they give access to all others.
    pub(crate) is_always_loaded: bool,
}

/// What a client may assume about a tool (MCP tool annotations). `None` means unknown.
#[derive(Clone, Copy, Default)]
pub(crate) struct BehaviourHints {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
}

impl BehaviourHints {
    /// For a lookup in the baked catalog.
    pub(crate) const LOOKUP: Self = Self {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: Some(true),
        open_world: Some(false),
    };

    /// For the meta tool that can call any tool: the most dangerous combination.
    pub(crate) const ANY_CALL: Self = Self {
        read_only: Some(false),
        destructive: Some(true),
        idempotent: Some(false),
        open_world: Some(true),
    };

    pub(crate) fn from_risk(risk: Risk) -> Self {
        Self {
            read_only: Some(risk == Risk::Read),
            // MCP defines this hint only for tools that are not read-only.
            destructive: (risk != Risk::Read).then_some(risk == Risk::Destructive),
            ..Self::default()
        }
    }
}

/// Converts a `json!` object literal to a map.
pub(crate) fn json_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => unreachable!("not a JSON object: {other}"),
    }
}
