//! A recorded answer that the turn waits for, or stops waiting for.

use super::cursor::Cursor;
use super::line::What;
use std::sync::Arc;

/// A future whose result is a line of the recording. The line is taken when the future is first polled, or
/// when it is dropped unpolled, because it was recorded then.
pub(crate) struct RecordedAnswer<T> {
    cursor: Arc<Cursor>,
    wanted: &'static str,
    pick: Pick<T>,
    is_taken: bool,
}

/// The answer in a line; `Some(None)` if the wait was cancelled.
pub(crate) type Pick<T> = Box<dyn Fn(&What) -> Option<Option<T>> + Send + Sync>;

impl<T> RecordedAnswer<T> {
    pub(crate) fn new(cursor: Arc<Cursor>, wanted: &'static str, pick: Pick<T>) -> Self {
        Self { cursor, wanted, pick, is_taken: false }
    }

    /// The answer. If there was none, the turn is stopped here as it was then.
    pub(crate) async fn answer(mut self) -> T {
        self.is_taken = true;
        match self.cursor.take(self.wanted, &self.pick).flatten() {
            Some(answer) => answer,
            None => {
                self.cursor.stop_turn();
                std::future::pending().await
            }
        }
    }
}

impl<T> Drop for RecordedAnswer<T> {
    fn drop(&mut self) {
        if !self.is_taken {
            self.cursor.take(self.wanted, &self.pick);
        }
    }
}
