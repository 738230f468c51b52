//! Standard error of a script, apart from its output: a named pipe with bounded memory.

use crate::ToolError;
use rustix::fs::{CWD, Mode, mkfifoat};
use std::collections::VecDeque;
use std::path::Path;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver};
use tokio_util::sync::CancellationToken;

/// Bytes that are kept: the first 40 % and the last 60 %.
const HEAD: usize = 4_000;
const TAIL: usize = 6_000;
/// Bytes that are read after the script has ended.
const MOST_AFTER: usize = 1024 * 1024;

pub(super) struct ErrorPipe(Receiver);

impl ErrorPipe {
    /// Creates a pipe that the script opens by its path.
    pub(super) fn create(path: &Path) -> Result<Self, ToolError> {
        let failed = |error: &std::io::Error| ToolError::io("create", path, error);
        mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).map_err(|error| failed(&error.into()))?;
        // With a writer of its own the pipe does not end between two programs.
        let pipe = OpenOptions::new().read_write(true).open_receiver(path);
        pipe.map(Self).map_err(|error| failed(&error))
    }

    /// Collects what is written until `stop`, and what is in the pipe then.
    pub(super) async fn collect(mut self, stop: &CancellationToken) -> String {
        let (mut kept, mut buffer) = (Kept::default(), vec![0; 16 * 1024]);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                read = self.0.read(&mut buffer) => match read {
                    Ok(count) if count > 0 => kept.add(&buffer[..count]),
                    _ => break,
                },
            }
        }
        let mut left = MOST_AFTER;
        while left > 0
            && let Ok(count) = self.0.try_read(&mut buffer)
            && count > 0
        {
            kept.add(&buffer[..count]);
            left = left.saturating_sub(count);
        }
        kept.text()
    }
}

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: usize,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..excess);
        self.omitted += excess;
    }

    fn text(mut self) -> String {
        let tail = self.tail.make_contiguous();
        if self.omitted == 0 {
            self.head.extend_from_slice(tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(tail));
        format!("{head}\n[... {} bytes omitted ...]\n{tail}", self.omitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept() {
        let mut kept = Kept::default();
        kept.add(b"short \xff");
        assert_eq!(kept.text(), "short \u{fffd}");
        let mut kept = Kept::default();
        for part in [vec![b'a'; HEAD + 1], vec![b'b'; 3], vec![b'c'; TAIL]] {
            kept.add(&part);
        }
        let want = format!("{}\n[... 4 bytes omitted ...]\n{}", "a".repeat(HEAD), "c".repeat(TAIL));
        assert_eq!(kept.text(), want);
    }
}
