//! `config set` and `config unset`: picks the file, changes it under the home's lock, reports.

use std::path::{Path, PathBuf};

use super::addresses::check_address;
use super::coerce::coerce;
use super::env_file::EnvFile;
use super::error::ConfigError;
use super::explain::HIDDEN;
use super::file::ConfigFile;
use super::keys::Key;
use super::layers::{Config, Layers};
use super::secret_names::{as_variable, is_secret_key, is_secret_variable};
use super::suggest::suggestion;
use super::unused::UnusedKey;
use super::yaml_text::yaml_text;
use crate::home::{Home, PRIVATE_FILE, write_atomically};

/// The file a key is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    DotEnv,
    ConfigFile,
}

/// A printable description of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetReport {
    pub target: Target,
    pub path: PathBuf,
    pub key: String,
    /// The new value; a secret is not shown, and there is none after `unset`.
    pub shown: Option<String>,
    /// True if the file changed.
    pub changed: bool,
    pub notices: Vec<String>,
}

/// Sets `key` to what `text` means. Names of variables and keys of providers go to `.env`,
/// everything else to `config.yaml`.
pub fn set(home: &Home, key: &str, text: &str) -> Result<SetReport, ConfigError> {
    home.ensure()?;
    let _lock = home.lock()?;
    match as_variable(key) {
        Some(name) => set_variable(home, name, text),
        None => set_key(home, key, text),
    }
}

/// Takes `key` out of the file [`set`] would have put it in.
pub fn unset(home: &Home, key: &str) -> Result<SetReport, ConfigError> {
    home.ensure()?;
    let _lock = home.lock()?;
    let (target, key, path) = match as_variable(key) {
        Some(name) => (Target::DotEnv, name, home.env_file()),
        None => (Target::ConfigFile, key.to_owned(), home.config_file()),
    };
    let left = match target {
        Target::DotEnv => EnvFile::load(&path)?.without(&key).map(|file| file.text().to_owned()),
        Target::ConfigFile => ConfigFile::load(&path)?.without(&key)?.map(|file| file.text().to_owned()),
    };
    if let Some(text) = &left {
        write_atomically(&path, text.as_bytes(), PRIVATE_FILE)?;
    }
    Ok(SetReport { target, path, key, shown: None, changed: left.is_some(), notices: vec![] })
}

/// Changes several keys of `config.yaml` at once: all of them or none. `None` takes a key out.
pub fn change(home: &Home, changes: &[(&str, Option<&str>)]) -> Result<Vec<SetReport>, ConfigError> {
    home.ensure()?;
    let _lock = home.lock()?;
    let path = home.config_file();
    let before = ConfigFile::load(&path)?;
    let mut now = before.clone();
    let mut reports = Vec::new();
    for (key, text) in changes {
        let value = text.map(|text| coerce(key, text)).transpose()?;
        let after = match &value {
            Some(value) => Some(now.with(key, value.clone())?),
            None => now.without(key)?,
        };
        let changed = after.as_ref().is_some_and(|after| after.text() != now.text());
        let shown = value.map(|value| if is_secret_key(key) { HIDDEN.to_owned() } else { yaml_text(&value) });
        now = after.unwrap_or(now);
        let target = Target::ConfigFile;
        reports.push(SetReport {
            target,
            path: path.clone(),
            key: (*key).to_owned(),
            shown,
            changed,
            notices: vec![],
        });
    }
    if now.text() != before.text() {
        write_atomically(&path, now.text().as_bytes(), PRIVATE_FILE)?;
    }
    Ok(reports)
}

/// Changes a list of `config.yaml`, as it is at that moment, and says whether it is different now. An
/// empty list takes the key out.
pub fn change_list(
    home: &Home,
    key: &str,
    edit: impl FnOnce(Vec<String>) -> Vec<String>,
) -> Result<bool, ConfigError> {
    home.ensure()?;
    let _lock = home.lock()?;
    let path = home.config_file();
    let before = ConfigFile::load(&path)?;
    let list = match before.get(key) {
        Some(serde_json::Value::Array(items)) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        // A list may also be written as one text.
        Some(serde_json::Value::String(text)) => {
            text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    let edited = edit(list);
    let after = match edited.is_empty() {
        true => before.without(key)?.unwrap_or_else(|| before.clone()),
        false => before.with(key, edited.into())?,
    };
    write_if_changed(&path, &before, &after)
}

/// Writes a list to `config.yaml`, also an empty one, and says whether it is different now.
pub fn set_list(home: &Home, key: &str, list: Vec<String>) -> Result<bool, ConfigError> {
    home.ensure()?;
    let _lock = home.lock()?;
    let path = home.config_file();
    let before = ConfigFile::load(&path)?;
    let after = before.with(key, list.into())?;
    write_if_changed(&path, &before, &after)
}

fn write_if_changed(path: &Path, before: &ConfigFile, after: &ConfigFile) -> Result<bool, ConfigError> {
    let changed = before.text() != after.text();
    if changed {
        write_atomically(path, after.text().as_bytes(), PRIVATE_FILE)?;
    }
    Ok(changed)
}

fn set_variable(home: &Home, name: String, text: &str) -> Result<SetReport, ConfigError> {
    check_address(&name, text)?;
    let path = home.env_file();
    let before = EnvFile::load(&path)?;
    let after = before.with(&name, text.trim())?;
    let changed = before.text() != after.text();
    if changed {
        write_atomically(&path, after.text().as_bytes(), PRIVATE_FILE)?;
    }
    let shown = if is_secret_variable(&name) { HIDDEN.to_owned() } else { text.trim().to_owned() };
    let notices = after.notices().iter().map(ToString::to_string).collect();
    Ok(SetReport { target: Target::DotEnv, path, key: name, shown: Some(shown), changed, notices })
}

fn set_key(home: &Home, key: &str, text: &str) -> Result<SetReport, ConfigError> {
    let path = home.config_file();
    check_address(key, text)?;
    let value = coerce(key, text)?;
    let before = ConfigFile::load(&path)?;
    let after = before.with(key, value.clone())?;
    let changed = before.text() != after.text();
    if changed {
        write_atomically(&path, after.text().as_bytes(), PRIVATE_FILE)?;
    }
    let shown = if is_secret_key(key) { HIDDEN.to_owned() } else { yaml_text(&value) };
    let is_unused = Key::find(key).is_none()
        && !Layers::is_login_key(key)
        && !Config::is_otlp_header(key)
        && !Config::is_skill_key(key);
    let unused = is_unused.then(|| UnusedKey {
        key: key.to_owned(),
        line: None,
        is_known: false,
        suggestion: suggestion(key),
    });
    let notices = unused.iter().map(ToString::to_string).collect();
    Ok(SetReport {
        target: Target::ConfigFile,
        path,
        key: key.to_owned(),
        shown: Some(shown),
        changed,
        notices,
    })
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
