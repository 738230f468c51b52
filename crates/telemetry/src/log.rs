//! The log file: `logs/agent.log`.
//!
//! Events and spans of `tracing` become lines in the format of the Python release, with the fields
//! behind the message. Redaction is part of writing a line and cannot be switched off. The file is
//! opened for the first line, there is no thread, and a log that cannot be written costs one warning
//! and never a turn.

pub(crate) mod fields;
mod file;
mod line;
mod open_spans;
mod subscriber;

pub use file::{AGENT_LOG, LogFile, LogLimits, log_files};
pub use line::{LogLevel, LogLine, parse_line};
pub(crate) use subscriber::LogSubscriber;
