//! One turn of a session: preparation, ports, and the records after it.

use super::{Session, State};
use crate::approvals::ReviewedAsk;
use crate::{RuntimeError, request_dumps};
use hermes_agent::{Input, Ports, TurnReport, run_turn};
use hermes_conversation::{EventSink, Quirks, TurnEvent};
use hermes_recording::{Recorder, SessionFacts};
use hermes_tools::AskUser;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

impl Session {
    /// Runs one turn. The prompt is on disk before anything else happens.
    pub fn submit(
        &mut self,
        input: impl Into<Input>,
        cancel: &CancellationToken,
        events: EventSink,
    ) -> impl Future<Output = Result<TurnReport, RuntimeError>> + Send {
        self.run(input.into(), cancel, events)
    }

    async fn run(
        &mut self,
        mut input: Input,
        cancel: &CancellationToken,
        events: EventSink,
    ) -> Result<TurnReport, RuntimeError> {
        self.prepare(&mut input, cancel, &events).await?;
        self.tool_context.begin_turn();
        let ports = self.ports(events, cancel)?;
        let recorder = self.role.recorder(&self.runtime);
        let ports = match &recorder {
            Some(recorder) => self.recorded(recorder, ports, &input, cancel)?,
            None => ports,
        };
        let State::Live(session) = &mut self.state else { unreachable!("the session was just stored") };
        let quirks = session.quirks;
        session.requests.keeps_all = request_dumps::are_forced(&self.runtime.config);
        let span = tracing::info_span!("turn", session = self.id.as_str(), turn_id = tracing::field::Empty);
        // A turn that has begun and not ended was killed; the process id helps to find out why.
        let (pid, version) = (std::process::id(), env!("CARGO_PKG_VERSION"));
        tracing::info!(parent: &span, pid, version, "turn begun");
        let report = run_turn(session, input, &ports, cancel).instrument(span).await;
        if let Some(recorder) = &recorder {
            recorder.turn_ended(&report);
        }
        for notice in self.runtime.take_notices() {
            ports.events.relay().send(TurnEvent::Status(notice)).await;
        }
        self.store_results(&report, quirks).await;
        Ok(report)
    }

    /// Stores the session and makes window, tools and context ready for a turn.
    async fn prepare(
        &mut self,
        input: &mut Input,
        cancel: &CancellationToken,
        events: &EventSink,
    ) -> Result<(), RuntimeError> {
        if self.is_unsure {
            self.reload().await?;
        }
        self.learn_efforts().await?;
        self.learn_window().await?;
        self.ask_endpoint_for_window(&input.message).await?;
        if let Some(notice) = self.fit_to_window().await? {
            events.relay().send(TurnEvent::Status(notice)).await;
        }
        self.store_session().await?;
        if !self.compacts_in_place()? {
            self.queue_prompt(input).await?;
            self.continue_if_due(cancel, &events.relay()).await?;
        }
        self.prepare_context()?;
        self.prepare_engine(events, cancel).await
    }

    /// Stores what a turn leaves beside its messages. The answer is recorded already: if a write fails, the record
    /// is read again before the next turn.
    async fn store_results(&mut self, report: &TurnReport, before: Quirks) {
        let State::Live(session) = &mut self.state else { return };
        self.usage += report.usage;
        if let Some(cost) = report.cost {
            match &mut self.cost {
                Some(earlier) => *earlier += cost,
                None => self.cost = Some(cost),
            }
        }
        self.is_unsure = report.store_failed;
        if session.quirks != before {
            self.is_unsure |= match self.runtime.store() {
                Ok(store) => store.set_quirks(&session.lease, session.quirks).await.is_err(),
                Err(_) => true,
            };
        }
        let requests = session.requests.take();
        if session.requests.keeps_all || request_dumps::is_wanted(report) {
            request_dumps::write(self.runtime.home(), &self.id, &requests, &self.runtime.secrets);
        }
        self.keep_stated_window(report);
        if let Err(error) = self.store_compaction_failures().await {
            tracing::warn!(%error, "cannot store the failures of compactions");
        }
    }

    /// The same ports with a recorder around each.
    fn recorded(
        &mut self,
        recorder: &Arc<Recorder>,
        ports: Ports,
        input: &Input,
        cancel: &CancellationToken,
    ) -> Result<Ports, RuntimeError> {
        let engine = self.engine()?;
        let external = self.external_port(&ports.events)?;
        if let State::Live(session) = &self.state
            && !std::mem::replace(&mut self.is_recorded, true)
        {
            let facts = SessionFacts {
                source: &self.role.source,
                cwd: self.tool_context.cwd().display().to_string(),
                layers: self.layers.as_ref(),
                route: &*self.route,
                toolsets: self.role.toolsets.to_vec(),
                disabled_toolsets: self.runtime.config.settings.agent.disabled_toolsets.get()?.clone(),
                registry: &self.role.registry,
                engine_tools: self.engine_state.tools(),
                is_watched: self.ask.is_present(),
                hooks: &*ports.hooks,
                engine,
                summariser: ports.summaries.window(),
            };
            recorder.session(session, facts);
        }
        let ports = match external {
            Some(external) => Ports { engine: recorder.engine(external), ..ports },
            None => ports,
        };
        Ok(recorder.turn(&self.id, input, ports, cancel))
    }

    /// The user, with the reviews that the settings ask for.
    fn reviewed_ask(&self) -> Arc<dyn AskUser> {
        Arc::new(ReviewedAsk {
            inner: self.ask.clone(),
            runtime: self.runtime.clone(),
            session: self.id.clone(),
            endpoint: self.current.clone(),
            tool_context: self.tool_context.clone(),
        })
    }

    /// The ports of a turn.
    pub(super) fn ports(&self, events: EventSink, cancel: &CancellationToken) -> Result<Ports, RuntimeError> {
        let store = self.runtime.store()?;
        Ok(Ports {
            route: self.route.clone(),
            tools: self.role.registry.clone(),
            tool_context: self.tool_context.clone(),
            ask: self.reviewed_ask(),
            transcript: Arc::new(store.clone()),
            mailbox: Arc::new(store.clone()),
            hooks: self.role.hooks(&self.runtime, &self.ask, &self.tool_context, &events, cancel),
            engine: self.engine_port(&events)?,
            summaries: self.summaries.clone(),
            jitter: Arc::new(rand::random::<f64>),
            pause: hermes_agent::sleep(),
            for_scripts: None,
            events,
        })
    }
}
