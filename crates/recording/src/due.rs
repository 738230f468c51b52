//! An answer that somebody waits for, or stops waiting for.

use super::cursor::Cursor;
use super::line::What;
use std::sync::Arc;

/// The line of a wait. It is taken when the wait begins to be waited for; if it never is, when it is
/// given up, because it was written down then.
pub(crate) struct Due<T> {
    cursor: Arc<Cursor>,
    wanted: &'static str,
    pick: Pick<T>,
    is_taken: bool,
}

/// The answer in a line; `Some(None)` if nobody waited for it.
pub(crate) type Pick<T> = Box<dyn Fn(&What) -> Option<Option<T>> + Send + Sync>;

impl<T> Due<T> {
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

impl<T> Drop for Due<T> {
    fn drop(&mut self) {
        if !self.is_taken {
            self.cursor.take(self.wanted, &self.pick);
        }
    }
}
