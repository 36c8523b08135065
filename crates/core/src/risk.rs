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
    /// All risks, in ascending order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Destructive];

    /// The name that configs and responses use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// Whether a tool refuses arguments that it does not define. An ignored `dry_run` would run for real, so tools
/// that declare a risk above `read` do; others ignore such arguments.
#[must_use]
pub fn refuses_unknown_arguments(risk: Option<Risk>) -> bool {
    risk.is_some_and(|risk| risk > Risk::Read)
}

/// The risk to assume for a tool that may not declare one.
#[must_use]
pub fn assumed_risk(declared: Option<Risk>) -> Risk {
    declared.unwrap_or(Risk::Destructive)
}
