//! Tells how much there is to a tool, by its arguments.

use climax_catalog::facts::Tool;

/// How much a caller has to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complexity {
    /// At most three arguments, of which at most one must be given.
    Simple,
    /// Between the other two.
    Moderate,
    /// More than eight arguments, or more than three that must be given.
    Complex,
}

impl Complexity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Simple, Self::Moderate, Self::Complex];

    /// How it is written.
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

/// The complexity of a tool.
#[must_use]
pub fn complexity(tool: &Tool<'_>) -> Complexity {
    match (tool.arguments.len(), tool.required().count()) {
        (..=3, ..=1) => Complexity::Simple,
        (9.., _) | (_, 4..) => Complexity::Complex,
        _ => Complexity::Moderate,
    }
}
