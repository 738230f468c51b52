//! The working directory of a session, and notices about its opening.

use crate::{Runtime, RuntimeError};
use hermes_conversation::{MessageId, SessionId};
use hermes_store::{ImportedParts, Recovery, StoredSession};
use std::path::PathBuf;

/// A notice about changed messages. The session is opened anyway: one damaged message is not worth losing all.
pub(super) fn changed_notice(changed: &[MessageId]) -> Option<String> {
    let first = changed.first()?;
    let more = match changed.len() {
        1 => String::new(),
        more => format!(" and {} more", more - 1),
    };
    Some(format!(
        "message {first}{more} of this session is not as it was written (a damaged disk?); \
         `hermes sessions verify` shows details"
    ))
}

/// A notice about a turn that was cut off.
pub(super) fn recovery_notice(recovery: &Recovery) -> Option<String> {
    if recovery.turns == 0 {
        return None;
    }
    let cut_off = "the last turn was cut off";
    Some(match (recovery.unknown, recovery.collected) {
        (0, 0) => format!("{cut_off}; it has been closed"),
        (0, 1) => format!("{cut_off} while a tool was running; its result was found"),
        (0, many) => format!("{cut_off} while {many} tools were running; their results were found"),
        (1, _) => format!("{cut_off} while a tool was running; its outcome is unknown"),
        (many, _) => format!("{cut_off} while {many} tools were running; their outcome is unknown"),
    })
}

/// A notice about parts of an imported session that are not used.
pub(super) fn unused_notice(parts: Option<&ImportedParts>, id: &SessionId) -> Option<String> {
    let parts = parts?;
    let count = |many: usize, what: &str| format!("{many} {what}{}", if many == 1 { "" } else { "s" });
    let all = [
        parts.system_prompt.as_ref().map(|_| "system prompt".to_owned()),
        parts.settings.as_ref().map(|_| "tool settings".to_owned()),
        parts.cwd.as_ref().map(|_| "folder".to_owned()),
        (!parts.mail.is_empty()).then(|| count(parts.mail.len(), "waiting message")),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| {
        format!(
            "this session was imported; not used without approval: its {} (`hermes sessions trust {id}` shows them)",
            all.join(", ")
        )
    })
}

/// The working directory of a new session: `terminal.cwd`, relative to that of the process.
pub(crate) fn starting_directory(runtime: &Runtime) -> Result<PathBuf, RuntimeError> {
    Ok(match &**runtime.config().settings.terminal.cwd.get()? {
        "" | "." => runtime.launch.cwd.clone(),
        other => {
            let home = runtime.launch.shell.get("HOME").map(PathBuf::from);
            match (["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| other.strip_prefix(start)), home) {
                (Some(rest), Some(home)) => home.join(rest),
                (None, Some(home)) if matches!(other, "~" | "$HOME" | "${HOME}") => home,
                _ => runtime.launch.cwd.join(other),
            }
        }
    })
}

/// The working directory of a stored session, or that of the process if it is gone.
pub(super) fn directory_of(
    runtime: &Runtime,
    stored: &StoredSession,
    restores_cwd: bool,
) -> Result<(PathBuf, Option<String>), RuntimeError> {
    let here = starting_directory(runtime)?;
    let Some(recorded) = stored.cwd.as_deref().map(PathBuf::from).filter(|_| restores_cwd) else {
        return Ok((here, None));
    };
    if recorded == here {
        return Ok((here, None));
    }
    let shown = recorded.display();
    Ok(match recorded.is_dir() {
        true => (recorded.clone(), Some(format!("working directory: {shown}, as this session left it"))),
        false => (
            here,
            Some(format!("the session's working directory {shown} does not exist; using the current one")),
        ),
    })
}
