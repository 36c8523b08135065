//! The catalog that generated code provides: tables of tools, and functions that find and call them.

pub(crate) mod policies;
pub(crate) mod selection;

use climax_catalog::Tables;
use climax_discovery::Discovery;
use climax_policy::rules::InheritedVariables;

use climax_arguments::argv::Argv;
use climax_arguments::reader::ArgumentReader;

/// Everything baked into a binary.
pub struct Catalog {
    /// A digest of the configs.
    pub hash: &'static str,
    /// CLIs, tools, arguments and their texts.
    pub tables: &'static Tables,
    /// The search index, and what was derived about the tools.
    pub discovery: &'static Discovery,
    /// Present if a policy was baked.
    pub execution_rules: Option<BakedExecutionRules>,
    /// Looks up the number of a tool by its name.
    pub find: fn(&str) -> Option<u32>,
    /// Reads the arguments of a call and writes its command line. The numbers are the CLI's and the tool's.
    pub call: for<'a> fn(u32, u32, &mut ArgumentReader<'a>, &mut Argv<'a>),
}

/// The baked form of `climax_policy::rules`: how the policy has commands run.
#[derive(Clone, Copy)]
pub struct BakedExecutionRules {
    /// Commands run on the host if absent.
    pub container: Option<BakedContainer>,
    /// The environment variables that commands inherit.
    pub environment: BakedEnvironment,
    /// If not empty, a call's working directory must be inside one of these.
    pub roots: &'static [&'static str],
}

/// The container that each call runs in.
#[derive(Clone, Copy)]
pub struct BakedContainer {
    /// The image.
    pub image: &'static str,
    /// Mounted volumes, as `docker run --volume` takes them.
    pub volumes: &'static [&'static str],
    /// The network, as `docker run --network` takes it.
    pub network: Option<&'static str>,
    /// The working directory inside the container.
    pub working_dir: Option<&'static str>,
}

/// The environment variables that commands inherit from the server.
#[derive(Clone, Copy)]
pub struct BakedEnvironment {
    /// Which variables are inherited without being named.
    pub inherit: InheritedVariables,
    /// Patterns of variables to inherit in addition.
    pub allow: &'static [&'static str],
    /// Patterns of variables not to inherit. Overrides `allow`.
    pub deny: &'static [&'static str],
}
