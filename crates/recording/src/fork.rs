//! Plays a recording up to one of its model calls and continues with a live model.

use super::cursor::Cursor;
use super::error::RecordingError;
use super::line::{SessionLine, What};
use super::player::{Live, Player, ReplayEnvironment, WentLive, difference, of_store, setup};
use super::reading::Recording;
use super::replay::replay;
use super::steps::steps;
use hermes_agent::TurnReport;
use hermes_conversation::{EventSink, SessionId};
use hermes_store::SessionDb;
use hermes_tools::{AskUser, ToolContext, Toolbox};
use hermes_wire::ModelRoute;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The home in which a fork continues.
pub struct ForkHome {
    pub store: SessionDb,
    pub tools: Arc<dyn Toolbox>,
    /// Makes the tool context for a working directory, which may be one of another machine.
    pub tool_context: Box<dyn Fn(PathBuf) -> Result<Arc<ToolContext>, String> + Send + Sync>,
    pub new_id: fn() -> SessionId,
    /// The models that answer from the fork on.
    pub route: Arc<dyn ModelRoute>,
    pub ask: Arc<dyn AskUser>,
}

/// A turn that was begun by a recording and ended by a live model.
#[derive(Debug)]
pub struct Forked {
    pub report: TurnReport,
    pub session: SessionId,
    pub title: String,
}

/// Continues from the request `from` with the models and tools of `home`, in a new session. Everything
/// before it is replayed first, in a temporary home: no model is called if it differs. `events` gets
/// the events of the turn in which the live model is called.
pub async fn fork(
    home: &ForkHome,
    recording: Arc<Recording>,
    from: u64,
    cancel: CancellationToken,
    events: EventSink,
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
    let mut player = Player::new(cursor.clone(), home);
    let mut events = Some(events);
    // Only the turn that goes live is shown; turns before it are played without a channel.
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
    let store = &home.store;
    let wanted = format!("fork at step {from}");
    let title = store.next_title(&wanted).await.map_err(of_store)?;
    store.set_title(&session, &title).await.map_err(of_store)?;
    // A lease that was not given back is taken over from the dead process.
    let _ = store.release_ending(&lease, "cli_close").await;
    Ok(Forked { report, session, title })
}

/// The turn of the request, counting from 1.
fn recorded_turn(cursor: &Cursor, from: u64) -> usize {
    let steps = steps(cursor.recording());
    steps.iter().find(|step| step.number == from).map_or(1, |step| step.turn)
}

impl ReplayEnvironment for ForkHome {
    fn store(&self) -> &SessionDb {
        &self.store
    }

    fn tools(&self, _: &SessionLine) -> Result<Arc<dyn Toolbox>, RecordingError> {
        Ok(self.tools.clone())
    }

    fn tool_context(&self, cwd: PathBuf) -> Result<Arc<ToolContext>, RecordingError> {
        (self.tool_context)(cwd).map_err(|why| setup(&why))
    }

    fn id(&self, _: &str) -> SessionId {
        (self.new_id)()
    }

    fn live(&self) -> Option<Live> {
        Some(Live { route: self.route.clone(), ask: self.ask.clone() })
    }
}
