//! The settings of the checks before a final text is accepted.

use super::settings::AutoSwitch;
use super::{Config, ConfigError};
use hermes_agent::{IntentCheck, StopChecks};

impl Config {
    /// The checks that an answer has to pass.
    pub fn stop_checks(&self) -> Result<StopChecks, ConfigError> {
        let default = StopChecks::default();
        let agent = &self.settings.agent;
        Ok(StopChecks {
            nudges: u32::try_from(agent.max_verify_nudges.value()?).unwrap_or(default.nudges),
            lists_failed_edits: self.settings.display.file_mutation_verifier.value()?,
            verifies: agent.verify_on_stop.value()? != AutoSwitch::Off,
            intent: match agent.intent_ack_continuation.value()? {
                AutoSwitch::Auto => IntentCheck::Auto,
                AutoSwitch::On => IntentCheck::All,
                AutoSwitch::Off => IntentCheck::None,
            },
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
