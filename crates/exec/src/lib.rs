//! Running commands somewhere.
//!
//! A [`Backend`] is given a [`Command`] and returns its [`Output`]; [`Local`] runs it on this
//! machine. Nothing here knows what a tool or a session is: whoever wants a running command to
//! be found again after a crash records the [`Group`] it is told about and hands it to [`reap`].
//! [`supervisor`] runs commands in a process of their own, which outlives the one that asked.

mod backend;
mod capture;
mod companion;
mod cwd_file;
mod decode;
mod direct;
mod environment;
mod group;
pub mod handover;
mod live;
mod local;
mod script;
mod shell;
mod spill;
pub mod supervisor;

pub use backend::{
    Backend, BoxFuture, Command, Ended, ExecError, Output, OutputLimits, Spill, Started, Unwatched, Watch,
};
pub use companion::{Companion, CompanionProgram};
pub use direct::{Direct, DirectOutput, run_direct};
pub use environment::child_env;
pub use group::{Group, reap, this_boot};
pub use live::kill_all;
pub use local::Local;
pub use spill::{SpillFile, SpillLimits};
