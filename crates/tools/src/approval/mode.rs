//! The settings that choose who decides: `approvals.mode` and `approvals.unattended`.

use serde::Deserialize;

/// The treatment of calls that need a decision, `approvals.mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "ConfigWord")]
pub enum ApprovalMode {
    /// The user decides.
    #[default]
    Manual,
    /// A model may approve a call; otherwise the user decides.
    Smart,
    /// They run without a question.
    Off,
}

impl ApprovalMode {
    /// Reads `approvals.mode`. A typing error means `manual`: it must not disable questions.
    pub fn from_config(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "off" | "false" => Self::Off,
            "smart" => Self::Smart,
            _ => Self::Manual,
        }
    }
}

/// YAML reads a bare `off` as a boolean.
#[derive(Deserialize)]
#[serde(untagged)]
enum ConfigWord {
    Flag(bool),
    Word(String),
    Other(serde::de::IgnoredAny),
}

impl From<ConfigWord> for ApprovalMode {
    fn from(word: ConfigWord) -> Self {
        match word {
            ConfigWord::Flag(false) => Self::Off,
            ConfigWord::Flag(true) | ConfigWord::Other(_) => Self::Manual,
            ConfigWord::Word(word) => Self::from_config(&word),
        }
    }
}

/// The treatment of calls that need approval in a run without a user, `approvals.unattended`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unattended {
    /// They are denied.
    #[default]
    Deny,
    /// They run if the sandbox is enforced, without any access beyond it.
    Sandboxed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_off_turns_asking_off() {
        for (word, want) in [
            ("off", ApprovalMode::Off),
            ("False", ApprovalMode::Off),
            ("manual", ApprovalMode::Manual),
            (" Smart", ApprovalMode::Smart),
            ("of", ApprovalMode::Manual),
            ("", ApprovalMode::Manual),
        ] {
            assert_eq!(ApprovalMode::from_config(word), want, "{word}");
        }
        for (json, want) in [
            ("false", ApprovalMode::Off),
            ("true", ApprovalMode::Manual),
            ("\"off\"", ApprovalMode::Off),
            ("7", ApprovalMode::Manual),
            ("null", ApprovalMode::Manual),
        ] {
            assert_eq!(serde_json::from_str::<ApprovalMode>(json).unwrap(), want, "{json}");
        }
    }
}
