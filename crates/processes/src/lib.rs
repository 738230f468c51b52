//! Background processes.
//!
//! A process runs under the command supervisor and outlives the turn, the session and Hermes itself. Its row in the
//! session database is durable before its first instruction. Whichever Hermes sees its end first records it, together
//! with the notice for the session, in one transaction; a session that is resumed looks at its unfinished processes
//! again.
//!
//! Modules: `manager` holds the processes of a home directory and watches them; `session` is the view of one session;
//! `pace` limits notices of output (pure); `notice` writes them (pure); `screen` turns output into text (pure).

mod bell;
mod manager;
mod notice;
mod pace;
mod screen;
mod session;

pub use bell::Bell;
pub use manager::{ProcessManager, StoreSource, id_of};
pub use session::SessionProcesses;
