//! An attempt to get out of the sandbox.

/// A command that prints `ESCAPED` only if it had its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    /// Shell, or Python if it begins with `#py`.
    pub(crate) script: &'static str,
    pub(crate) who: Who,
    pub(crate) held: Held,
    /// The attempt may fail without a sandbox, too; the text is the reason.
    pub(crate) unseen: Option<&'static str>,
}

/// The users for whom the attempt succeeds without a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    All,
    Root,
    Nobody,
}

/// The layers that hold the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Landlock and seccomp are enough.
    Always,
    /// Only namespaces; the text is the reason.
    ByNamespaces(&'static str),
}

/// An attempt that Landlock and seccomp hold.
pub(crate) const fn held(name: &'static str, script: &'static str) -> Attempt {
    Attempt { name, script, who: Who::All, held: Held::Always, unseen: None }
}

impl Attempt {
    pub(crate) const fn as_root(mut self) -> Self {
        self.who = Who::Root;
        self
    }

    pub(crate) const fn as_nobody(mut self) -> Self {
        self.who = Who::Nobody;
        self
    }

    pub(crate) const fn unseen(mut self, reason: &'static str) -> Self {
        self.unseen = Some(reason);
        self
    }

    pub(crate) const fn by_namespaces(mut self, reason: &'static str) -> Self {
        self.held = Held::ByNamespaces(reason);
        self
    }

    /// The script for a shell.
    pub(crate) fn shell(&self) -> String {
        match self.script.strip_prefix("#py\n") {
            Some(code) => format!(
                "python3 - <<'END'\nimport os, sys, ctypes, socket\nlibc = ctypes.CDLL(None, use_errno=True)\ne = os.environ\ndef escaped(): print('ESC' + 'APED')\n{code}\nEND\n"
            ),
            None => self.script.to_owned(),
        }
    }
}
