//! Requests of a turn that are kept for a look at them: the newest that failed, or all.

use hermes_wire::{ApiMode, Fault, FaultClass, ModelProfile};

/// A request as it was sent, without headers.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedRequest {
    pub provider: String,
    pub base_url: String,
    pub model: String,
    pub mode: ApiMode,
    pub body: Vec<u8>,
    /// The failure, if it was not answered.
    pub failure: Option<LoggedFailure>,
}

/// The failure of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFailure {
    pub class: FaultClass,
    pub status: Option<u16>,
    pub detail: String,
}

/// The requests of the current turn that are kept.
#[derive(Debug, Default)]
pub struct RequestLog {
    /// Keeps those that were answered, too.
    pub keeps_all: bool,
    kept: Vec<LoggedRequest>,
}

impl RequestLog {
    /// Keeps a request. Of those that failed only the newest is kept, unless all are.
    pub(crate) fn keep(&mut self, profile: &ModelProfile, body: &[u8], fault: Option<&Fault>) {
        if !self.keeps_all {
            self.kept.clear();
        }
        self.kept.push(LoggedRequest {
            provider: profile.issuer.provider.clone(),
            base_url: profile.base_url.clone(),
            model: profile.model.to_string(),
            mode: profile.mode,
            body: body.to_vec(),
            failure: fault.map(|fault| LoggedFailure {
                class: fault.class,
                status: fault.refusal.status,
                detail: fault.detail.clone(),
            }),
        });
    }

    /// Forgets what was kept of an earlier turn.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
    }

    /// Hands out what was kept.
    pub fn take(&mut self) -> Vec<LoggedRequest> {
        std::mem::take(&mut self.kept)
    }
}
