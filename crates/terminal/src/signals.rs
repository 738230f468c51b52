//! SIGINT (Ctrl-C), SIGTERM and SIGHUP.

use hermes_runtime::SessionHandle;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The exit code of a program that the user stopped.
pub const INTERRUPTED: i32 = 130;

/// Cancels `turn` at the first signal; a second one exits at once. Ends on drop.
pub fn watch(turn: CancellationToken) -> AbortOnDropHandle<()> {
    watch_with(move || turn.cancel())
}

/// Like [`watch`], for a turn of a session that runs as a task. SIGTERM and SIGHUP also keep it from starting
/// turns for queued messages.
pub fn watch_session(session: &SessionHandle) -> AbortOnDropHandle<()> {
    let session = session.clone();
    watch_with(move || match was_asked_to_leave() {
        true => session.interrupt_and_hold(),
        false => session.interrupt(),
    })
}

fn watch_with(stop: impl Fn() + Send + 'static) -> AbortOnDropHandle<()> {
    // A task of its own: a turn is woken for every token and should not poll signals every time.
    AbortOnDropHandle::new(tokio::spawn(listen_for(stop)))
}

async fn listen_for(stop: impl Fn() + Send) {
    let (Some(mut interrupt), Some(mut terminate), Some(mut hangup)) =
        (listen(SignalKind::interrupt()), listen(SignalKind::terminate()), listen(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    let mut is_second = false;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => LEAVING.store(true, Ordering::Relaxed),
            _ = hangup.recv() => LEAVING.store(true, Ordering::Relaxed),
        }
        // Counts signals, not interrupts: a message of the user may also have interrupted the turn.
        if std::mem::replace(&mut is_second, true) {
            // Crash recovery closes the turn when the session is resumed.
            hermes_runtime::kill_all_commands();
            crate::key_reader::restore();
            std::process::exit(INTERRUPTED);
        }
        stop();
    }
}

/// Set by SIGTERM or SIGHUP during a turn.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// Returns true after SIGTERM or SIGHUP, which end the program and not only a turn.
pub fn was_asked_to_leave() -> bool {
    LEAVING.load(Ordering::Relaxed)
}

/// Waits for SIGTERM or SIGHUP while no turn runs. Ctrl-C is a key there.
pub async fn leave_asked() {
    let (Some(mut terminate), Some(mut hangup)) =
        (listen(SignalKind::terminate()), listen(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Waits for any of the three signals. It listens from the call on, not only once it is awaited.
pub fn stop_asked() -> impl Future<Output = ()> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<Signal> = kinds.into_iter().filter_map(listen).collect();
    std::future::poll_fn(move |cx| {
        let came = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
        if came { Poll::Ready(()) } else { Poll::Pending }
    })
}

fn listen(kind: SignalKind) -> Option<Signal> {
    signal(kind).ok()
}
