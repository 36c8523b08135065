//! What clients talk to: MCP, and the standard streams below it.

pub(crate) mod delivery;
pub(crate) mod mcp;
pub(crate) mod stdio;
