//! Safety settings that this version does not support.
//!
//! The operations that such a setting would protect are refused until the user removes it. No flag changes
//! that.

use serde_json::Value;

use super::layers::{Config, Source};
use super::unused::Defaults;

/// The places where this version can run commands.
pub const BACKENDS: [&str; 8] =
    ["local", "ssh", "docker", "podman", "singularity", "apptainer", "daytona", "modal"];

/// The operations that are refused because of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Commands and access to files, which the Python release sends to the same place.
    CommandsAndFiles,
    /// The whole run.
    Run,
}

/// A safety setting that this version does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedSafety {
    pub key: String,
    pub refused: Refused,
    /// A message with the refused operations, the reason and the remedy.
    pub text: String,
}

impl Config {
    /// The active safety settings that this version does not support.
    pub fn unsupported_safety(&self) -> Vec<UnsupportedSafety> {
        let backend = self.foreign_backend().map(|(key, backend)| backend_setting(key, &backend));
        backend.into_iter().chain(self.privacy()).collect()
    }

    /// Returns true if a key is checked here.
    pub(super) fn is_safety_key(key: &str) -> bool {
        ["terminal.backend", "terminal.env_type"].contains(&key) || key.starts_with("privacy.")
    }

    /// The name of the place where commands run.
    pub fn terminal_backend(&self) -> String {
        self.named_backend().1
    }

    /// The key that names the place where commands run, and the name. `env_type` is an older name of the key.
    fn named_backend(&self) -> (&'static str, String) {
        let setting = &self.settings.terminal.backend;
        let named = |text: &str| match text.trim().to_ascii_lowercase().as_str() {
            "" => "local".to_owned(),
            name => name.to_owned(),
        };
        if let Some(Value::String(older)) = self.layers().file.get("terminal.env_type")
            && matches!(setting.source(), Source::Default | Source::DotEnv | Source::Shell)
        {
            return ("terminal.env_type", named(older));
        }
        let key = match setting.variable() {
            Some(_) => "TERMINAL_ENV",
            None => "terminal.backend",
        };
        // A value that is no text must not mean this machine.
        (key, setting.get().map_or_else(|_| "unreadable".to_owned(), |text| named(text)))
    }

    /// The place where commands should run, if this version does not have it.
    fn foreign_backend(&self) -> Option<(&'static str, String)> {
        let (key, backend) = self.named_backend();
        (!BACKENDS.contains(&backend.as_str())).then_some((key, backend))
    }

    fn privacy(&self) -> Vec<UnsupportedSafety> {
        let leaves = self.layers().file.leaves();
        let set: Vec<_> = leaves.into_iter().filter(|(key, _)| key.starts_with("privacy.")).collect();
        if set.is_empty() {
            return Vec::new();
        }
        let defaults = Defaults::read();
        let changed = set.into_iter().filter(|(key, value)| !defaults.has(key, value));
        let unsupported = |(key, _): (String, &Value)| UnsupportedSafety {
            refused: Refused::Run,
            text: format!(
                "nothing is sent: `{key}` is set, and this version cannot honour it; remove `{key}` from config.yaml \
                 to go on without it"
            ),
            key,
        };
        changed.map(unsupported).collect()
    }
}

fn backend_setting(key: &str, backend: &str) -> UnsupportedSafety {
    let (setting, place) = match key {
        "TERMINAL_ENV" => (format!("TERMINAL_ENV={backend}"), "the environment and .env"),
        _ => (format!("{key}: {backend}"), "config.yaml"),
    };
    UnsupportedSafety {
        key: key.to_owned(),
        refused: Refused::CommandsAndFiles,
        text: format!(
            "commands and files are refused: `{setting}` is set, and this version has no such backend (it has local, ssh, \
             docker, podman, singularity, daytona and modal); remove `{key}` from {place} to run them here"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config_of;

    #[test]
    fn unsupported_safety_settings_are_refused() {
        use Refused::{CommandsAndFiles, Run};
        for (text, want) in [
            ("terminal: {backend: vercel_sandbox}", &[("terminal.backend", CommandsAndFiles)][..]),
            ("terminal: {backend: DOKCER}", &[("terminal.backend", CommandsAndFiles)]),
            ("terminal: {env_type: other}", &[("terminal.env_type", CommandsAndFiles)]),
            ("terminal: {env_type: daytona}", &[]),
            ("terminal: {backend: modal}", &[]),
            ("terminal: {backend: Docker}", &[]),
            ("terminal: {env_type: ssh}", &[]),
            ("terminal: {backend: local, env_type: ssh}", &[]),
            ("terminal: {backend: ''}", &[]),
            ("approvals: {deny: ['git push*']}", &[]),
            ("privacy: {redact_pii: true}", &[("privacy.redact_pii", Run)]),
            ("privacy: {redact_pii: false}", &[]),
            ("privacy: {another: 1}", &[("privacy.another", Run)]),
            ("security: {website_blocklist: {enabled: true}}", &[]),
        ] {
            let settings = config_of(text).unsupported_safety();
            let found: Vec<_> = settings.iter().map(|one| (one.key.as_str(), one.refused)).collect();
            assert_eq!(found, want, "{text}");
            assert!(settings.iter().all(|one| one.text.contains(&one.key)), "{settings:?}");
        }
    }
}
