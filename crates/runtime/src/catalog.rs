//! What was baked: tables of tools, and the code that calls them.

pub(crate) mod policies;
pub(crate) mod selection;

use climax_catalog::Tables;
use climax_discovery::Discovery;

use crate::call::arguments::ArgumentReader;
use crate::call::argv::Argv;

/// Everything that was baked into a binary.
pub struct Catalog {
    /// A digest of the configs.
    pub hash: &'static str,
    /// What is known of the tools.
    pub tables: &'static Tables,
    /// How tools are found, and what follows from what is said about them.
    pub discovery: &'static Discovery,
    /// Where and with what commands run, if a policy was baked.
    pub surroundings: Option<Surroundings>,
    /// The number of the tool that has a name.
    pub find: fn(&str) -> Option<u32>,
    /// Reads a call of a tool and writes its command line: the CLI's number, then the tool's.
    pub call: for<'a> fn(u32, u32, &mut ArgumentReader<'a>, &mut Argv<'a>),
}

/// Where and with what commands run.
#[derive(Clone, Copy)]
pub struct Surroundings {
    /// In which container, if in one.
    pub container: Option<Container>,
    /// Which variables they get.
    pub env: Env,
    /// The directories in one of which a call's own must be, or nothing.
    pub roots: &'static [&'static str],
}

/// A container for each call.
#[derive(Clone, Copy)]
pub struct Container {
    /// What it is made of.
    pub image: &'static str,
    /// What it sees of the machine.
    pub volumes: &'static [&'static str],
    /// The network that it is in.
    pub network: Option<&'static str>,
    /// Where in it commands run.
    pub working_dir: Option<&'static str>,
}

/// Which of the server's variables commands get.
#[derive(Clone, Copy)]
pub struct Env {
    /// Whether only those that most programs need.
    pub is_minimal: bool,
    /// And these.
    pub allow: &'static [&'static str],
    /// But not these.
    pub deny: &'static [&'static str],
}
