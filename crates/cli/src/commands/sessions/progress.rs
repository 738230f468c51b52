//! The progress of a long command, on standard error if that is a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The time between two updates.
const EVERY: Duration = Duration::from_millis(100);
const WIDTH: u64 = 30;

pub(super) struct Progress {
    doing: &'static str,
    is_seen: bool,
    shown: Option<Instant>,
}

impl Progress {
    pub(super) fn new(doing: &'static str) -> Self {
        Self { doing, is_seen: std::io::stderr().is_terminal(), shown: None }
    }

    pub(super) fn show(&mut self, done: u64, total: u64) {
        let is_early = self.shown.is_some_and(|shown| shown.elapsed() < EVERY);
        if !self.is_seen || is_early {
            return;
        }
        self.shown = Some(Instant::now());
        // A terminal that is gone does not stop the command.
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K{}", line(self.doing, done, total));
    }
}

/// Erases the line on drop, so that later output starts on an empty one.
impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn line(doing: &str, done: u64, total: u64) -> String {
    let part = |whole: u64| done.min(total).saturating_mul(whole) / total.max(1);
    let filled = part(WIDTH);
    let bar: String = (0..WIDTH).map(|place| if place < filled { '█' } else { '░' }).collect();
    format!("{doing} {bar} {:>3}%  {done} of {total}", part(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_shows_the_progress() {
        let bar = |full: usize| format!("{}{}", "█".repeat(full), "░".repeat(30 - full));
        for (done, total, want) in [
            (0, 0, format!("Copying {}   0%  0 of 0", bar(0))),
            (1, 2, format!("Copying {}  50%  1 of 2", bar(15))),
            (7, 7, format!("Copying {} 100%  7 of 7", bar(30))),
        ] {
            assert_eq!(line("Copying", done, total), want);
        }
    }
}
