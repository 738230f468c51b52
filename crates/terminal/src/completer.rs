//! Tab completion of slash commands at the prompt.

use hermes_runtime::commands::{Surfaces, completions};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

/// Completes the name of a command; everything else keeps the editor's defaults.
pub(crate) struct SlashCommands;

impl Completer for SlashCommands {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, completions(&line[..cursor], Surfaces::Terminal)))
    }
}

impl Hinter for SlashCommands {
    type Hint = String;
}

impl Highlighter for SlashCommands {}
impl Validator for SlashCommands {}
impl Helper for SlashCommands {}
