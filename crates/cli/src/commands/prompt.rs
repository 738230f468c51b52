//! `hermes prompt`: the system prompt.

mod scan;
mod show;

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use clap::Subcommand;
use scan::ScanArgs;
use show::{DiffArgs, WhichPrompt};

/// Inspect the system prompt, and scan files for injections
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes prompt show
  hermes prompt size latest
  hermes prompt diff
  hermes prompt scan AGENTS.md README.md")]
pub(crate) enum PromptCommand {
    /// Show the system prompt, layer by layer, with sources and sizes
    ///
    /// The prompt of a stored session or, without SESSION, of a new session in this directory.
    Show(WhichPrompt),
    /// Show the size of each layer and each tool description
    ///
    /// All of them are sent with every request.
    Size(WhichPrompt),
    /// Compare a session's prompt with the one it would get now
    ///
    /// A session keeps the prompt it started with; changed files, memory and settings apply to new sessions.
    Diff(DiffArgs),
    /// Scan files for prompt injections, hidden characters and leaked secrets
    ///
    /// One line per finding: `file:line: id: excerpt`. Exit code 0 means clean, 1 that something was
    /// found, 2 that a file could not be read; the other files are scanned anyway. With --json, positions
    /// are in bytes.
    ///
    /// The scan sees through disguises: letters of other alphabets, full-width letters, zero-width
    /// characters, HTML entities, line breaks. Quotation marks and code fences are no protection, because a
    /// model reads their content, too. Nothing is changed or sent. docs/prompt.md explains the ids.
    Scan(ScanArgs),
}

impl PromptCommand {
    /// The shared flags after the subcommand.
    pub(crate) fn flags(&self) -> Common {
        let (model, tools, prompt) = match self {
            Self::Show(which) | Self::Size(which) => (&which.model, &which.tools, &which.prompt),
            Self::Diff(args) => (&args.model, &args.tools, &args.prompt),
            Self::Scan(_) => return Common::default(),
        };
        Common { model: model.clone(), tools: tools.clone(), prompt: prompt.clone(), ..Common::default() }
    }
}

pub(crate) async fn run(command: &PromptCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        PromptCommand::Show(which) => show::show(which, true, common).await,
        PromptCommand::Size(which) => show::show(which, false, common).await,
        PromptCommand::Diff(args) => show::diff(args, common).await,
        PromptCommand::Scan(args) => Ok(scan::run(args, common.json)),
    }
}
