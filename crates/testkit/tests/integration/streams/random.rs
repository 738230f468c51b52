//! Random chunks.

use hermes_testkit::Random;

/// `bytes` in pieces of up to `most` bytes.
pub(crate) fn chunks<'a>(random: &mut Random, bytes: &'a [u8], most: usize) -> Vec<&'a [u8]> {
    let (mut chunks, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at((1 + random.below(most)).min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}
