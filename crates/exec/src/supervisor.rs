//! Commands in a process of their own, which outlives the one that asked for them.
//!
//! There is one supervisor per home. It is this program again, started on first use and gone when
//! nothing is left to do. Every command has a [`Key`]; starting a key twice runs it once. The
//! supervisor writes what a command says into a spool and, when it is over, how it ended, so that
//! a client that died half way can come back and take the real result ([`Supervised::reattach`]).
//!
//! What is where: `spec`, `protocol` and `frame` say what crosses the socket; `place` and `launch`
//! find or start the supervisor; `serve`, `connection`, `table`, `run`, `gate` and `owner` are the
//! supervisor itself; `record`, `spool` and `sweep` see to its files; `limits` and `family` decide when a command is
//! over its time and which processes belong to it; `client`, `follow`, `call`,
//! `session` and `goodbye` are the other side.

mod call;
mod client;
mod connection;
mod error;
mod family;
mod follow;
mod frame;
mod gate;
mod goodbye;
mod launch;
mod limits;
mod owner;
mod place;
mod protocol;
mod record;
mod run;
mod serve;
mod session;
mod spec;
mod spool;
mod sweep;
mod table;

pub use call::SupervisedCall;
pub(crate) use client::Shared;
pub use client::Supervised;
pub use error::SuperviseError;
pub use follow::{Attached, Finished, Outcome};
pub use launch::Program;
pub use place::Place;
pub use protocol::{CommandStatus, Leaving, Stop};
pub use record::{End, How};
pub use serve::supervise;
pub use session::{Fallback, SessionCommands};
pub use spec::{Key, Lifetime, Owner, SupervisorSettings};
