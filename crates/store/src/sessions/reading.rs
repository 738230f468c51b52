//! Reads a session back: for a resume, for display, and for diagnosis.

pub(super) mod last_messages;
pub(super) mod load;
pub(super) mod messages;
pub(super) mod prompt_cache;
pub(super) mod turn_trace;
