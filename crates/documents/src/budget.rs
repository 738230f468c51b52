//! Limits on the work that one document may cause.

use crate::DocumentError;
use flate2::{Decompress, FlushDecompress, Status};

/// Bytes that a document may unpack to, all its parts together.
const MOST_UNPACKED: usize = 64 * 1024 * 1024;
/// Bytes that may be parsed, counting those parsed twice.
const MOST_PARSED: usize = 128 * 1024 * 1024;

/// The remaining work.
#[derive(Debug)]
pub(crate) struct Budget {
    unpacked: usize,
    parsed: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { unpacked: MOST_UNPACKED, parsed: MOST_PARSED }
    }
}

impl Budget {
    /// Charges bytes that were unpacked.
    pub(crate) fn unpack(&mut self, bytes: usize) -> Result<(), DocumentError> {
        self.unpacked = self.unpacked.checked_sub(bytes).ok_or(DocumentError::TooLarge(MOST_UNPACKED))?;
        Ok(())
    }

    /// Charges bytes that are parsed.
    pub(crate) fn parse(&mut self, bytes: usize) -> Result<(), DocumentError> {
        self.parsed = self.parsed.checked_sub(bytes).ok_or(DocumentError::TooLarge(MOST_PARSED))?;
        Ok(())
    }

    /// Inflates deflated data. Data that is cut off or damaged gives what could be read of it.
    pub(crate) fn inflate(&mut self, bytes: &[u8], zlib: bool) -> Result<Vec<u8>, DocumentError> {
        let mut state = Decompress::new(zlib);
        let mut out = Vec::new();
        let mut chunk = vec![0; 32 * 1024];
        loop {
            let (before_in, before_out) = (state.total_in(), state.total_out());
            let rest = &bytes[usize::try_from(before_in).unwrap_or(bytes.len()).min(bytes.len())..];
            let status = state.decompress(rest, &mut chunk, FlushDecompress::None);
            let made = usize::try_from(state.total_out() - before_out).unwrap_or(0).min(chunk.len());
            self.unpack(made)?;
            out.extend_from_slice(&chunk[..made]);
            let moved = made > 0 || state.total_in() > before_in;
            match status {
                Ok(Status::Ok | Status::BufError) if moved => {}
                _ => return Ok(out),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::io::Write;

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn data_is_inflated_up_to_the_limit() {
        let text = b"some text ".repeat(10_000);
        let packed = deflated(&text);
        assert_eq!(Budget::default().inflate(&packed, true), Ok(text.clone()));
        let half = Budget::default().inflate(&packed[..packed.len() / 2], true).unwrap();
        assert!(text.starts_with(&half));
        assert_eq!(Budget::default().inflate(b"no deflate", true), Ok(vec![]));
        let bomb = deflated(&vec![0; MOST_UNPACKED + 1]);
        assert_eq!(Budget::default().inflate(&bomb, true), Err(DocumentError::TooLarge(MOST_UNPACKED)));
    }
}
