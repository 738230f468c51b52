//! One page of a text file, read without holding the file in memory.

use std::io::{BufRead, BufReader, ErrorKind, Read};

/// The requested lines and their maximum size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The first line, counting from 1.
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    pub(crate) line_chars: usize,
}

/// The content of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Binary,
    Text {
        /// The wanted lines, each cut to length.
        lines: Vec<String>,
        total_lines: usize,
    },
}

/// The number of bytes that are checked to distinguish text from binary data.
const PROBE: usize = 8192;

/// Reads the lines of `window`. The whole file is walked, because its length is part of the
/// answer; `stop` is asked now and then whether to give up, which is [`ErrorKind::Interrupted`].
pub(crate) fn read(mut file: impl Read, window: Window, stop: impl Fn() -> bool) -> std::io::Result<Found> {
    let mut probe = Vec::with_capacity(PROBE);
    file.by_ref().take(PROBE as u64).read_to_end(&mut probe)?;
    if probe.contains(&0) {
        return Ok(Found::Binary);
    }
    let start = if probe.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let reader = BufReader::with_capacity(64 * 1024, (&probe[start..]).chain(file));
    let mut collector = Collector::new(window);
    collector.walk(reader, stop)?;
    Ok(Found::Text { lines: collector.lines, total_lines: collector.seen })
}

struct Collector {
    window: Window,
    lines: Vec<String>,
    /// The bytes of the line being read, as far as they can be shown.
    line: Vec<u8>,
    open: bool,
    seen: usize,
}

impl Collector {
    fn new(window: Window) -> Self {
        Self { window, lines: Vec::new(), line: Vec::new(), open: false, seen: 0 }
    }

    fn walk(&mut self, mut reader: impl BufRead, stop: impl Fn() -> bool) -> std::io::Result<()> {
        loop {
            let chunk = reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            if stop() {
                return Err(ErrorKind::Interrupted.into());
            }
            let length = chunk.len();
            for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
                self.take(piece);
            }
            reader.consume(length);
        }
        if self.open {
            self.end_line();
        }
        Ok(())
    }

    fn take(&mut self, piece: &[u8]) {
        let (text, ends) = match piece.split_last() {
            Some((b'\n', text)) => (text, true),
            _ => (piece, false),
        };
        self.open = true;
        if self.is_wanted() {
            // Four bytes hold any character; one more character shows that the line is cut.
            let room = ((self.window.line_chars + 1) * 4).saturating_sub(self.line.len());
            self.line.extend_from_slice(&text[..text.len().min(room)]);
        }
        if ends {
            self.end_line();
        }
    }

    fn is_wanted(&self) -> bool {
        let number = self.seen + 1;
        number >= self.window.offset && number - self.window.offset < self.window.limit
    }

    fn end_line(&mut self) {
        if self.is_wanted() {
            let text = String::from_utf8_lossy(&self.line);
            self.lines.push(text.trim_end_matches('\r').to_owned());
            self.line.clear();
        }
        self.seen += 1;
        self.open = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn page(bytes: &[u8], offset: usize, limit: usize) -> Found {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let window = Window { offset, limit, line_chars: 10 };
        read(File::open(file.path()).unwrap(), window, || false).unwrap()
    }

    #[test]
    fn pages_are_cut_out_of_files() {
        for (bytes, offset, limit, lines, total) in [
            (&b""[..], 1, 5, vec![], 0),
            (b"a\nb\nc\n", 1, 5, vec!["a", "b", "c"], 3),
            (b"a\nb\nc", 2, 1, vec!["b"], 3),
            (b"a\r\nb\r\n", 1, 5, vec!["a", "b"], 2),
            (b"\xef\xbb\xbfa\n", 1, 5, vec!["a"], 1),
            (b"\n\n", 1, 5, vec!["", ""], 2),
            (b"a\xff\n", 1, 5, vec!["a\u{fffd}"], 1),
            (b"a\n", 9, 5, vec![], 1),
        ] {
            let lines = lines.into_iter().map(str::to_owned).collect();
            assert_eq!(page(bytes, offset, limit), Found::Text { lines, total_lines: total }, "{bytes:?}");
        }
        assert_eq!(page(b"a\0b", 1, 5), Found::Binary);
    }

    #[test]
    fn a_giant_line_is_not_kept() {
        let giant = vec![b'x'; 1_000_000];
        let Found::Text { lines, .. } = page(&giant, 1, 5) else { panic!() };
        assert!(lines[0].len() <= 44);
    }
}
