//! Turns what clients send into requests to the service: MCP, and the stdio transport below it.

pub(crate) mod delivery;
pub(crate) mod mcp;
pub(crate) mod stdio;
