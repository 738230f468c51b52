//! The configured hooks and their approvals, for listings.

use super::HookError;
use super::allowlist::{Allowlist, ApprovalState};
use super::{allowlist_file, changed, with_paths};
use hermes_config::home::{Home, PRIVATE_FILE, write_atomically};
use hermes_config::{Config, HookEntries};
use std::time::Duration;

/// The hooks in the settings, and warnings about invalid settings.
#[derive(Debug)]
pub struct HookList {
    pub hooks: Vec<ListedHook>,
    pub warnings: Vec<String>,
    /// All hooks run without an approval.
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
    /// `approved`, `changed` (its script, after the approval) or `unapproved`.
    pub approval: &'static str,
}

/// Lists the hooks in `config` with their approvals in `home`.
pub fn hooks(config: &Config, home: &Home) -> Result<HookList, HookError> {
    let list = Allowlist::load(&allowlist_file(home)).map_err(HookError::Approvals)?;
    let HookEntries { entries, warnings } = with_paths(config.settings.hooks.clone(), &config.layers().shell);
    let hooks = entries.into_iter().map(|entry| ListedHook {
        event: entry.event.as_str(),
        matcher: entry.matcher.pattern().map(str::to_owned),
        timeout: entry.timeout,
        approval: match list.approval_state(entry.event.as_str(), &entry.command, changed(&entry)) {
            ApprovalState::Approved => "approved",
            ApprovalState::Changed => "changed",
            ApprovalState::Unapproved => "unapproved",
        },
        key: entry.key,
        command: entry.command,
    });
    let accepts_all = config.settings.hooks_auto_accept.value()?;
    Ok(HookList { hooks: hooks.collect(), warnings, accepts_all })
}

/// Removes the approvals of a command, for all events. Returns their number.
pub fn revoke_hook(home: &Home, command: &str) -> Result<usize, HookError> {
    let path = allowlist_file(home);
    let _lock = home.lock()?;
    let (list, count) = Allowlist::load(&path).map_err(HookError::Approvals)?.without(command);
    if count > 0 {
        write_atomically(&path, list.to_text().as_bytes(), PRIVATE_FILE)?;
    }
    Ok(count)
}
