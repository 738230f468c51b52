//! Observations: times and results of model calls and tools.
//!
//! An observation stays in memory until the next commit of its turn, so it costs no transaction and no sync
//! of its own. Only a failed model call is written at once, without a sync: a wait may follow, and a trace of
//! a killed process should show its reason.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use hermes_conversation::{CacheEntry, CallEnd, IntentId, ModelCall, Observed, TurnId, Usage};
use rusqlite::{Connection, params};
use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// Far more than a turn has between two commits; limits memory if the store fails.
const MAX_PENDING: usize = 4096;

/// Start and end of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ToolTimes {
    pub(crate) started_at: f64,
    pub(crate) ended_at: f64,
}

/// A model call, encoded for its row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallSpan {
    name: String,
    times: ToolTimes,
    /// JSON.
    detail: String,
}

/// Observations of all turns of this process that are not yet written.
#[derive(Debug, Default)]
pub(crate) struct Pending(Mutex<PendingSpans>);

#[derive(Debug, Default)]
struct PendingSpans {
    calls: Vec<(TurnId, CallSpan)>,
    tools: Vec<(IntentId, ToolTimes)>,
}

impl SessionDb {
    /// Records an observation that ended now.
    pub(crate) fn note(&self, observed: Observed) {
        let now = self.now();
        match observed {
            Observed::ModelCall { turn, call } if matches!(call.end, CallEnd::Failed(_)) => {
                let span = span(&call, now);
                drop(self.write(Level::Normal, move |db| insert(db, turn, &span)));
            }
            observed => self.shared.observed.add(observed, now),
        }
    }
}

impl Pending {
    /// Adds an observation that ended at `now`.
    fn add(&self, observed: Observed, now: f64) {
        self.with(|waiting| {
            if waiting.calls.len() + waiting.tools.len() >= MAX_PENDING {
                *waiting = PendingSpans::default();
            }
            match observed {
                Observed::ToolRan { intent, took } => waiting.tools.push((intent, times(now, took))),
                Observed::ModelCall { turn, call } => waiting.calls.push((turn, span(&call, now))),
            }
        });
    }

    /// Removes and returns the model calls of a turn.
    pub(crate) fn calls(&self, turn: TurnId) -> Vec<CallSpan> {
        self.with(|waiting| {
            waiting.calls.extract_if(.., |(of, _)| *of == turn).map(|(_, call)| call).collect()
        })
    }

    /// Removes and returns the times of these tool calls, in order.
    pub(crate) fn tools(&self, intents: impl Iterator<Item = IntentId>) -> Vec<Option<ToolTimes>> {
        self.with(|waiting| {
            let mut take = |intent| {
                let place = waiting.tools.iter().position(|(of, _)| *of == intent)?;
                Some(waiting.tools.swap_remove(place).1)
            };
            intents.map(&mut take).collect()
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut PendingSpans) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes one model call.
pub(crate) fn insert(db: &Connection, turn: TurnId, call: &CallSpan) -> Result<(), StoreError> {
    db.prepare_cached(
        "INSERT INTO hx_spans (turn, n, kind, name, started_at, ended_at, detail)
         VALUES (?1, (SELECT COALESCE(MAX(n), 0) + 1 FROM hx_spans WHERE turn = ?1), 'model', ?2, ?3, ?4, ?5)",
    )
    .and_then(|mut insert| {
        let ToolTimes { started_at, ended_at } = call.times;
        insert.execute(params![turn.0, call.name, started_at, ended_at, call.detail])
    })
    .doing("record a model call")?;
    Ok(())
}

fn times(now: f64, took: std::time::Duration) -> ToolTimes {
    ToolTimes { started_at: now - took.as_secs_f64(), ended_at: now }
}

fn span(call: &ModelCall, now: f64) -> CallSpan {
    let (outcome, why) = match call.end {
        CallEnd::Replied(finish) => ("replied", finish),
        CallEnd::Failed(class) => ("failed", class),
        CallEnd::Stopped => ("stopped", ""),
    };
    let detail = Detail {
        provider: &call.provider,
        attempt: call.attempt,
        outcome,
        why,
        first_byte_ms: call.first_byte.map(|time| time.as_millis() as u64),
        usage: call.usage,
        cost_usd: call.cost.and_then(|cost| cost.known()).map(|money| money.dollars()),
        cost_status: call.cost.map(|cost| cost.status.as_str()),
        cache: call.cache,
        partial: call.partial.as_deref(),
    };
    // Serialising these fields cannot fail.
    let detail = serde_json::to_string(&detail).unwrap_or_default();
    CallSpan { name: call.model.clone(), times: times(now, call.took), detail }
}

/// Details of a model call, stored as JSON; later versions may add fields.
#[derive(Serialize)]
struct Detail<'a> {
    provider: &'a str,
    attempt: u32,
    outcome: &'a str,
    why: &'a str,
    first_byte_ms: Option<u64>,
    usage: Option<Usage>,
    cost_usd: Option<f64>,
    cost_status: Option<&'a str>,
    cache: CacheEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<&'a str>,
}
