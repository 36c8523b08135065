//! A checked policy, independent of its YAML.

use std::collections::BTreeMap;

use climax_core::secret::is_secret_name;

use crate::limit::Limit;
pub use crate::written::{InheritedVariables, UnlistedTools};

/// The rules of a policy.
#[derive(Default)]
pub struct Policy {
    /// Whether tools without a rule are allowed.
    pub unlisted: UnlistedTools,
    /// Rules by tool name.
    pub tools: BTreeMap<String, ToolRule>,
    /// How commands run.
    pub execution: ExecutionRules,
}

impl Policy {
    /// The rule for a tool, if there is one; the outer `None` means that the tool is not allowed.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<Option<&ToolRule>> {
        let rule = self.tools.get(name);
        (rule.is_some() || self.unlisted == UnlistedTools::Enabled).then_some(rule)
    }
}

/// The rule of a policy for one tool.
#[derive(Default)]
pub struct ToolRule {
    /// Replaces the description of the config.
    pub description: Option<String>,
    /// Limits by argument name.
    pub limits: BTreeMap<String, Limit>,
}

/// How commands run: in which container, with which variables, in which directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionRules {
    /// The policy that these rules come from, for messages.
    pub origin: String,
    /// The container that commands run in; `None` means on the host.
    pub container: Option<ContainerRule>,
    /// The variables that commands inherit.
    pub env: EnvironmentRule,
    /// The working directory of a call must be inside one of these directories; if empty, any is allowed.
    /// `~` and variables are not expanded yet; that happens at start.
    pub roots: Vec<String>,
}

/// The container that is created for each call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRule {
    /// The image.
    pub image: String,
    /// The mounted volumes. Variables are not expanded yet; that happens at start.
    pub volumes: Vec<String>,
    /// The network.
    pub network: Option<String>,
    /// The working directory of commands, inside the container.
    pub working_dir: Option<String>,
}

/// The variables of the server that commands inherit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRule {
    /// Which variables are inherited without being named.
    pub inherit: InheritedVariables,
    /// Inherited in addition: names, or prefixes followed by `*`.
    pub allow: Vec<String>,
    /// Never inherited: names, or prefixes followed by `*`.
    pub deny: Vec<String>,
}

impl EnvironmentRule {
    /// Whether commands inherit the variable.
    #[must_use]
    pub fn passes(&self, name: &str) -> bool {
        const MINIMAL: [&str; 8] = [
            "PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TMPDIR", "TERM",
        ];
        let is_inherited = match self.inherit {
            InheritedVariables::All => true,
            InheritedVariables::Safe => !is_secret_name(name),
            InheritedVariables::Minimal => {
                MINIMAL.iter().any(|pattern| matches_name(pattern, name))
            }
        };
        (is_inherited || contains(&self.allow, name)) && !contains(&self.deny, name)
    }

    /// Whether commands of a CLI inherit the variable if its config says that they need it. `minimal` does not let
    /// configs add variables.
    #[must_use]
    pub fn passes_if_needed(&self, name: &str) -> bool {
        match self.inherit {
            InheritedVariables::All | InheritedVariables::Safe => !contains(&self.deny, name),
            InheritedVariables::Minimal => self.passes(name),
        }
    }
}

fn contains(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches_name(pattern, name))
}

/// Whether a variable has a name, or a prefix that is followed by `*`.
#[must_use]
pub fn matches_name(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_inherited_by_name_or_prefix() {
        let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let env = EnvironmentRule {
            inherit: InheritedVariables::Minimal,
            allow: strings(&["GIT_*", "EDITOR"]),
            deny: strings(&["GIT_SSH", "LC_ALL"]),
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
            inherit: InheritedVariables::All,
            ..env.clone()
        };
        assert!(all.passes("AWS_SECRET_ACCESS_KEY"));
        assert!(!all.passes("GIT_SSH"));
        let safe = EnvironmentRule {
            inherit: InheritedVariables::Safe,
            ..env
        };
        assert!(!safe.passes("AWS_SECRET_ACCESS_KEY"));
        assert!(safe.passes("AWS_PROFILE"));
        assert!(safe.passes("GIT_TOKEN"), "allowed by its prefix");
        assert!(!safe.passes("GIT_SSH"));
    }
}
