//! Settings that promise safety and that this version does not honour.
//!
//! What such a setting would protect is refused until the user decides otherwise: going on without it would
//! break a promise that the user relies on. No flag changes that.

use serde_json::Value;

use super::layers::Config;
use super::unused::Defaults;

/// What is refused because of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Commands.
    Commands,
    /// Commands and access to files, which the Python release sends to the same place.
    CommandsAndFiles,
    /// The whole run.
    Run,
}

/// A setting that promises safety and is not built into this version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnkeptPromise {
    pub key: String,
    pub refused: Refused,
    /// What is refused, why, and the way out.
    pub text: String,
}

impl Config {
    /// The settings in force that promise safety and have no effect.
    pub fn unkept_promises(&self) -> Vec<UnkeptPromise> {
        let backend = self.foreign_backend().map(|(key, backend)| backend_promise(key, &backend));
        backend.into_iter().chain(self.deny_rules()).chain(self.privacy()).collect()
    }

    /// Whether a key is judged here.
    pub(super) fn is_promise_key(key: &str) -> bool {
        ["terminal.backend", "terminal.env_type", "approvals.deny"].contains(&key)
            || key.starts_with("privacy.")
    }

    /// The place that commands should run in, if it is another one than this machine.
    fn foreign_backend(&self) -> Option<(&'static str, String)> {
        let in_file = |key: &'static str| Some((key, self.text(key).ok()??));
        let set = in_file("terminal.backend")
            .or_else(|| in_file("terminal.env_type"))
            .or_else(|| self.variable("TERMINAL_ENV").map(|backend| ("TERMINAL_ENV", backend.to_owned())));
        set.filter(|(_, backend)| !matches!(backend.trim().to_ascii_lowercase().as_str(), "" | "local"))
    }

    fn deny_rules(&self) -> Option<UnkeptPromise> {
        let key = "approvals.deny";
        let rules = self.layers().file.get(key)?;
        let is_set = match rules {
            Value::Null => false,
            Value::Array(rules) => !rules.is_empty(),
            Value::String(rule) => !rule.trim().is_empty(),
            _ => true,
        };
        is_set.then(|| UnkeptPromise {
            key: key.to_owned(),
            refused: Refused::Commands,
            text: format!(
                "commands are refused: `{key}` is set, and this version cannot apply its rules; remove `{key}` \
                 from config.yaml to run commands without them"
            ),
        })
    }

    fn privacy(&self) -> Vec<UnkeptPromise> {
        let leaves = self.layers().file.leaves();
        let set: Vec<_> = leaves.into_iter().filter(|(key, _)| key.starts_with("privacy.")).collect();
        if set.is_empty() {
            return Vec::new();
        }
        let defaults = Defaults::read();
        let unkept = set.into_iter().filter(|(key, value)| !defaults.has(key, value));
        let promise = |(key, _): (String, &Value)| UnkeptPromise {
            refused: Refused::Run,
            text: format!(
                "nothing is sent: `{key}` is set, and this version cannot honour it; remove `{key}` from config.yaml \
                 to go on without it"
            ),
            key,
        };
        unkept.map(promise).collect()
    }
}

fn backend_promise(key: &str, backend: &str) -> UnkeptPromise {
    let (setting, place) = match key {
        "TERMINAL_ENV" => (format!("TERMINAL_ENV={backend}"), "the environment and .env"),
        _ => (format!("{key}: {backend}"), "config.yaml"),
    };
    UnkeptPromise {
        key: key.to_owned(),
        refused: Refused::CommandsAndFiles,
        text: format!(
            "commands and files are refused: `{setting}` is set, and this version runs commands on this machine only; \
             remove `{key}` from {place} to run them here"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config_of;

    #[test]
    fn promises_that_are_not_kept_are_refusals() {
        use Refused::{Commands, CommandsAndFiles, Run};
        for (text, want) in [
            ("terminal: {backend: docker}", &[("terminal.backend", CommandsAndFiles)][..]),
            ("terminal: {env_type: ssh}", &[("terminal.env_type", CommandsAndFiles)]),
            ("terminal: {backend: local, env_type: ssh}", &[]),
            ("terminal: {backend: ''}", &[]),
            ("approvals: {deny: ['git push*']}", &[("approvals.deny", Commands)]),
            ("approvals: {deny: []}", &[]),
            ("privacy: {redact_pii: true}", &[("privacy.redact_pii", Run)]),
            ("privacy: {redact_pii: false}", &[]),
            ("privacy: {another: 1}", &[("privacy.another", Run)]),
            ("security: {website_blocklist: {enabled: true}}", &[]),
        ] {
            let promises = config_of(text).unkept_promises();
            let found: Vec<_> = promises.iter().map(|one| (one.key.as_str(), one.refused)).collect();
            assert_eq!(found, want, "{text}");
            assert!(promises.iter().all(|one| one.text.contains(&one.key)), "{promises:?}");
        }
    }
}
