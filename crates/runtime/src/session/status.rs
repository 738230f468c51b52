//! The status of a session in a few numbers.

use super::{Session, State};
use crate::model_facts;

/// The values of a status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStatus {
    pub model: String,
    /// Tokens of the newest request; `None` before the first answer.
    pub used: Option<u64>,
    /// The model's context window in tokens.
    pub window: u64,
    /// The number of compactions.
    pub compactions: u32,
    /// Unexpected changes of the prompt prefix since the session was opened here.
    pub unexplained: u32,
}

impl Session {
    pub fn status(&self) -> SessionStatus {
        let (used, compactions, unexplained) = match &self.state {
            State::Live(session) => {
                (session.prompt_tokens(), session.context.past.count, session.ledger.unexplained())
            }
            State::Fresh { .. } => (None, 0, 0),
        };
        let stated = self.route.stops().first().and_then(|own| match &self.state {
            State::Live(session) => session.context.window(own.profile()),
            State::Fresh { .. } => own.profile().context_length,
        });
        let window =
            stated.unwrap_or_else(|| model_facts::known(self.runtime.home(), &self.endpoint).window.value);
        SessionStatus { model: self.endpoint.model.clone(), used, window, compactions, unexplained }
    }
}
