//! Applies a policy to the model: tools that it excludes are gone, and limits are the arguments' own.

use climax_input::diagnostic::Diagnostic;
use climax_input::source::Source;
use climax_policy::check::{Known, Moment, arguments};
use climax_policy::rules::Policy;

use crate::model::{Cli, Surroundings, Tool};
use crate::schema::input_schema;

/// Applies the policy in a source, which has the given number. The tools are left as they are if the
/// policy is wrong.
pub fn apply(
    number: usize,
    source: &Source,
    clis: &mut Vec<Cli>,
    report: &mut Vec<Diagnostic>,
) -> Option<Surroundings> {
    let policy = {
        let tools = || clis.iter().flat_map(|cli| &cli.tools);
        let known = Known {
            tools: tools()
                .map(|tool| (tool.name.as_str(), tool.risk))
                .collect(),
            arguments: &|name| {
                let tool = tools().find(|tool| tool.name == name);
                tool.map_or(Vec::new(), |tool| arguments(&input_schema(&tool.args)))
            },
            // The server may run on another machine.
            trouble: &|_, _| None,
        };
        climax_policy::compile(number, source, &known, Moment::Build, report)?
    };
    for cli in &mut *clis {
        cli.tools.retain_mut(|tool| narrow(tool, &policy));
    }
    clis.retain(|cli| !cli.tools.is_empty());
    Some(policy.surroundings)
}

/// Returns whether the tool is allowed.
fn narrow(tool: &mut Tool, policy: &Policy) -> bool {
    let Some(named) = policy.tool(&tool.name) else {
        return false;
    };
    if let Some(named) = named {
        if let Some(description) = &named.description {
            tool.description.clone_from(description);
        }
        for arg in &mut tool.args {
            arg.limit = named.limits.get(&arg.name).cloned();
        }
    }
    true
}
