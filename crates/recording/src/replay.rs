//! Replays a recording in a temporary home, and reports the first difference.

use super::cursor::{Cursor, Ended};
use super::error::RecordingError;
use super::line::SessionLine;
use super::player::{Live, Player, ReplayEnvironment, difference, of_store, setup, unread};
use super::reading::Recording;
use super::request_line::common;
use hermes_conversation::SessionId;
use hermes_exec::Local;
use hermes_guard::FenceKey;
use hermes_plugins::context_engine::{EngineSettings, with_tools};
use hermes_store::SessionDb;
use hermes_tools::{PathLocks, Registry, ToolContext, ToolSettings, ToolSetup, Toolbox};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub requests: u64,
    pub events: usize,
    pub turns: usize,
    /// The digest over everything that was stored.
    pub state: String,
    /// The first difference; without one the runs are identical.
    pub difference: Option<Difference>,
    /// The recording ends in the middle of a turn: it was cut, and the rest is unknown.
    pub is_cut: bool,
}

/// The first difference between a run and its recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Counting from 1.
    pub event: usize,
    /// In the file.
    pub line: usize,
    /// The first byte that is not the same, counting from 0.
    pub byte: usize,
    /// The text around it in the recording.
    pub expected: String,
    /// The text around it in the replay.
    pub got: String,
}

impl Difference {
    pub(crate) fn between(event: usize, line: usize, expected: &str, got: &str) -> Self {
        let byte = common(expected.as_bytes(), got.as_bytes());
        let (expected, got) = (excerpt(expected, byte), excerpt(got, byte));
        Self { event, line, byte, expected, got }
    }
}

/// An excerpt of a text around a byte.
fn excerpt(text: &str, place: usize) -> String {
    const BEFORE: usize = 40;
    const AFTER: usize = 80;
    let start = text.floor_char_boundary(place.saturating_sub(BEFORE));
    let end = text.floor_char_boundary((place + AFTER).min(text.len()));
    let cut = text.get(start..end).unwrap_or_default();
    let (left, right) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{left}{cut}{right}")
}

/// Plays a recording from beginning to end. Nothing is sent, no tool runs, and no home is touched but a
/// temporary one.
pub async fn replay(recording: Arc<Recording>) -> Result<Verdict, RecordingError> {
    let is_torn = recording.is_torn;
    let cursor = Arc::new(Cursor::new(recording, true, None));
    let around = Nowhere::new(cursor.clone())?;
    let mut player = Player::new(cursor.clone(), &around);
    player.play(|| (CancellationToken::new(), unread())).await?;
    Ok(Verdict {
        requests: cursor.requests(),
        events: cursor.events(),
        turns: player.turns,
        state: player.state_hex(),
        difference: difference(&cursor),
        is_cut: is_torn || matches!(cursor.ended(), Some(Ended::RanOut)),
    })
}

/// A home for the time of a replay.
struct Nowhere {
    folder: TempDir,
    store: SessionDb,
}

impl Nowhere {
    fn new(cursor: Arc<Cursor>) -> Result<Self, RecordingError> {
        let folder = tempfile::Builder::new().prefix("hermes-replay-").tempdir();
        let folder = folder.map_err(|error| setup(&format!("a temporary folder: {error}")))?;
        let clock = Arc::new(move || cursor.now());
        let store = SessionDb::open(&folder.path().join("state.db"), clock).map_err(of_store)?;
        Ok(Self { folder, store })
    }
}

impl ReplayEnvironment for Nowhere {
    fn store(&self) -> &SessionDb {
        &self.store
    }

    fn tools(&self, line: &SessionLine) -> Result<Arc<dyn Toolbox>, RecordingError> {
        let chosen = Registry::builtin().select(Some(&line.toolsets), &line.disabled_toolsets);
        let mut chosen = chosen.map_err(|error| setup(&error.to_string()))?;
        if matches!(line.context.as_ref().map(|context| &context.engine), Some(EngineSettings::Lossless(_))) {
            chosen = chosen.with_context_tools();
        }
        if let Some(names) = &line.tools {
            chosen = chosen.only(names);
        }
        let (chosen, _) = with_tools(&chosen, line.engine_tools.clone(), None);
        Ok(Arc::new(chosen.deferring(&line.waiting)))
    }

    fn tool_context(&self, cwd: PathBuf) -> Result<Arc<ToolContext>, RecordingError> {
        Ok(Arc::new(idle_tools(cwd, self.folder.path())))
    }

    fn id(&self, recorded: &str) -> SessionId {
        SessionId::new(recorded.to_owned())
    }

    fn live(&self) -> Option<Live> {
        None
    }
}

/// The surroundings of tools that never run.
fn idle_tools(cwd: PathBuf, folder: &Path) -> ToolContext {
    ToolContext::new(ToolSetup {
        session: "replay".to_owned(),
        delegate: None,
        memory: None,
        skills: None,
        record: None,
        library: None,
        checkpoints: None,
        processes: None,
        web: None,
        vision: None,
        fence_key: Arc::new(|| FenceKey::new([0; 32])),
        cwd,
        home: folder.to_owned(),
        user_home: Some(folder.to_owned()),
        scratch: folder.join("scratch"),
        backend: Arc::new(Local),
        child_env: Vec::new(),
        secrets: Arc::default(),
        settings: ToolSettings::default(),
        locks: Arc::new(PathLocks::default()),
        safety: hermes_tools::Safety::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_stands_around_its_first_byte() {
        let (left, right) = (format!("{}x{}", "a".repeat(100), "b".repeat(200)), "a".repeat(100));
        let found = Difference::between(3, 4, &left, &right);
        assert_eq!(found.byte, 100);
        assert_eq!(found.expected, format!("…{}x{}…", "a".repeat(40), "b".repeat(79)));
        assert_eq!(found.got, format!("…{}", "a".repeat(40)));
        let same_start = Difference::between(1, 2, "über", "üben");
        assert_eq!((same_start.byte, same_start.got.as_str()), (4, "üben"));
    }
}
