//! Commands that run beside a session, also while a turn runs: background processes and sub-agents.

use super::CommandReply;
use crate::background_processes::{SessionProcess, duration, rows};
use crate::{Runtime, RuntimeError, Session};
use hermes_conversation::SessionId;
use hermes_delegation::RunningSubAgent;
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

pub(super) fn agents(call: Beside, argument: Option<String>) -> Replying {
    Box::pin(async move {
        let roster = &call.runtime.roster;
        let words: Vec<&str> = argument.as_deref().unwrap_or_default().split_whitespace().collect();
        match words.as_slice() {
            [] => {
                let running = roster.of_session(&call.session);
                if running.is_empty() {
                    return text("no sub-agents of this session are running");
                }
                let row = |one: RunningSubAgent| {
                    let place = if one.is_background { "background" } else { "this turn" };
                    let goal = one.goal.split_whitespace().collect::<Vec<_>>().join(" ");
                    vec![one.number.to_string(), place.to_owned(), duration(one.uptime.as_secs_f64()), goal]
                };
                Ok(CommandReply::Table { title: None, rows: running.into_iter().map(row).collect() })
            }
            ["stop", number] => text(match number.trim_start_matches('#').parse() {
                Err(_) => format!("invalid number `{number}`; /agents lists the running sub-agents"),
                Ok(number) => match roster.stop(&call.session, number) {
                    Some(goal) => format!("stopping sub-agent {number}: {goal}"),
                    None => format!("no sub-agent {number} is running; /agents lists them"),
                },
            }),
            _ => text("/agents takes nothing, or `stop` and the number of a sub-agent"),
        }
    })
}

pub(super) fn stop(call: Beside, _: Option<String>) -> Replying {
    Box::pin(async move {
        let stopped = call.runtime.roster.stop_background(&call.session);
        let ended = call.runtime.kill_processes_of(&call.session).await?;
        let count = |many: usize, one: &str, more: &str| match many {
            0 => None,
            1 => Some(format!("1 {one}")),
            many => Some(format!("{many} {more}")),
        };
        let all = [
            count(ended, "background process", "background processes"),
            count(stopped, "background sub-agent", "background sub-agents"),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        text(match (all.is_empty(), call.is_busy) {
            (true, true) => "stopping the turn".to_owned(),
            (true, false) => "nothing is running".to_owned(),
            (false, _) => format!("ended {}", all.join(" and ")),
        })
    })
}

fn text(text: impl Into<String>) -> Reply {
    Ok(CommandReply::Text(text.into()))
}
