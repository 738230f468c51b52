//! The sentences of the system prompt about tools, taken from their facts.

use hermes_conversation::{RunsIn, ToolTable};

/// The tools of a session, as far as the prompt depends on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolGuidance {
    /// The sentences of the tools, most useful tool first.
    pub(crate) text: Option<String>,
    /// One of them runs commands.
    pub(crate) runs_commands: bool,
}

impl ToolGuidance {
    /// The guidance of the tools of these names.
    pub(crate) fn of(names: &[String], tools: &dyn ToolTable) -> Self {
        let is_there = |name: &str| names.iter().any(|tool| tool == name);
        let mut sentences = Vec::new();
        let mut runs_commands = false;
        for name in names {
            let facts = tools.facts(name);
            runs_commands |= facts.runs_in == RunsIn::Command;
            let guidance =
                facts.guidance.filter(|guidance| guidance.beside.iter().all(|name| is_there(name)));
            sentences.extend(guidance.map(|guidance| (facts.rank, name, guidance.text)));
        }
        sentences.sort_unstable();
        let texts: Vec<&str> = sentences.into_iter().map(|(_, _, text)| text).collect();
        Self { text: (!texts.is_empty()).then(|| texts.join(" ")), runs_commands }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{Guidance, ToolFacts};

    struct Table;

    impl ToolTable for Table {
        fn facts(&self, tool: &str) -> ToolFacts {
            let guidance = |text, beside| Some(Guidance { text, beside });
            match tool {
                "run" => ToolFacts { runs_in: RunsIn::Command, ..ToolFacts::DEFAULT },
                "first" => ToolFacts { guidance: guidance("First.", &[]), rank: 1, ..ToolFacts::DEFAULT },
                "pair" => ToolFacts { guidance: guidance("Pair.", &["first"]), ..ToolFacts::DEFAULT },
                "also" => ToolFacts { guidance: guidance("Also.", &[]), ..ToolFacts::DEFAULT },
                _ => ToolFacts::DEFAULT,
            }
        }
    }

    #[test]
    fn sentences_follow_rank_and_name_and_need_their_tools() {
        for (names, text, runs_commands) in [
            (&["unknown"][..], None, false),
            (&["run"], None, true),
            (&["pair"], None, false),
            (&["pair", "also", "first"], Some("First. Also. Pair."), false),
            (&["also", "run", "pair"], Some("Also."), true),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let want = ToolGuidance { text: text.map(str::to_owned), runs_commands };
            assert_eq!(ToolGuidance::of(&names, &Table), want, "{names:?}");
        }
    }
}
