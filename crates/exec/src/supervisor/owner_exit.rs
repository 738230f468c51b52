//! Noticing that the process a command belongs to has ended.

use super::spec::{Lifetime, Owner};
use crate::backend::BoxFuture;
use rustix::process::{PidfdFlags, pidfd_open};
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

/// How often an owner is looked at where the kernel cannot tell of its end.
const POLL: Duration = Duration::from_secs(1);

/// Waits for the end of `owner`, if the command ends with it.
pub(crate) fn watched(lifetime: Lifetime, owner: Owner) -> Option<BoxFuture<'static, ()>> {
    (lifetime != Lifetime::Detached).then(|| -> BoxFuture<'static, ()> { Box::pin(gone(owner)) })
}

/// Returns when `owner` does not live any more.
async fn gone(owner: Owner) {
    let handle = crate::group::pid(owner.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    // Looked at after it was opened: now the handle and the name are known to mean the same process.
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

/// The kernel makes a process handle readable when the process ends.
#[expect(deprecated, reason = "sound for a descriptor we own; the newer way would need an unsafe block")]
fn readable(handle: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(handle, Interest::READABLE)
}
