//! Runs commands and programs as child processes.
//!
//! A [`Backend`] takes a [`Command`] and returns its [`Output`]; [`Local`] runs it on this machine. This crate
//! does not know tools or sessions: a caller that must find a running command again after a crash records its
//! [`Group`] and passes it to [`reap`]. [`supervisor`] runs commands in a separate process, which outlives the
//! one that asked for them.

mod backend;
mod capture;
mod confine;
mod direct;
mod environment;
pub mod environment_handover;
mod export_syntax;
mod exports;
mod far_report;
mod group;
mod line_program;
mod live_groups;
mod local;
mod report_file;
mod shell;
mod shell_wrapper;
mod spill;
pub mod supervisor;
mod trace;
mod trace_calls;
mod tracer;
mod utf8_decoder;
mod vfork;

pub use backend::{
    Backend, BoxFuture, Client, Command, Ended, Exchange, Exchanged, ExecError, Input, Link, Output,
    OutputLimits, ShellReport, Spill, Started, TerminalSize, Unwatched, Watch,
};
pub use direct::{Direct, DirectOutput, run_direct};
pub use environment::child_env;
pub use exports::{EnvChanges, Exports, LONGEST_CHANGES, LONGEST_VALUE, LeftOut};
pub use group::{Group, reap, this_boot};
pub use line_program::{LineProgram, LineProgramSpec};
pub use live_groups::kill_all;
pub use local::Local;
pub use shell_wrapper::LONGEST;
pub use spill::{SpillFile, SpillLimits};
pub use trace::{Refusal, TraceReport, Traced, run_traced};
