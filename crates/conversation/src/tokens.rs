//! Token counts, measured or estimated.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Token usage of one or more model calls. `input` excludes tokens read from or written to the provider's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

impl Usage {
    /// All tokens of the prompt, cached or not.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    pub fn total(&self) -> u64 {
        self.prompt() + self.output
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
    }
}

/// A token count and its origin, so that an estimate is never taken for a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenCount {
    Measured(u64),
    Estimated(u64),
}

impl TokenCount {
    /// The count, measured or estimated.
    pub fn value(self) -> u64 {
        match self {
            Self::Measured(tokens) | Self::Estimated(tokens) => tokens,
        }
    }
}

/// A rough count: four ASCII bytes to a token, one token for every other character.
pub fn estimate_tokens(text: &str) -> TokenCount {
    if text.is_ascii() {
        return TokenCount::Estimated((text.len() as u64).div_ceil(4));
    }
    // Counting bytes is many times faster than decoding characters: one that is not ASCII begins with a byte
    // from 0xC0 on, and its other bytes are lower.
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.bytes().filter(|byte| *byte >= 0xC0).count() as u64;
    TokenCount::Estimated(ascii.div_ceil(4) + other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_follow_the_script() {
        for (text, want) in [("", 0), ("abcd", 1), ("abcde", 2), ("中文", 2), ("ab中", 2), ("é😀\u{7ff}a", 4)]
        {
            assert_eq!(estimate_tokens(text), TokenCount::Estimated(want), "{text}");
        }
    }
}
