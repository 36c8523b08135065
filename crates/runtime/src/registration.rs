//! Describes the tools that a server registers with its client.

use climax_core::risk::Risk;
use serde_json::{Map, Value, json};

/// The name of the meta tool that searches for tools.
pub(crate) const SEARCH_TOOL: &str = "climax_search";
/// The name of the meta tool that calls other tools.
pub(crate) const CALL_TOOL: &str = "climax_call";

/// The name of the built-in tool that reads stored output.
pub(crate) const OUTPUT_TOOL: &str = "climax_output";

/// How agents call `climax_output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputAccess {
    /// Through this meta tool, as a tool that is not registered.
    Through(&'static str),
    /// By its own name.
    Registered,
}

impl OutputAccess {
    /// The call with these arguments, for an agent to copy.
    pub(crate) fn call(self, arguments: &Value) -> String {
        match self {
            Self::Through(meta_tool) => {
                let call = json!({"tool_name": OUTPUT_TOOL, "args": arguments});
                format!("{meta_tool} {call}")
            }
            Self::Registered => format!("{OUTPUT_TOOL} {arguments}"),
        }
    }
}

/// How the tools of a catalog are called through meta tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallTools {
    /// `climax_call` calls all of them.
    #[default]
    Single,
    /// There is a meta tool for each risk, so that clients can ask before some of them.
    ByRisk,
}

impl CallTools {
    /// The name of the meta tool that calls tools of a risk.
    pub(crate) fn name(self, risk: Risk) -> &'static str {
        match (self, risk) {
            (Self::Single, _) => CALL_TOOL,
            (Self::ByRisk, Risk::Read) => "climax_read",
            (Self::ByRisk, Risk::Write) => "climax_write",
            (Self::ByRisk, Risk::Destructive) => "climax_destructive",
        }
    }

    /// The highest risk of tools that the meta tool of this name calls.
    pub(crate) fn max_risk(self, name: &str) -> Option<Risk> {
        let mut risks = Risk::ALL.into_iter().rev();
        risks.find(|risk| self.name(*risk) == name)
    }
}

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

    /// For a meta tool that calls tools of up to this risk.
    pub(crate) fn for_calls(max_risk: Risk) -> Self {
        Self {
            read_only: Some(max_risk == Risk::Read),
            destructive: Some(max_risk == Risk::Destructive),
            idempotent: Some(false),
            open_world: Some(true),
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use climax_core::reserved::is_reserved_tool_name;

    #[test]
    fn no_config_can_define_a_tool_with_the_name_of_a_built_in_one() {
        let call_tools = [CallTools::Single, CallTools::ByRisk];
        let names = call_tools.map(|tools| Risk::ALL.map(|risk| tools.name(risk)));
        for name in names
            .as_flattened()
            .iter()
            .chain(&[SEARCH_TOOL, OUTPUT_TOOL])
        {
            assert!(is_reserved_tool_name(name), "{name}");
        }
    }
}
