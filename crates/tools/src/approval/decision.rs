//! Decides about a call by its effects, the settings and the answers so far.

use super::allow_list::AllowList;
use super::mode::{ApprovalMode, Unattended};
use super::request::Coverage;
use super::session_approvals::SessionApprovals;
use crate::Environment;
use hermes_gate::{Assessment, EffectKind, Finding, Grant, Verdict};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of approvals.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ApprovalPolicy {
    pub mode: ApprovalMode,
    /// Seconds that the user has to answer; 0 means no limit.
    pub timeout: u64,
    /// Commands that never run, `approvals.deny`.
    pub deny: AllowList,
    /// Rules and commands that run without a question, `command_allowlist`.
    pub allow: AllowList,
    pub unattended: Unattended,
}

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self {
            mode: ApprovalMode::Manual,
            timeout: 60,
            deny: AllowList::default(),
            allow: AllowList::default(),
            unattended: Unattended::Deny,
        }
    }
}

/// An action of a call with its effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub kind: ActionKind,
    /// The command or the access, as it is shown and as lists match it.
    pub text: String,
    /// The directory that it happens in.
    pub cwd: PathBuf,
    /// The environment of a command; of other actions, the empty one.
    pub environment: Arc<Environment>,
    pub assessment: Assessment,
}

impl Action {
    fn grants(&self) -> Vec<Grant> {
        self.assessment.findings.iter().flat_map(|finding| finding.grants.clone()).collect()
    }

    /// Returns true if a name in it may mean another program than at the start of the session.
    fn has_other_programs(&self) -> bool {
        !self.environment.finding().is_empty()
    }

    /// Returns true if only an answer for this one call may permit it: without the sandbox, a program that the session
    /// put into `PATH` could do anything.
    fn is_asked_each_time(&self) -> bool {
        self.has_other_programs() && self.grants().contains(&Grant::Unconfined)
    }
}

/// The kind of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionKind {
    Command,
    /// A command in a place that reaches nothing of the user: it is not asked about.
    IsolatedCommand,
    /// An access of a tool of our own, for instance a write to a file.
    Access,
    /// An access in a place that reaches nothing of the user: it is not asked about.
    IsolatedAccess,
    /// A change that later sessions obey. `--yolo` does not skip the question.
    Lasting,
}

/// The decision on an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It runs; the sandbox permits `grants` besides its profile.
    Run { by: DecidedBy, grants: Vec<Grant> },
    /// The user is asked.
    Ask,
    /// It never runs.
    Refuse { by: DecidedBy, text: String },
}

/// The source of a decision, for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// No rule matched.
    Harmless,
    /// A rule that nothing overrides.
    Hardline,
    /// `approvals.deny`.
    DenyList,
    /// `--yolo`, `/yolo` or `approvals.mode: off`.
    Yolo,
    /// `command_allowlist`.
    AllowList,
    /// An earlier answer in this session.
    Session,
    /// Commands run in an isolated place.
    Isolation,
    /// `approvals.unattended: sandboxed`.
    Sandbox,
    /// A model, with `approvals.mode: smart`.
    Model,
    User,
}

impl DecidedBy {
    /// The word for the record and for `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Harmless => "harmless",
            Self::Hardline => "hardline",
            Self::DenyList => "approvals.deny",
            Self::Yolo => "yolo",
            Self::AllowList => "command_allowlist",
            Self::Session => "session",
            Self::Isolation => "isolation",
            Self::Sandbox => "approvals.unattended",
            Self::Model => "smart",
            Self::User => "user",
        }
    }
}

/// Decides about an action. Pure: equal arguments give equal decisions.
///
/// The order is fixed: what must never run comes first, then what skips the question, then the question.
pub fn decide(action: &Action, policy: &ApprovalPolicy, approved: &SessionApprovals) -> Decision {
    let is_command = matches!(action.kind, ActionKind::Command | ActionKind::IsolatedCommand);
    if let Some(finding) = action.assessment.worst().filter(|finding| finding.verdict == Verdict::Deny) {
        return Decision::Refuse { by: DecidedBy::Hardline, text: hardline_text(finding) };
    }
    if let Some(entry) = policy.deny.denies(&action.text, &action.assessment.commands).filter(|_| is_command)
    {
        let text = format!(
            "Not run: the user's settings forbid this command (approvals.deny: `{entry}`). Do not try it again or reach \
             the same effect another way."
        );
        return Decision::Refuse { by: DecidedBy::DenyList, text };
    }
    if action.assessment.verdict() == Verdict::Allow {
        return Decision::Run { by: DecidedBy::Harmless, grants: Vec::new() };
    }
    if matches!(action.kind, ActionKind::IsolatedCommand | ActionKind::IsolatedAccess) {
        return Decision::Run { by: DecidedBy::Isolation, grants: Vec::new() };
    }
    let is_yolo = policy.mode == ApprovalMode::Off || approved.is_yolo();
    if is_yolo && action.kind != ActionKind::Lasting {
        // The question is skipped, the sandbox is not: nothing beyond its profile is granted.
        return Decision::Run { by: DecidedBy::Yolo, grants: Vec::new() };
    }
    if action.is_asked_each_time() {
        return Decision::Ask;
    }
    let asked = || action.assessment.findings.iter().filter(|finding| finding.verdict == Verdict::Ask);
    // A rule that the user wrote into the list counts as written; what cannot be read matches no rule. The list was
    // written for other programs if the session changed `PATH`, so it gives them no access beyond the sandbox.
    let list_counts = !action.has_other_programs() || action.grants().is_empty();
    let is_clear = |finding: &Finding| list_counts && finding.effect.kind != EffectKind::Unclear;
    let in_list = |finding: &Finding| is_clear(finding) && policy.allow.has_rule(&finding.rule);
    let has_command = || is_command && list_counts && policy.allow.has_command(&action.text);
    if asked().all(in_list) || has_command() {
        return Decision::Run { by: DecidedBy::AllowList, grants: action.grants() };
    }
    let environment = &action.environment;
    let in_session = |finding: &Finding| {
        is_reusable(finding)
            && approved.has_rule(&finding.rule, environment)
            && approved.covers(&finding.grants)
    };
    if asked().all(|finding| in_list(finding) || in_session(finding))
        || approved.has_text(&action.text, &action.cwd, environment)
    {
        return Decision::Run { by: DecidedBy::Session, grants: action.grants() };
    }
    Decision::Ask
}

/// The calls that wider answers to a request about `action` would cover.
pub(crate) fn coverage(action: &Action) -> Coverage {
    if action.is_asked_each_time() {
        return Coverage::default();
    }
    let names: Vec<&str> = action.environment.finding().names().collect();
    let condition = match names.as_slice() {
        [] => String::new(),
        [name] => format!("; until {name} changes"),
        names => format!("; until one of {} changes", names.join(", ")),
    };
    let rules = asked_rules(&action.assessment);
    match rules.is_empty() {
        // A rule would cover too much: the same text is covered.
        true => Coverage {
            session: Some("exactly this in this directory, for the rest of the session".to_owned()),
            always: hermes_gate::simple_command(&action.text)
                .filter(|_| action.kind == ActionKind::Command)
                .map(|_| "exactly this command, in every session".to_owned()),
        },
        false => {
            let (named, places) = (rules.join("; "), places(action));
            Coverage {
                session: Some(format!("every call of this session that matches: {named}{places}{condition}")),
                always: Some(format!("every call in every session that matches: {named}; on any path")),
            }
        }
    }
}

/// The paths that an answer for the session covers: those of the action, and the project.
fn places(action: &Action) -> String {
    let path = |grant: &Grant| match grant {
        Grant::Read(path) | Grant::Write(path) => Some(path.display().to_string()),
        Grant::GitSettings | Grant::Unconfined => None,
    };
    let mut paths: Vec<String> = action.grants().iter().filter_map(path).collect();
    paths.dedup();
    if paths.is_empty() { String::new() } else { format!("; only in {}", paths.join(" and ")) }
}

/// The rules that a wider answer adds, if all findings can be covered by their rule; else none.
pub(crate) fn asked_rules(assessment: &Assessment) -> Vec<String> {
    let asked = || assessment.findings.iter().filter(|finding| finding.verdict == Verdict::Ask);
    if !asked().all(is_reusable) {
        return Vec::new();
    }
    let mut rules: Vec<String> = Vec::new();
    for finding in asked() {
        if !rules.contains(&finding.rule.as_ref().to_owned()) {
            rules.push(finding.rule.clone().into_owned());
        }
    }
    rules
}

/// Returns true if a wider answer may cover the rule of a finding. An unclear command, a secret, or the rights of
/// another user are approved as they stand: the next one of the same rule is a different one.
fn is_reusable(finding: &Finding) -> bool {
    !matches!(finding.effect.kind, EffectKind::Unclear | EffectKind::ReadSecret | EffectKind::Privilege)
}

fn hardline_text(finding: &Finding) -> String {
    format!(
        "Not run: {} ({}). This is never run, whatever the settings are. Do not try it again or reach the same effect \
         another way; if the user wants it, they have to do it themselves.",
        finding.reason, finding.rule
    )
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
