//! Skills: disabled ones, additional directories, and values for skills.

use super::error::ConfigError;
use super::layers::Config;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

const PLATFORMS: &str = "skills.platform_disabled";
const VALUES: &str = "skills.config";

/// The key that disables skills on one platform.
pub fn platform_disabled_key(platform: &str) -> String {
    format!("{PLATFORMS}.{platform}")
}

impl Config {
    /// The skills that are not offered on a platform: those switched off everywhere, and there.
    pub fn disabled_skills(&self, platform: &str) -> Result<Vec<String>, ConfigError> {
        let mut names = self.settings.skills.disabled.get()?.clone();
        names.extend(self.platform_disabled_skills().remove(platform).unwrap_or_default());
        Ok(names)
    }

    /// The skills that are disabled on single platforms.
    pub fn platform_disabled_skills(&self) -> BTreeMap<String, Vec<String>> {
        let Some(Value::Object(platforms)) = self.layers().file.get(PLATFORMS) else {
            return BTreeMap::new();
        };
        let names = |list: &Value| match list {
            Value::Array(items) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
            Value::String(name) => vec![name.clone()],
            _ => Vec::new(),
        };
        platforms.iter().map(|(platform, list)| (platform.clone(), names(list))).collect()
    }

    /// Additional directories with skills; `~` is the user's home.
    pub fn external_skill_dirs(&self) -> Result<Vec<PathBuf>, ConfigError> {
        let home = self.layers().shell.get("HOME").filter(|home| !home.is_empty());
        let path = |text: &String| match (text.strip_prefix('~'), home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                PathBuf::from(format!("{home}{rest}"))
            }
            _ => PathBuf::from(text),
        };
        // A relative path would depend on the working directory.
        let dirs = self.settings.skills.external_dirs.get()?;
        Ok(dirs.iter().map(path).filter(|path| path.is_absolute()).collect())
    }

    /// Values that skills ask for, by their keys.
    pub fn skill_values(&self) -> Vec<(String, String)> {
        let prefix = format!("{VALUES}.");
        let leaves = self.layers().file.leaves();
        let values = leaves.into_iter().filter_map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some((key.strip_prefix(&prefix)?.to_owned(), text))
        });
        values.collect()
    }

    /// Returns true if a key of the file is about single skills or platforms.
    pub(super) fn is_skill_key(key: &str) -> bool {
        [PLATFORMS, VALUES]
            .iter()
            .any(|section| key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.')))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::config_of;

    #[test]
    fn skills_are_switched_off_everywhere_or_in_one_place() {
        let config = config_of(
            "skills:\n  disabled: [a]\n  platform_disabled: {telegram: [b]}\n  external_dirs: [~/s, /t, rel]\n  \
             config: {a: {dpi: 300}}\n",
        );
        assert_eq!(config.disabled_skills("cli").unwrap(), ["a"]);
        assert_eq!(config.disabled_skills("telegram").unwrap(), ["a", "b"]);
        assert_eq!(config.skill_values(), [("a.dpi".to_owned(), "300".to_owned())]);
        assert_eq!(config.external_skill_dirs().unwrap().last().unwrap().to_str(), Some("/t"));
        assert!(config.unused_keys().is_empty(), "{:?}", config.unused_keys());
    }
}
