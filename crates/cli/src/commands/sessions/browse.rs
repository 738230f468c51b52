//! `hermes sessions browse`: picks a session on the whole screen and resumes it.

use super::NO_SESSIONS;
use crate::commands::chat;
use crate::exit::{Exit, Failure};
use crate::flags::{Common, ConversationFlags, ModelFlags, ToolFlags, TurnFlags};
use clap::Args;
use hermes_runtime::Runtime;
use hermes_store::ListFilter;
use hermes_terminal::browse::{self, Chosen};
use hermes_terminal::term;
use std::io::IsTerminal;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes sessions browse
  hermes sessions browse --source telegram")]
pub(crate) struct BrowseArgs {
    /// Number of sessions to list; the search covers all
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(super) limit: usize,
    /// List only sessions with this tag
    #[arg(long, value_name = "TAG")]
    source: Option<String>,
    /// Stay in the current directory when resuming a session of another one
    #[arg(long)]
    no_restore_cwd: bool,
    #[command(flatten)]
    model: ModelFlags,
    #[command(flatten)]
    tools: ToolFlags,
    #[command(flatten)]
    turns: TurnFlags,
}

impl BrowseArgs {
    /// The shared flags after the subcommand.
    pub(super) fn flags(&self) -> Common {
        let Self { source, no_restore_cwd, model, tools, turns, .. } = self.clone();
        let conversation = ConversationFlags { no_restore_cwd, ..ConversationFlags::default() };
        Common { source, conversation, model, tools, turns, ..Common::default() }
    }
}

/// Refuses to browse without a terminal.
pub(super) fn require_terminal() -> Result<(), Failure> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage(
        "browsing needs a terminal; use `hermes sessions list` or `hermes sessions search` instead",
    ))
}

/// Lets the user pick a session, and resumes it as `hermes --resume ID` does.
pub(super) async fn run(runtime: Runtime, args: &BrowseArgs, common: &Common) -> Result<Exit, Failure> {
    require_terminal()?;
    let filter = ListFilter { source: common.source.clone(), limit: args.limit, ..ListFilter::default() };
    let chosen = browse::choose(runtime.store()?, filter).await;
    runtime.leave().await;
    // The conversation opens the store for itself.
    drop(runtime);
    match chosen? {
        Chosen::Session(id) => {
            let conversation =
                ConversationFlags { resume: Some(id.to_string()), ..common.conversation.clone() };
            // The tag filtered the list; it does not apply to sessions that are started later.
            let common = Common { conversation, source: None, ..common.clone() };
            Box::pin(chat::run(chat::ChatArgs::default(), common)).await
        }
        Chosen::Empty => {
            term::print_line(NO_SESSIONS);
            Ok(Exit::Answered)
        }
        Chosen::Left => Ok(Exit::Answered),
        Chosen::Interrupted => Ok(Exit::Interrupted),
    }
}
