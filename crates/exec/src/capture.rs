//! Captures output of unknown length in bounded memory.
//!
//! The first and the last characters stay in memory. As soon as characters between them are dropped, a spill
//! file is created that gets the whole output. Writing to it does not wait: it goes to the page cache, and its
//! length is bounded. The file gets its final name at the end, which waits for the disk.

use crate::backend::{OutputLimits, Spill};
use crate::spill::{SpillFile, SpillLimits};
use crate::utf8_decoder::Decoder;
use std::path::Path;

/// Collects the output of a command.
#[derive(Debug)]
pub(crate) struct Capture {
    limits: OutputLimits,
    decoder: Decoder,
    head: Piece,
    /// May grow to twice its share between two trims, which makes trimming cheap.
    tail: Piece,
    seen: u64,
    spill: SpillState,
}

/// The result of a capture.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) text: String,
    pub(crate) omitted: u64,
    pub(crate) spill: Option<Spill>,
}

#[derive(Debug, Default)]
struct Piece {
    text: String,
    chars: usize,
}

#[derive(Debug)]
enum SpillState {
    /// Everything is still in memory.
    Unneeded,
    Open {
        file: SpillFile,
        bytes: u64,
        cut: bool,
    },
    /// The file could not be created or written.
    Unavailable,
}

impl Capture {
    pub(crate) fn new(limits: OutputLimits) -> Self {
        Self {
            limits,
            decoder: Decoder::default(),
            head: Piece::default(),
            tail: Piece::default(),
            seen: 0,
            spill: SpillState::Unneeded,
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let text = self.decoder.feed(bytes);
        self.push(&text);
    }

    /// Notes that `bytes` of the output are missing here. The following output is the end of the whole; the
    /// file gets nothing more, because a gap in it would be misleading.
    pub(crate) fn skip(&mut self, bytes: u64) {
        let rest = self.decoder.finish();
        self.push(&rest);
        self.seen += bytes;
        self.tail = Piece::default();
        if let SpillState::Open { cut, .. } = &mut self.spill {
            *cut = true;
        }
    }

    /// Returns true if [`finish`](Self::finish) has to wait for the disk.
    pub(crate) fn has_spilled(&self) -> bool {
        matches!(self.spill, SpillState::Open { .. })
    }

    /// Ends the capture and renders it.
    pub(crate) fn finish(mut self) -> Captured {
        let rest = self.decoder.finish();
        self.push(&rest);
        self.tail.keep_last(self.tail_share());
        let omitted = self.seen - (self.head.chars + self.tail.chars) as u64;
        let spill = match self.spill {
            SpillState::Open { file, bytes, cut } => finished(file, bytes, cut),
            SpillState::Unneeded | SpillState::Unavailable => None,
        };
        let text = match omitted {
            0 => self.head.text + &self.tail.text,
            _ => format!("{}\n\n{}\n\n{}", self.head.text, notice(omitted, spill.as_ref()), self.tail.text),
        };
        Captured { text, omitted, spill }
    }

    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let chars = text.chars().count();
        self.seen += chars as u64;
        if self.seen > self.limits.chars as u64 {
            self.spill(text);
        }
        let room = self.head_share() - self.head.chars;
        let cut = byte_of_char(text, room.min(chars));
        self.head.push(&text[..cut], room.min(chars));
        self.tail.push(&text[cut..], chars - room.min(chars));
        if self.tail.chars > self.tail_share() * 2 {
            self.tail.keep_last(self.tail_share());
        }
    }

    fn head_share(&self) -> usize {
        self.limits.chars * 2 / 5
    }

    fn tail_share(&self) -> usize {
        self.limits.chars - self.head_share()
    }

    fn spill(&mut self, text: &str) {
        if matches!(self.spill, SpillState::Unneeded) {
            let (dir, limits) = (self.limits.spill.as_deref(), self.limits.spill_limits);
            self.spill = dir.map_or(SpillState::Unavailable, |dir| open(dir, limits));
            let remembered = [std::mem::take(&mut self.head.text), std::mem::take(&mut self.tail.text)];
            for piece in &remembered {
                self.write(piece);
            }
            let [head, tail] = remembered;
            (self.head.text, self.tail.text) = (head, tail);
        }
        self.write(text);
    }

    fn write(&mut self, text: &str) {
        let SpillState::Open { file, bytes, cut } = &mut self.spill else {
            return;
        };
        let room = usize::try_from(self.limits.spill_limits.per_file() - *bytes).unwrap_or(usize::MAX);
        let fits = text.floor_char_boundary(room.min(text.len()));
        // After a failed write nothing follows: a gap in the file would be misleading.
        if *cut {
            return;
        }
        *cut = fits < text.len();
        if fits == 0 {
            return;
        }
        match file.write(&text.as_bytes()[..fits]) {
            Ok(()) => *bytes += fits as u64,
            Err(error) => {
                tracing::warn!(%error, "the spill file could not be written");
                *cut = true;
            }
        }
    }
}

impl Piece {
    fn push(&mut self, text: &str, chars: usize) {
        self.text.push_str(text);
        self.chars += chars;
    }

    fn keep_last(&mut self, chars: usize) {
        if self.chars > chars {
            let cut = byte_of_char(&self.text, self.chars - chars);
            self.text.drain(..cut);
            self.chars = chars;
        }
    }
}

fn notice(omitted: u64, spill: Option<&Spill>) -> String {
    match spill {
        Some(Spill { path, cut: false, .. }) => {
            format!("[{omitted} characters left out; all of it is in {}]", path.display())
        }
        Some(Spill { path, bytes, .. }) => {
            format!("[{omitted} characters left out; the first {bytes} bytes are in {}]", path.display())
        }
        None => format!("[{omitted} characters left out]"),
    }
}

fn byte_of_char(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(byte, _)| byte)
}

fn open(dir: &Path, limits: SpillLimits) -> SpillState {
    match SpillFile::create(dir, limits) {
        Ok(file) => SpillState::Open { file, bytes: 0, cut: false },
        Err(error) => {
            tracing::warn!(%error, dir = %dir.display(), "no spill file for long output");
            SpillState::Unavailable
        }
    }
}

fn finished(file: SpillFile, bytes: u64, cut: bool) -> Option<Spill> {
    match file.finish() {
        Ok(path) => Some(Spill { path, bytes, cut }),
        Err(error) => {
            tracing::warn!(%error, "the spill file could not be finished");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(chars: usize, spill: Option<&Path>) -> OutputLimits {
        let spill_limits = SpillLimits { bytes: 64, ..SpillLimits::default() };
        OutputLimits { chars, spill: spill.map(Path::to_owned), spill_limits }
    }

    #[test]
    fn short_output_is_kept_whole_and_makes_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("deep");
        let mut capture = Capture::new(limits(10, Some(&deep)));
        for piece in ["01234", "5678", "9"] {
            capture.feed(piece.as_bytes());
        }
        let done = capture.finish();
        assert_eq!((done.text.as_str(), done.omitted, done.spill), ("0123456789", 0, None));
        assert!(!deep.exists());
    }

    #[test]
    fn long_output_keeps_both_ends_and_spills_everything() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(limits(10, Some(&dir.path().join("deep"))));
        for _ in 0..3 {
            capture.feed("abcdefgh中".as_bytes());
        }
        let done = capture.finish();
        assert_eq!(done.omitted, 17);
        let path = done.spill.unwrap().path;
        let notice = format!("abcd\n\n[17 characters left out; all of it is in {}]", path.display());
        assert!(done.text.starts_with(&notice), "{}", done.text);
        assert!(done.text.ends_with("]\n\ndefgh中"), "{}", done.text);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "abcdefgh中".repeat(3));
    }

    #[test]
    fn skipped_bytes_are_counted_and_end_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(limits(10, Some(dir.path())));
        capture.feed(b"0123456789abcdef");
        capture.skip(100);
        capture.feed(b"uvwxyz");
        let done = capture.finish();
        let spill = done.spill.unwrap();
        assert_eq!((spill.bytes, spill.cut, done.omitted), (16, true, 112));
        assert!(done.text.starts_with("0123\n\n[112 "), "{}", done.text);
        assert!(done.text.ends_with("]\n\nuvwxyz"), "{}", done.text);
    }

    #[test]
    fn endless_output_is_bounded_in_memory_and_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(limits(100, Some(dir.path())));
        for _ in 0..10_000 {
            capture.feed(b"0123456789abcdef");
        }
        assert!(capture.tail.text.len() < 200);
        let done = capture.finish();
        let spill = done.spill.unwrap();
        assert_eq!((spill.bytes, spill.cut), (64, true));
        assert_eq!(std::fs::metadata(&spill.path).unwrap().len(), 64);
    }
}
