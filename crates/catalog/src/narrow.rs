//! Narrows facts to what policies allow.

use std::mem;

use climax_policy::limit::LimitTarget;
use climax_policy::rules::{Policy, ToolRule};

use crate::facts::{Facts, LimitFacts, LimitOrigin, ToolFacts};
use crate::rows::to_u32;

/// The numbers that the remaining CLIs and tools had before narrowing.
#[derive(Debug, PartialEq, Eq)]
pub struct OriginalNumbers {
    /// For each remaining CLI, in order.
    pub clis: Vec<u32>,
    /// For each remaining tool, in order.
    pub tools: Vec<u32>,
}

/// Narrows facts to what policies allow. A tool remains if all policies allow it, and it gets the limits of
/// all of them. CLIs without tools are dropped.
pub fn narrow<'f>(facts: &mut Facts<'f>, policies: &'f [Policy]) -> OriginalNumbers {
    if policies.is_empty() {
        return OriginalNumbers {
            clis: (0..to_u32(facts.clis.len())).collect(),
            tools: (0..to_u32(facts.tools.len())).collect(),
        };
    }
    let mut original = OriginalNumbers {
        clis: Vec::new(),
        tools: Vec::new(),
    };
    let mut clis = mem::take(&mut facts.clis).into_iter();
    for (number, mut tool) in (0..).zip(mem::take(&mut facts.tools)) {
        let rules = policies.iter().map(|policy| policy.tool(tool.name));
        // `None` if a policy does not allow the tool.
        let Some(rules) = rules.collect::<Option<Vec<Option<&ToolRule>>>>() else {
            continue;
        };
        for rule in rules.iter().flatten() {
            // The last policy with a description wins.
            if let Some(description) = &rule.description {
                tool.description = description;
            }
        }
        add_limits(&mut tool, &rules, facts.has_policy);
        remove_refused_examples(&mut tool);
        let cli = to_u32(tool.cli);
        if original.clis.last() != Some(&cli) {
            let skipped = original.clis.last().map_or(cli, |last| cli - last - 1);
            facts.clis.extend(clis.nth(skipped as usize));
            original.clis.push(cli);
        }
        tool.cli = original.clis.len() - 1;
        original.tools.push(number);
        facts.tools.push(tool);
    }
    facts.has_policy = true;
    original
}

/// Adds the limits of rules to a tool's arguments. If an earlier policy was applied, a value may begin with a
/// dash only if a pattern of that policy allows it, too.
fn add_limits<'f>(tool: &mut ToolFacts<'f>, rules: &[Option<&'f ToolRule>], has_policy: bool) {
    for argument in &mut tool.arguments {
        let is_earlier = |limit: &&LimitFacts<'_>| limit.origin == LimitOrigin::Policy;
        let limits = argument.limits_of(LimitTarget::Value);
        let is_allowed = limits
            .filter(is_earlier)
            .any(|limit| limit.begins_with_dash);
        let may_begin_with_dash = !has_policy || is_allowed;
        let rules = rules.iter().flatten();
        for limit in rules.filter_map(|rule| rule.limits.get(argument.name)) {
            let mut limit = LimitFacts::new(LimitOrigin::Policy, LimitTarget::Value, limit);
            limit.begins_with_dash &= may_begin_with_dash;
            argument
                .choices
                .retain(|choice| limit.borrowed().allows(choice));
            argument.required |= limit.is_required;
            argument.limits.push(limit);
        }
    }
}

/// Removes the examples that the limits of a tool refuse.
fn remove_refused_examples(tool: &mut ToolFacts<'_>) {
    let arguments = &tool.arguments;
    tool.examples.retain(|example| {
        // The entries of maps are checked when the example is shown.
        let is_given = |number| example.values.iter().any(|value| value.argument == number);
        let mut required = (0..arguments.len()).filter(|number| arguments[*number].required);
        let mut values = example.values.iter().filter(|value| value.key.is_none());
        required.all(is_given) && values.all(|value| arguments[value.argument].allows(&value.value))
    });
}
