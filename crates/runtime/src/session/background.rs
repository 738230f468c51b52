//! Work beside a conversation: a title for the session, a review of what later sessions should know, and notices of
//! background processes and sub-agents.

use super::{Session, State};
use hermes_memory::review_notice;

impl Session {
    /// Returns true if notices of background processes or sub-agents may come.
    pub fn expects_notices(&self) -> bool {
        let processes = self.runtime.opened_processes().filter(|_| self.role.works_in_background);
        processes.is_some_and(|processes| processes.may_notice(&self.id))
            || self.runtime.roster.may_notice(&self.id)
    }

    /// Waits until a notice of a background process or sub-agent is stored for the session.
    pub(crate) async fn noticed(&self) {
        let of_processes = async {
            match self.runtime.opened_processes() {
                Some(processes) => processes.noticed(&self.id).await,
                // The next process is started by a turn, after which this is asked again.
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = of_processes => {}
            () = self.runtime.roster.noticed(&self.id) => {}
        }
    }

    /// Returns true if a notice was stored since the last call.
    pub(crate) fn take_noticed(&self) -> bool {
        let of_processes = self.runtime.opened_processes().map(|all| all.take_noticed(&self.id));
        // Both are taken.
        of_processes.unwrap_or_default() | self.runtime.roster.take_noticed(&self.id)
    }

    /// Starts what follows a completed turn: a title for a session without one, and a review.
    pub(crate) fn work_in_background(&mut self) {
        if self.role.works_in_background {
            self.name_in_background();
            self.review_in_background();
        }
    }

    /// Takes up a title that was found in the background.
    pub fn take_up_title(&mut self) {
        if let Some(found) = self.naming.take_title() {
            self.title.get_or_insert(found);
        }
    }

    /// Starts the search for a title, if the session has none. The title is stored at once, and known here after
    /// [`Session::take_up_title`].
    pub fn name_in_background(&mut self) {
        let State::Live(session) = &self.state else { return };
        if self.title.is_none() {
            // A failure is ignored: the session works without a title.
            let _ = self.naming.begin(&self.runtime, &self.endpoint, &self.id, &session.history);
        }
    }

    /// Starts a review of the session if one is due.
    pub fn review_in_background(&mut self) {
        let State::Live(session) = &self.state else { return };
        // A failure is ignored: the session works without a review.
        let _ = self.runtime.review(&mut self.review, &self.endpoint, &self.id, &session.history);
    }

    /// Returns a notice about changes by a review since the last call.
    pub fn take_review_notice(&mut self) -> Option<String> {
        let changes = self.review.take_changes();
        let how = self.runtime.config.settings.display.memory_notifications.or_default();
        review_notice(&changes, how.as_str())
    }

    /// Takes up a title that was found in the background, and returns a notice about changes by a review.
    pub fn take_background_notice(&mut self) -> Option<String> {
        self.take_up_title();
        self.take_review_notice()
    }
}
