//! Shell grammar: text to a tree of commands.
//!
//! A recursive-descent parser of our own instead of tree-sitter-bash: that grammar reads some valid texts silently
//! wrong (`time { ...; }`, `coproc`, nested backticks) and rejects everyday here-documents, so a complete lexer would
//! be needed in front of it anyway. Text that this parser cannot read is an error, never a guess.

mod commands;
mod compound;
mod cursor;
mod heredoc;
mod quotes;
mod substitution;
mod tree;
mod words;

pub(crate) use commands::parse;
pub(crate) use tree::{
    AndOr, Assignment, Command, Connector, Kind, Operation, Part, Pipeline, Redirect, RedirectKind, Script,
    Simple, Word,
};

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;
