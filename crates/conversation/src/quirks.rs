//! Quirks: request features that an endpoint rejected and that a session omits from then on.

use serde::{Deserialize, Serialize};

/// The quirks found in a session. Stored with the session and passed to the request builder, so that a resumed
/// session sends the same bytes. Each switch from `false` to `true` is a declared cache break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// The endpoint rejects `stream: true`.
    pub no_streaming: bool,
    /// The endpoint rejects the reasoning of earlier replies.
    pub no_reasoning_replay: bool,
    /// The endpoint rejects `pattern` and `format` in tool schemas.
    pub plain_schemas: bool,
    /// The endpoint accepts tool results as text only.
    pub text_results: bool,
    /// The endpoint rejects images of the usual size.
    pub small_images: bool,
    /// The endpoint rejects images.
    pub no_images: bool,
}

/// One quirk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quirk {
    NoStreaming,
    NoReasoningReplay,
    PlainSchemas,
    TextResults,
    SmallImages,
    NoImages,
}

impl Quirk {
    pub const ALL: [Self; 6] = [
        Self::NoStreaming,
        Self::NoReasoningReplay,
        Self::PlainSchemas,
        Self::TextResults,
        Self::SmallImages,
        Self::NoImages,
    ];
}

impl Quirks {
    pub fn has(self, quirk: Quirk) -> bool {
        match quirk {
            Quirk::NoStreaming => self.no_streaming,
            Quirk::NoReasoningReplay => self.no_reasoning_replay,
            Quirk::PlainSchemas => self.plain_schemas,
            Quirk::TextResults => self.text_results,
            Quirk::SmallImages => self.small_images,
            Quirk::NoImages => self.no_images,
        }
    }

    /// Returns true if the results of tools are sent with their images.
    pub fn shows_results(self) -> bool {
        !self.no_images && !self.text_results
    }

    pub fn set(&mut self, quirk: Quirk) {
        let field = match quirk {
            Quirk::NoStreaming => &mut self.no_streaming,
            Quirk::NoReasoningReplay => &mut self.no_reasoning_replay,
            Quirk::PlainSchemas => &mut self.plain_schemas,
            Quirk::TextResults => &mut self.text_results,
            Quirk::SmallImages => &mut self.small_images,
            Quirk::NoImages => &mut self.no_images,
        };
        *field = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quirks_are_independent() {
        for quirk in Quirk::ALL {
            let mut quirks = Quirks::default();
            assert!(!quirks.has(quirk), "{quirk:?}");
            quirks.set(quirk);
            assert_eq!(Quirk::ALL.map(|other| quirks.has(other)), Quirk::ALL.map(|other| other == quirk));
        }
    }
}
