//! The end-to-end tests, a module per subject.

mod adding_a_field;
mod arguments;
mod command_line;
mod containers;
mod contract;
mod explore;
mod explore_capability;
mod explore_details;
mod explore_hints;
mod explore_search;
mod flow;
mod golden;
mod helpers;
mod inherited;
mod limits;
mod pages;
mod platforms;
mod policies;
mod processes;
mod protocol;
mod search;
mod spec;
mod surroundings;
mod values;
mod wrong_policies;
