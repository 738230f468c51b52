//! One request, from the session as it stands.

use crate::{Additions, plain};
use hermes_conversation::{History, Quirks, SessionId, ToolDefinition};
use hermes_wire::{ModelProfile, ModelRequest, RequestSettings};
use std::sync::Arc;

/// The tools that a request offers.
#[derive(Debug, Clone)]
pub enum Offer {
    Tools(Arc<[ToolDefinition]>),
    /// The model must reply without tool calls; a declared cache break.
    Nothing,
}

impl Offer {
    /// The number of tools.
    pub fn count(&self) -> usize {
        match self {
            Self::Tools(tools) => tools.len(),
            Self::Nothing => 0,
        }
    }
}

/// Builds a request. Takes no clock, no environment, no random source: the same arguments give
/// the same bytes.
pub fn build_request(
    profile: &ModelProfile,
    system: &Arc<str>,
    additions: &Additions,
    history: &History,
    offer: &Offer,
    quirks: Quirks,
    session: &SessionId,
) -> ModelRequest {
    ModelRequest {
        model: profile.model.clone(),
        system: additions.system(system),
        tools: match offer {
            Offer::Tools(tools) if quirks.plain_schemas => plain::tools(tools),
            Offer::Tools(tools) => tools.clone(),
            Offer::Nothing => Arc::from([]),
        },
        messages: plain::messages(additions.messages(history), quirks),
        settings: RequestSettings {
            stream: !quirks.no_streaming,
            max_tokens: profile.output_cap(),
            dialect: profile.dialect,
            issuer: (!quirks.no_reasoning_replay).then(|| profile.issuer.clone()),
            effort: profile.effort,
            cache: profile.cache,
            session: Some(session.as_str().into()),
            extra: profile.extra.clone(),
        },
    }
}
