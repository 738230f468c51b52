//! Approval keys: the rules by name, and the older spellings that an allow list may hold.

mod table;

pub use table::RULES;
pub(crate) use table::*;

/// A rule that can be approved, or a hardline rule that cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    pub key: &'static str,
    /// The key that Python Hermes derived from the pattern before keys had descriptions.
    pub legacy: Option<&'static str>,
    pub is_hardline: bool,
}

/// Returns true if an entry of `command_allowlist` approves findings of this rule.
pub fn key_matches(entry: &str, rule: &str) -> bool {
    if entry == rule {
        return true;
    }
    RULES.iter().any(|other| other.key == rule && other.legacy == Some(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_keys_of_an_allow_list_still_match() {
        assert!(key_matches("recursive delete", RECURSIVE_DELETE));
        assert!(key_matches(r"rm\s+-[^\s]*r", RECURSIVE_DELETE));
        assert!(key_matches(r"(python[23]?|perl|ruby|node)\s+-[ec]\s+", SCRIPT_CODE));
        assert!(!key_matches("recursive delete", DELETE_IN_ROOT));
        assert!(!key_matches(r"rm\s+-[^\s]*r", FIND_DELETE));
    }

    #[test]
    fn keys_are_unique_but_for_rules_that_are_in_both_lists() {
        let both = [FORK_BOMB, KILL_ALL];
        for (index, rule) in RULES.iter().enumerate() {
            let is_again = RULES.iter().skip(index + 1).any(|other| other.key == rule.key);
            assert!(!is_again || both.contains(&rule.key), "{}", rule.key);
        }
        assert_eq!(RULES.iter().filter(|rule| rule.is_hardline).count(), 12);
    }
}
