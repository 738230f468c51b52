//! Work beside a conversation: a title for the session, and a review of what later sessions should know.

use super::{Session, State};
use hermes_memory::review_notice;

impl Session {
    /// Starts what follows a completed turn: a title for a session without one, and a review.
    pub(crate) fn work_in_background(&mut self) {
        if self.role.works_in_background {
            self.name_in_background();
            self.review_in_background();
        }
    }

    /// Takes up the name that was found in the background, if it has been.
    pub fn take_up_name(&mut self) {
        if let Some(found) = self.naming.found() {
            self.title.get_or_insert(found);
        }
    }

    /// Lets a second model find a name for a session that has none, in the background. What comes of it
    /// is stored at once, and known here after [`Session::take_up_name`].
    pub fn name_in_background(&mut self) {
        let State::Live(session) = &self.state else { return };
        if self.title.is_none() {
            // A conversation without a name is as good as one with.
            let _ = self.naming.begin(&self.runtime, &self.endpoint, &self.id, &session.history);
        }
    }

    /// Lets a second model look back on the session, if it is time to, and write down what later ones
    /// should know.
    pub fn review_in_background(&mut self) {
        let State::Live(session) = &self.state else { return };
        // A session that is not looked back on is as good as one that is.
        let _ = self.runtime.review(&mut self.review, &self.endpoint, &self.id, &session.history);
    }

    /// What was written down in the background since this was last asked, in a line for the person.
    pub fn take_review_notice(&mut self) -> Option<String> {
        let changes = self.review.found();
        let how = self.runtime.config.settings.display.memory_notifications.or_default();
        review_notice(&changes, how.as_str())
    }

    /// Takes up a title that was found in the background, and returns a line about memory that was written
    /// there.
    pub fn take_background_notice(&mut self) -> Option<String> {
        self.take_up_name();
        self.take_review_notice()
    }
}
