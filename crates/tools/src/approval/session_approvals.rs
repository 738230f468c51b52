//! The answers of one session that cover later calls.

use super::decision::{Action, asked_rules};
use hermes_gate::Grant;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The approvals of a session. They end with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionApprovals {
    rules: BTreeSet<String>,
    /// Texts that were approved as they stand.
    texts: BTreeSet<String>,
    /// Accesses beyond the sandbox that were approved for the session.
    grants: Vec<Grant>,
    is_yolo: bool,
}

impl SessionApprovals {
    /// Adds what an answer for the session covers.
    pub fn add(&mut self, action: &Action) {
        let rules = asked_rules(&action.assessment);
        if rules.is_empty() {
            self.texts.insert(action.text.clone());
        }
        self.rules.extend(rules);
        for grant in action.assessment.findings.iter().flat_map(|finding| &finding.grants) {
            let is_lasting = matches!(grant, Grant::Write(_) | Grant::GitSettings);
            if is_lasting && !self.grants.contains(grant) {
                self.grants.push(grant.clone());
            }
        }
    }

    pub fn has_rule(&self, rule: &str) -> bool {
        self.rules.contains(rule)
    }

    pub fn has_text(&self, text: &str) -> bool {
        self.texts.contains(text)
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
        let rules = self.rules.iter().map(|rule| format!("rule: {rule}"));
        let texts = self.texts.iter().map(|text| format!("exactly: {text}"));
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
