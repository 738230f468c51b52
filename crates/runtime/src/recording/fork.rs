//! Plays a recording up to one of its model calls and goes on from there with a live model.

use super::cursor::Cursor;
use super::error::RecordingError;
use super::line::{SessionLine, What};
use super::player::{Live, Player, Surroundings, WentLive, difference, of_store, setup};
use super::reading::Recording;
use super::replay::replay;
use super::steps::steps;
use crate::Runtime;
use crate::session_handle::new_id;
use hermes_agent::TurnReport;
use hermes_conversation::{EventSink, SessionId};
use hermes_store::SessionDb;
use hermes_tools::{AskUser, ToolContext, Toolbox};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Who watches a fork.
pub struct ForkStage {
    pub ask: Arc<dyn AskUser>,
    pub cancel: CancellationToken,
    /// For the turn in which the live model is asked.
    pub events: EventSink,
}

/// A turn that was begun by a recording and ended by a live model.
#[derive(Debug)]
pub struct Forked {
    pub report: TurnReport,
    pub session: SessionId,
    pub title: String,
}

/// Goes on from the request `from` with the model of this runtime and its real tools, in a new session
/// of its home. What comes before is checked first, in a temporary home: nothing is asked if it differs.
pub async fn fork(
    runtime: &Runtime,
    recording: Arc<Recording>,
    from: u64,
    stage: ForkStage,
) -> Result<Forked, RecordingError> {
    let steps = steps(&recording).len() as u64;
    let place = recording.lines.iter().position(|line| match &line.what {
        What::Request(request) => request.number == from,
        _ => false,
    });
    let Some(place) = place else {
        return Err(RecordingError::NoSuchStep { wanted: from, steps });
    };
    let before = Recording { lines: recording.lines[..place].to_vec(), is_torn: false };
    if let Some(found) = replay(Arc::new(before)).await?.difference {
        let why = format!("line {}: expected {}, got {}", found.line, found.expected, found.got);
        return Err(RecordingError::DiffersBefore { step: from, why });
    }
    let cursor = Arc::new(Cursor::new(recording, false, Some(from)));
    let around = Here::new(runtime, stage.ask)?;
    let mut player = Player::new(cursor.clone(), &around);
    let (cancel, mut events) = (stage.cancel, Some(stage.events));
    // Nobody can say beforehand in which turn it happens; the first one to be shown is the one that
    // the channel belongs to, so turns before it are played without.
    let live_turn = recorded_turn(&cursor, from);
    let mut turn = 0;
    let played = player.play(|| {
        turn += 1;
        let shown = events.take_if(|_| turn == live_turn);
        (cancel.clone(), shown.unwrap_or_else(super::player::unread))
    });
    let Some(WentLive { report, session, lease }) = played.await? else {
        let why = difference(&cursor).map_or_else(
            || "the recording ended".to_owned(),
            |found| format!("line {}: expected {}, got {}", found.line, found.expected, found.got),
        );
        return Err(RecordingError::DiffersBefore { step: from, why });
    };
    let store = around.store();
    let wanted = format!("fork at step {from}");
    let title = store.next_title(&wanted).await.map_err(of_store)?;
    store.set_title(&session, &title).await.map_err(of_store)?;
    // A lease that was not given back is taken over from the dead process.
    let _ = store.release_ending(&lease, "cli_close").await;
    Ok(Forked { report, session, title })
}

/// In which turn the request is asked, counting from 1.
fn recorded_turn(cursor: &Cursor, from: u64) -> usize {
    let steps = steps(cursor.recording());
    steps.iter().find(|step| step.number == from).map_or(1, |step| step.turn)
}

/// The user's own home.
struct Here<'a> {
    runtime: &'a Runtime,
    store: &'a SessionDb,
    live: Live,
}

impl<'a> Here<'a> {
    fn new(runtime: &'a Runtime, ask: Arc<dyn AskUser>) -> Result<Self, RecordingError> {
        let failed = |error: crate::RuntimeError| setup(&error.to_string());
        let endpoint = runtime.endpoint().map_err(failed)?;
        let (route, _) = runtime.route(&endpoint, None).map_err(failed)?;
        Ok(Self { runtime, store: runtime.store().map_err(failed)?, live: Live { route, ask } })
    }
}

impl Surroundings for Here<'_> {
    fn store(&self) -> &SessionDb {
        self.store
    }

    fn tools(&self, _: &SessionLine) -> Result<Arc<dyn Toolbox>, RecordingError> {
        Ok(self.runtime.registry())
    }

    fn tool_context(&self, cwd: PathBuf) -> Result<Arc<ToolContext>, RecordingError> {
        // The folder of the recording may be on another machine.
        let cwd = if cwd.is_dir() { cwd } else { self.runtime.launch.cwd.clone() };
        self.runtime
            .tool_context(&SessionId::new("fork"), cwd, None, false)
            .map_err(|error| setup(&error.to_string()))
    }

    fn id(&self, _: &str) -> SessionId {
        new_id()
    }

    fn live(&self) -> Option<Live> {
        Some(self.live.clone())
    }
}
