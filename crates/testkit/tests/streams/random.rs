//! Numbers that look random and come again with their seed (SplitMix64).

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % (end.max(1) as u64)) as usize
    }

    /// `bytes` in pieces of up to `most` bytes.
    pub(crate) fn chunks<'a>(&mut self, bytes: &'a [u8], most: usize) -> Vec<&'a [u8]> {
        let (mut chunks, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at((1 + self.below(most)).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        chunks
    }
}
