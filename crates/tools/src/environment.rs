//! The variables that the commands of a session exported for its later commands.
//!
//! They live in memory: a resumed session and a sub-agent start without them. Not kept are variables that hold a secret
//! of Hermes, and variables that run code or change how a shell reads a command: the gate would not see that code.

use hermes_exec::{EnvChanges, Exports, LONGEST_CHANGES, LONGEST_VALUE, LeftOut};
use hermes_gate::{VariableClass, variable_class};
use hermes_guard::Secrets;
use std::collections::BTreeMap;

/// Characters of a value in a request for approval.
const SHOWN: usize = 200;
/// Variables that are dropped without a warning: a prompt that no command shows.
const SILENT: [&str; 1] = ["PS1"];

/// The changes of the environment of a session's commands, with what requests for approval say about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    changes: EnvChanges,
    /// The changes by which a name may mean another program, for instance of `PATH`.
    finding: EnvChanges,
    notes: Vec<String>,
}

impl Environment {
    fn new(changes: EnvChanges, base: &[(String, String)]) -> Self {
        let finds = |name: &str| variable_class(name) == VariableClass::Finds;
        let set = changes.set.iter().filter(|(name, _)| finds(name));
        let finding = EnvChanges {
            set: set.map(|(name, value)| (name.clone(), value.clone())).collect(),
            unset: changes.unset.iter().filter(|name| finds(name)).cloned().collect(),
        };
        let notes = notes(&finding, base);
        Self { changes, finding, notes }
    }

    /// All changes.
    pub fn changes(&self) -> &EnvChanges {
        &self.changes
    }

    /// The changes by which a name may mean another program.
    pub(crate) fn finding(&self) -> &EnvChanges {
        &self.finding
    }

    /// Lines about those changes for a request for approval.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The changes as the gate takes them.
    pub(crate) fn variables(&self) -> BTreeMap<String, Option<String>> {
        let set = self.changes.set.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        set.chain(self.changes.unset.iter().map(|name| (name.clone(), None))).collect()
    }

    /// Adds the changes that a command made to its environment. Returns a sentence for the model about variables that
    /// are not kept.
    pub(crate) fn with(
        &self,
        exports: Exports,
        base: &[(String, String)],
        secrets: &Secrets,
    ) -> (Self, Option<String>) {
        let mut kept =
            Kept { changes: self.changes.clone(), bytes: self.changes.bytes(), dropped: Vec::new() };
        let is_cut = exports.left_out.contains(&LeftOut::Rest);
        for left_out in exports.left_out {
            match left_out {
                LeftOut::TooLong(name) => kept.drop(&name, TOO_LONG),
                LeftOut::NotUtf8(name) => kept.drop(&name, "not UTF-8"),
                LeftOut::Rest => {}
            }
        }
        for name in exports.changes.unset {
            kept.unset(name, base);
        }
        for (name, value) in exports.changes.set {
            kept.set(name, value, base, secrets);
        }
        let sentence = kept.sentence(is_cut);
        (Self::new(kept.changes, base), sentence)
    }
}

const TOO_LONG: &str = "too long";
const RUNS_CODE: &str = "can make programs run code";

/// The changes that are kept, while they are collected.
struct Kept {
    changes: EnvChanges,
    bytes: usize,
    /// Names with the reason.
    dropped: Vec<(String, &'static str)>,
}

impl Kept {
    fn drop(&mut self, name: &str, reason: &'static str) {
        if !SILENT.contains(&name) {
            self.dropped.push((name.to_owned(), reason));
        }
    }

    fn unset(&mut self, name: String, base: &[(String, String)]) {
        if variable_class(&name) == VariableClass::Runs {
            return self.drop(&name, RUNS_CODE);
        }
        self.forget(&name);
        if value_of(&name, base).is_some() {
            self.bytes += name.len();
            self.changes.unset.insert(name);
        }
    }

    fn set(&mut self, name: String, value: String, base: &[(String, String)], secrets: &Secrets) {
        if variable_class(&name) == VariableClass::Runs {
            return self.drop(&name, RUNS_CODE);
        }
        if secrets.occur_in(&value) {
            return self.drop(&name, "holds a secret");
        }
        let before = self.changes.set.get(&name).map_or(0, |value| name.len() + value.len());
        let bytes = self.bytes - before + name.len() + value.len();
        if bytes > LONGEST_CHANGES || value.len() > LONGEST_VALUE {
            return self.drop(&name, TOO_LONG);
        }
        self.forget(&name);
        if value_of(&name, base) != Some(value.as_str()) {
            self.bytes += name.len() + value.len();
            self.changes.set.insert(name, value);
        }
    }

    /// Removes an earlier change of a variable.
    fn forget(&mut self, name: &str) {
        if let Some(value) = self.changes.set.remove(name) {
            self.bytes -= name.len() + value.len();
        }
        if self.changes.unset.remove(name) {
            self.bytes -= name.len();
        }
    }

    fn sentence(&self, is_cut: bool) -> Option<String> {
        let named: Vec<String> = self.dropped.iter().map(|(name, why)| format!("{name} ({why})")).collect();
        let named = (!named.is_empty()).then(|| {
            format!("changes of these variables are not kept for later commands: {}", named.join(", "))
        });
        let rest = is_cut.then(|| {
            "the list of exported variables is too long or unreadable, so some changes are not kept for later commands"
                .to_owned()
        });
        let sentences: Vec<String> = named.into_iter().chain(rest).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

fn value_of<'a>(name: &str, base: &'a [(String, String)]) -> Option<&'a str> {
    base.iter().rfind(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// One line for each change.
fn notes(changes: &EnvChanges, base: &[(String, String)]) -> Vec<String> {
    let set = changes.set.iter().map(|(name, value)| {
        let added = value_of(name, base)
            .filter(|base| name == "PATH" && !base.is_empty())
            .and_then(|base| value.strip_suffix(base)?.strip_suffix(':'));
        match added {
            Some(added) => format!("environment: {name} starts with {}", shown(added)),
            None => format!("environment: {name} is {}", shown(value)),
        }
    });
    let unset = changes.unset.iter().map(|name| format!("environment: {name} is unset"));
    set.chain(unset).collect()
}

fn shown(value: &str) -> String {
    let mut text: String = value.chars().take(SHOWN).collect();
    if text.len() < value.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
