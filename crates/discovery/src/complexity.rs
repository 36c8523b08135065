//! Classifies the complexity of a tool by its arguments.

use climax_catalog::facts::ToolFacts;

/// How complex a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complexity {
    /// At most three arguments, at most one of them required.
    Simple,
    /// Everything else.
    Moderate,
    /// More than eight arguments, or more than three required ones.
    Complex,
}

impl Complexity {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::Simple, Self::Moderate, Self::Complex];

    /// The name in requests and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Moderate => "moderate",
            Self::Complex => "complex",
        }
    }
}

climax_catalog::enum_row!(Complexity {
    Simple,
    Moderate,
    Complex
});

/// Classifies a tool.
#[must_use]
pub fn complexity(tool: &ToolFacts<'_>) -> Complexity {
    match (tool.arguments.len(), tool.required().count()) {
        (..=3, ..=1) => Complexity::Simple,
        (9.., _) | (_, 4..) => Complexity::Complex,
        _ => Complexity::Moderate,
    }
}
