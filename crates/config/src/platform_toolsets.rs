//! The toolsets of each platform: `platform_toolsets`, and the lists that stand in for a missing entry.

use super::layers::{Layers, Source};
use super::settings::Settings;
use super::settings::free_form::{FreeForm, Section};
use super::{ConfigError, Problem};
use serde_json::Value;

/// The section of the lists.
const SECTION: &str = "platform_toolsets";
/// The platform of the terminal.
const TERMINAL: &str = "cli";

/// Platforms with their lists.
pub type PlatformToolsets = Vec<(String, Vec<String>)>;

/// The toolsets of a platform, and where they were chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenToolsets {
    pub names: Vec<String>,
    pub chosen_by: ChosenBy,
}

/// The place where toolsets were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// The flag `--toolsets`.
    Flag,
    /// `platform_toolsets`, which the Python release writes too, with names of its plugins.
    Platform,
    /// `toolsets`, or its default.
    Setting,
    /// The preset of the platform.
    Preset,
}

impl FreeForm for Section<PlatformToolsets> {
    fn read(layers: &Layers) -> Self {
        Section(layers.platform_toolsets())
    }
}

impl Settings {
    /// The toolsets of a platform: of the flag, of `platform_toolsets`, else `toolsets` for the terminal and the preset
    /// of the platform elsewhere.
    pub fn toolsets_of(&self, platform: &str) -> Result<ChosenToolsets, ConfigError> {
        let setting = self.toolsets.get()?;
        let chosen = |names: &[String], chosen_by| ChosenToolsets { names: names.to_vec(), chosen_by };
        if self.toolsets.source() == Source::Flag {
            return Ok(chosen(setting, ChosenBy::Flag));
        }
        let lists = self.platform_toolsets.get()?;
        Ok(match lists.iter().find(|(name, _)| name == platform) {
            Some((_, list)) => chosen(list, ChosenBy::Platform),
            None if platform == TERMINAL => chosen(setting, ChosenBy::Setting),
            None => chosen(&[preset(platform)], ChosenBy::Preset),
        })
    }
}

/// The key of a platform's list.
pub fn platform_toolsets_key(platform: &str) -> String {
    format!("{SECTION}.{platform}")
}

/// The preset of a platform, which need not exist.
fn preset(platform: &str) -> String {
    match platform {
        "whatsapp_cloud" => "hermes-whatsapp".to_owned(),
        other => format!("hermes-{}", other.replace('_', "-")),
    }
}

impl Layers {
    fn platform_toolsets(&self) -> Result<PlatformToolsets, Problem> {
        let sections = match self.file.get(SECTION) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(sections)) => sections,
            Some(other) => return Err(self.wrong(SECTION, other, "platforms with lists of toolsets")),
        };
        let list = |(platform, value): (&String, &Value)| {
            let wrong = || self.wrong(&platform_toolsets_key(platform), value, "a list of toolsets");
            let names = match value {
                Value::Null => return Ok(None),
                Value::Array(names) => names
                    .iter()
                    .map(|name| name.as_str().map(str::to_owned))
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(wrong)?,
                Value::String(text) => text
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
                _ => return Err(wrong()),
            };
            Ok(Some((platform.clone(), names)))
        };
        sections.iter().filter_map(|entry| list(entry).transpose()).collect()
    }

    /// Returns true if a key of the file is read here.
    pub(super) fn is_platform_toolsets_key(key: &str) -> bool {
        key.strip_prefix(SECTION).is_some_and(|rest| rest.starts_with('.') || rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::config_of;
    use super::*;

    #[test]
    fn toolsets_come_from_the_platform_or_what_stands_in_for_it() {
        for (text, platform, want) in [
            ("", "cli", Some((&["hermes-cli"][..], ChosenBy::Setting))),
            ("toolsets: [web]", "cli", Some((&["web"], ChosenBy::Setting))),
            ("toolsets: [web]", "telegram", Some((&["hermes-telegram"], ChosenBy::Preset))),
            ("", "api_server", Some((&["hermes-api-server"], ChosenBy::Preset))),
            ("", "whatsapp_cloud", Some((&["hermes-whatsapp"], ChosenBy::Preset))),
            (
                "toolsets: [web]\nplatform_toolsets: {cli: [file, todo]}",
                "cli",
                Some((&["file", "todo"], ChosenBy::Platform)),
            ),
            ("platform_toolsets: {cli: 'file, todo'}", "cli", Some((&["file", "todo"], ChosenBy::Platform))),
            ("platform_toolsets: {cli: []}", "cli", Some((&[], ChosenBy::Platform))),
            ("platform_toolsets: {cli: }", "cli", Some((&["hermes-cli"], ChosenBy::Setting))),
            ("platform_toolsets: {cli: 7}", "cli", None),
            ("platform_toolsets: {cli: [7]}", "cli", None),
            ("platform_toolsets: [cli]", "cli", None),
        ] {
            let found = config_of(text).settings.toolsets_of(platform).ok();
            let want = want.map(|(names, chosen_by)| ChosenToolsets {
                names: names.iter().map(|&name| name.to_owned()).collect(),
                chosen_by,
            });
            assert_eq!(found, want, "{text} on {platform}");
        }
    }

    #[test]
    fn lists_of_platforms_count_as_used() {
        let unused = config_of("platform_toolsets: {cli: [web], telegram: [file]}").unused_keys();
        assert!(unused.is_empty(), "{unused:?}");
    }
}
