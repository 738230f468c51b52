//! Detects the exit of the process that owns a command.

use super::spec::{Lifetime, Owner};
use crate::backend::BoxFuture;
use rustix::process::{PidfdFlags, pidfd_open};
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

/// The polling interval on kernels without process handles.
const POLL: Duration = Duration::from_secs(1);

/// Waits for the exit of `owner`, if the command ends with it.
pub(crate) fn watched(lifetime: Lifetime, owner: Owner) -> Option<BoxFuture<'static, ()>> {
    (lifetime != Lifetime::Detached).then(|| -> BoxFuture<'static, ()> { Box::pin(gone(owner)) })
}

/// Returns when `owner` does not live any more.
pub(crate) async fn gone(owner: Owner) {
    let handle = crate::group::pid(owner.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    // Checked after opening: now the handle and the identity are known to mean the same process.
    if !owner.is_alive() {
        return;
    }
    if let Some(handle) = handle.and_then(|handle| readable(handle).ok())
        && handle.readable().await.is_ok()
    {
        return;
    }
    while owner.is_alive() {
        sleep(POLL).await;
    }
}

/// The kernel makes a process handle readable when the process exits.
#[expect(deprecated, reason = "sound for a descriptor we own; the newer way would need an unsafe block")]
fn readable(handle: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(handle, Interest::READABLE)
}
