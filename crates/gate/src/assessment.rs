//! The result of an assessment: effects, rules and a verdict.

use serde::Serialize;
use std::borrow::Cow;
use std::path::PathBuf;

/// The answer of the gate, from harmless to catastrophic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Runs without a question.
    Allow,
    /// Runs after an approval.
    Ask,
    /// Never runs; no setting and no answer changes that.
    Deny,
}

/// The kind of an effect on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    Delete,
    Write,
    /// Runs code that is not the command itself: a script, a payload, a program named by data.
    Execute,
    /// Sends data to another machine.
    Network,
    ReadSecret,
    /// Changes what is allowed: Hermes' settings, permissions, git settings, start-up files.
    Policy,
    /// Signals or stops processes or services.
    Process,
    /// Shuts down or restarts the machine.
    Power,
    /// Gains the rights of another user.
    Privilege,
    /// Cannot be determined: a word, payload or text that the gate cannot read.
    Unclear,
}

/// One effect and its target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Effect {
    pub kind: EffectKind,
    /// A path, host, program or process, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// An access that the sandbox must permit for an approved command to work.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    Read(PathBuf),
    Write(PathBuf),
    /// The settings and hooks of the project's git repository.
    GitSettings,
    /// No sandbox at all: sudo, a container engine, a service manager.
    Unconfined,
}

/// A reason to ask or to deny.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub effect: Effect,
    pub verdict: Verdict,
    /// The approval key: the description of Python Hermes' pattern if there is one for it, for example
    /// `recursive delete`.
    pub rule: Cow<'static, str>,
    /// The effect in plain language for the user, for example `deletes 3 paths outside the project`.
    pub reason: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
}

/// The findings about one command or one file access. Without findings it is harmless.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Assessment {
    pub findings: Vec<Finding>,
    /// Each program that would run with its arguments, expanded and unwrapped, for lists of forbidden commands.
    #[serde(skip)]
    pub commands: Vec<String>,
}

impl Assessment {
    /// The worst verdict of all findings.
    pub fn verdict(&self) -> Verdict {
        self.findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Allow)
    }

    /// The first finding with the worst verdict.
    pub fn worst(&self) -> Option<&Finding> {
        // `max_by_key` returns the last one of equal findings.
        self.findings.iter().rev().max_by_key(|finding| finding.verdict)
    }
}

impl EffectKind {
    /// The word for records and for `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Network => "network",
            Self::ReadSecret => "read_secret",
            Self::Policy => "policy",
            Self::Process => "process",
            Self::Power => "power",
            Self::Privilege => "privilege",
            Self::Unclear => "unclear",
        }
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.target {
            Some(target) => write!(f, "{} {target}", self.kind.as_str()),
            None => f.write_str(self.kind.as_str()),
        }
    }
}
