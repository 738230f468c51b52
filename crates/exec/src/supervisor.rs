//! The command supervisor: a process that runs commands and outlives the process that asked for them.
//!
//! There is one supervisor per home directory. It is this program again, started on first use; it exits when it
//! has nothing left to do. Every command has a [`Key`]; starting a key twice runs it once. The supervisor
//! writes the output of a command and its end to a spool, so that a client that died can come back and take the
//! real result ([`Supervised::reattach`]).
//!
//! Modules: `spec`, `protocol` and `frame` define the messages on the socket; `paths` and `launch` find or
//! start the supervisor; `serve`, `connection`, `table`, `run`, `gate` and `owner_exit` are the supervisor
//! itself; `input` and `pty` connect a command
//! to its input; `record`, `spool` and `cleanup` manage its files; `limits` and `command_processes` decide when a
//! command must end and which processes belong to it; `client`, `follow`, `call`, `session`, `detached` and
//! `leave_now` are the client side.

mod call;
mod cleanup;
mod client;
mod command_processes;
mod connection;
mod detached;
mod error;
mod follow;
mod frame;
mod gate;
mod input;
mod launch;
mod leave_now;
mod limits;
mod owner_exit;
mod paths;
mod protocol;
mod pty;
mod record;
mod run;
mod serve;
mod session;
mod spec;
mod spool;
mod table;

pub use call::SupervisedCall;
pub(crate) use client::Shared;
pub use client::Supervised;
pub use detached::{OutputStream, Peeked, StreamPart};
pub use error::SuperviseError;
pub use follow::{Attached, Finished, Outcome};
pub use launch::Program;
pub use paths::SupervisorPaths;
pub use protocol::{CommandStatus, Leaving, Stop};
pub use record::{End, EndReason};
pub use serve::supervise;
pub use session::{Fallback, SessionCommands};
pub use spec::{Key, LONGEST_OUTPUT, Lifetime, MOST_LOOKED_AT, Owner, SupervisorSettings};
