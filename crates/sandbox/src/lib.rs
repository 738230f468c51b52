//! Kernel sandbox for child processes: Landlock, seccomp, no_new_privs, and namespaces where the kernel allows them.
//!
//! A [`Policy`] is plain data: it is made once per session from a profile ([`Profile`]) and the directories of the
//! session ([`Places`]), and travels to the process that starts commands. [`Prepared`] holds everything that can be
//! made ready in the parent; its `apply` runs in the child between clone and exec and only calls the kernel.

mod capabilities;
mod denied_lines;
mod error;
mod explain;
mod git;
mod landlock;
mod mounts;
mod namespace;
mod policy;
mod prepared;
mod proxy;
mod report;
mod seccomp;
mod stamp;
mod support;
mod sys;
mod syscalls;
mod system_paths;
mod view;

pub use error::SandboxError;
pub use explain::{Denial, Grant, Judge, Operation, explain};
pub use policy::{Network, Places, Policy, Profile};
pub use prepared::Prepared;
pub use report::{Layer, Report, enforced};
pub use support::{Support, confines_files, support};
