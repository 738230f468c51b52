//! Which model a session speaks to, and the prompt that goes with it.

use super::{SessionHandle, State};
use crate::{Runtime, RuntimeError, prompting};
use hermes_conversation::{CacheBreak, Lease, SessionId};
use hermes_prompt::{Layers, SystemPrompt};
use hermes_providers::Endpoint;
use hermes_store::{SessionDb, Target};
use std::sync::PoisonError;

impl SessionHandle<'_> {
    /// Another model answers from now on. Its system prompt is its own, so the provider's
    /// cache begins anew.
    pub async fn set_model(&mut self, name: &str) -> Result<(), RuntimeError> {
        let endpoint = self.endpoint.with_model(name);
        let cwd = self.tool_context.cwd();
        // What is to be known about the files was said when the session was opened.
        let layers = prompting::gather(self.runtime, &self.standing, &endpoint, &cwd, &self.id)?.layers;
        match &mut self.state {
            State::Fresh { system, .. } => *system = SystemPrompt::assemble(&layers).into_string(),
            State::Live(session) => {
                let system = retarget(self.runtime, &session.lease, &endpoint, &layers).await?;
                session.system = system.into();
                session.ledger.declare(CacheBreak::ModelSwitch);
            }
        }
        self.layers = Some(layers);
        (self.is_told, self.has_looked) = (false, false);
        self.speak_to(endpoint)
    }

    /// Finds out what window the model really has, before its first turn here. Only Ollama is asked.
    pub(super) async fn look_at_ollama(&mut self) -> Result<(), RuntimeError> {
        if std::mem::replace(&mut self.has_looked, true) {
            return Ok(());
        }
        let Some(endpoint) = self.runtime.with_ollama_window(&self.endpoint).await? else { return Ok(()) };
        self.speak_to(endpoint)
    }

    fn speak_to(&mut self, endpoint: Endpoint) -> Result<(), RuntimeError> {
        // What is wrong with the fallbacks was said when the session was opened.
        (self.route, _) = self.runtime.route(&endpoint, self.standing.tap(self.runtime))?;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = endpoint.clone();
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
    let target = Target {
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

/// Keeps which parts a prompt has. Only those who look at it would miss it.
pub(super) fn keep_outline(store: &SessionDb, session: &SessionId, layers: Option<&Layers>) {
    let outline = layers.and_then(|layers| serde_json::to_string(&layers.outline()).ok());
    if let Some(outline) = outline {
        drop(store.keep_outline(session, outline));
    }
}
