//! The rules: id, scope and phrases of every finding.
//!
//! A phrase is a sequence of words. `a|b` are alternatives, `word*` is any word with this prefix, `~3` allows up to
//! three words before the next one, and a name in capitals is a class below. Words are written normally; they are
//! brought into the same normal form as the text.

mod context;
mod everywhere;
mod languages;
mod strict;

use super::Scope;

/// The prefix of the ids of hidden characters.
pub(super) const HIDDEN: &str = "invisible_unicode_U+";

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) scope: Scope,
    pub(super) within: Within,
    pub(super) check: Check,
    pub(super) phrases: &'static [&'static str],
}

/// The unit of text that a phrase must not leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Sentence,
    Line,
    /// An HTML comment.
    Comment,
    /// An HTML tag.
    Tag,
}

/// An additional condition of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Nothing,
    NotNegated,
    NotNegatedNorFollowedBy(&'static [&'static str]),
    /// The address after the phrase is not local.
    RemoteAddress,
    /// The invisible element has text.
    HidesText,
}

/// Ids without phrases: those of commands and of credentials.
const OTHER_IDS: [&str; 4] = ["exfil_curl", "exfil_wget", "read_secrets", super::secret_values::ID];

pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    everywhere::RULES.iter().chain(&languages::RULES).chain(&context::RULES).chain(&strict::RULES)
}

pub(super) fn is_id(id: &str) -> bool {
    OTHER_IDS.contains(&id) || all().any(|rule| rule.id == id)
}

/// The words of a class.
pub(super) fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "DROP" => "ignore|ignoring|disregard|disregarding|forget|discard|neglect|overlook",
        "OLD" => "previous|previously|prior|preceding|earlier|foregoing|above|former|initial|original",
        "ORDERS" => {
            "instruction|instructions|prompt|prompts|directive|directives|directions|orders|programming"
        }
        "RULES" => {
            "rule|rules|guideline|guidelines|policy|policies|restriction|restrictions|constraint|constraints|\
             ethics|principles|safeguards|guardrails|limitations"
        }
        // The user of the agent, in the singular: text about "users" is about a product.
        "PERSON" => "user|human|owner|operator|anyone|anybody",
        "AI" => "ai|assistant|chatbot|llm|chatgpt|gpt|claude|gemini|hermes|bot",
        "PERSONA" => "dan|jailbroken|unrestricted|unfiltered|uncensored|evil|malicious|hacker|unbound",
        "REVEAL" => {
            "reveal|print|show|output|repeat|leak|dump|display|disclose|share|tell|give|expose|recite|send|copy"
        }
        "AGENT_FILE" => {
            "agents.md|claude.md|gemini.md|soul.md|.cursorrules|.clinerules|.windsurfrules|copilot-instructions.md|\
             .hermes.md|hermes.md"
        }
        "CHANGE" => {
            "update|modify|edit|write|change|append|add|overwrite|replace|insert|echo|sed|tee|patch|set"
        }
        _ => return None,
    })
}
