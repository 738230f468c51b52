//! `hermes sessions`: stored sessions.
//!
//! Renaming, archiving and deleting one session are here; everything else has a file of its own.

mod backup;
mod browse;
mod export;
mod files;
mod import;
mod list;
mod maintenance;
mod progress;
mod prune;
mod search;
mod show;
mod stats;
pub(crate) mod trust;
mod verify;

use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use backup::BackupArgs;
use browse::BrowseArgs;
use clap::{Args, Subcommand};
use export::{ExportArgs, ExportFormatName};
use files::FilesCommand;
use hermes_store::SessionDb;
use hermes_terminal::term;
use hermes_terminal::term::printable;
use list::ListArgs;
use prune::PruneArgs;
use search::SearchArgs;

const NO_SESSIONS: &str = "No sessions yet; start one with `hermes`.";

/// List, browse, show, search, export, import and delete sessions
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes sessions list
  hermes sessions search \"flaky test\" --since 7d
  hermes sessions show latest
  hermes sessions export all.jsonl
  hermes sessions prune --older-than 90 --dry-run")]
pub(crate) enum SessionsCommand {
    /// List the newest sessions
    ///
    /// A conversation that continued under a new id is listed once, under that id. Archived sessions and those of
    /// sub-agents are not listed.
    List(ListArgs),
    /// Pick a session to resume, with search as you type
    ///
    /// The search covers titles, first messages and ids of the list, and the messages of all sessions. Enter resumes
    /// the session, Tab shows its last messages, Esc clears the search and then leaves. With --json, prints the list
    /// as `list --json` does.
    Browse(BrowseArgs),
    /// Show a session with all its messages
    Show(SessionArg),
    /// Export sessions with their messages, one per line
    ///
    /// `import` restores everything, on this machine or another one. Long tool results are stored in files: with
    /// --files they are copied to FILE.files/, where `import` looks for them.
    Export(ExportArgs),
    /// Set the title of a session
    Rename {
        #[command(flatten)]
        which: SessionArg,
        /// New title
        #[arg(required = true, num_args = 1..)]
        title: Vec<String>,
    },
    /// Hide a session from lists
    ///
    /// It can still be searched, shown, exported and resumed. `list --archived` lists archived sessions.
    Archive {
        #[command(flatten)]
        which: SessionArg,
        /// Show the session in lists again
        #[arg(long)]
        undo: bool,
    },
    /// Delete a session permanently
    Delete {
        #[command(flatten)]
        which: SessionArg,
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
    /// Search messages for terms, "phrases", OR, NOT, prefix*
    ///
    /// Punctuation inside a word counts (`C++`, `user@example.com`, `main.rs`), around it does not. Without an exact
    /// match, messages that differ in punctuation are shown. In scripts without spaces any part of a word matches.
    /// With --json, every hit includes the messages before and after it.
    Search(SearchArgs),
    /// Count sessions, messages, tool calls and tokens, by model, source and day
    ///
    /// A session counts for the day it started.
    Stats,
    /// Import sessions from a file that `export` wrote
    ///
    /// The file is JSONL or a JSON array. Sessions whose id is already stored are skipped; a session that cannot be
    /// read is reported by its line and skipped as a whole. Limits: 500 sessions, 50,000 messages and 25 MiB in all,
    /// 10,000 messages and 5 MiB per session. Files of long tool results are read from FILE.files/, if it exists.
    Import {
        /// File to read; `-` is standard input
        file: String,
    },
    /// Trust an imported session: use its system prompt and settings
    ///
    /// By default, the system prompt, tool settings, working directory and queued messages of an imported session are
    /// not used when it is resumed: it gets a new prompt. Run this before the first resume to keep them; they are shown
    /// before you confirm.
    Trust {
        #[command(flatten)]
        which: SessionArg,
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
    /// Delete old sessions permanently
    ///
    /// Deletes ended sessions whose last message is older than the limit. Sessions in use are kept.
    Prune(PruneArgs),
    /// List or remove the files of long tool results
    ///
    /// A file is named after the digest of its content and stored once. It is removed with the last session that
    /// refers to it. Without a subcommand, lists the files.
    Files {
        #[command(subcommand)]
        command: Option<FilesCommand>,
    },
    /// Rebuild the search index
    ///
    /// Sessions can be used meanwhile. Later searches complete an interrupted rebuild.
    Reindex,
    /// Merge the search index and release unused disk space
    ///
    /// Refused while another process has a session open.
    Optimize,
    /// Copy the session database to a file; it may be in use
    Backup(BackupArgs),
    /// Check the integrity of the session store; changes nothing
    ///
    /// The exit code is 1 if a check fails.
    Verify,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArg {
    /// Session: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION")]
    session: String,
}

impl SessionsCommand {
    /// The shared flags after the subcommand.
    pub(crate) fn flags(&self) -> Common {
        let source = match self {
            Self::List(args) => &args.source,
            Self::Search(args) => &args.source,
            Self::Export(args) => &args.source,
            Self::Prune(args) => &args.source,
            Self::Browse(args) => return args.flags(),
            _ => &None,
        };
        Common { source: source.clone(), ..Common::default() }
    }
}

pub(crate) async fn run(command: SessionsCommand, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let file = runtime.home().state_db();
    if !file.exists() && !matches!(command, SessionsCommand::Import { .. }) {
        return nothing_yet(&command, common);
    }
    if matches!(command, SessionsCommand::Verify) {
        // Opening the store could already change it.
        return verify::run(file, common).await;
    }
    let store = launch::store(&runtime)?;
    if let (SessionsCommand::Browse(args), false) = (&command, common.json) {
        return browse::run(runtime, args, common).await;
    }
    let done = match command {
        SessionsCommand::List(args) => list::run(store, args, common).await,
        SessionsCommand::Browse(args) => list::newest(store, args.limit, common).await,
        SessionsCommand::Show(which) => show::run(store, &which.session, common).await,
        SessionsCommand::Export(args) => export::run(store, args, common).await,
        SessionsCommand::Files { command } => {
            files::run(store, command, runtime.file_limits()?, common).await
        }
        SessionsCommand::Rename { which, title } => rename(store, &which.session, &title.join(" ")).await,
        SessionsCommand::Archive { which, undo } => archive(store, &which.session, undo).await,
        SessionsCommand::Delete { which, yes } => delete(store, &which.session, yes).await,
        SessionsCommand::Search(args) => search::run(store, args, common).await,
        SessionsCommand::Stats => stats::run(store, common).await,
        SessionsCommand::Import { file } => import::run(store, &file, common).await,
        SessionsCommand::Trust { which, yes } => trust::run(store, &which.session, yes, common).await,
        SessionsCommand::Prune(args) => prune::run(store, &args, common).await,
        SessionsCommand::Reindex => maintenance::reindex(store, common).await,
        SessionsCommand::Optimize => maintenance::optimize(store, common).await,
        SessionsCommand::Backup(args) => backup::run(store, &args, common).await,
        SessionsCommand::Verify => unreachable!("runs before the store is opened"),
    };
    runtime.leave().await;
    done
}

/// The result of a command in a home without a session database, which is not created for it.
fn nothing_yet(command: &SessionsCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        SessionsCommand::List(_) | SessionsCommand::Browse(_) if common.json => term::print_line("[]"),
        SessionsCommand::List(_) => term::print_line(NO_SESSIONS),
        SessionsCommand::Browse(_) => {
            browse::require_terminal()?;
            term::print_line(NO_SESSIONS)
        }
        SessionsCommand::Export(args) if args.file == "-" => match args.format {
            ExportFormatName::Jsonl => true,
            ExportFormatName::Json => term::print_line("[]"),
        },
        SessionsCommand::Files { command: None | Some(FilesCommand::List) } => files::print(&[], common),
        _ => return Err(Failure::usage("there are no sessions yet; start one with `hermes`")),
    };
    Ok(Exit::Answered)
}

async fn rename(store: &SessionDb, which: &str, title: &str) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    match store.set_title(&id, title).await? {
        Some(title) => term::print_line(&format!("{id} is now “{}”", printable(&title))),
        None => term::print_line(&format!("Removed the title of {id}")),
    };
    Ok(Exit::Answered)
}

async fn archive(store: &SessionDb, which: &str, undo: bool) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    store.archive(&id, !undo).await?;
    let id = printable(id.as_str()).into_owned();
    term::print_line(&match undo {
        true => format!("Restored {id}"),
        false => format!("Archived {id}; `hermes sessions archive --undo {id}` restores it"),
    });
    Ok(Exit::Answered)
}

async fn delete(store: &SessionDb, which: &str, yes: bool) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    if !yes && !confirm(&format!("Delete session {id} permanently?"), "add --yes to delete the session")? {
        term::print_error("Not deleted.");
        return Ok(Exit::FailedTurn);
    }
    store.delete(&id).await?;
    term::print_line(&format!("Deleted {id}"));
    Ok(Exit::Answered)
}
