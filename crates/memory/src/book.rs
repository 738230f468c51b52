//! The memory of a home under its settings.

use crate::files::{MemoryBook, MemorySettings, Target};
use hermes_config::{Config, ConfigError, Setting, clock};
use std::path::Path;
use std::sync::Arc;

/// Opens the memory of a home under its settings.
pub fn memory_book(config: &Config, home: &Path) -> Result<MemoryBook, ConfigError> {
    Ok(MemoryBook::open(home, settings(config)?, Arc::new(clock::now)))
}

fn settings(config: &Config) -> Result<MemorySettings, ConfigError> {
    let default = MemorySettings::default();
    let memory = &config.settings.memory;
    let limit = |setting: &Setting<u64>, default: usize| -> Result<usize, ConfigError> {
        let value = usize::try_from(setting.value()?).ok();
        Ok(value.filter(|limit| *limit > 0).unwrap_or(default))
    };
    Ok(MemorySettings {
        memory_enabled: memory.memory_enabled.value()?,
        user_profile_enabled: memory.user_profile_enabled.value()?,
        memory_char_limit: limit(&memory.memory_char_limit, default.memory_char_limit)?,
        user_char_limit: limit(&memory.user_char_limit, default.user_char_limit)?,
    })
}

/// Both files as the model sees them.
pub(crate) fn stored_as_json(book: &MemoryBook) -> String {
    let mut files = serde_json::Map::new();
    for target in Target::ALL {
        if let Ok(page) = book.page(target) {
            files.insert(target.as_str().to_owned(), page.entries_for_model().into());
        }
    }
    serde_json::Value::Object(files).to_string()
}

/// Returns true if both memory files are switched off, so that the model gets no tool for them.
pub fn is_off(config: &Config) -> Result<bool, ConfigError> {
    let settings = settings(config)?;
    Ok(!settings.memory_enabled && !settings.user_profile_enabled)
}
