//! Memory use of a computation: an allocator that counts per thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Neither needs a destructor, so both can be used at any time.
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(bytes: isize) {
    let now = NOW.get() + bytes;
    NOW.set(now);
    PEAK.set(PEAK.get().max(now));
}

// SAFETY: all calls are forwarded to the system allocator; counting allocates nothing.
#[expect(unsafe_code, reason = "there is no other way to see what is allocated")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the guarantees of the caller are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the guarantees of the caller are passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// Bytes that the result keeps.
    pub(crate) kept: usize,
    /// The peak in bytes.
    pub(crate) peak: usize,
}

/// Runs `work` and returns its memory use and its result.
pub(crate) fn held<T>(work: impl FnOnce() -> T) -> (T, Held) {
    let before = NOW.get();
    PEAK.set(before);
    let result = work();
    let since = |bytes: isize| usize::try_from(bytes - before).unwrap_or(0);
    (result, Held { kept: since(NOW.get()), peak: since(PEAK.get()) })
}
