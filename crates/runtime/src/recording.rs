//! Recordings of runs: everything that came from outside, and what became of it, in one file.
//!
//! A [`Recorder`] stands before each port of a turn and writes down what comes through. A replay is the
//! same driver on ports that give it again; every request, event and commit is compared with the line
//! that was written. What is not in a recording cannot be replayed, so a new input of a turn needs a
//! variant of [`line::What`], a recording port and a replaying one.

mod cursor;
mod digest;
mod due;
mod engine_line;
mod error;
mod fork;
mod line;
mod pending_text;
mod player;
mod reading;
mod record_engine;
mod record_model;
mod record_ports;
mod record_tools;
mod recorder;
mod replay;
mod replay_engine;
mod replay_model;
mod replay_ports;
mod replay_tools;
mod reply_line;
mod request_line;
mod session_line;
mod sse_lines;
mod steps;
mod tape;
mod taped_transcript;

pub use error::RecordingError;
pub use fork::{ForkStage, Forked, fork};
pub use reading::Recording;
pub(crate) use recorder::Recorder;
pub use replay::{Difference, Verdict, replay};
pub(crate) use session_line::{SessionFacts, session_line};
pub use steps::{Step, steps};
