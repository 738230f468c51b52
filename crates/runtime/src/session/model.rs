//! The model of a session, and the prompt that goes with it.

use super::{Session, State};
use crate::model_choice::fetcher;
use crate::summaries::Summaries;
use crate::{Checked, ModelSwitch, Runtime, RuntimeError, model_facts, prompting};
use hermes_agent::TurnReport;
use hermes_agent::small_window;
use hermes_conversation::{CacheBreak, Lease, SessionId, UserMessage};
use hermes_models::learn_window;
use hermes_prompt::{Layers, SystemPrompt};
use hermes_providers::{Endpoint, FactSource};
use hermes_store::{ModelTarget, SessionDb};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The time limit of asking an endpoint for a window.
const ASKING: Duration = Duration::from_secs(3);

/// The questions about a model that its server was asked. With another endpoint they are open again.
#[derive(Debug, Default)]
pub(super) struct ModelProbes {
    pub(super) window: Probe,
    pub(super) efforts: Probe,
}

/// The state of one question to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Probe {
    #[default]
    Unasked,
    Asked,
}

impl Session {
    /// Changes the model. Its system prompt is assembled again, so the provider's prompt cache starts empty.
    pub async fn set_model(&mut self, name: &str) -> Result<(), RuntimeError> {
        self.use_endpoint(self.endpoint.with_model(name)).await
    }

    /// Changes the model after a check against the list of its provider, also to another provider.
    pub async fn switch_model(&mut self, wanted: &ModelSwitch) -> Result<Checked, RuntimeError> {
        let (endpoint, checked) = wanted.resolve(&self.runtime.config, &self.endpoint).await?;
        self.use_endpoint(endpoint).await?;
        Ok(checked)
    }

    /// The same for a model at any endpoint.
    pub(crate) async fn use_endpoint(&mut self, endpoint: Endpoint) -> Result<(), RuntimeError> {
        // The window of the new model may fit all tools.
        if self.fitted_to.take().is_some_and(small_window::is_small) {
            self.role.registry = self.role.all_tools.clone();
            self.engine_state.forget_tools();
        }
        let cwd = self.tool_context.cwd();
        // Notices about the files were given when the session was opened.
        let layers = prompting::gather(&self.runtime, &self.role, &endpoint, &cwd, &self.id)?.layers;
        match &mut self.state {
            State::Fresh { system, .. } => *system = SystemPrompt::assemble(&layers).into_string(),
            State::Live(session) => {
                let system = retarget(&self.runtime, &session.lease, &endpoint, &layers).await?;
                session.system = system.into();
                session.ledger.declare(CacheBreak::ModelSwitch);
            }
        }
        self.layers = Some(layers);
        self.is_recorded = false;
        self.probes = ModelProbes::default();
        self.use_route_to(endpoint)
    }

    /// Asks an LM Studio server, once for each model, for the efforts that it advertises.
    pub(super) async fn learn_efforts(&mut self) -> Result<(), RuntimeError> {
        if std::mem::replace(&mut self.probes.efforts, Probe::Asked) == Probe::Asked {
            return Ok(());
        }
        match Box::pin(self.runtime.models().with_efforts(&self.endpoint)).await? {
            Some(endpoint) => self.use_route_to(endpoint),
            None => Ok(()),
        }
    }

    /// Asks an endpoint elsewhere for the model's window, if it is unknown and the session with this message is no
    /// longer short. Before that the window does not matter, and the first answer should not wait for it. Servers on
    /// this machine are asked earlier, see [`Session::learn_window`].
    pub(super) async fn ask_endpoint_for_window(&mut self, now: &UserMessage) -> Result<(), RuntimeError> {
        /// A size that fits into every window.
        const SHORT: u64 = 8_000;
        if self.probes.window == Probe::Asked || self.endpoint.is_loopback() {
            return Ok(());
        }
        let tokens = |text: &str| text.len() as u64 / 4;
        let earlier = self.history().map_or(0, |history| {
            history.messages().iter().map(|message| tokens(message.text())).sum::<u64>()
        });
        if earlier + tokens(now.content.as_text()) < SHORT {
            return Ok(());
        }
        let (home, endpoint) = (self.runtime.home(), self.endpoint.clone());
        let source = |endpoint: &Endpoint| model_facts::known(home, endpoint).window.source;
        // A custom server may offer a smaller window than the model has.
        let is_known = |endpoint: &Endpoint| match source(endpoint) {
            FactSource::Default => false,
            FactSource::BuiltIn => !endpoint.is_custom(),
            FactSource::Config | FactSource::Endpoint | FactSource::Remembered => true,
        };
        if is_known(&endpoint) {
            return Ok(());
        }
        self.probes.window = Probe::Asked;
        let fetcher = fetcher(&self.runtime.config, ASKING)?;
        model_facts::ask(home, &endpoint, &fetcher).await;
        self.use_route_to(endpoint)
    }

    /// Stores a window that a rejection stated, once a request of that size succeeded.
    pub(super) fn keep_stated_window(&self, report: &TurnReport) {
        let State::Live(session) = &self.state else { return };
        let told = self.route.stops().first().and_then(|own| session.context.told_window(own.profile()));
        let told = told.filter(|told| told.is_lasting);
        if let (Some(told), true, None) = (told, report.completed, &report.stand_in) {
            learn_window(self.runtime.home(), &self.endpoint, told.tokens);
        }
    }

    pub(super) fn use_route_to(&mut self, endpoint: Endpoint) -> Result<(), RuntimeError> {
        // Warnings about fallbacks were given when the session was opened.
        (self.route, _) = self.runtime.models().route(&endpoint, self.role.tap(&self.runtime))?;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = endpoint.clone();
        self.summaries = Arc::new(Summaries::of(&self.runtime, &endpoint));
        self.endpoint = endpoint;
        Ok(())
    }
}

/// Stores a new system prompt for a session that changes its model.
pub(super) async fn retarget(
    runtime: &Runtime,
    lease: &Lease,
    endpoint: &Endpoint,
    layers: &Layers,
) -> Result<String, RuntimeError> {
    let system = SystemPrompt::assemble(layers).into_string();
    let target = ModelTarget {
        model: endpoint.model.clone(),
        provider: endpoint.label(),
        base_url: endpoint.base_url.to_string(),
        system_prompt: system.clone(),
    };
    let store = runtime.store()?;
    store.retarget(lease, target).await?;
    keep_outline(store, &lease.session, Some(layers));
    Ok(system)
}

/// Stores the outline of a prompt. A failure is ignored: only displays use it.
pub(super) fn keep_outline(store: &SessionDb, session: &SessionId, layers: Option<&Layers>) {
    let outline = layers.and_then(|layers| serde_json::to_string(&layers.outline()).ok());
    if let Some(outline) = outline {
        drop(store.record_prompt_outline(session, outline));
    }
}
