//! Checks before a final text is accepted.

use serde::{Deserialize, Serialize};

/// The settings of these checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StopChecks {
    /// `display.file_mutation_verifier`: the answer gets a footer with the edits that failed.
    pub lists_failed_edits: bool,
    /// `agent.verify_on_stop`: a model that changed code and ran nothing since is asked to check it.
    pub verifies: bool,
    /// `agent.max_verify_nudges`: times in a turn that it is asked.
    pub nudges: u32,
    /// `agent.intent_ack_continuation`: an answer that only promises an action is answered with a nudge to act.
    pub intent: IntentCheck,
}

/// The models whose promises are not taken for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentCheck {
    /// Those that are asked in the Responses format.
    #[default]
    Auto,
    All,
    None,
}

impl Default for StopChecks {
    fn default() -> Self {
        Self { lists_failed_edits: true, verifies: true, nudges: 3, intent: IntentCheck::Auto }
    }
}

/// A longer answer is more than a promise.
const LONGEST_PROMISE: usize = 1_200;

const PROMISES: [&str; 12] = [
    "i'll ",
    "i’ll ",
    "i will ",
    "let me ",
    "i'm going to ",
    "i’m going to ",
    "i am going to ",
    "i can do that",
    "i can help with that",
    "i'd start by",
    "i would start by",
    "starting with",
];
const ACTIONS: [&str; 24] = [
    "analyse",
    "analyze",
    "check",
    "create",
    "debug",
    "edit",
    "examine",
    "explore",
    "fix",
    "go through",
    "inspect",
    "investigate",
    "list",
    "look",
    "open",
    "read",
    "report back",
    "review",
    "run",
    "scan",
    "search",
    "test",
    "update",
    "write",
];
const WORKSPACE: [&str; 18] = [
    "branch",
    "build",
    "code",
    "command",
    "config",
    "directory",
    "file",
    "folder",
    "function",
    "log",
    "module",
    "package",
    "path",
    "project",
    "repo",
    "script",
    "terminal",
    "test",
];

/// Returns true for a text that only promises to do something with the workspace: short, in the future tense, and with neither a
/// question nor code in it.
pub(crate) fn only_promises(text: &str) -> bool {
    let text = text.trim().to_lowercase().replace("let me know", "");
    if text.is_empty()
        || text.chars().count() > LONGEST_PROMISE
        || text.contains("```")
        || text.ends_with('?')
    {
        return false;
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&PROMISES) && has(&ACTIONS) && has(&WORKSPACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_about_the_workspace_differ_from_answers() {
        for (text, want) in [
            ("I'll inspect the repository and report back.", true),
            ("Sure! Let me look at the project files first.", true),
            ("I will run the tests and fix what fails in this module.", true),
            ("I’m going to read the config file now.", true),
            ("The function returns 4.", false),
            ("I will be brief: 42.", false),
            ("Let me know if you want me to check other files.", false),
            ("I'll look at the files. Which directory do you mean?", false),
            ("I'll change the file like this:\n```\nx\n```", false),
            ("", false),
        ] {
            assert_eq!(only_promises(text), want, "{text}");
        }
        let long = format!("I'll inspect the repository. {}", "word ".repeat(300));
        assert!(!only_promises(&long));
    }
}
