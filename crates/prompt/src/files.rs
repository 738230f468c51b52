//! Facts about the project and the machine that a system prompt states.
//!
//! The only part of this crate that reads the disk. It runs nothing.

mod machine;
mod programs;
mod project_facts;
mod project_files;

pub use machine::{os, surroundings};
pub use programs::installed as installed_programs;
pub use project_facts::find as code_project;
pub use project_files::{FoundFile, find as project_files};
