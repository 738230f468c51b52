//! Programs of the user: shell hooks, and context engines that run as a process of their own.

pub mod context_engine;
pub mod hooks;
