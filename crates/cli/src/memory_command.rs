//! `hermes memory`: what is remembered across sessions, for the person it is remembered about.

mod show;

use crate::args::Common;
use crate::exit::{Exit, Failure, with_causes};
use crate::{config_command, launch, term};
use clap::{Subcommand, ValueEnum};
use hermes_runtime::{forget_pending, memory_book, pending};
use hermes_store::memory::{Author, ChangeId, MemoryBook, MemoryError, Op, Target};

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// The entries, and how full the files are
    ///
    /// MEMORY.md holds the agent's own notes, USER.md what it knows of you. Entries that look unsafe are
    /// marked; the model does not see them. New sessions begin with what is here now; those that have begun
    /// keep what they began with.
    Show {
        /// Only this file
        #[arg(long, value_enum)]
        target: Option<TargetName>,
    },
    /// Add an entry
    Add {
        #[arg(required = true, num_args = 1.., value_name = "TEXT")]
        text: Vec<String>,
        /// The agent's notes, or what it knows of you
        #[arg(long, value_enum, default_value = "memory")]
        target: TargetName,
    },
    /// Put other words in the place of an entry
    Edit {
        /// A part of the entry that no other entry has
        old: String,
        /// The whole entry as it should be
        #[arg(required = true, num_args = 1.., value_name = "TEXT")]
        text: Vec<String>,
        #[arg(long, value_enum, default_value = "memory")]
        target: TargetName,
    },
    /// Take an entry away; `hermes memory undo` brings it back
    Remove {
        /// A part of the entry that no other entry has
        #[arg(required = true, num_args = 1.., value_name = "PART")]
        old: Vec<String>,
        #[arg(long, value_enum, default_value = "memory")]
        target: TargetName,
    },
    /// Every change: when, by whom, in which session, what went and what came
    ///
    /// Oldest first. `outside` is what another program or an editor did; it is noticed at the next change.
    History {
        /// Only this file
        #[arg(long, value_enum)]
        target: Option<TargetName>,
    },
    /// List changes that wait for your approval (memory.write_approval)
    Pending,
    /// Make a change that waits for your approval
    Approve {
        /// As `hermes memory pending` names it, or `all`
        id: String,
    },
    /// Drop a change that waits for your approval
    Reject {
        /// As `hermes memory pending` names it, or `all`
        id: String,
    },
    /// Take a change back; later changes stay
    ///
    /// Without a CHANGE, the newest that was not taken back yet; again, the one before it. An undo is a
    /// change, too: naming it brings back what it took.
    Undo {
        /// As `hermes memory history` names it, for instance m12 or u3
        change: Option<String>,
        /// Without a CHANGE: the newest of this file
        #[arg(long, value_enum)]
        target: Option<TargetName>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetName {
    /// The agent's notes, MEMORY.md
    Memory,
    /// What it knows of you, USER.md
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
    let book = memory_book(&config_command::read(common)?, launch::home()?.path());
    let book = book.map_err(config_command::failure)?;
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

/// Makes or drops changes that wait. One that cannot be made goes on waiting.
fn decide(book: &MemoryBook, id: &str, decision: Decision, common: &Common) -> Result<Exit, Failure> {
    let home = launch::home()?;
    let all = pending(&home);
    let chosen: Vec<_> = all.iter().filter(|change| id == "all" || change.id == id).collect();
    if chosen.is_empty() {
        return Err(Failure::usage(format!("no change waits as `{id}`; `hermes memory pending` lists them")));
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

/// One line, and under it what helps to choose better words.
fn failure(error: MemoryError) -> Failure {
    if let MemoryError::SeveralMatches { previews, .. } = error.innermost() {
        for preview in previews {
            term::complain(&format!("  {}", term::one_line(preview, 100)));
        }
    }
    let exit = match error.innermost() {
        MemoryError::Io { .. } | MemoryError::Unreadable { .. } => Exit::Permission,
        MemoryError::Busy { .. } | MemoryError::Drifted { .. } => Exit::FailedTurn,
        _ => Exit::Usage,
    };
    Failure::new(exit, with_causes(&error))
}
