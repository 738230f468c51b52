//! `hermes prompt`: what the model is told before anybody speaks.

mod scan;
mod show;

use crate::args::Common;
use crate::exit::{Exit, Failure};
use clap::Subcommand;
use scan::ScanArgs;
use show::{DiffArgs, WhichPrompt};

#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// The system prompt, layer by layer, with where each one is from and how large it is
    ///
    /// Of a stored session, or of one that would begin in this folder. With --json, one JSON value.
    Show(WhichPrompt),
    /// How large each layer and each tool description is
    ///
    /// They are sent with every request. With --json, one JSON value.
    Size(WhichPrompt),
    /// What would be different if the session began now
    ///
    /// A session keeps the prompt it began with: changed files, memories and settings count for new ones.
    Diff(DiffArgs),
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

pub(crate) async fn run(command: &PromptCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        PromptCommand::Show(which) => show::show(which, true, common).await,
        PromptCommand::Size(which) => show::show(which, false, common).await,
        PromptCommand::Diff(args) => show::diff(args, common).await,
        PromptCommand::Scan(args) => Ok(scan::run(args, common.json)),
    }
}
