//! The background processes of a home directory, for users: listing and ending them.

use crate::{Runtime, RuntimeError};
use hermes_conversation::SessionId;
use hermes_tools::ProcessState;

/// A background process and the session that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionProcess {
    pub session: SessionId,
    pub state: ProcessState,
}

impl SessionProcess {
    /// The state, for instance `running` or `exited 1`.
    pub fn status(&self) -> String {
        match &self.state.exit {
            None => "running".to_owned(),
            Some(exit) if exit.reason == "exited" => format!("exited {}", exit.code),
            Some(exit) => exit.reason.replace('_', " "),
        }
    }

    /// Returns true if a user means this process: by its number, its id, or the id without `proc_`.
    pub fn is_named(&self, which: &str) -> bool {
        is_named(&self.state, which)
    }

    pub fn is_running(&self) -> bool {
        self.state.exit.is_none()
    }
}

impl Runtime {
    /// All background processes of the home directory, oldest first.
    pub async fn background_processes(&self) -> Result<Vec<SessionProcess>, RuntimeError> {
        let Some(manager) = self.processes() else { return Ok(Vec::new()) };
        let all = manager.all().await.map_err(RuntimeError::Processes)?;
        Ok(all.into_iter().map(|(session, state)| SessionProcess { session, state }).collect())
    }

    /// Ends a background process and everything it started. Returns it as it was before.
    pub async fn kill_process(&self, which: &str) -> Result<SessionProcess, RuntimeError> {
        let all = self.background_processes().await?;
        let Some(found) = all.into_iter().find(|process| process.is_named(which)) else {
            return Err(RuntimeError::NoProcess(which.to_owned()));
        };
        if let (true, Some(manager)) = (found.is_running(), self.processes()) {
            manager.kill_by_id(&found.state.id).await.map_err(RuntimeError::Processes)?;
        }
        Ok(found)
    }

    /// Ends the running background processes of a session. Returns their number.
    pub async fn kill_processes_of(&self, session: &SessionId) -> Result<usize, RuntimeError> {
        match self.processes() {
            Some(manager) => manager.kill_all(session).await.map_err(RuntimeError::Processes),
            None => Ok(0),
        }
    }

    /// The running processes that sessions of this Hermes have started or looked at.
    pub async fn processes_left_running(&self) -> Result<Vec<SessionProcess>, RuntimeError> {
        let Some(manager) = self.opened_processes() else { return Ok(Vec::new()) };
        let watched = manager.watched().await.map_err(RuntimeError::Processes)?;
        Ok(watched.into_iter().map(|(session, state)| SessionProcess { session, state }).collect())
    }
}

fn is_named(state: &ProcessState, which: &str) -> bool {
    let which = which.trim().trim_start_matches('#');
    state.id == which
        || state.id.strip_prefix("proc_") == Some(which)
        || which.parse::<i64>().is_ok_and(|number| number == state.number)
}

/// The rows of `/ps`: number, state, time, command.
pub(crate) fn rows<'a>(processes: impl Iterator<Item = &'a SessionProcess>) -> Vec<Vec<String>> {
    processes
        .map(|process| {
            let SessionProcess { state, .. } = process;
            let command = state.command.split_whitespace().collect::<Vec<_>>().join(" ");
            vec![state.number.to_string(), process.status(), duration(state.uptime), command]
        })
        .collect()
}

/// A duration in its two largest units.
pub fn duration(seconds: f64) -> String {
    // Durations of processes fit.
    let seconds = seconds.max(0.0) as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_tools::ProcessExit;

    fn state(number: i64, exit: Option<(i32, &str)>) -> ProcessState {
        ProcessState {
            number,
            id: format!("proc_00000000000{number}"),
            command: "npm  run\ndev".to_owned(),
            cwd: "/p".to_owned(),
            pid: 7,
            started_at: 0.0,
            uptime: 3_725.0,
            has_terminal: false,
            notifies: false,
            patterns: Vec::new(),
            exit: exit.map(|(code, reason)| ProcessExit { code, reason: reason.to_owned() }),
            output: String::new(),
            written: 0,
        }
    }

    #[test]
    fn processes_are_named_by_number_or_id() {
        for (which, want) in [
            ("3", true),
            ("#3", true),
            ("proc_000000000003", true),
            ("000000000003", true),
            ("33", false),
            ("proc_", false),
            ("", false),
        ] {
            assert_eq!(is_named(&state(3, None), which), want, "{which}");
        }
    }

    #[test]
    fn rows_say_how_processes_are() {
        for (exit, want) in [
            (None, "running"),
            (Some((2, "exited")), "exited 2"),
            (Some((-1, "failed_start")), "failed start"),
            (Some((-1, "lost")), "lost"),
        ] {
            let process = SessionProcess { session: SessionId::new("s"), state: state(3, exit) };
            assert_eq!(rows([&process].into_iter()), [["3", want, "1 h 2 min", "npm run dev"]]);
        }
    }

    #[test]
    fn durations_have_two_units() {
        for (seconds, want) in [
            (-1.0, "0 s"),
            (59.9, "59 s"),
            (60.0, "1 min 0 s"),
            (86_399.0, "23 h 59 min"),
            (90_000.0, "1 d 1 h"),
        ] {
            assert_eq!(duration(seconds), want);
        }
    }
}
