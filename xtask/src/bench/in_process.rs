//! Hermes in this process, for measurements from inside.

use anyhow::{Context, Result};
use hermes_conversation::{Content, TurnEvent, UserMessage, events};
use hermes_runtime::{Home as HermesHome, Launch, Program, Runtime, Session};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Opens the home directory of the environment, with additional settings.
pub(super) fn open(flags: Vec<(String, String)>) -> Result<Runtime> {
    let shell: BTreeMap<String, String> = std::env::vars().collect();
    let home = HermesHome::at(PathBuf::from(shell.get("HERMES_HOME").context("no home")?));
    let supervisor = Some(Program::this(vec!["__supervise".to_owned()])?);
    let (cwd, source) = (std::env::current_dir()?, "cli".to_owned());
    Ok(Runtime::open(Launch { home, flags, shell, cwd, source, supervisor })?)
}

/// Says something to a session and gives back its answer, and how many compactions there were.
pub(super) async fn say_to(session: &mut Session, words: &str) -> Result<(String, u64)> {
    let (sink, mut stream) = events();
    let input = UserMessage { content: Content::text(words), api_content: None };
    let stop = CancellationToken::new();
    let listening = async {
        let mut compactions = 0;
        while let Some(event) = stream.next().await {
            compactions += u64::from(matches!(event, TurnEvent::Compacted(_)));
        }
        compactions
    };
    let (report, compactions) = tokio::join!(session.submit(input, &stop, sink), listening);
    Ok((report?.final_response.unwrap_or_default(), compactions))
}

/// A line of this process's status, in KiB.
pub(super) fn memory(name: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).context("no such line")?;
    line.split_whitespace().nth(1).context("no number")?.parse().context("no number")
}
