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
    /// A file is written or deleted, also where that is allowed.
    #[serde(skip)]
    pub changes_files: bool,
}

impl Assessment {
    /// The worst verdict of all findings.
    pub fn verdict(&self) -> Verdict {
        self.findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Allow)
    }

    /// Returns true if the command looks as if it replaced or removed files: it writes or deletes one, also where no
    /// approval is needed, or the gate cannot read it.
    pub fn looks_destructive(&self) -> bool {
        let is_destructive = |finding: &Finding| {
            matches!(finding.effect.kind, EffectKind::Delete | EffectKind::Write | EffectKind::Unclear)
        };
        self.changes_files || self.findings.iter().any(is_destructive)
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

#[cfg(test)]
mod tests {
    use crate::{Scene, assess};

    #[test]
    fn commands_that_replace_or_remove_files_look_destructive() {
        let scene = Scene { cwd: "/p".into(), project: "/p".into(), ..Scene::default() };
        for (command, want) in [
            ("rm a", true),
            ("rmdir d", true),
            ("mv a b", true),
            ("cp a b", true),
            ("sed -i s/a/b/ f", true),
            ("truncate -s0 f", true),
            ("dd if=a of=b", true),
            ("shred f", true),
            ("git reset --hard", true),
            ("git -C sub clean -fd", true),
            ("git checkout -- .", true),
            ("echo x > f", true),
            ("echo x >> f", true),
            ("ls | tee f", true),
            ("find . -name '*.o' -delete", true),
            ("ls | xargs rm", true),
            ("bash -c 'rm a'", true),
            ("sudo rm a", true),
            ("for f in *; do rm \"$f\"; done", true),
            ("\"$X\" a", true),
            ("if [", true),
            ("ls -l", false),
            ("git status", false),
            ("cat a | grep b", false),
            ("cargo test 2>/dev/null", false),
            ("make", false),
            ("sed s/a/b/ f", false),
            ("echo 'rm a > b'", false),
        ] {
            assert_eq!(assess(command, &scene).looks_destructive(), want, "{command}");
        }
    }
}
