//! Guidance that some model families need to use their tools.

use hermes_conversation::{ModelName, PromptFamily};
use serde::{Deserialize, Serialize};

/// The models that get the instruction to act instead of promising to: `agent.tool_use_enforcement`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolUse {
    /// Those whose family is known to need it.
    #[default]
    Auto,
    Always,
    Never,
    /// Those whose name contains one of these.
    Models(Vec<String>),
}

const ACT: &str = "Act, do not announce: when you say that you will do something, the tool call that does it is in \
the same reply. End your turn only with a finished result or with a question that only the user can answer.";

const GOOGLE: &str = "Give tools absolute paths. Look before you change something, and check that a library is \
there before you rely on it. Use flags that keep commands from asking. Keep explanations short.";

const OPENAI: &str = "Do not stop at the first obstacle: try another way before you give up. Arithmetic, dates, the \
state of the system, files and git are never guessed; look them up with a tool. Where one reading of the request \
is the obvious one, follow it without asking. Check what a step needs before you take it, and the result before \
you report it. If something you need is missing, look for it first, and ask only then.";

/// The guidance for this model, if any.
pub(crate) fn guidance(enforced: &ToolUse, model: &str) -> Option<String> {
    let family = ModelName::of(model).prompt_family();
    let model = model.to_lowercase();
    let applies = match enforced {
        ToolUse::Auto => family.is_some(),
        ToolUse::Always => true,
        ToolUse::Never => false,
        ToolUse::Models(names) => names.iter().any(|name| model.contains(&name.to_lowercase())),
    };
    let more = match family {
        Some(PromptFamily::Google) => Some(GOOGLE),
        Some(PromptFamily::OpenAi) => Some(OPENAI),
        Some(PromptFamily::Other) | None => None,
    };
    applies.then(|| [Some(ACT), more].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guidance_depends_on_the_model_family() {
        let models = |names: &[&str]| ToolUse::Models(names.iter().map(|name| (*name).to_owned()).collect());
        for (enforced, model, want) in [
            (ToolUse::Auto, "anthropic/claude-opus-4.6", None),
            (ToolUse::Auto, "zai/GLM-5", Some(ACT.to_owned())),
            (ToolUse::Auto, "google/gemini-3-pro", Some(format!("{ACT} {GOOGLE}"))),
            (ToolUse::Auto, "openai/GPT-5.5", Some(format!("{ACT} {OPENAI}"))),
            (ToolUse::Always, "claude-opus-4.6", Some(ACT.to_owned())),
            (ToolUse::Never, "gpt-5.5", None),
            (models(&["Claude"]), "claude-opus-4.6", Some(ACT.to_owned())),
            (models(&["claude"]), "gpt-5.5", None),
        ] {
            assert_eq!(guidance(&enforced, model), want, "{enforced:?} {model}");
        }
    }
}
