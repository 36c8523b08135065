//! Risk levels of tools, as configs declare them.

/// The most harmful effect that a call may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// The call changes nothing.
    Read,
    /// The call changes something.
    Write,
    /// The call can destroy something.
    Destructive,
}

impl Risk {
    /// The name in configs, lists and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}
