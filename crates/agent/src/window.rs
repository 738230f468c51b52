//! Whether the model's window is large enough to work with tools.

use hermes_wire::ModelProfile;

/// Tokens that a window needs to hold the tools, their results and something of the task.
pub(crate) const LEAST: u64 = 64_000;

/// The window of a model that cannot do with so many tools, where its server is known to give it less.
pub(crate) fn too_small(profile: &ModelProfile, tools: usize) -> Option<u64> {
    profile.ollama_num_ctx.filter(|tokens| *tokens < LEAST && tools > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_testkit::ScriptedModel;
    use hermes_wire::Model as _;

    #[test]
    fn only_a_known_small_window_with_tools_is_too_small() {
        for (ollama_num_ctx, tools, want) in [
            (None, 3, None),
            (Some(4_096), 0, None),
            (Some(4_096), 1, Some(4_096)),
            (Some(63_999), 1, Some(63_999)),
            (Some(64_000), 1, None),
        ] {
            let model = ScriptedModel::of([]);
            // What a model was made for does not matter here.
            let profile =
                ModelProfile { ollama_num_ctx, context_length: Some(8_192), ..model.profile().clone() };
            assert_eq!(too_small(&profile, tools), want, "{ollama_num_ctx:?} {tools}");
        }
    }
}
