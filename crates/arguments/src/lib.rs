//! Turns the JSON arguments of a call into typed values, and those into a command line.
//!
//! The server uses it for calls, and the code generator to check the examples of configs, so that the same rules
//! apply to both.

pub mod argv;
mod combinations;
pub mod expand;
pub mod reader;
pub mod value;

use std::mem;

use climax_catalog::Tables;
use climax_catalog::tables::ToolRow;
use serde_json::{Map, Value};

use argv::Argv;
use reader::{ArgumentLimits, ArgumentReader, CallRefusal};

/// Completes a command line with the arguments of a call. `write` reads the arguments and appends them.
///
/// # Errors
/// Everything that is wrong with the arguments, and `other_errors` after that.
pub fn read_call<'a>(
    tables: &Tables,
    tool: &ToolRow,
    limits: ArgumentLimits<'a>,
    arguments: &'a Map<String, Value>,
    mut argv: Argv<'a>,
    other_errors: Vec<String>,
    write: impl FnOnce(&mut ArgumentReader<'a>, &mut Argv<'a>),
) -> Result<Argv<'a>, CallRefusal> {
    argv.allowing_leading_dash = limits.allowing_leading_dash();
    let mut reader = ArgumentReader::new(arguments, argv.arena(), limits);
    write(&mut reader, &mut argv);
    let mut errors = mem::take(&mut argv.errors);
    errors.extend(combinations::violations(tables, tool, arguments));
    errors.extend(other_errors);
    reader.finish(errors)?;
    argv.append_separated_words();
    Ok(argv)
}
