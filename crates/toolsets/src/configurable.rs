//! Toolsets that can be switched for each platform, and the changes of such a list.

use crate::error::ToolChoiceError;
use crate::offers::selected;
use hermes_config::home::Home;
use hermes_config::{Config, platform_toolsets_key, set_list};
use hermes_tools::toolset_has;

/// A toolset that can be switched: its name, what it is for, and whether it is off until it is chosen.
pub struct Configurable {
    pub name: &'static str,
    pub about: &'static str,
    pub is_off_by_default: bool,
}

const fn on(name: &'static str, about: &'static str) -> Configurable {
    Configurable { name, about, is_off_by_default: false }
}

const fn off(name: &'static str, about: &'static str) -> Configurable {
    Configurable { name, about, is_off_by_default: true }
}

/// Every toolset that can be switched, in the order of lists on the screen.
pub const CONFIGURABLE: [Configurable; 25] = [
    on("terminal", "run commands, also in the background"),
    on("file", "read, search, write and patch files"),
    on("web", "search the web and read pages"),
    on("code_execution", "run scripts that call tools"),
    on("delegation", "give tasks to sub-agents"),
    on("todo", "keep a plan of the work"),
    on("memory", "keep facts for later sessions"),
    on("session_search", "find and read past sessions"),
    on("skills", "use and write skills"),
    on("clarify", "ask the user"),
    on("context_engine", "read messages outside the context window (engine lossless)"),
    on("vision", "look at images"),
    on("browser", "use a web browser"),
    on("image_gen", "make images"),
    on("tts", "speak text"),
    on("cronjob", "run prompts at set times"),
    on("computer_use", "use the desktop"),
    off("homeassistant", "control a smart home"),
    off("spotify", "control Spotify"),
    off("video", "look at videos"),
    off("video_gen", "make videos"),
    off("x_search", "search posts on X"),
    off("discord", "read and write in Discord"),
    off("discord_admin", "manage a Discord server"),
    off("yuanbao", "work in Yuanbao groups"),
];

/// The platforms whose toolsets can be chosen.
pub(crate) const PLATFORMS: [&str; 22] = [
    "cli",
    "telegram",
    "discord",
    "slack",
    "whatsapp",
    "whatsapp_cloud",
    "signal",
    "bluebubbles",
    "email",
    "homeassistant",
    "mattermost",
    "matrix",
    "dingtalk",
    "feishu",
    "wecom",
    "wecom_callback",
    "weixin",
    "qqbot",
    "yuanbao",
    "webhook",
    "api_server",
    "cron",
];

/// Returns true if toolsets can be chosen for a platform of this name.
pub fn is_platform(name: &str) -> bool {
    PLATFORMS.contains(&name)
}

/// Returns true for a toolset that can be switched.
pub(crate) fn is_configurable(name: &str) -> bool {
    CONFIGURABLE.iter().any(|row| row.name == name)
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsetChange {
    /// The key that has the list now.
    pub key: String,
    pub names: Vec<String>,
    /// Those of the names that were in the wanted state before.
    pub unchanged: Vec<String>,
    /// Names that `agent.disabled_toolsets` switches off all the same.
    pub still_disabled: Vec<String>,
}

/// Adds toolsets to the list of a platform.
pub fn enable(
    config: &Config,
    home: &Home,
    platform: &str,
    names: &[String],
) -> Result<ToolsetChange, ToolChoiceError> {
    let disabled = config.settings.agent.disabled_toolsets.get()?;
    let still_disabled = names.iter().filter(|name| disabled.contains(name)).cloned().collect();
    let change = change(config, home, platform, names, true)?;
    Ok(ToolsetChange { still_disabled, ..change })
}

/// Removes toolsets from the list of a platform.
pub fn disable(
    config: &Config,
    home: &Home,
    platform: &str,
    names: &[String],
) -> Result<ToolsetChange, ToolChoiceError> {
    change(config, home, platform, names, false)
}

fn change(
    config: &Config,
    home: &Home,
    platform: &str,
    names: &[String],
    is_on: bool,
) -> Result<ToolsetChange, ToolChoiceError> {
    check(platform, names)?;
    let (chosen, unknown) = selected(config.settings.toolsets_of(platform)?);
    let before = written_out(&chosen);
    let unchanged = names.iter().filter(|name| before.contains(name) == is_on).cloned().collect();
    let after = with_change(before, names, is_on, unknown);
    let key = platform_toolsets_key(platform);
    set_list(home, &key, after.clone())?;
    Ok(ToolsetChange { key, names: after, unchanged, still_disabled: Vec::new() })
}

/// The list after a change, sorted. Names of another version stay.
fn with_change(before: Vec<String>, names: &[String], is_on: bool, unknown: Vec<String>) -> Vec<String> {
    let mut after: Vec<String> = before.into_iter().filter(|name| is_on || !names.contains(name)).collect();
    if is_on {
        after.extend(names.iter().cloned());
    }
    after.extend(unknown);
    after.sort();
    after.dedup();
    after
}

/// A selection as toolsets that can be switched.
pub(crate) fn written_out(chosen: &[String]) -> Vec<String> {
    let is_wanted = |row: &&Configurable| {
        let is_named = chosen.iter().any(|name| name == row.name);
        is_named || (!row.is_off_by_default && chosen.iter().any(|name| toolset_has(name, row.name)))
    };
    CONFIGURABLE.iter().filter(is_wanted).map(|row| row.name.to_owned()).collect()
}

fn check(platform: &str, names: &[String]) -> Result<(), ToolChoiceError> {
    if !is_platform(platform) {
        let known = PLATFORMS.join(", ");
        return Err(ToolChoiceError::UnknownPlatform { name: platform.to_owned(), known });
    }
    let unknown = names.iter().find(|name| CONFIGURABLE.iter().all(|row| row.name != name.as_str()));
    match unknown {
        None => Ok(()),
        Some(name) => Err(ToolChoiceError::NotConfigurable {
            name: name.clone(),
            known: CONFIGURABLE.map(|row| row.name).join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn selection_is_written_out_as_toolsets() {
        for (chosen, want) in [
            (&["web", "file"][..], &["file", "web", "context_engine"][..]),
            (&["x_search"], &["context_engine", "x_search"]),
            (&["safe"], &["web", "context_engine", "vision", "image_gen"]),
            (&["debugging"], &["terminal", "file", "web", "context_engine"]),
        ] {
            assert_eq!(written_out(&owned(chosen)), owned(want), "{chosen:?}");
        }
        let core = written_out(&owned(&["hermes-cli"]));
        assert_eq!(core.len(), 17, "all but those that are off by default: {core:?}");
        assert_eq!(written_out(&[]), owned(&[]));
    }

    #[test]
    fn changed_lists_are_sorted_and_keep_unknown_names() {
        let before = || owned(&["terminal", "web"]);
        for (names, is_on, unknown, want) in [
            (&["file"][..], true, &[][..], &["file", "terminal", "web"][..]),
            (&["web"], true, &[], &["terminal", "web"]),
            (&["web"], false, &["my-plugin"], &["my-plugin", "terminal"]),
            (&["web", "terminal"], false, &[], &[]),
        ] {
            assert_eq!(with_change(before(), &owned(names), is_on, owned(unknown)), owned(want), "{names:?}");
        }
    }

    #[test]
    fn platforms_and_toolsets_are_checked() {
        for (platform, name, wrong) in [
            ("cli", "web", None),
            ("desktop", "web", Some("no platform is called `desktop`")),
            ("cli", "wbe", Some("`wbe` cannot be switched")),
            ("cli", "hermes-cli", Some("`hermes-cli` cannot be switched")),
        ] {
            let error = check(platform, &owned(&[name])).err().map(|error| error.to_string());
            match (&error, wrong) {
                (None, None) => {}
                (Some(text), Some(wrong)) => assert!(text.starts_with(wrong), "{text}"),
                _ => panic!("{platform} {name}: {error:?}"),
            }
        }
    }
}
