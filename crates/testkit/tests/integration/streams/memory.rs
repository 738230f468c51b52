//! How much memory something takes: an allocator that counts what each thread has.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Neither needs a destructor, so both can be used whenever memory is.
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

// SAFETY: everything is left to the system's allocator; counting allocates nothing.
#[expect(unsafe_code, reason = "there is no other way to see what is allocated")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// What the result keeps.
    pub(crate) kept: usize,
    /// The most that there was at a time.
    pub(crate) peak: usize,
}

/// What `work` takes, and its result.
pub(crate) fn held<T>(work: impl FnOnce() -> T) -> (T, Held) {
    let before = NOW.get();
    PEAK.set(before);
    let result = work();
    let since = |bytes: isize| usize::try_from(bytes - before).unwrap_or(0);
    (result, Held { kept: since(NOW.get()), peak: since(PEAK.get()) })
}
