//! A policy as meant: checked, and free of YAML.

use std::collections::BTreeMap;

use crate::limit::Limit;
pub use crate::written::UnlistedTools;

/// A policy.
#[derive(Default)]
pub struct Policy {
    /// What becomes of tools that are not named.
    pub unlisted: UnlistedTools,
    /// The tools that are named.
    pub tools: BTreeMap<String, ToolRule>,
    /// Where and with what commands run.
    pub execution: ExecutionRules,
}

impl Policy {
    /// What it says about a tool; nothing if the tool is not allowed.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<Option<&ToolRule>> {
        let named = self.tools.get(name);
        (named.is_some() || self.unlisted == UnlistedTools::Enabled).then_some(named)
    }

    /// Makes the automata of all patterns, for a policy that is baked.
    #[cfg(feature = "bake")]
    pub fn bake_patterns(&mut self) {
        let mut made: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let limits = self.tools.values_mut();
        for limit in limits.flat_map(|tool| tool.limits.values_mut()) {
            if let Some(pattern) = &mut limit.pattern {
                let automaton = made.entry(pattern.text.clone());
                pattern.automaton = automaton.or_insert_with(|| pattern.bake()).clone();
            }
        }
    }
}

/// What a policy says about a tool.
#[derive(Default)]
pub struct ToolRule {
    /// In place of the config's.
    pub description: Option<String>,
    /// The arguments that not every value is allowed for, by name.
    pub limits: BTreeMap<String, Limit>,
}

/// Where and with what commands run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionRules {
    /// The policy that says it, for messages.
    pub origin: String,
    /// In which container, if in one.
    pub container: Option<ContainerRule>,
    /// Which variables they get.
    pub env: EnvironmentRule,
    /// The directories in one of which a call's own must be; if there are none, it may be anywhere.
    /// As written: `~` and variables are expanded at start.
    pub roots: Vec<String>,
}

/// A container for each call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRule {
    /// What it is made of.
    pub image: String,
    /// What it sees of the machine, as written: variables are expanded at start.
    pub volumes: Vec<String>,
    /// The network that it is in.
    pub network: Option<String>,
    /// Where in it commands run.
    pub working_dir: Option<String>,
}

/// Which of the server's variables commands get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRule {
    /// Whether only those that most programs need.
    pub is_minimal: bool,
    /// And these: names, or the beginnings of names and a `*`.
    pub allow: Vec<String>,
    /// But not these.
    pub deny: Vec<String>,
}

impl EnvironmentRule {
    /// Whether commands get the variable that has a name.
    #[must_use]
    pub fn passes(&self, name: &str) -> bool {
        const MINIMAL: [&str; 8] = [
            "PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TMPDIR", "TERM",
        ];
        let is_in = |names: &[String]| names.iter().any(|it| is_meant(it, name));
        let is_inherited = !self.is_minimal || MINIMAL.iter().any(|it| is_meant(it, name));
        (is_inherited || is_in(&self.allow)) && !is_in(&self.deny)
    }
}

fn is_meant(written: &str, name: &str) -> bool {
    match written.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_pass_by_name_or_by_the_beginning_of_it() {
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let env = EnvironmentRule {
            is_minimal: true,
            allow: texts(&["GIT_*", "EDITOR"]),
            deny: texts(&["GIT_SSH", "LC_ALL"]),
        };
        for name in ["PATH", "LC_TIME", "GIT_DIR", "EDITOR"] {
            assert!(env.passes(name), "{name}");
        }
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "GIT_SSH",
            "LC_ALL",
            "EDITOR2",
            "PATHS",
            "GIT",
        ] {
            assert!(!env.passes(name), "{name}");
        }
        let all = EnvironmentRule {
            is_minimal: false,
            ..env
        };
        assert!(all.passes("AWS_SECRET_ACCESS_KEY"));
        assert!(!all.passes("GIT_SSH"));
    }
}
