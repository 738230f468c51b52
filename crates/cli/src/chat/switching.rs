//! Switching to another model or another session within a conversation.

use super::Chat;
use crate::exit::Failure;
use crate::launch;
use crate::sessions_command::local_time;
use hermes_conversation::SessionId;
use hermes_runtime::{Checked, ModelSwitch, Parting, RuntimeError};
use hermes_store::{ListFilter, SessionSummary};

/// Sessions that `/resume` without a name lists.
const MOST_OFFERED: usize = 10;
/// Characters of a title or a first message in that list.
const MOST_TITLE: usize = 60;

impl Chat<'_> {
    /// `/model NAME [--provider PROVIDER] [--force]`.
    pub(super) async fn switch_model(&mut self, words: &str) {
        let wanted = match ModelSwitch::parse(words) {
            Ok(wanted) => wanted,
            Err(usage) => return self.complain(&usage),
        };
        match self.session.switch_model(&wanted).await {
            Ok(checked) => {
                let endpoint = self.session.endpoint();
                let unchecked = match checked {
                    Checked::Unchecked if !wanted.force => {
                        "; its list of models could not be read, so the name is unchecked"
                    }
                    Checked::Listed | Checked::Unchecked => "",
                };
                self.note(&format!(
                    "{} at {} answers from now on{unchecked}",
                    endpoint.model,
                    endpoint.label()
                ));
            }
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }

    /// Lists the sessions that can be continued, without the open one.
    pub(super) async fn offer_sessions(&mut self) {
        match self.other_sessions().await {
            Err(failure) => self.complain(&failure.line),
            Ok(others) if others.is_empty() => self.note("there is no other session to continue"),
            Ok(others) => {
                self.note("other sessions, the newest first; continue one with `/resume ID or title`:");
                for line in others.iter().map(session_line) {
                    self.note(&line);
                }
            }
        }
    }

    async fn other_sessions(&self) -> Result<Vec<SessionSummary>, Failure> {
        let filter = ListFilter { limit: MOST_OFFERED + 1, ..ListFilter::default() };
        let store = self.runtime.store()?;
        let all = store.list(filter).await.map_err(RuntimeError::from)?;
        Ok(others(all, self.session.id()))
    }

    /// Continues another session; says whether it did.
    pub(super) async fn resume(&mut self, which: &str) -> bool {
        match self.resumed(which).await {
            Ok(()) => true,
            Err(failure) => {
                self.complain(&failure.line);
                false
            }
        }
    }

    async fn resumed(&mut self, which: &str) -> Result<(), Failure> {
        let found = self.runtime.store()?.resolve(which).await.map_err(RuntimeError::from)?;
        if found == *self.session.id() {
            return Err(Failure::usage("this session is already open; `/resume` lists the others"));
        }
        let session = launch::resume(self.runtime, found.as_str(), self.ask.clone(), true).await?;
        self.replace(session, Parting::ResumedOther).await;
        self.recall().await;
        Ok(())
    }
}

/// The sessions of a list that are not the open one, nor an earlier part of it.
fn others(all: Vec<SessionSummary>, open: &SessionId) -> Vec<SessionSummary> {
    let is_open = |session: &SessionSummary| session.id == *open || session.root.as_ref() == Some(open);
    all.into_iter().filter(|session| !is_open(session)).take(MOST_OFFERED).collect()
}

fn session_line(session: &SessionSummary) -> String {
    let title = session.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&session.preview);
    let title: String = title.chars().take(MOST_TITLE).collect();
    format!("{}  {}  {title}", session.id, local_time(session.last_active))
}
