//! Approval of hooks: looks a hook up in the allowlist and asks the user about the others.

use super::allowlist::{self, Allowlist, ApprovalState, Decision};
use super::{SessionHooks, ShellHooks, about, allowlist_file, changed};
use hermes_config::HookEntry;
use hermes_config::home::{PRIVATE_FILE, write_atomically};
use hermes_conversation::{CallId, TurnEvent};
use hermes_tools::{Approval, ApprovalRequest};
use jiff::Timestamp;

/// A decision on a hook, valid until this process ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CachedDecision {
    /// Valid while its script is unchanged.
    Runs {
        script_changed: Option<Timestamp>,
    },
    Skipped,
}

impl ShellHooks {
    /// A line for each hook that is skipped, because it is not approved and no user is there to approve it.
    pub fn not_approved(&self) -> Vec<String> {
        let list = Allowlist::load(&allowlist_file(&self.home));
        let mut lines = Vec::new();
        for entry in self.entries.iter().filter(|_| !self.accepts_all) {
            let why = match &list {
                Err(why) => why.clone(),
                Ok(list) => match list.approval_state(entry.event.as_str(), &entry.command, changed(entry)) {
                    ApprovalState::Approved => continue,
                    ApprovalState::Changed => "its script changed after the approval".to_owned(),
                    ApprovalState::Unapproved => "it has not been approved".to_owned(),
                },
            };
            self.state().reported.insert(entry.key.clone());
            lines.push(about(entry, &skipped(&why)));
        }
        lines
    }

    /// Records the user's approval of a hook.
    fn approve(&self, entry: &HookEntry, changed: Option<Timestamp>) -> Result<(), String> {
        let path = allowlist_file(&self.home);
        let _lock = self.home.lock().map_err(|error| error.to_string())?;
        let list = Allowlist::load(&path)?;
        let list = list.with(entry.event.as_str(), &entry.command, (self.clock)(), changed);
        write_atomically(&path, list.to_text().as_bytes(), PRIVATE_FILE).map_err(|error| error.to_string())
    }
}

impl SessionHooks {
    /// Asks the user about all hooks before the first one runs: later events do not wait for approvals, and
    /// sub-agents cannot ask.
    pub(super) async fn request_approvals(&self) {
        if !self.ask.is_present() {
            return;
        }
        for entry in &self.hooks.entries {
            let is_decided = self.hooks.state().decided.contains_key(&(entry.event, entry.command.clone()));
            if !is_decided && !self.cancel.is_cancelled() {
                self.may_run(entry).await;
            }
        }
    }

    /// Returns true if a hook is approved. Asks the user once, if one is there.
    pub(super) async fn may_run(&self, entry: &HookEntry) -> bool {
        let key = (entry.event, entry.command.clone());
        let _asking = self.hooks.asking.lock().await;
        let changed = changed(entry);
        let decided = self.hooks.state().decided.get(&key).copied();
        match decided {
            Some(CachedDecision::Skipped) => return false,
            Some(CachedDecision::Runs { script_changed })
                if allowlist::is_unchanged(script_changed, changed) =>
            {
                return true;
            }
            Some(CachedDecision::Runs { .. }) if self.hooks.accepts_all => return true,
            Some(CachedDecision::Runs { .. }) | None => {}
        }
        let Some(decided) = self.decide(entry, changed).await else { return false };
        self.hooks.state().decided.insert(key, decided);
        decided != CachedDecision::Skipped
    }

    /// `None` without an answer of the user.
    async fn decide(&self, entry: &HookEntry, changed: Option<Timestamp>) -> Option<CachedDecision> {
        let (event, command) = (entry.event.as_str(), &entry.command);
        let state = match Allowlist::load(&allowlist_file(&self.hooks.home)) {
            Ok(list) => list.approval_state(event, command, changed),
            Err(why) => {
                self.report_failure(entry, &format!("counts as not approved: {why}")).await;
                ApprovalState::Unapproved
            }
        };
        match allowlist::decide(state, self.hooks.accepts_all, self.ask.is_present()) {
            Decision::Run => Some(CachedDecision::Runs { script_changed: changed }),
            Decision::Ask => self.ask_user(entry, state, changed).await,
            Decision::Skip => {
                let why = match state {
                    ApprovalState::Changed => "its script changed after the approval",
                    ApprovalState::Approved | ApprovalState::Unapproved => "it has not been approved",
                };
                self.report_failure(entry, &skipped(why)).await;
                // Another session of this process may have a user to ask.
                None
            }
        }
    }

    async fn ask_user(
        &self,
        entry: &HookEntry,
        state: ApprovalState,
        changed: Option<Timestamp>,
    ) -> Option<CachedDecision> {
        let (event, key) = (entry.event.as_str(), &entry.key);
        let asked = TurnEvent::HookAsked {
            key: key.clone(),
            event: event.to_owned(),
            command: entry.command.clone(),
            is_changed: state == ApprovalState::Changed,
        };
        self.events.send(asked).await;
        let cwd = self.hooks.home.path().to_owned();
        let request = ApprovalRequest::once(CallId::new(key.as_str()), event, &entry.command, cwd);
        match self.ask.approve(&request).await {
            Approval::Allowed(_) => {
                if let Err(why) = self.hooks.approve(entry, changed) {
                    self.report_failure(entry, &format!("runs, but the approval could not be saved: {why}"))
                        .await;
                }
                Some(CachedDecision::Runs { script_changed: changed })
            }
            Approval::Denied { .. } | Approval::TimedOut | Approval::NoUser => Some(CachedDecision::Skipped),
            Approval::Stopped => {
                self.cancel.cancel();
                None
            }
        }
    }
}

fn skipped(why: &str) -> String {
    format!("is skipped: {why}. Start hermes in a terminal to be asked, or pass --accept-hooks")
}
