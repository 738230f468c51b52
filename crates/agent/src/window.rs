//! Checks that the model's context window has the minimum size.

use crate::Session;
use hermes_wire::ModelProfile;

/// Tokens that a window needs to hold a few tools, their results and something of the task.
pub(crate) const LEAST: u64 = 4_096;

/// The known window of a model that is too small to be asked with tools.
pub(crate) fn too_small(session: &Session, profile: &ModelProfile, tools: usize) -> Option<u64> {
    below(session.context.window(profile), profile.ollama_num_ctx, tools)
}

fn below(window: Option<u64>, served: Option<u64>, tools: usize) -> Option<u64> {
    let known = window.into_iter().chain(served).min();
    known.filter(|tokens| *tokens < LEAST && tools > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_small_window_with_tools_is_too_small() {
        for (window, served, tools, want) in [
            (None, None, 3, None),
            (Some(256_000), None, 3, None),
            (Some(4_096), None, 3, None),
            (Some(4_095), None, 3, Some(4_095)),
            (Some(2_048), None, 0, None),
            (Some(64_000), Some(2_048), 1, Some(2_048)),
            (Some(64_000), Some(4_096), 1, None),
            (None, Some(1_024), 1, Some(1_024)),
        ] {
            assert_eq!(below(window, served, tools), want, "{window:?} {served:?} {tools}");
        }
    }
}
