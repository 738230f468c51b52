//! `hermes prompt`: what the model is told before anybody speaks.

mod scan;

use crate::args::Common;
use crate::exit::{Exit, Failure};
use clap::Subcommand;
use scan::ScanArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Look for text that tries to steer the agent: injections, hidden characters, leaked secrets
    ///
    /// One line per finding: `file:line: id: excerpt`. Exit code 0 means clean, 1 that something was
    /// found, 2 that a file could not be read; the others are scanned all the same. With --json, all of
    /// it as one JSON value, places in bytes included.
    ///
    /// Read through disguises: letters of other alphabets, full-width letters, zero-width characters,
    /// HTML entities, line breaks. Quotation marks and code fences protect nothing, since a model reads
    /// what is inside them, too. Nothing is changed, nothing is sent. docs/prompt.md explains the ids.
    ///
    /// Try it on a project you have just cloned:
    ///
    ///   hermes prompt scan AGENTS.md README.md
    ///   git ls-files -z '*.md' | xargs -0 hermes prompt scan --scope all
    #[command(verbatim_doc_comment)]
    Scan(ScanArgs),
}

pub(crate) fn run(command: &PromptCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        PromptCommand::Scan(args) => Ok(scan::run(args, common.json)),
    }
}
