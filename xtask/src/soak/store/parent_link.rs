//! Connects a child to its parent: standard input signals the start and, at its end, the stop. It ends even if
//! the parent is killed, so no child is left running.

use anyhow::{Context, Result};
use std::io::{BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The time limit for a child to end by itself.
const GRACE: Duration = Duration::from_secs(60);

pub(super) struct ParentLink {
    begin: Receiver<()>,
    stopping: Arc<AtomicBool>,
}

impl ParentLink {
    pub(super) fn watch() -> Self {
        let (begun, begin) = channel();
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = stopping.clone();
        std::thread::spawn(move || {
            let mut input = std::io::stdin().lock();
            if input.read_line(&mut String::new()).is_ok_and(|length| length > 0) {
                let _ = begun.send(());
                let _ = input.read_to_end(&mut Vec::new());
            }
            stop.store(true, Ordering::Relaxed);
            std::thread::park_timeout(GRACE);
            std::process::exit(1);
        });
        Self { begin, stopping }
    }

    /// Waits for the start signal of the parent.
    pub(super) fn wait_to_begin(&self) -> Result<()> {
        self.begin.recv().context("the parent went away")
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
