//! Observers of a session: events in one order, snapshots for late ones, and questions to the one that may answer.
//!
//! A session publishes to its [`Hub`]; a front end reads an [`Observer`]. This crate knows nothing of how a turn is
//! run, and it never waits for a reader.

mod hub;
mod questions;
mod snapshot;

pub use hub::{Hub, Observer, ObserverId, SessionEvent, TurnId};
pub use questions::{Answer, PendingQuestion, QuestionId, QuestionKind, SessionQuestions};
pub use snapshot::{OpenCall, RunningTurn, Snapshot};
