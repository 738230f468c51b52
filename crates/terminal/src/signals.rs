//! Ctrl-C and its relatives.

use hermes_runtime::SessionHandle;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The exit code of a program that the user stopped.
pub const INTERRUPTED: i32 = 130;

/// Cancels `turn` at the first Ctrl-C, SIGTERM or SIGHUP; a second one leaves at once. Ends when
/// it is dropped.
pub fn watch(turn: CancellationToken) -> AbortOnDropHandle<()> {
    watch_with(move || turn.cancel())
}

/// As [`watch`], for a turn of a session that runs as a task. Asked to leave, it starts no turn for queued
/// messages.
pub fn watch_session(session: &SessionHandle) -> AbortOnDropHandle<()> {
    let session = session.clone();
    watch_with(move || match was_asked_to_leave() {
        true => session.interrupt_and_hold(),
        false => session.interrupt(),
    })
}

fn watch_with(stop: impl Fn() + Send + 'static) -> AbortOnDropHandle<()> {
    // A task of its own, so that a turn that is woken for every token does not ask for signals
    // every time.
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
        // A turn may also be stopped by what a person says; asking once more is still asking once.
        if std::mem::replace(&mut is_second, true) {
            // Nothing of ours may run on; the record closes the turn when it is continued.
            hermes_runtime::kill_all_commands();
            crate::key_reader::restore();
            std::process::exit(INTERRUPTED);
        }
        stop();
    }
}

/// Set when the program was asked to leave while a turn ran.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// Whether the program was asked to leave, and not only to stop a turn.
pub fn was_asked_to_leave() -> bool {
    LEAVING.load(Ordering::Relaxed)
}

/// Waits until the program is asked to leave while no turn runs. Ctrl-C is a key there.
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

/// Waits until the program is asked to leave in any way that is not a key. It listens from the
/// call on, not only once it is waited for.
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
