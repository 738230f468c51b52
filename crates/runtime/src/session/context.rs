//! The context window of a session: state of its compactions, and compactions between turns.

use super::{Session, State, new_id};
use crate::clock::now;
use crate::delegation::delegate;
use crate::summaries::Summaries;
use crate::tool_setup::SessionTools;
use crate::{Runtime, RuntimeError, model_facts};
use hermes_agent::small_window;
use hermes_agent::{Compacted, ContextState, Input, Ports, PreparedEpoch, Weighed, adopt, compact, prepare};
use hermes_context::{Summarise as _, Window};
use hermes_conversation::{
    Content, EventRelay, EventSink, History, Mail, MailMode, SessionId, Trigger, events,
};
use hermes_plugins::context_engine::choose;
use hermes_store::{CompactionFailures, Pin, SessionDb, StoreError};
use hermes_tools::{PLAN_TOOL, todo_list_in};
use tokio_util::sync::CancellationToken;

/// The stored state of a session's compactions.
async fn load(
    store: &SessionDb,
    id: &SessionId,
    state: &mut ContextState,
) -> Result<CompactionFailures, StoreError> {
    state.pins = texts(store.pins(id).await?);
    let failures = store.compaction_failures(id).await?;
    state.past.fallbacks = failures.fallback_streak;
    state.past.ineffective = failures.ineffective;
    state.past.count = u32::try_from(store.latest_epoch_count(id).await?).unwrap_or(u32::MAX);
    // Without a compaction everything else is in the messages.
    if state.past.count > 0 {
        if !state.forgets_nodes {
            state.remember(store.nodes(id).await?);
        }
        let plan = store.newest_result(id, PLAN_TOOL).await?;
        state.todos = plan.as_ref().and_then(todo_list_in).unwrap_or_default();
    }
    Ok(failures)
}

fn texts(pins: Vec<Pin>) -> Vec<String> {
    pins.into_iter().map(|pin| pin.text).collect()
}

/// A notice about the cooldown of compactions, if there is one.
pub(super) fn cooldown_notice(failures: &CompactionFailures, now: f64) -> Option<String> {
    let left = failures.until.map(|until| until - now).filter(|left| *left > 0.0)?;
    let why = failures.error.as_deref().unwrap_or("the last summary failed");
    Some(format!(
        "compaction is paused for another {left:.0} s ({why}); /compress compacts now, /new starts another \
         conversation"
    ))
}

/// The failures to store after a turn, if they have changed.
pub(super) fn after_turn(
    before: &CompactionFailures,
    state: &ContextState,
    now: f64,
) -> Option<CompactionFailures> {
    let after = match &state.failed {
        Some((kind, why)) => CompactionFailures {
            until: Some(now + kind.rest(state.past.fallbacks) as f64),
            error: Some(why.clone()),
            fallback_streak: state.past.fallbacks,
            ineffective: state.past.ineffective,
        },
        // A written summary clears earlier failures.
        None => CompactionFailures {
            until: before.until.filter(|_| !state.is_made_good),
            error: before.error.clone().filter(|_| !state.is_made_good),
            fallback_streak: state.past.fallbacks,
            ineffective: state.past.ineffective,
        },
    };
    (after != *before).then_some(after)
}

impl Session {
    /// Loads the state of the session's compactions.
    pub(super) async fn load_context(&mut self) -> Result<(), RuntimeError> {
        let forgets = self.engine()?.forgets_nodes();
        if let State::Live(session) = &mut self.state {
            session.context.forgets_nodes = forgets;
            self.failures = load(self.runtime.store()?, &self.id, &mut session.context).await?;
        }
        Ok(())
    }

    /// Prepares the session's state for a turn.
    pub(super) fn prepare_context(&mut self) -> Result<(), RuntimeError> {
        let aborts = self.runtime.config.settings.compression.abort_on_summary_failure.value()?;
        let forgets = self.engine()?.forgets_nodes();
        if let State::Live(session) = &mut self.state {
            session.context.forgets_nodes = forgets;
            session.context.past.resting = cooldown_notice(&self.failures, now());
            session.context.keeps_whole = aborts;
        }
        Ok(())
    }

    /// Stores how the compactions of a turn ended.
    pub(super) async fn store_compaction_failures(&mut self) -> Result<(), RuntimeError> {
        let State::Live(session) = &self.state else { return Ok(()) };
        if let Some(failures) = after_turn(&self.failures, &session.context, now()) {
            self.runtime.store()?.record_compaction_failures(&session.lease, &failures).await?;
            self.failures = failures;
        }
        Ok(())
    }

    /// Compacts the session at the user's request; `focus` names what the summary should keep.
    pub async fn compress(
        &mut self,
        focus: Option<&str>,
        cancel: &CancellationToken,
        events: EventSink,
    ) -> Result<Compacted, RuntimeError> {
        self.compact_between(Trigger::Manual, focus, cancel, events).await
    }

    /// Compacts an unattended session before a turn if it is close to the window or has very many messages.
    pub async fn hygiene(
        &mut self,
        cancel: &CancellationToken,
        events: EventSink,
    ) -> Result<Compacted, RuntimeError> {
        self.compact_between(Trigger::Hygiene, None, cancel, events).await
    }

    /// Compacts the session between two turns: in place, or in a new session that continues it.
    async fn compact_between(
        &mut self,
        trigger: Trigger,
        focus: Option<&str>,
        cancel: &CancellationToken,
        events: EventSink,
    ) -> Result<Compacted, RuntimeError> {
        if self.is_unsure {
            self.reload().await?;
        }
        if !self.is_stored() {
            return Ok(Compacted::Stuck("this session has no messages yet".to_owned()));
        }
        self.prepare_context()?;
        let stays = self.compacts_in_place()?;
        let ports = self.ports(events, cancel)?;
        let State::Live(session) = &mut self.state else { unreachable!("the session is stored") };
        session.context.forget_attempts();
        session.context.past.in_this_turn = 0;
        if trigger == Trigger::Manual {
            session.context.past.resting = None;
        }
        let done = match stays {
            true => compact(session, trigger, focus, &ports, cancel).await,
            false => self.continue_in_new_session(trigger, focus, &ports, cancel).await?,
        };
        self.is_unsure = matches!(done, Compacted::StoreFailed(_));
        self.store_compaction_failures().await?;
        // A recording has turns; a compaction between them is part of the state of the next one.
        self.is_recorded = false;
        Ok(done)
    }

    /// Queues the prompt before a compaction, because a summary may take minutes and the turn that records the
    /// prompt begins after it. The new session takes the queued message over.
    pub(super) async fn queue_prompt(&self, input: &mut Input) -> Result<(), RuntimeError> {
        let meter = self.meter()?;
        let is_due = meter.threshold.is_some_and(|threshold| meter.parts.whole.value() >= threshold);
        let Content::Text(text) = &input.message.content else { return Ok(()) };
        if is_due && input.mail.is_empty() && input.message.api_content.is_none() {
            let (mode, text) = (MailMode::Queue, text.clone());
            let id = self.runtime.store()?.post(&self.id, mode, &text).await?;
            input.mail.push(Mail { id, mode, text });
        }
        Ok(())
    }

    /// Continues in a new session before a turn, if the settings ask for it and it is due.
    pub(super) async fn continue_if_due(
        &mut self,
        cancel: &CancellationToken,
        front: &EventRelay,
    ) -> Result<(), RuntimeError> {
        let (sink, mut stream) = events();
        self.compact_between(Trigger::Preflight, None, cancel, sink).await?;
        while let Some(event) = stream.next().await {
            front.send(event).await;
        }
        Ok(())
    }

    /// Returns true if compactions stay in this session. Those of sub-agents always do: their caller knows the id.
    pub(super) fn compacts_in_place(&self) -> Result<bool, RuntimeError> {
        Ok(self.role.parent_call.is_some() || self.runtime.config.settings.compression.in_place.value()?)
    }

    /// Continues in a new session, whose parent is this one.
    async fn continue_in_new_session(
        &mut self,
        trigger: Trigger,
        focus: Option<&str>,
        ports: &Ports,
        cancel: &CancellationToken,
    ) -> Result<Compacted, RuntimeError> {
        let State::Live(session) = &mut self.state else { return Ok(Compacted::NotNeeded) };
        let compaction = match prepare(session, trigger, focus, ports, cancel).await {
            PreparedEpoch::NotNeeded => return Ok(Compacted::NotNeeded),
            PreparedEpoch::Stuck(why) => return Ok(Compacted::Stuck(why)),
            PreparedEpoch::Cancelled => return Ok(Compacted::Cancelled),
            PreparedEpoch::StoreFailed(error) => return Ok(Compacted::StoreFailed(error)),
            PreparedEpoch::Ready(compaction) => *compaction,
        };
        let report = Box::new(compaction.report.clone());
        let id = new_id();
        let store = self.runtime.store()?;
        let (lease, nodes) = store.split_compacted(&session.lease, &compaction, &id).await?;
        adopt(session, compaction, nodes, ports).await;
        session.lease = lease;
        self.move_to(id).await?;
        Ok(Compacted::Done(report))
    }

    /// Changes the id of the session wherever it is known.
    async fn move_to(&mut self, id: SessionId) -> Result<(), RuntimeError> {
        let stored = self.runtime.store()?.load(&id).await?;
        let processes = self.role.session_processes(&self.runtime, &id);
        let context = self.runtime.tool_context(SessionTools {
            delegate: delegate(&self.runtime, &id, &self.current, &self.role, processes.clone())?,
            processes,
            vision: self.runtime.vision_of_tools(&id, &self.current, &self.role.all_tools),
            is_watched: self.ask.is_present(),
            inherited: self.tool_context.for_successor(),
            ..SessionTools::of(&id, self.tool_context.cwd())
        })?;
        context.continue_from(&self.tool_context);
        self.runtime.roster.rename(&self.id, &id);
        std::mem::replace(&mut self.tool_context, context).leave_to_successor().await;
        if let Some(external) = self.engine_state.program() {
            external.move_to(id.to_string()).await;
        }
        (self.id, self.title) = (id, stored.title);
        self.restore_tool_state();
        Ok(())
    }

    /// Pins a text, which is kept through every compaction.
    pub async fn pin(&mut self, text: &str) -> Result<u32, RuntimeError> {
        self.store_session().await?;
        let number = self.runtime.store()?.pin(&self.id, text).await?;
        self.read_pins().await?;
        Ok(number)
    }

    pub async fn unpin(&mut self, number: u32) -> Result<bool, RuntimeError> {
        let was_there = self.runtime.store()?.unpin(&self.id, number).await?;
        self.read_pins().await?;
        Ok(was_there)
    }

    pub async fn pins(&self) -> Result<Vec<Pin>, RuntimeError> {
        match &self.state {
            State::Live(_) => Ok(self.runtime.store()?.pins(&self.id).await?),
            State::Fresh { .. } => Ok(Vec::new()),
        }
    }

    async fn read_pins(&mut self) -> Result<(), RuntimeError> {
        let pins = texts(self.pins().await?);
        if let State::Live(session) = &mut self.state {
            session.context.pins = pins;
            self.is_recorded = false;
        }
        Ok(())
    }

    /// Returns the size of the session's context and its limits.
    pub fn meter(&self) -> Result<ContextMeter, RuntimeError> {
        let engine = self.engine()?;
        let model = self.route.current();
        let profile = model.profile();
        let tokens = match &self.state {
            State::Live(session) => session.context.window(profile),
            State::Fresh { .. } => profile.context_length,
        };
        let window = Window { tokens, output: profile.max_tokens, summariser: self.summaries.window() };
        let tools = self.role.registry.definitions();
        let (parts, count) = match &self.state {
            State::Live(session) => (session.weighed(&tools, &profile.model), session.context.past.count),
            State::Fresh { system, .. } => (Weighed::estimated(system, &tools, &[]), 0),
        };
        Ok(ContextMeter {
            model: profile.model.to_string(),
            engine: engine.name(),
            window: window.tokens,
            threshold: engine.threshold(&window),
            compactions: count,
            parts,
        })
    }
}

impl Runtime {
    /// Returns the estimated size of a stored session's context.
    pub async fn meter_of(&self, id: &SessionId) -> Result<ContextMeter, RuntimeError> {
        let stored = self.store()?.load(id).await?;
        let own = self.endpoint()?;
        let own = stored.model.as_deref().map_or_else(|| own.clone(), |model| own.with_model(model));
        let (engine, _) = choose(&self.config, self.home())?;
        let engine = engine.settings(&self.config, &own.label(), &own.model)?;
        let window = Window {
            tokens: Some(model_facts::known(self.home(), &own).window.value),
            output: own.max_tokens,
            summariser: Summaries::of(self, &own).window(),
        };
        let history = History::restore(stored.messages);
        let system = stored.system_prompt.unwrap_or_default();
        let tools = match small_window::fitting_tools(&self.registry(), window.tokens.unwrap_or(u64::MAX)) {
            Some((fitting, _)) => fitting.definitions(),
            None => self.registry().definitions(),
        };
        let parts = Weighed::estimated(&system, &tools, history.messages());
        let count = self.store()?.latest_epoch_count(id).await?;
        Ok(ContextMeter {
            engine: engine.name(),
            threshold: engine.threshold(&window),
            model: own.model,
            window: window.tokens,
            compactions: u32::try_from(count).unwrap_or(u32::MAX),
            parts,
        })
    }
}

/// The size of a session's context in tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextMeter {
    pub model: String,
    pub engine: String,
    pub window: Option<u64>,
    /// The size at which a compaction begins.
    pub threshold: Option<u64>,
    pub compactions: u32,
    pub parts: Weighed,
}
