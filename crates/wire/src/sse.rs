//! Parses server-sent events from chunks of any size.
//!
//! The events do not depend on the chunks. Lines end with LF, CRLF or CR; comments and fields other than `data`
//! are ignored.

/// The maximum length of a line.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// A failure of the stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    #[error("a line is longer than {MAX_LINE} bytes")]
    LineTooLong,
}

/// Collects lines into events.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The start of an incomplete line.
    partial: Vec<u8>,
    /// The `data` lines of the current event.
    data: String,
    has_data: bool,
    /// The last chunk ended with CR; an LF at the start of the next one belongs to it.
    after_cr: bool,
    /// Nothing was read yet; a byte order mark may follow.
    started: bool,
}

impl SseParser {
    /// Takes a chunk and passes every complete event to `each`.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(&str)) -> Result<(), SseError> {
        let mut rest = chunk;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            self.line(&rest[..end], &mut each)?;
            let was_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if was_cr {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
        }
        if self.partial.len() + rest.len() > MAX_LINE {
            return Err(SseError::LineTooLong);
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// Passes on an event without a closing blank line.
    pub fn finish(&mut self, mut each: impl FnMut(&str)) -> Result<(), SseError> {
        if !self.partial.is_empty() {
            self.line(b"", &mut each)?;
        }
        self.line(b"", &mut each)
    }

    fn line(&mut self, end: &[u8], each: &mut impl FnMut(&str)) -> Result<(), SseError> {
        if self.partial.len() + end.len() > MAX_LINE {
            return Err(SseError::LineTooLong);
        }
        if self.partial.is_empty() {
            return self.whole_line(end, each);
        }
        let mut line = std::mem::take(&mut self.partial);
        line.extend_from_slice(end);
        self.whole_line(&line, each)?;
        line.clear();
        self.partial = line;
        Ok(())
    }

    fn whole_line(&mut self, mut line: &[u8], each: &mut impl FnMut(&str)) -> Result<(), SseError> {
        if !self.started {
            self.started = true;
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                each(&self.data);
                self.data.clear();
            }
            return Ok(());
        }
        let Some(value) = line.strip_prefix(b"data") else {
            return Ok(());
        };
        let value = match value {
            [] => value,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            _ => return Ok(()),
        };
        if self.has_data {
            self.data.push('\n');
        }
        if self.data.len() + value.len() > MAX_LINE {
            return Err(SseError::LineTooLong);
        }
        match std::str::from_utf8(value) {
            Ok(text) => self.data.push_str(text),
            Err(_) => self.data.push_str(&String::from_utf8_lossy(value)),
        }
        self.has_data = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = SseParser::default();
        let mut seen = Vec::new();
        for chunk in chunks {
            parser.feed(chunk, |data| seen.push(data.to_owned())).unwrap();
        }
        parser.finish(|data| seen.push(data.to_owned())).unwrap();
        seen
    }

    #[test]
    fn events_are_read() {
        for (given, want) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data:a\r\n\r\ndata:  b\r\n\r\n", vec!["a", " b"]),
            ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
            (": hello\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", vec!["a"]),
            ("data: a\ndata: b\n\n", vec!["a\nb"]),
            ("data: last without blank line", vec!["last without blank line"]),
            ("data\n\n", vec![""]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            ("\n\n\n", vec![]),
            ("database: no\n\n", vec![]),
        ] {
            assert_eq!(read(&[given.as_bytes()]), want, "{given:?}");
        }
    }

    #[test]
    fn endless_line_is_rejected() {
        let mut parser = SseParser::default();
        let chunk = vec![b'x'; MAX_LINE / 2 + 1];
        parser.feed(&chunk, |_| ()).unwrap();
        assert_eq!(parser.feed(&chunk, |_| ()), Err(SseError::LineTooLong));
    }

    #[test]
    fn long_line_is_rejected_whole_and_in_pieces() {
        let mut line = vec![b':'; MAX_LINE + 1];
        line.extend_from_slice(b"\n\n");
        for size in [line.len(), MAX_LINE / 3] {
            let mut parser = SseParser::default();
            let fed: Result<(), _> = line.chunks(size).try_for_each(|chunk| parser.feed(chunk, |_| ()));
            assert_eq!(fed, Err(SseError::LineTooLong), "in pieces of {size}");
        }
    }

    proptest! {
        #[test]
        fn chunking_does_not_matter(cuts in prop::collection::vec(0usize..64, 0..8)) {
            let whole = "data: größe 中\r\n\r\n: note\rdata: a\ndata: b\n\r\ndata: [DONE]\n\n".as_bytes();
            let mut chunks = Vec::new();
            let mut rest = whole;
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                chunks.push(head);
                rest = tail;
            }
            chunks.push(rest);
            prop_assert_eq!(read(&chunks), read(&[whole]));
        }
    }
}
