//! `hermes sessions prune`.

use super::list;
use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use clap::Args;
use hermes_conversation::SessionId;
use hermes_store::{Prunable, PruneFilter, SessionDb};
use hermes_terminal::print;
use hermes_terminal::term;
use hermes_terminal::text::counted;
use serde_json::{Value, json};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes sessions prune --older-than 90 --dry-run
  hermes sessions prune --source cron --older-than 7 --yes")]
pub(crate) struct PruneArgs {
    /// Age of the last message, in days
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    older_than: u32,
    /// Delete only sessions with this tag
    #[arg(long, value_name = "TAG")]
    pub(super) source: Option<String>,
    /// Also delete sessions that have not ended, such as those of killed processes
    #[arg(long)]
    all: bool,
    /// List the sessions without deleting them
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

pub(super) async fn run(store: &SessionDb, args: &PruneArgs, common: &Common) -> Result<Exit, Failure> {
    let filter = PruneFilter {
        older_than_days: args.older_than,
        source: common.source.clone(),
        ended_only: !args.all,
    };
    let found = store.prunable(filter.clone()).await?;
    if !common.json {
        list(&found, args);
    }
    if args.dry_run || found.is_empty() {
        report_json(&found, &[], common);
        return Ok(Exit::Answered);
    }
    let question = || format!("Delete {} permanently?", sessions(found.len()));
    if !args.yes && !confirm(&question(), "add --yes to delete them, or --dry-run to list them")? {
        term::print_error("Not deleted.");
        return Ok(Exit::FailedTurn);
    }
    let ids: Vec<SessionId> = found.iter().map(|session| session.id.clone()).collect();
    let gone = store.prune(filter, &ids).await?;
    report_json(&found, &gone, common);
    if !common.json {
        term::print_line(&format!("Deleted {}", sessions(gone.len())));
    }
    Ok(Exit::Answered)
}

fn sessions(count: usize) -> String {
    counted(count, "session")
}

fn report_json(found: &[Prunable], gone: &[SessionId], common: &Common) {
    if common.json {
        let found: Vec<Value> = found.iter().map(session_json).collect();
        print::json(&json!({ "prunable": found, "deleted": gone }));
    }
}

fn session_json(session: &Prunable) -> Value {
    json!({ "id": session.id, "title": session.title, "source": session.source,
        "started_at": session.started_at, "last_active": session.last_active, "ended": session.ended,
        "message_count": session.message_count, "preview": session.preview })
}

fn list(found: &[Prunable], args: &PruneArgs) {
    if found.is_empty() {
        let kind = if args.all { "session" } else { "ended session" };
        term::print_line(&format!("No {kind} is older than {}.", counted(args.older_than, "day")));
    }
    print::lines(found.iter().map(|session| {
        let name = session.title.as_deref().unwrap_or(&session.preview);
        list::row(&session.id, session.last_active, session.message_count, name)
    }));
}
