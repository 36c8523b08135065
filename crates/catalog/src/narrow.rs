//! Facts and policies -> what the policies leave of the facts.

use std::mem;

use climax_policy::limit::Limit;
use climax_policy::rules::{Policy, ToolRule};

use crate::facts::{self, Facts, Pattern, Tool};
use crate::rows::count;

/// The numbers that CLIs and tools had before others were dropped.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept {
    /// Of the CLIs that are left, in order.
    pub clis: Vec<u32>,
    /// Of the tools that are left, in order.
    pub tools: Vec<u32>,
}

/// Narrows facts to what policies allow. A tool is left if all policies allow it, and the limits of all hold
/// for it. CLIs without tools are dropped.
pub fn narrow<'f>(facts: &mut Facts<'f>, policies: &'f [Policy]) -> Kept {
    if policies.is_empty() {
        return Kept {
            clis: (0..count(facts.clis.len())).collect(),
            tools: (0..count(facts.tools.len())).collect(),
        };
    }
    let mut kept = Kept {
        clis: Vec::new(),
        tools: Vec::new(),
    };
    let mut clis = mem::take(&mut facts.clis).into_iter();
    for (number, mut tool) in (0..).zip(mem::take(&mut facts.tools)) {
        let rules = policies.iter().map(|policy| policy.tool(tool.name));
        let Some(rules) = rules.collect::<Option<Vec<Option<&ToolRule>>>>() else {
            continue;
        };
        for rule in rules.iter().flatten() {
            // The last policy's description counts.
            if let Some(description) = &rule.description {
                tool.description = description;
            }
        }
        add_limits(&mut tool, &rules, facts.has_policy);
        let cli = count(tool.cli);
        if kept.clis.last() != Some(&cli) {
            let skipped = kept.clis.last().map_or(cli, |last| cli - last - 1);
            facts.clis.extend(clis.nth(skipped as usize));
            kept.clis.push(cli);
        }
        tool.cli = kept.clis.len() - 1;
        kept.tools.push(number);
        facts.tools.push(tool);
    }
    facts.has_policy = true;
    kept
}

/// Adds the limits of rules. Where a policy was applied before, only its patterns let options through.
fn add_limits<'f>(tool: &mut Tool<'f>, rules: &[Option<&'f ToolRule>], has_policy: bool) {
    for argument in &mut tool.arguments {
        let before = &argument.limits;
        let may_begin_with_dash = !has_policy || before.iter().any(|it| it.begins_with_dash);
        let rules = rules.iter().flatten();
        for limit in rules.filter_map(|rule| rule.limits.get(argument.name)) {
            let limit = self::limit(limit, may_begin_with_dash);
            argument
                .choices
                .retain(|choice| limit.bounds().allows(choice));
            argument.limits.push(limit);
        }
    }
}

fn limit(limit: &Limit, may_begin_with_dash: bool) -> facts::Limit<'_> {
    let pattern = limit.pattern.as_ref();
    facts::Limit {
        pattern: pattern.map(|pattern| Pattern {
            text: &pattern.text,
            schema: pattern.schema.as_deref(),
            automaton: &pattern.automaton,
        }),
        min: limit.min,
        max: limit.max,
        begins_with_dash: may_begin_with_dash
            && pattern.is_some_and(|pattern| pattern.begins_with_dash),
    }
}
