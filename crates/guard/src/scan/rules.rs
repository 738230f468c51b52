//! The rules: what is a finding, in which scope, and the phrases that say it.
//!
//! A phrase is a row of words. `a|b` is a choice, `word*` any word that begins so, `~3` allows up to
//! three words before the next one, and a name in capitals stands for a class below. Words are
//! written as people write them; they are made plain as the text is.

mod context;
mod everywhere;
mod languages;
mod strict;

use super::Scope;

/// How the ids of hidden characters begin.
pub(super) const HIDDEN: &str = "invisible_unicode_U+";

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) scope: Scope,
    pub(super) within: Within,
    pub(super) check: Check,
    pub(super) phrases: &'static [&'static str],
}

/// What a phrase must not leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Sentence,
    Line,
    /// An HTML comment.
    Comment,
    /// An HTML tag.
    Tag,
}

/// What must also be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Nothing,
    NotNegated,
    NotNegatedNorFollowedBy(&'static [&'static str]),
    /// The address after the phrase is not one of our own network.
    RemoteAddress,
    /// The element that is made invisible has words in it.
    HidesText,
}

/// Ids that no phrase has: those of commands and of written-out credentials.
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
        // The one who is served: what is said about users in general is about a product.
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
