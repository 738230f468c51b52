//! Lines of bounded length from a connection.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The longest line. A file that a script writes is in one.
pub(super) const LONGEST: usize = 4 * 1024 * 1024;
/// The length beyond which a line needs a permit, so that many long lines do not fill the memory.
const SHORT: usize = 64 * 1024;

/// The next event of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Line(Vec<u8>),
    TooLong,
    /// Closed, or broken.
    End,
}

pub(super) struct Lines<'a, R> {
    reader: BufReader<R>,
    long_lines: &'a Semaphore,
}

impl<'a, R: AsyncRead + Unpin> Lines<'a, R> {
    pub(super) fn new(reader: R, long_lines: &'a Semaphore) -> Self {
        Self { reader: BufReader::new(reader), long_lines }
    }

    /// The next line without its end. The rest of a line that is too long is not read.
    pub(super) async fn next(&mut self) -> Next {
        let mut line = Vec::new();
        let mut permit: Option<SemaphorePermit<'a>> = None;
        loop {
            let Ok(read) = self.reader.fill_buf().await else { return Next::End };
            if read.is_empty() {
                return Next::End;
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            if line.len() + part.len() > LONGEST {
                return Next::TooLong;
            }
            line.extend_from_slice(part);
            let used = end.map_or(read.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                return Next::Line(line);
            }
            if line.len() > SHORT && permit.is_none() {
                permit = self.long_lines.acquire().await.ok();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_split_and_bounded() {
        let permits = Semaphore::new(1);
        let mut text = b"one\n\n".to_vec();
        text.extend(vec![b'x'; SHORT * 2]);
        text.extend(b"\nlast");
        let mut lines = Lines::new(&*text, &permits);
        assert_eq!(lines.next().await, Next::Line(b"one".to_vec()));
        assert_eq!(lines.next().await, Next::Line(Vec::new()));
        assert_eq!(lines.next().await, Next::Line(vec![b'x'; SHORT * 2]));
        assert_eq!(permits.available_permits(), 1);
        assert_eq!(lines.next().await, Next::End);
        let huge = vec![b'x'; LONGEST + 1];
        assert_eq!(Lines::new(&*huge, &permits).next().await, Next::TooLong);
    }
}
