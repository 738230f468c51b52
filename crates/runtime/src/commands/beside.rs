//! Commands that run beside a session, also while a turn runs: background processes.

use super::CommandReply;
use crate::background_processes::{SessionProcess, rows};
use crate::{Runtime, RuntimeError, Session};
use hermes_conversation::SessionId;
use std::pin::Pin;

/// The session that a command was entered in.
pub(crate) struct Beside {
    pub(crate) runtime: Runtime,
    pub(crate) session: SessionId,
    pub(crate) is_busy: bool,
}

impl Beside {
    pub(crate) fn of(session: &Session, is_busy: bool) -> Self {
        Self { runtime: session.runtime().clone(), session: session.id().clone(), is_busy }
    }
}

type Reply = Result<CommandReply, RuntimeError>;
type Replying = Pin<Box<dyn Future<Output = Reply> + Send>>;
pub(crate) type BesideHandler = fn(Beside, Option<String>) -> Replying;

pub(super) fn list(call: Beside, argument: Option<String>) -> Replying {
    Box::pin(async move {
        let is_all = match argument.as_deref() {
            None => false,
            Some("all") => true,
            Some(other) => return text(format!("/ps takes `all` or nothing, not `{other}`")),
        };
        let all = call.runtime.background_processes().await?;
        let shown: Vec<&SessionProcess> =
            all.iter().filter(|process| is_all || process.session == call.session).collect();
        match (shown.is_empty(), is_all) {
            (true, true) => text("no background processes"),
            (true, false) => {
                text("no background processes of this session; `/ps all` lists those of all sessions")
            }
            (false, _) => Ok(CommandReply::Table { title: None, rows: rows(shown.into_iter()) }),
        }
    })
}

pub(super) fn kill(call: Beside, argument: Option<String>) -> Replying {
    Box::pin(async move {
        let Some(which) = argument else {
            return text("/kill needs the number of a process; /ps lists them");
        };
        let process = call.runtime.kill_process(&which).await?;
        let SessionProcess { state, .. } = &process;
        text(match process.is_running() {
            true => format!("ended process {}: {}", state.number, state.command),
            false => format!("process {} has ended already ({})", state.number, process.status()),
        })
    })
}

pub(super) fn stop(call: Beside, _: Option<String>) -> Replying {
    Box::pin(async move {
        let ended = call.runtime.kill_processes_of(&call.session).await?;
        text(match (ended, call.is_busy) {
            (0, true) => "stopping the turn".to_owned(),
            (0, false) => "nothing is running".to_owned(),
            (1, _) => "ended 1 background process".to_owned(),
            (many, _) => format!("ended {many} background processes"),
        })
    })
}

fn text(text: impl Into<String>) -> Reply {
    Ok(CommandReply::Text(text.into()))
}
