//! The answers of one session that cover later calls.

use super::decision::{Action, asked_rules};
use crate::Environment;
use hermes_exec::EnvChanges;
use hermes_gate::Grant;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The approvals of a session. They end with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionApprovals {
    /// Rules, with the changes by which a name may mean another program.
    rules: BTreeSet<(String, EnvChanges)>,
    /// Texts that were approved as they stand, with their directory and all changes of the environment: they may name
    /// variables.
    texts: BTreeSet<(String, PathBuf, EnvChanges)>,
    /// Accesses beyond the sandbox that were approved for the session. A rule covers only these.
    grants: Vec<Grant>,
    /// Paths that may be read in calls of an approved rule; commands get no access to them.
    readable: Vec<PathBuf>,
    is_yolo: bool,
}

impl SessionApprovals {
    /// Adds what an answer for the session covers.
    pub fn add(&mut self, action: &Action) {
        let rules = asked_rules(&action.assessment);
        if rules.is_empty() {
            let changes = action.environment.changes().clone();
            self.texts.insert((action.text.clone(), action.cwd.clone(), changes));
        }
        let finding = action.environment.finding();
        self.rules.extend(rules.into_iter().map(|rule| (rule, finding.clone())));
        for grant in action.assessment.findings.iter().flat_map(|finding| &finding.grants) {
            match grant {
                Grant::Write(_) | Grant::GitSettings if !self.grants.contains(grant) => {
                    self.grants.push(grant.clone());
                }
                Grant::Read(path) if !self.readable.contains(path) => self.readable.push(path.clone()),
                Grant::Write(_) | Grant::GitSettings | Grant::Read(_) | Grant::Unconfined => {}
            }
        }
    }

    /// Returns true if a rule was approved in this environment.
    pub fn has_rule(&self, rule: &str, environment: &Environment) -> bool {
        self.rules.iter().any(|(own, changes)| own == rule && changes == environment.finding())
    }

    /// Returns true if calls of an approved rule may have these accesses: a rule that was approved for one path covers
    /// what is below it, and no other path. Rules about programs that escape any sandbox are approved as such.
    pub fn covers(&self, grants: &[Grant]) -> bool {
        let is_below = |path: &Path, approved: &Path| path.starts_with(approved);
        grants.iter().all(|grant| match grant {
            Grant::Write(path) => self.writable().any(|approved| is_below(path, approved)),
            Grant::Read(path) => self.readable.iter().any(|approved| is_below(path, approved)),
            Grant::GitSettings => self.grants.contains(grant),
            Grant::Unconfined => true,
        })
    }

    /// Returns true if a text was approved in this directory and environment.
    pub fn has_text(&self, text: &str, cwd: &Path, environment: &Environment) -> bool {
        self.texts
            .iter()
            .any(|(own, dir, changes)| own == text && dir == cwd && changes == environment.changes())
    }

    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    pub fn is_yolo(&self) -> bool {
        self.is_yolo
    }

    /// Turns questions off or on for the session, `/yolo`.
    pub fn set_yolo(&mut self, is_yolo: bool) {
        self.is_yolo = is_yolo;
    }

    /// Each approval as a line, for `/approvals`.
    pub fn describe(&self) -> Vec<String> {
        let rules = self.rules.iter().map(|(rule, changes)| format!("rule: {rule}{}", condition(changes)));
        let shown = |path: &Path| path.display().to_string();
        let texts = self
            .texts
            .iter()
            .map(|(text, dir, changes)| format!("exactly: {text}, in {}{}", shown(dir), condition(changes)));
        let grants = self.grants.iter().map(|grant| match grant {
            Grant::Write(path) => format!("sandbox: write {}", shown(path)),
            Grant::Read(path) => format!("sandbox: read {}", shown(path)),
            Grant::GitSettings => "sandbox: change git settings of the project".to_owned(),
            Grant::Unconfined => "sandbox: off".to_owned(),
        });
        rules.chain(texts).chain(grants).collect()
    }

    /// Forgets all approvals; the switch of `/yolo` stays.
    pub fn clear(&mut self) {
        *self = Self { is_yolo: self.is_yolo, ..Self::default() };
    }

    /// The directories that were approved for writing.
    pub fn writable(&self) -> impl Iterator<Item = &PathBuf> {
        self.grants.iter().filter_map(|grant| match grant {
            Grant::Write(path) => Some(path),
            _ => None,
        })
    }
}

/// The environment that an approval holds in, if it is not the first one.
fn condition(changes: &EnvChanges) -> String {
    let names: Vec<&str> = changes.names().collect();
    if names.is_empty() { String::new() } else { format!(" (with changed {})", names.join(", ")) }
}
