//! Whether a hook may run: what was agreed to, and asking the person about the rest.

use super::consent::{self, Allowlist, Decision, Standing};
use super::{SessionHooks, ShellHooks, about, allowlist_file, changed};
use hermes_config::HookEntry;
use hermes_config::home::{PRIVATE_FILE, write_atomically};
use hermes_conversation::{CallId, TurnEvent};
use hermes_tools::{Approval, ApprovalRequest};
use jiff::Timestamp;

/// What was decided about a hook, for as long as this process lives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Decided {
    /// As long as its script is as it was.
    Runs {
        script_changed: Option<Timestamp>,
    },
    Skipped,
}

impl ShellHooks {
    /// A line for each hook that will not run because nobody agreed to it and nobody can be asked.
    pub fn not_approved(&self) -> Vec<String> {
        let list = Allowlist::load(&allowlist_file(&self.home));
        let mut lines = Vec::new();
        for entry in self.entries.iter().filter(|_| !self.accepts_all) {
            let why = match &list {
                Err(why) => why.clone(),
                Ok(list) => match list.standing(entry.event.as_str(), &entry.command, changed(entry)) {
                    Standing::Approved => continue,
                    Standing::Changed => "its script was changed since it was approved".to_owned(),
                    Standing::Unknown => "nobody has approved it yet".to_owned(),
                },
            };
            self.state().told.insert(entry.key.clone());
            lines.push(about(entry, &skipped(&why)));
        }
        lines
    }

    /// Notes that the person agreed to a hook.
    fn approve(&self, entry: &HookEntry, changed: Option<Timestamp>) -> Result<(), String> {
        let path = allowlist_file(&self.home);
        let _lock = self.home.lock().map_err(|error| error.to_string())?;
        let list = Allowlist::load(&path)?;
        let list = list.with(entry.event.as_str(), &entry.command, (self.clock)(), changed);
        write_atomically(&path, list.to_text().as_bytes(), PRIVATE_FILE).map_err(|error| error.to_string())
    }
}

impl SessionHooks {
    /// Asks a person who is there about all hooks at once, before the first of them runs: nobody should
    /// have to wait for questions, and helpers have nobody to ask.
    pub(super) async fn settle(&self) {
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

    /// Whether a hook has been agreed to; a person who is there is asked, once.
    pub(super) async fn may_run(&self, entry: &HookEntry) -> bool {
        let key = (entry.event, entry.command.clone());
        let _asking = self.hooks.asking.lock().await;
        let changed = changed(entry);
        let decided = self.hooks.state().decided.get(&key).copied();
        match decided {
            Some(Decided::Skipped) => return false,
            Some(Decided::Runs { script_changed }) if consent::is_as_it_was(script_changed, changed) => {
                return true;
            }
            Some(Decided::Runs { .. }) if self.hooks.accepts_all => return true,
            Some(Decided::Runs { .. }) | None => {}
        }
        let Some(decided) = self.decide(entry, changed).await else { return false };
        self.hooks.state().decided.insert(key, decided);
        decided != Decided::Skipped
    }

    /// `None` when nobody answered.
    async fn decide(&self, entry: &HookEntry, changed: Option<Timestamp>) -> Option<Decided> {
        let (event, command) = (entry.event.as_str(), &entry.command);
        let standing = match Allowlist::load(&allowlist_file(&self.hooks.home)) {
            Ok(list) => list.standing(event, command, changed),
            Err(why) => {
                self.trouble(entry, &format!("is taken as not approved: {why}")).await;
                Standing::Unknown
            }
        };
        match consent::decide(standing, self.hooks.accepts_all, self.ask.is_present()) {
            Decision::Run => Some(Decided::Runs { script_changed: changed }),
            Decision::Ask => self.agreed(entry, standing, changed).await,
            Decision::Skip => {
                let why = match standing {
                    Standing::Changed => "its script was changed since it was approved",
                    Standing::Approved | Standing::Unknown => "nobody has approved it yet",
                };
                self.trouble(entry, &skipped(why)).await;
                // Another session of this process may have somebody to ask.
                None
            }
        }
    }

    async fn agreed(
        &self,
        entry: &HookEntry,
        standing: Standing,
        changed: Option<Timestamp>,
    ) -> Option<Decided> {
        let (event, key) = (entry.event.as_str(), &entry.key);
        let asked = TurnEvent::HookAsked {
            key: key.clone(),
            event: event.to_owned(),
            command: entry.command.clone(),
            is_changed: standing == Standing::Changed,
        };
        self.events.send(asked).await;
        let request = ApprovalRequest {
            call_id: CallId::new(key.as_str()),
            tool: event.to_owned(),
            what: entry.command.clone(),
            cwd: self.hooks.home.path().to_owned(),
        };
        match self.ask.approve(&request).await {
            Approval::Allowed => {
                if let Err(why) = self.hooks.approve(entry, changed) {
                    self.trouble(entry, &format!("runs, but your yes could not be kept: {why}")).await;
                }
                Some(Decided::Runs { script_changed: changed })
            }
            Approval::Denied | Approval::Nobody => Some(Decided::Skipped),
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
