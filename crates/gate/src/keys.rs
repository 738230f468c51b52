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
