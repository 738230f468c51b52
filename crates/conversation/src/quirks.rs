//! What a provider made us change for good in one session.

use serde::{Deserialize, Serialize};

/// Changes to requests that a remedy made and that must hold from then on. Stored with the
/// session and given to the request builder, so that replays are equal; each switch from
/// `false` to `true` is a declared cache break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// The endpoint refuses `stream: true`.
    pub no_streaming: bool,
    /// Replayed reasoning was refused.
    pub no_reasoning_replay: bool,
}
