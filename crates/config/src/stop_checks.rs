//! The settings of the checks before a final text is accepted.

use super::{Config, ConfigError};
use hermes_agent::{IntentCheck, StopChecks};

impl Config {
    /// The checks that an answer has to pass.
    pub fn stop_checks(&self) -> Result<StopChecks, ConfigError> {
        let default = StopChecks::default();
        let nudges = self.integer("agent.max_verify_nudges")?;
        Ok(StopChecks {
            lists_failed_edits: self.boolean("display.file_mutation_verifier")?,
            verifies: self.auto_or_switch("agent.verify_on_stop")?.unwrap_or(true),
            nudges: nudges.and_then(|count| u32::try_from(count).ok()).unwrap_or(default.nudges),
            intent: match self.auto_or_switch("agent.intent_ack_continuation")? {
                None => IntentCheck::Auto,
                Some(true) => IntentCheck::All,
                Some(false) => IntentCheck::None,
            },
        })
    }

    /// A switch that may also be `auto`, which is `None`.
    fn auto_or_switch(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        let word = self.text(key)?.unwrap_or_default();
        Ok(match word.as_str() {
            "" | "auto" => None,
            word => Some(matches!(word, "true" | "on" | "yes" | "1")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::config_of;
    use super::*;

    #[test]
    fn stop_checks_come_from_the_settings() {
        let default = StopChecks::default();
        for (text, want) in [
            ("", Some(default)),
            ("agent: {verify_on_stop: auto, intent_ack_continuation: auto}", Some(default)),
            ("agent: {verify_on_stop: false}", Some(StopChecks { verifies: false, ..default })),
            ("agent: {verify_on_stop: 'off', max_verify_nudges: 0}", {
                Some(StopChecks { verifies: false, nudges: 0, ..default })
            }),
            (
                "agent: {intent_ack_continuation: true}",
                Some(StopChecks { intent: IntentCheck::All, ..default }),
            ),
            (
                "display: {file_mutation_verifier: false}",
                Some(StopChecks { lists_failed_edits: false, ..default }),
            ),
            ("agent: {verify_on_stop: true}", Some(default)),
            ("agent: {verify_on_stop: perhaps}", Some(StopChecks { verifies: false, ..default })),
        ] {
            assert_eq!(config_of(text).stop_checks().ok(), want, "{text}");
            let is_named = !config_of(text).unused_keys().is_empty();
            assert_eq!(is_named, text.contains("perhaps"), "{text}");
        }
    }
}
