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
    /// Texts that were approved as they stand, with all changes of the environment: they may name variables.
    texts: BTreeSet<(String, EnvChanges)>,
    /// Accesses beyond the sandbox that were approved for the session.
    grants: Vec<Grant>,
    is_yolo: bool,
}

impl SessionApprovals {
    /// Adds what an answer for the session covers.
    pub fn add(&mut self, action: &Action) {
        let rules = asked_rules(&action.assessment);
        if rules.is_empty() {
            self.texts.insert((action.text.clone(), action.environment.changes().clone()));
        }
        let finding = action.environment.finding();
        self.rules.extend(rules.into_iter().map(|rule| (rule, finding.clone())));
        for grant in action.assessment.findings.iter().flat_map(|finding| &finding.grants) {
            let is_lasting = matches!(grant, Grant::Write(_) | Grant::GitSettings);
            if is_lasting && !self.grants.contains(grant) {
                self.grants.push(grant.clone());
            }
        }
    }

    /// Returns true if a rule was approved in this environment.
    pub fn has_rule(&self, rule: &str, environment: &Environment) -> bool {
        self.rules.iter().any(|(own, changes)| own == rule && changes == environment.finding())
    }

    /// Returns true if a text was approved in this environment.
    pub fn has_text(&self, text: &str, environment: &Environment) -> bool {
        self.texts.iter().any(|(own, changes)| own == text && changes == environment.changes())
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
        let texts = self.texts.iter().map(|(text, changes)| format!("exactly: {text}{}", condition(changes)));
        let shown = |path: &Path| path.display().to_string();
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
