//! `hermes memory`: the memory that sessions share.

mod show;

use crate::commands::config;
use crate::exit::{Exit, Failure, with_causes};
use crate::flags::Common;
use crate::launch;
use clap::{Subcommand, ValueEnum};
use hermes_memory::files::{Author, ChangeId, MemoryBook, MemoryError, Op, Target};
use hermes_runtime::{forget_pending, memory_book, pending};
use hermes_terminal::term;

/// Show and edit the memory that sessions share
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes memory show
  hermes memory add \"The staging server is staging.example.com\"
  hermes memory add --target user \"Prefers short answers\"
  hermes memory undo")]
pub(crate) enum MemoryCommand {
    /// Show the entries and the size of the memory files
    ///
    /// MEMORY.md holds the agent's notes, USER.md what it knows about you. Entries that look unsafe are marked and not
    /// sent to the model. A session keeps the memory it started with; changes apply to new sessions.
    Show {
        /// Show only this file
        #[arg(long, value_enum)]
        target: Option<TargetName>,
    },
    /// Add an entry
    Add {
        /// Text of the entry
        #[arg(required = true, num_args = 1.., value_name = "TEXT")]
        text: Vec<String>,
        /// File to change
        #[arg(long, value_enum, default_value = "memory")]
        target: TargetName,
    },
    /// Replace an entry
    Edit {
        /// A part of the entry that no other entry contains
        old: String,
        /// The new entry
        #[arg(required = true, num_args = 1.., value_name = "TEXT")]
        text: Vec<String>,
        /// File to change
        #[arg(long, value_enum, default_value = "memory")]
        target: TargetName,
    },
    /// Remove an entry; `hermes memory undo` restores it
    Remove {
        /// A part of the entry that no other entry contains
        #[arg(required = true, num_args = 1.., value_name = "PART")]
        old: Vec<String>,
        /// File to change
        #[arg(long, value_enum, default_value = "memory")]
        target: TargetName,
    },
    /// List the changes: time, author, session, old and new text
    ///
    /// Oldest first. The author `outside` is another program or an editor; its changes are noticed at the next change.
    History {
        /// Show only this file
        #[arg(long, value_enum)]
        target: Option<TargetName>,
    },
    /// List changes that wait for your approval (memory.write_approval)
    Pending,
    /// Approve a pending change
    Approve {
        /// Id from `hermes memory pending`, or `all`
        id: String,
    },
    /// Reject a pending change
    Reject {
        /// Id from `hermes memory pending`, or `all`
        id: String,
    },
    /// Undo a change; later changes stay
    ///
    /// Without CHANGE, undoes the newest change that is not undone yet. An undo is a change, too: undo it to restore
    /// the entry.
    Undo {
        /// Id from `hermes memory history`, such as m12 or u3
        change: Option<String>,
        /// Without CHANGE: undo the newest change of this file
        #[arg(long, value_enum)]
        target: Option<TargetName>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetName {
    /// MEMORY.md, the agent's notes
    Memory,
    /// USER.md, what the agent knows about you
    User,
}

impl From<TargetName> for Target {
    fn from(name: TargetName) -> Self {
        match name {
            TargetName::Memory => Self::Memory,
            TargetName::User => Self::User,
        }
    }
}

pub(crate) fn run(command: MemoryCommand, common: &Common) -> Result<Exit, Failure> {
    let book = memory_book(&config::read(common)?, launch::home()?.path());
    let book = book.map_err(config::failure)?;
    match command {
        MemoryCommand::Show { target } => show::entries(&book, targets(target), common.json),
        MemoryCommand::History { target } => show::history(&book, targets(target), common.json),
        MemoryCommand::Add { text, target } => {
            change(&book, target, Op::Add { content: text.join(" ") }, common)
        }
        MemoryCommand::Edit { old, text, target } => {
            change(&book, target, Op::Replace { old_text: old, content: text.join(" ") }, common)
        }
        MemoryCommand::Remove { old, target } => {
            change(&book, target, Op::Remove { old_text: old.join(" ") }, common)
        }
        MemoryCommand::Undo { change, target } => undo(&book, change, target, common),
        MemoryCommand::Pending => show::pending(&pending(&launch::home()?), common.json),
        MemoryCommand::Approve { id } => decide(&book, &id, Decision::Approve, common),
        MemoryCommand::Reject { id } => decide(&book, &id, Decision::Reject, common),
    }
}

fn targets(only: Option<TargetName>) -> Vec<Target> {
    only.map_or(Target::ALL.to_vec(), |name| vec![name.into()])
}

fn change(book: &MemoryBook, target: TargetName, op: Op, common: &Common) -> Result<Exit, Failure> {
    let applied = book.apply(target.into(), &[op], &Author::user()).map_err(failure)?;
    show::changed(&applied, common.json);
    Ok(Exit::Answered)
}

fn undo(
    book: &MemoryBook,
    change: Option<String>,
    target: Option<TargetName>,
    common: &Common,
) -> Result<Exit, Failure> {
    let wanted = change.map(|name| name.parse::<ChangeId>()).transpose().map_err(Failure::usage)?;
    let (undone, applied) = book.undo(wanted, target.map(Target::from), &Author::user()).map_err(failure)?;
    show::undone(&undone, &applied, common.json);
    Ok(Exit::Answered)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Approve,
    Reject,
}

/// Approves or rejects pending changes. A change that fails stays pending.
fn decide(book: &MemoryBook, id: &str, decision: Decision, common: &Common) -> Result<Exit, Failure> {
    let home = launch::home()?;
    let all = pending(&home);
    let chosen: Vec<_> = all.iter().filter(|change| id == "all" || change.id == id).collect();
    if chosen.is_empty() {
        return Err(Failure::usage(format!("no pending change `{id}`; `hermes memory pending` lists them")));
    }
    for change in chosen {
        if decision == Decision::Approve {
            let (target, ops) = change.change().ok_or_else(|| {
                Failure::usage(format!("the change {} cannot be read; reject it", change.id))
            })?;
            let applied = book.apply(target, &ops, &Author::model(&change.origin)).map_err(failure)?;
            show::changed(&applied, common.json);
        }
        forget_pending(&home, change).map_err(|error| {
            Failure::new(Exit::Permission, format!("cannot remove the change {}: {error}", change.id))
        })?;
    }
    Ok(Exit::Answered)
}

/// The error in one line, and below it the entries that help to choose a better text.
fn failure(error: MemoryError) -> Failure {
    if let MemoryError::SeveralMatches { previews, .. } = error.innermost() {
        for preview in previews {
            term::print_error(&format!("  {}", term::one_line(preview, 100)));
        }
    }
    let exit = match error.innermost() {
        MemoryError::Io { .. } | MemoryError::Unreadable { .. } => Exit::Permission,
        MemoryError::Busy { .. } | MemoryError::Drifted { .. } => Exit::FailedTurn,
        _ => Exit::Usage,
    };
    Failure::new(exit, with_causes(&error))
}
