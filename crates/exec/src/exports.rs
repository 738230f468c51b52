//! Changes of exported variables, which a command leaves to the next command of its session.

use crate::export_syntax::{self, Malformed};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Bytes of the list of variables that are read. Quotes make a list longer than its values.
pub(crate) const LONGEST_LIST: usize = 512 * 1024;
/// The longest value that is kept, in bytes.
pub const LONGEST_VALUE: usize = 32 * 1024;
/// Bytes of all names and values that are kept.
pub const LONGEST_CHANGES: usize = 256 * 1024;

/// Changes that are named although they are left out.
const MOST_LEFT_OUT: usize = 20;

/// Variables by which a shell keeps its own state.
const BOOKKEEPING: [&str; 4] = ["_", "OLDPWD", "PWD", "SHLVL"];

/// Variables that differ from an environment. `Debug` does not print the values.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EnvChanges {
    pub set: BTreeMap<String, String>,
    pub unset: BTreeSet<String>,
}

impl EnvChanges {
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.unset.is_empty()
    }

    /// The names of all changed variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.set.keys().chain(&self.unset).map(String::as_str)
    }

    /// Bytes of all names and values.
    pub fn bytes(&self) -> usize {
        let set: usize = self.set.iter().map(|(name, value)| name.len() + value.len()).sum();
        set + self.unset.iter().map(String::len).sum::<usize>()
    }

    pub fn apply_to(&self, env: &mut Vec<(String, String)>) {
        if self.is_empty() {
            return;
        }
        env.retain(|(name, _)| !self.set.contains_key(name) && !self.unset.contains(name));
        env.extend(self.set.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}

impl fmt::Debug for EnvChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (set, unset) = (self.set.keys().collect::<Vec<_>>(), &self.unset);
        f.debug_struct("EnvChanges").field("set", &set).field("unset", unset).finish()
    }
}

/// The exported variables of a shell at its exit, compared to the environment that it started with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exports {
    pub changes: EnvChanges,
    pub left_out: Vec<LeftOut>,
}

/// A change that is not reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// The variable is longer than [`LONGEST_VALUE`], or all changes are longer than [`LONGEST_CHANGES`].
    TooLong(String),
    NotUtf8(String),
    /// The end of the list: it is too long, or it is not what a shell prints.
    Rest,
}

impl Exports {
    /// Compares the list that a shell printed with the environment that it started with. A list that `is_cut` does not
    /// say which variables were unset. Variables in `withheld` do not count.
    pub(crate) fn compare(
        list: &[u8],
        is_cut: bool,
        start: &[(String, String)],
        withheld: &[String],
    ) -> Self {
        let start: BTreeMap<&str, &str> =
            start.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let counts = |name: &str| !BOOKKEEPING.contains(&name) && !withheld.iter().any(|held| held == name);
        let mut exports = Self::default();
        let (mut seen, mut bytes) = (BTreeSet::new(), 0);
        let mut rest = list;
        let is_whole = loop {
            match export_syntax::next(rest) {
                Ok(Some((declared, after))) => {
                    let name = declared.name;
                    rest = after;
                    seen.insert(name);
                    let is_same = start.get(name).is_some_and(|value| value.as_bytes() == declared.value);
                    if !is_same && counts(name) {
                        exports.set(name, declared.value, &mut bytes);
                    }
                }
                Ok(None) => break !is_cut,
                Err(Malformed) => break false,
            }
        };
        exports.left_out.truncate(MOST_LEFT_OUT);
        if is_whole {
            let is_unset = |name: &&str| !seen.contains(name) && counts(name) && is_name(name);
            exports.changes.unset = start.keys().copied().filter(is_unset).map(str::to_owned).collect();
        } else {
            exports.left_out.push(LeftOut::Rest);
        }
        exports
    }

    /// Adds a variable, if it fits beside the `bytes` so far.
    fn set(&mut self, name: &str, value: Vec<u8>, bytes: &mut usize) {
        let with_it = *bytes + name.len() + value.len();
        let fits = value.len() <= LONGEST_VALUE && with_it <= LONGEST_CHANGES;
        match String::from_utf8(value) {
            Ok(value) if fits => {
                *bytes = with_it;
                self.changes.set.insert(name.to_owned(), value);
            }
            Ok(_) => self.left_out.push(LeftOut::TooLong(name.to_owned())),
            Err(_) => self.left_out.push(LeftOut::NotUtf8(name.to_owned())),
        }
    }
}

/// Returns true if a shell can have a variable of this name.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(is_part) && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn changes(set: &[(&str, &str)], unset: &[&str]) -> EnvChanges {
        EnvChanges {
            set: env(set).into_iter().collect(),
            unset: unset.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn only_differences_are_reported() {
        let start =
            env(&[("KEPT", "1"), ("CHANGED", "old"), ("GONE", "x"), ("not-a-name", "y"), ("KEY", "s")]);
        let list = b"declare -x CHANGED=\"new\"\ndeclare -x KEPT=\"1\"\ndeclare -x NEW=\"n\"\n\
                     declare -x OLDPWD=\"/\"\ndeclare -x PWD=\"/p\"\ndeclare -x SHLVL=\"1\"\n";
        let exports = Exports::compare(list, false, &start, &["KEY".to_owned()]);
        assert_eq!(exports.changes, changes(&[("CHANGED", "new"), ("NEW", "n")], &["GONE"]));
        assert_eq!(exports.left_out, []);
    }

    #[test]
    fn list_without_its_end_unsets_nothing() {
        let start = env(&[("GONE", "x")]);
        let whole = "declare -x A=\"a\"\ndeclare -x B=\"b\"\n";
        for (list, is_cut, want) in [
            (&whole[..whole.len() - 2], true, changes(&[("A", "a")], &[])),
            (whole, true, changes(&[("A", "a"), ("B", "b")], &[])),
            ("declare -x A=\"a\"\nrm -rf /\n", false, changes(&[("A", "a")], &[])),
            ("garbage", false, changes(&[], &[])),
        ] {
            let exports = Exports::compare(list.as_bytes(), is_cut, &start, &[]);
            assert_eq!((exports.changes, exports.left_out), (want, vec![LeftOut::Rest]), "{list}");
        }
    }

    #[test]
    fn long_and_unreadable_values_are_left_out() {
        let long = "x".repeat(LONGEST_VALUE + 1);
        let fits = "y".repeat(LONGEST_VALUE);
        let mut list = format!("declare -x A=\"{long}\"\ndeclare -x B=$'\\377'\n");
        for number in 0..9 {
            list += &format!("declare -x C{number}=\"{fits}\"\n");
        }
        let exports = Exports::compare(list.as_bytes(), false, &[], &[]);
        let left_out = [
            LeftOut::TooLong("A".into()),
            LeftOut::NotUtf8("B".into()),
            LeftOut::TooLong("C7".into()),
            LeftOut::TooLong("C8".into()),
        ];
        assert_eq!(exports.left_out, left_out);
        assert_eq!(exports.changes.set.len(), 7);
        assert!(exports.changes.bytes() <= LONGEST_CHANGES);
    }

    #[test]
    fn changes_replace_and_remove_variables() {
        let mut start = env(&[("A", "1"), ("B", "2"), ("A", "3")]);
        changes(&[("A", "4"), ("C", "5")], &["B"]).apply_to(&mut start);
        assert_eq!(start, env(&[("A", "4"), ("C", "5")]));
    }

    #[test]
    fn values_are_not_printed() {
        let text = format!("{:?}", changes(&[("A", "hidden")], &["B"]));
        assert_eq!(text, r#"EnvChanges { set: ["A"], unset: {"B"} }"#);
    }
}
