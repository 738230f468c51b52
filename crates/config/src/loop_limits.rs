//! The settings of `tool_loop_guardrails`.

use super::{Config, ConfigError, Setting};
use hermes_agent::loop_guard::{LoopLimits, Repeats};

impl Config {
    /// The numbers of repeated tool calls before a warning and before the end of the turn. A number below 1 means
    /// the default.
    pub fn loop_limits(&self) -> Result<LoopLimits, ConfigError> {
        let default = LoopLimits::default();
        let guardrails = &self.settings.tool_loop_guardrails;
        let (warn, stop) = (&guardrails.warn_after, &guardrails.hard_stop_after);
        Ok(LoopLimits {
            warnings_enabled: guardrails.warnings_enabled.value()?,
            hard_stop_enabled: guardrails.hard_stop_enabled.value()?,
            warn_after: Repeats {
                exact_failure: number(&warn.exact_failure, default.warn_after.exact_failure)?,
                same_tool_failure: number(&warn.same_tool_failure, default.warn_after.same_tool_failure)?,
                idempotent_no_progress: number(
                    &warn.idempotent_no_progress,
                    default.warn_after.idempotent_no_progress,
                )?,
            },
            hard_stop_after: Repeats {
                exact_failure: number(&stop.exact_failure, default.hard_stop_after.exact_failure)?,
                same_tool_failure: number(
                    &stop.same_tool_failure,
                    default.hard_stop_after.same_tool_failure,
                )?,
                idempotent_no_progress: number(
                    &stop.idempotent_no_progress,
                    default.hard_stop_after.idempotent_no_progress,
                )?,
            },
        })
    }
}

fn number(setting: &Setting<u64>, default: u32) -> Result<u32, ConfigError> {
    Ok(u32::try_from(setting.value()?).ok().filter(|value| *value > 0).unwrap_or(default))
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
