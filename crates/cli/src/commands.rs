//! The subcommands. Each file holds the arguments of one command and the code that runs it.

pub(crate) mod approvals;
pub(crate) mod auth;
pub(crate) mod backend;
pub(crate) mod budget;
pub(crate) mod cache;
pub(crate) mod chat;
pub(crate) mod completion;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod hooks;
pub(crate) mod insights;
pub(crate) mod logs;
pub(crate) mod memory;
pub(crate) mod model;
pub(crate) mod prompt;
pub(crate) mod ps;
pub(crate) mod replay;
pub(crate) mod rollback;
pub(crate) mod sandbox;
pub(crate) mod sessions;
pub(crate) mod skills;
pub(crate) mod tools;
pub(crate) mod trace;
