//! The context window of a session's model: asking its server, and fitting tools and prompt to it.

use super::model::Probe;
use super::{Session, State, retarget};
use crate::model_choice::fetcher;
use crate::{RuntimeError, model_facts, prompting};
use hermes_agent::small_window;
use hermes_conversation::CacheBreak;
use hermes_models::learn_window;
use hermes_prompt::SystemPrompt;
use hermes_providers::{Endpoint, ServedWindow, served_window};
use std::sync::Arc;
use std::time::Duration;

/// The time limit of a question to a server on this machine.
const PATIENCE: Duration = Duration::from_secs(1);

impl Session {
    /// Asks a server on this machine for the model's window, before the first request to it. Other endpoints,
    /// and those whose window the settings state, are not asked.
    pub async fn learn_window(&mut self) -> Result<(), RuntimeError> {
        if self.probes.window == Probe::Asked || !is_to_be_asked(&self.endpoint) {
            return Ok(());
        }
        // The connection is kept for the first request.
        let fetcher = hermes_providers::Fetcher {
            clients: self.runtime.clients.clone(),
            ..fetcher(&self.runtime.config, PATIENCE)?
        };
        match served_window(&self.endpoint, &fetcher, PATIENCE).await {
            ServedWindow::Unasked => return Ok(()),
            ServedWindow::Unstated => {}
            ServedWindow::Tokens(tokens) => self.use_window(tokens)?,
        }
        self.probes.window = Probe::Asked;
        Ok(())
    }

    fn use_window(&mut self, tokens: u64) -> Result<(), RuntimeError> {
        let home = self.runtime.home();
        // Ollama cuts the beginning of longer requests, whatever the settings state.
        let mut endpoint = match self.endpoint.may_be_ollama() {
            true => self.endpoint.with_ollama_num_ctx(tokens),
            false => self.endpoint.clone(),
        };
        learn_window(home, &endpoint, tokens);
        if model_facts::window(home, &endpoint) != tokens && endpoint.ollama_num_ctx.is_none() {
            // The file could not be written.
            endpoint.context_length = Some(tokens);
        }
        self.use_route_to(endpoint)
    }

    /// Fits tools and system prompt to the window, and returns a notice if something is left out.
    pub(super) async fn fit_to_window(&mut self) -> Result<Option<String>, RuntimeError> {
        let window = model_facts::window(self.runtime.home(), &self.endpoint);
        let was = self.fitted_to.replace(window);
        let both_large = !small_window::is_small(window) && !was.is_some_and(small_window::is_small);
        if was == Some(window) || both_large {
            return Ok(None);
        }
        let all = self.role.all_tools.clone();
        let (registry, left_out) = match small_window::fitting_tools(&all, window) {
            Some((registry, left_out)) => (Arc::new(registry), left_out),
            None => (all, Vec::new()),
        };
        self.role.registry = registry;
        self.is_recorded = false;
        self.engine_state.forget_tools();
        self.shorten_prompt(window).await?;
        Ok(small_window::is_small(window).then(|| small_window::notice(window, &left_out)))
    }

    /// Assembles the prompt again if it must be shorter. The prompt of a stored session is kept if it fits, because
    /// providers cache it.
    async fn shorten_prompt(&mut self, window: u64) -> Result<(), RuntimeError> {
        let stays = match &self.state {
            State::Fresh { .. } => false,
            State::Live(session) => small_window::fits(&session.system, window),
        };
        if stays {
            return Ok(());
        }
        let cwd = self.tool_context.cwd();
        let layers = prompting::gather(&self.runtime, &self.role, &self.endpoint, &cwd, &self.id)?.layers;
        match &mut self.state {
            State::Fresh { system, .. } => *system = SystemPrompt::assemble(&layers).into_string(),
            State::Live(session) => {
                let system = retarget(&self.runtime, &session.lease, &self.endpoint, &layers).await?;
                session.system = system.into();
                session.ledger.declare(CacheBreak::ModelSwitch);
            }
        }
        self.layers = Some(layers);
        Ok(())
    }
}

/// Returns true if a server has to be asked for its window before the first request.
fn is_to_be_asked(endpoint: &Endpoint) -> bool {
    let is_stated = match endpoint.may_be_ollama() {
        true => endpoint.ollama_num_ctx.is_some(),
        false => endpoint.context_length.is_some() || endpoint.ollama_num_ctx.is_some(),
    };
    // Model servers on this machine use plain HTTP; an https address is a proxy or another service.
    endpoint.is_loopback() && endpoint.base_url.scheme() == "http" && !is_stated
}
