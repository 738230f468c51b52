//! The settings of sub-agents.

use crate::RuntimeError;
use hermes_config::settings::{DelegationSettings, Text};
use hermes_config::{Config, FallbackEntry, Setting};
use hermes_models::{common, resolve_entry};
use hermes_providers::Endpoint;
use std::time::Duration;

/// The shortest time limit in seconds.
const SHORTEST: u64 = 30;

pub(super) struct Settings {
    pub(super) iterations: u32,
    pub(super) at_once: usize,
    /// The number of levels of sub-agents.
    pub(super) depth: u32,
    pub(super) orchestrators: bool,
    pub(super) time: Option<Duration>,
    pub(super) summary_chars: usize,
    pub(super) approves: bool,
    model: Option<String>,
    provider: Option<String>,
}

impl Settings {
    pub(super) fn read(config: &Config) -> Result<Self, RuntimeError> {
        let set = &config.settings.delegation;
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let word = |setting: &Setting<Option<Text>>| -> Result<Option<String>, RuntimeError> {
            let text = setting.get()?.as_deref().map(str::trim).filter(|text| !text.is_empty());
            Ok(text.map(str::to_owned))
        };
        let seconds = set.child_timeout_seconds.value()?;
        Ok(Self {
            iterations: small(set.max_iterations.value()?),
            at_once: usize::try_from(set.max_concurrent_children.value()?.max(1)).unwrap_or(1),
            depth: small(set.max_spawn_depth.value()?.max(1)),
            orchestrators: set.orchestrator_enabled.value()?,
            time: (seconds > 0).then(|| Duration::from_secs(seconds.max(SHORTEST))),
            summary_chars: usize::try_from(set.max_summary_chars.value()?).unwrap_or(usize::MAX),
            approves: set.subagent_auto_approve.value()?,
            model: word(&set.model)?,
            provider: word(&set.provider)?,
        })
    }

    /// Returns the model for sub-agents of a session with the endpoint `own`.
    pub(super) fn endpoint(&self, config: &Config, own: &Endpoint) -> Result<Endpoint, RuntimeError> {
        let Some(provider) = &self.provider else {
            return Ok(self.model.as_deref().map_or_else(|| own.clone(), |model| own.with_model(model)));
        };
        let entry = FallbackEntry {
            key: DelegationSettings::provider.name.to_owned(),
            provider: provider.clone(),
            model: self.model.clone().unwrap_or_else(|| own.model.clone()),
            base_url: None,
            api_key: None,
            key_env: None,
        };
        let resolved = resolve_entry(config, &entry, &common(config)?);
        resolved.map_err(RuntimeError::SubAgentModel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config_of;

    #[test]
    fn out_of_range_settings_are_clamped() {
        let text = "delegation: {max_concurrent_children: 0, max_spawn_depth: 0, child_timeout_seconds: 5, model: ' '}\n";
        let settings = Settings::read(&config_of(text)).unwrap();
        assert_eq!((settings.at_once, settings.depth), (1, 1));
        assert_eq!(settings.time, Some(Duration::from_secs(30)));
        assert_eq!(settings.model, None);
        let default = Settings::read(&config_of("")).unwrap();
        assert_eq!((default.iterations, default.at_once, default.depth, default.time), (50, 3, 1, None));
        assert!(default.orchestrators && !default.approves);
    }
}
