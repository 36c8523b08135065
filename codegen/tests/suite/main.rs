//! Integration tests of the code generator, one module per subject.

mod examples;
mod golden;
mod limits;
mod program;
mod relations;
