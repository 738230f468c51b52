//! Kernel sandbox for child processes: Landlock, seccomp, no_new_privs, and namespaces where the kernel allows them.
//!
//! A [`Policy`] is plain data: it is made once per session from a profile ([`Profile`]) and the directories of the
//! session ([`Places`]), and travels to the process that starts commands. [`Prepared`] holds everything that can be
//! made ready in the parent; its `apply` runs in the child between clone and exec and only calls the kernel.

mod policy;

pub use policy::{Network, Places, Policy, Profile};
