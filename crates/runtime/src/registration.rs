//! How tools are registered with a client.

use climax_core::risk::Risk;
use serde_json::{Map, Value};

/// The name of the search tool.
pub(crate) const SEARCH: &str = "climax_search";
/// The name of the tool that calls others.
pub(crate) const CALL: &str = "climax_call";

/// A registered tool.
pub(crate) struct ToolDescription {
    pub(crate) name: &'static str,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: &'static str,
    /// A JSON Schema.
    pub(crate) input_schema: Map<String, Value>,
    /// What a client may assume about it, if anything is known.
    pub(crate) hints: Option<Hints>,
    /// Whether clients that hide tools until they are searched for must show this one: it is what they
    /// search with.
    pub(crate) is_always_shown: bool,
}

/// What a client may assume about a tool. `None` means that nothing is known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hints {
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
}

impl Hints {
    /// A look-up in what was baked.
    pub(crate) const LOOKUP: Self = Self {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: Some(true),
        open_world: Some(false),
    };

    /// A call of any tool.
    pub(crate) const ANY_CALL: Self = Self {
        read_only: Some(false),
        destructive: Some(true),
        idempotent: Some(false),
        open_world: Some(true),
    };

    pub(crate) fn of_risk(risk: Risk) -> Self {
        Self {
            read_only: Some(risk == Risk::Read),
            destructive: (risk != Risk::Read).then_some(risk == Risk::Destructive),
            ..Self::default()
        }
    }
}

/// The map of a JSON object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => unreachable!("schemas are objects, not {other}"),
    }
}
