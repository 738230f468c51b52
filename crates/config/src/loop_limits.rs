//! The settings of `tool_loop_guardrails`.

use super::{Config, ConfigError};
use hermes_agent::loop_guard::{LoopLimits, Repeats};

impl Config {
    /// The numbers of repeated tool calls before a warning and before the end of the turn. A number below 1 means
    /// the default.
    pub fn loop_limits(&self) -> Result<LoopLimits, ConfigError> {
        let default = LoopLimits::default();
        Ok(LoopLimits {
            warnings_enabled: self.boolean("tool_loop_guardrails.warnings_enabled")?,
            hard_stop_enabled: self.boolean("tool_loop_guardrails.hard_stop_enabled")?,
            warn_after: self.repeats("warn_after", default.warn_after)?,
            hard_stop_after: self.repeats("hard_stop_after", default.hard_stop_after)?,
        })
    }

    fn repeats(&self, when: &str, default: Repeats) -> Result<Repeats, ConfigError> {
        let number = |kind: &str, default: u32| -> Result<u32, ConfigError> {
            let value = self.integer(&format!("tool_loop_guardrails.{when}.{kind}"))?;
            Ok(value
                .and_then(|value| u32::try_from(value).ok())
                .filter(|value| *value > 0)
                .unwrap_or(default))
        };
        Ok(Repeats {
            exact_failure: number("exact_failure", default.exact_failure)?,
            same_tool_failure: number("same_tool_failure", default.same_tool_failure)?,
            idempotent_no_progress: number("idempotent_no_progress", default.idempotent_no_progress)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::config_of;
    use super::*;

    #[test]
    fn loop_limits_come_from_the_settings() {
        let default = LoopLimits::default();
        let stops = LoopLimits {
            warnings_enabled: false,
            hard_stop_enabled: true,
            warn_after: Repeats { exact_failure: 4, ..default.warn_after },
            hard_stop_after: Repeats {
                same_tool_failure: 9,
                idempotent_no_progress: 7,
                ..default.hard_stop_after
            },
        };
        for (text, want) in [
            ("", default),
            ("tool_loop_guardrails: {warn_after: {exact_failure: 0}}", default),
            (
                "tool_loop_guardrails: {warnings_enabled: false, hard_stop_enabled: true, \
                 warn_after: {exact_failure: 4}, hard_stop_after: {same_tool_failure: 9, \
                 idempotent_no_progress: 7}}",
                stops,
            ),
        ] {
            assert_eq!(config_of(text).loop_limits().ok(), Some(want), "{text}");
            assert!(config_of(text).unused_keys().is_empty(), "{text}");
        }
        assert!(config_of("tool_loop_guardrails: {hard_stop_enabled: perhaps}").loop_limits().is_err());
    }
}
