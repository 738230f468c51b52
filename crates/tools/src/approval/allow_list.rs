//! Lists of commands and rules: `command_allowlist` and `approvals.deny`.
//!
//! An entry is an approval key (the description of a rule, also in the spelling of older releases), a command, or a
//! glob over one. A command or glob only ever matches one simple command: an operator in the text could add anything
//! to it.

use serde::Deserialize;

/// The texts after which a command is not one simple command.
const OPERATORS: [&str; 10] = ["\n", "&&", "||", ";", "&", "|", "<", ">", "`", "$("];

/// Entries of a list in the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct AllowList(pub Vec<String>);

impl AllowList {
    /// Returns true if an entry is the key of this rule.
    pub fn has_rule(&self, rule: &str) -> bool {
        self.0.iter().any(|entry| hermes_gate::key_matches(entry, rule))
    }

    /// Returns true if an entry is this command or a glob that matches it.
    pub fn has_command(&self, command: &str) -> bool {
        let command = command.trim();
        let is_simple = !OPERATORS.iter().any(|operator| command.contains(operator));
        is_simple && self.0.iter().any(|entry| glob_matches(entry.trim(), command))
    }

    /// The entry that matches a command or any program that it would run, for rules that forbid: here neither
    /// operators, quotes nor wrappers protect.
    pub fn denies(&self, command: &str, programs: &[String]) -> Option<&str> {
        let parts = || programs.iter().map(String::as_str).chain([command.trim()]);
        let hit = |entry: &&String| parts().any(|part| glob_matches(entry.trim(), part));
        self.0.iter().find(hit).map(String::as_str)
    }
}

/// Matches `*`, `?`, `[set]` and `[!set]` against the whole text, in time proportional to both lengths.
pub(crate) fn glob_matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at + 1, place));
            at += 1;
        } else if let Some(used) = one_matches(&pattern[at..], text[place]) {
            at += used;
            place += 1;
        } else if let Some((after, begun)) = star {
            star = Some((after, begun + 1));
            (at, place) = (after, begun + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|sign| *sign == '*')
}

/// The length of the first element of `pattern` if it matches `sign`.
fn one_matches(pattern: &[char], sign: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match set_matches(&pattern[1..], sign) {
            Some((used, is_in)) => is_in.then_some(used + 1),
            // Without its end, a bracket is an ordinary character.
            None => (sign == '[').then_some(1),
        },
        own => (*own == sign).then_some(1),
    }
}

/// The length of a set after its bracket, and whether it has `sign`. `None` if the set does not end.
fn set_matches(pattern: &[char], sign: char) -> Option<(usize, bool)> {
    let is_negated = pattern.first() == Some(&'!');
    let begin = usize::from(is_negated);
    let end = (begin + 1..pattern.len()).find(|&place| pattern[place] == ']')?;
    let set = &pattern[begin..end];
    let mut place = 0;
    let mut is_in = false;
    while place < set.len() {
        if place + 2 < set.len() && set[place + 1] == '-' {
            is_in |= (set[place]..=set[place + 2]).contains(&sign);
            place += 3;
        } else {
            is_in |= set[place] == sign;
            place += 1;
        }
    }
    Some((end + 1, is_in != is_negated))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> AllowList {
        AllowList(entries.iter().map(|entry| (*entry).to_owned()).collect())
    }

    #[test]
    fn globs_match_the_whole_text() {
        for (pattern, text, want) in [
            ("git push*", "git push origin main", true),
            ("git push", "git push origin", false),
            ("*", "", true),
            ("a?c", "abc", true),
            ("a[b-d]c", "acc", true),
            ("a[!b-d]c", "acc", false),
            ("a[bc", "a[bc", true),
            ("[]]", "]", true),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxbxx", false),
            ("über*", "überall", true),
        ] {
            assert_eq!(glob_matches(pattern, text), want, "{pattern} {text}");
        }
        let (pattern, text) = ("*a".repeat(200), "a".repeat(199) + "b");
        assert!(!glob_matches(&pattern, &text));
    }

    #[test]
    fn permitted_commands_are_simple_ones() {
        let list = list(&["npm publish*", "recursive delete"]);
        for (command, want) in [
            ("npm publish --dry-run", true),
            ("npm publish; rm -rf x", false),
            ("npm publish $(cat x)", false),
            ("npm publish > x", false),
            ("npm publish\nrm x", false),
            ("rm -rf x", false),
        ] {
            assert_eq!(list.has_command(command), want, "{command}");
        }
        assert!(list.has_rule("recursive delete") && !list.has_rule("find -delete"));
    }

    #[test]
    fn forbidden_commands_are_found_among_others() {
        let list = list(&["git push*"]);
        for (command, is_denied) in [
            ("git push origin", true),
            ("true && git push", true),
            ("echo x | g\"i\"t   push", true),
            ("sudo sh -c 'git push'", true),
            ("x=push; git $x", true),
            ("git status", false),
            ("echo 'git push'", false),
        ] {
            let programs = hermes_gate::assess(command, &hermes_gate::Scene::default()).commands;
            assert_eq!(list.denies(command, &programs).is_some(), is_denied, "{command}");
        }
    }
}
