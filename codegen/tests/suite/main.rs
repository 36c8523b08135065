//! Integration tests of the code generator, one module per subject.

mod golden;
mod limits;
mod program;
mod relations;
