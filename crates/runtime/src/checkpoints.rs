//! Checkpoints of a session, by the settings.

use crate::Runtime;
use hermes_checkpoints::{CheckpointStore, Enabled, SessionCheckpoints, StoreOptions};
use hermes_config::home::Home;
use hermes_config::settings::AutoSwitch;
use hermes_config::{Config, ConfigError};
use hermes_tools::Checkpoints;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

const MEBIBYTE: u64 = 1 << 20;
const HOUR: u64 = 60 * 60;
/// The range of `HERMES_CHECKPOINT_TIMEOUT`.
const TIMEOUT: std::ops::RangeInclusive<u64> = 10..=60;

/// The checkpoints of a home directory; `shell` has the variables of the process.
pub fn checkpoint_store(
    config: &Config,
    home: &Home,
    shell: &BTreeMap<String, String>,
) -> Result<CheckpointStore, ConfigError> {
    let settings = &config.settings.checkpoints;
    let largest = settings.max_file_size_mb.value()?;
    let timeout = settings.timeout.value()?.clamp(*TIMEOUT.start(), *TIMEOUT.end());
    Ok(CheckpointStore::new(StoreOptions {
        base: home.checkpoints_dir(),
        hermes_home: home.path().to_owned(),
        user_home: shell.get("HOME").map(PathBuf::from).or_else(std::env::home_dir),
        path: shell.get("PATH").cloned().unwrap_or_default(),
        enabled: match settings.enabled.value()? {
            AutoSwitch::Auto => Enabled::Auto,
            AutoSwitch::On => Enabled::On,
            AutoSwitch::Off => Enabled::Off,
        },
        max_snapshots: usize::try_from(settings.max_snapshots.value()?).unwrap_or(usize::MAX).max(1),
        max_total: settings.max_total_size_mb.value()?.saturating_mul(MEBIBYTE),
        max_file: if largest == 0 { u64::MAX } else { largest.saturating_mul(MEBIBYTE) },
        auto_prune: settings.auto_prune.value()?,
        retention: Duration::from_secs(settings.retention_days.value()?.saturating_mul(24 * HOUR)),
        delete_orphans: settings.delete_orphans.value()?,
        min_interval: Duration::from_secs(settings.min_interval_hours.value()?.saturating_mul(HOUR)),
        timeout: Duration::from_secs(timeout),
    }))
}

impl Runtime {
    /// The checkpoints of this home directory.
    pub(crate) fn checkpoints(&self) -> Result<CheckpointStore, ConfigError> {
        checkpoint_store(&self.config, self.home(), &self.launch.shell)
    }

    /// The checkpoints of one session; `None` if they are disabled.
    pub(crate) fn session_checkpoints(&self) -> Result<Option<Arc<dyn Checkpoints>>, ConfigError> {
        let store = self.checkpoints()?;
        if store.enabled() == Enabled::Off {
            return Ok(None);
        }
        let notices = self.notices.clone();
        let notify = move |notice: String| {
            let mut notices = notices.lock().unwrap_or_else(PoisonError::into_inner);
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        };
        Ok(Some(Arc::new(SessionCheckpoints::new(store, Arc::new(notify)))))
    }
}
