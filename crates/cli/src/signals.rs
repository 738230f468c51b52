//! Ctrl-C and its relatives, turned into cancelling.

use crate::exit::Exit;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Cancels `turn` at the first Ctrl-C, SIGTERM or SIGHUP; a second one leaves at once.
///
/// `raised` does the same from within, for a Ctrl-C that the line editor saw as a key.
pub(crate) async fn watch(turn: CancellationToken, raised: Arc<Notify>) {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            () = raised.notified() => {}
        }
        if turn.is_cancelled() {
            // The tools of the turn have had their chance; the record closes it on resume.
            std::process::exit(Exit::Interrupted as i32);
        }
        turn.cancel();
    }
}
