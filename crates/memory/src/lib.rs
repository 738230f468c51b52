//! Memory across sessions: the port that a model writes it through, changes that wait for approval, reviews in
//! the background, and recall from earlier sessions.
//!
//! [`files`] keeps the two memory files, which the Python release shares, and their rules; the other modules meet
//! them with the settings and a session.

mod book;
pub mod files;
mod pending;
mod provider;
mod recall;
mod recalling;
mod review;
mod session_memory;
mod sessions;

pub use book::{is_off, memory_book};
pub use pending::{PendingChange, forget_pending, pending};
pub use provider::MemoryProvider;
pub use recall::recalled;
pub use recalling::Recalling;
pub use review::{Review, Reviewer, notice as review_notice};
pub use session_memory::{SessionMemory, WriteApproval};
pub use sessions::SessionRecall;
