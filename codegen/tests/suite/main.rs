//! The tests of the code generator as a whole, a module per subject.

mod golden;
mod limits;
mod program;
mod relations;
