//! What a call of a tool may do to the world.

/// What a call may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// It only looks.
    Read,
    /// It changes something.
    Write,
    /// It destroys something.
    Destructive,
}
