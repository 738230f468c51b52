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
    /// The endpoint cannot read `pattern` and `format` in tool schemas.
    pub plain_schemas: bool,
    /// The endpoint takes results of tools as text only.
    pub text_results: bool,
    /// An image was refused; none is sent any more.
    pub no_images: bool,
}

/// One of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quirk {
    NoStreaming,
    NoReasoningReplay,
    PlainSchemas,
    TextResults,
    NoImages,
}

impl Quirk {
    pub const ALL: [Self; 5] =
        [Self::NoStreaming, Self::NoReasoningReplay, Self::PlainSchemas, Self::TextResults, Self::NoImages];
}

impl Quirks {
    pub fn has(self, quirk: Quirk) -> bool {
        match quirk {
            Quirk::NoStreaming => self.no_streaming,
            Quirk::NoReasoningReplay => self.no_reasoning_replay,
            Quirk::PlainSchemas => self.plain_schemas,
            Quirk::TextResults => self.text_results,
            Quirk::NoImages => self.no_images,
        }
    }

    pub fn set(&mut self, quirk: Quirk) {
        let field = match quirk {
            Quirk::NoStreaming => &mut self.no_streaming,
            Quirk::NoReasoningReplay => &mut self.no_reasoning_replay,
            Quirk::PlainSchemas => &mut self.plain_schemas,
            Quirk::TextResults => &mut self.text_results,
            Quirk::NoImages => &mut self.no_images,
        };
        *field = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_its_own_switch() {
        for quirk in Quirk::ALL {
            let mut quirks = Quirks::default();
            assert!(!quirks.has(quirk), "{quirk:?}");
            quirks.set(quirk);
            assert_eq!(Quirk::ALL.map(|other| quirks.has(other)), Quirk::ALL.map(|other| other == quirk));
        }
    }
}
