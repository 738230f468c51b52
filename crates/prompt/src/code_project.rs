//! Guidance for work in a code project, with the known facts about it.

use serde::{Deserialize, Serialize};

/// A code project, as far as its files tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeProject {
    /// The branch of git that is checked out.
    pub branch: Option<String>,
    pub language: Option<String>,
    /// The command that checks a change.
    pub check: Option<String>,
    /// `agent.coding_instructions`.
    pub instructions: Option<String>,
}

impl CodeProject {
    /// The text for the prompt.
    pub(crate) fn text(&self) -> String {
        let branch = self.branch.as_ref().map(|branch| format!("git branch {branch} at the start"));
        let facts: Vec<String> = [self.language.clone(), branch].into_iter().flatten().collect();
        let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        let check = match &self.check {
            Some(check) => format!(" Check changes; `{check}` is the usual way here."),
            None => " Check changes before you report them.".to_owned(),
        };
        let more = self.instructions.as_ref().map(|text| format!(" {}", text.trim())).unwrap_or_default();
        format!(
            "The working directory is in a code project{facts}. Read the code around a change first and follow \
             its style; keep changes small.{check}{more}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_facts_are_listed() {
        assert_eq!(
            CodeProject::default().text(),
            "The working directory is in a code project. Read the code around a change first and follow its style; \
             keep changes small. Check changes before you report them."
        );
        let known = CodeProject {
            branch: Some("main".into()),
            language: Some("Rust".into()),
            check: Some("cargo test".into()),
            instructions: Some("Never touch the generated files.".into()),
        };
        assert_eq!(
            known.text(),
            "The working directory is in a code project (Rust, git branch main at the start). Read the code around \
             a change first and follow its style; keep changes small. Check changes; `cargo test` is the usual way \
             here. Never touch the generated files."
        );
    }
}
