//! The bounded output of a command on disk: its start while the command runs, its end when it is over.

use super::record::{End, OUTPUT};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The output file of a command.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    most_head: u64,
    most_tail: usize,
    head: u64,
    total: u64,
    /// The end of the output that did not fit; may grow to twice its share between two trims.
    tail: Vec<u8>,
    /// A write failed; from then on only the end is kept.
    broken: bool,
}

/// The sizes of a finished spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spooled {
    pub(crate) head: u64,
    pub(crate) tail: u64,
    pub(crate) total: u64,
}

impl Spool {
    /// `file` must have no output yet.
    pub(crate) fn new(file: File, most_head: u64, most_tail: u64) -> Self {
        let most_tail = usize::try_from(most_tail).unwrap_or(usize::MAX / 4);
        Self { file, most_head, most_tail, head: 0, total: 0, tail: Vec::new(), broken: false }
    }

    /// Bytes that can be read from the file.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Appends output. Goes to the page cache and does not wait for the disk.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = if self.broken { 0 } else { self.most_head - self.head };
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (head, rest) = bytes.split_at(fits);
        match self.file.write_all_at(head, OUTPUT + self.head) {
            Ok(()) => {
                self.head += head.len() as u64;
                self.keep(rest);
            }
            Err(error) => {
                tracing::warn!(%error, "the output of a command could not be spooled");
                self.broken = true;
                self.keep(bytes);
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes);
        if self.tail.len() > self.most_tail * 2 {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let surplus = self.tail.len().saturating_sub(self.most_tail);
        self.tail.drain(..surplus);
    }

    /// The last bytes of the output so far, up to `most`, without a gap.
    pub(crate) fn last(&self, most: usize) -> Vec<u8> {
        let kept = &self.tail[self.tail.len().saturating_sub(most)..];
        let has_gap = self.head + self.tail.len() as u64 != self.total;
        if has_gap || kept.len() == most {
            return kept.to_vec();
        }
        let wanted = usize::try_from(self.head).unwrap_or(usize::MAX).min(most - kept.len());
        let mut bytes = read_at(&self.file, self.head - wanted as u64, wanted).unwrap_or_default();
        bytes.extend_from_slice(kept);
        bytes
    }

    /// Bytes of the whole output so far.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Appends the end to the file, and waits for the disk if it must survive a power cut. Returns the file for
    /// its record.
    pub(crate) fn finish(mut self, is_synced: bool) -> (Spooled, File) {
        self.trim();
        let mut tail = self.tail.len() as u64;
        if let Err(error) = self.file.write_all_at(&self.tail, OUTPUT + self.head) {
            tracing::warn!(%error, "the end of a command's output could not be spooled");
            tail = 0;
        }
        if is_synced
            && self.total > 0
            && let Err(error) = self.file.sync_data()
        {
            tracing::warn!(%error, "the output of a command may not survive a power cut");
        }
        (Spooled { head: self.head, tail, total: self.total }, self.file)
    }
}

/// Reads up to `most` bytes of output from offset `from`.
pub(crate) fn read_at(file: &File, from: u64, most: usize) -> std::io::Result<Vec<u8>> {
    let mut buffer = vec![0; most];
    let count = file.read_at(&mut buffer, OUTPUT + from)?;
    buffer.truncate(count);
    Ok(buffer)
}

/// The last bytes of the output of a finished command, up to `most`, without a gap.
pub(crate) fn last_of(file: &File, end: &End, most: u64) -> std::io::Result<Vec<u8>> {
    let kept = end.head + end.tail;
    let first = if end.total > kept { end.head } else { 0 };
    let from = kept.saturating_sub(most).max(first);
    read_at(file, from, usize::try_from(kept - from).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_growing_output_can_be_read() {
        for (pieces, most, want) in [
            (vec!["abc"], 10, "abc"),
            (vec!["abcdef"], 4, "cdef"),
            (vec!["abcdef", "ghij"], 5, "fghij"),
            (vec!["abcdef", "ghij"], 2, "ij"),
            (vec!["abcdefghijkl", "mn", "opqrstuv"], 100, "stuv"),
            (vec![], 5, ""),
        ] {
            let mut spool = Spool::new(tempfile::tempfile().unwrap(), 8, 4);
            for piece in &pieces {
                spool.feed(piece.as_bytes());
            }
            assert_eq!(spool.last(most), want.as_bytes(), "{pieces:?}");
        }
    }

    #[test]
    fn start_and_end_are_kept_and_middle_is_counted() {
        for (pieces, want, text) in [
            (vec!["abc"], Spooled { head: 3, tail: 0, total: 3 }, "abc"),
            (vec!["abcdef", "ghij"], Spooled { head: 8, tail: 2, total: 10 }, "abcdefghij"),
            (vec!["abcdefghijkl", "mn", "op"], Spooled { head: 8, tail: 4, total: 16 }, "abcdefghmnop"),
            (vec![], Spooled { head: 0, tail: 0, total: 0 }, ""),
        ] {
            let mut spool = Spool::new(tempfile::tempfile().unwrap(), 8, 4);
            for piece in &pieces {
                spool.feed(piece.as_bytes());
            }
            let (done, file) = spool.finish(true);
            assert_eq!(done, want, "{pieces:?}");
            assert_eq!(read_at(&file, 0, 100).unwrap(), text.as_bytes());
        }
    }
}
