//! What speaks to a client: MCP over standard input and output.

pub(crate) mod stdio;
