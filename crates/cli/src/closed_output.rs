//! Detects that the program was started with a closed standard output.
//!
//! The standard library opens `/dev/null` in its place before `main`, so that output would vanish without an
//! error. The check runs before that, while the program is loaded.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns true if standard output was closed when the program started.
pub(crate) fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

extern "C" fn look() {
    // One system call and no standard library, which is not set up yet.
    let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(rustix::io::Errno::BADF);
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// The loader calls the functions in this section before `main`.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "std offers nothing that runs before it opens /dev/null")]
#[used]
// SAFETY: the section holds pointers to functions of this type; `look` needs nothing that is not set up then.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
