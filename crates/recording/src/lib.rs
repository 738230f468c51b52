//! Recordings of runs: every input of a turn and everything it did, in one file.
//!
//! A [`Recorder`] wraps each port of a turn and writes a line for each input and outcome. A replay runs
//! the same driver on ports that read those lines; every request, event and commit is compared with its
//! line. A new input of a turn needs a variant of `line::What`, a recording port and a replaying one.

mod cursor;
mod digest;
mod engine_line;
mod error;
mod fork;
mod line;
mod outcome_sink;
mod pending_text;
mod player;
mod reading;
mod record_engine;
mod record_model;
mod record_ports;
mod record_tools;
mod recorded_answer;
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
mod watched_transcript;

pub use error::RecordingError;
pub use fork::{ForkHome, Forked, fork};
pub use reading::Recording;
pub use recorder::Recorder;
pub use replay::{Difference, Verdict, replay};
pub use session_line::SessionFacts;
pub use steps::{Step, steps};
