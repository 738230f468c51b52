//! Ties a child to its parent: standard input says when to begin and, by ending, when to stop.
//! It ends however the parent went, so no child is left running.

use anyhow::{Context, Result};
use std::io::{BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What a child has to come to its end by itself.
const GRACE: Duration = Duration::from_secs(60);

pub(super) struct Lifeline {
    begin: Receiver<()>,
    stopping: Arc<AtomicBool>,
}

impl Lifeline {
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

    /// Waits for the parent's word.
    pub(super) fn wait_to_begin(&self) -> Result<()> {
        self.begin.recv().context("the parent went away")
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}
