//! The hooks for people who want to look at them: what is set up, and what was agreed to.

use super::HookError;
use super::consent::{Allowlist, Standing};
use super::{allowlist_file, changed, with_paths};
use hermes_config::home::{Home, PRIVATE_FILE, write_atomically};
use hermes_config::{Config, HookEntries};
use std::time::Duration;

/// The hooks in the settings, and what is wrong with the settings.
#[derive(Debug)]
pub struct HookList {
    pub hooks: Vec<ListedHook>,
    pub warnings: Vec<String>,
    /// They run without being agreed to one by one.
    pub accepts_all: bool,
}

/// One hook.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedHook {
    pub key: String,
    pub event: &'static str,
    pub matcher: Option<String>,
    pub command: String,
    pub timeout: Duration,
    /// `approved`, `changed` (its script, since it was approved) or `unapproved`.
    pub consent: &'static str,
}

/// What is set up in `config`, and what `home` says about it.
pub fn hooks(config: &Config, home: &Home) -> Result<HookList, HookError> {
    let list = Allowlist::load(&allowlist_file(home)).map_err(HookError::Approvals)?;
    let HookEntries { entries, warnings } = with_paths(config.hook_entries(), &config.layers().shell);
    let hooks = entries.into_iter().map(|entry| ListedHook {
        event: entry.event.as_str(),
        matcher: entry.matcher.pattern().map(str::to_owned),
        timeout: entry.timeout,
        consent: match list.standing(entry.event.as_str(), &entry.command, changed(&entry)) {
            Standing::Approved => "approved",
            Standing::Changed => "changed",
            Standing::Unknown => "unapproved",
        },
        key: entry.key,
        command: entry.command,
    });
    let accepts_all = config.boolean("hooks_auto_accept")?;
    Ok(HookList { hooks: hooks.collect(), warnings, accepts_all })
}

/// Takes back what was agreed to for a command, at all events, and says how often that was.
pub fn revoke_hook(home: &Home, command: &str) -> Result<usize, HookError> {
    let path = allowlist_file(home);
    let _lock = home.lock()?;
    let (list, count) = Allowlist::load(&path).map_err(HookError::Approvals)?.without(command);
    if count > 0 {
        write_atomically(&path, list.to_text().as_bytes(), PRIVATE_FILE)?;
    }
    Ok(count)
}
