//! Simulations of providers' prompt caches.
//!
//! There are two kinds: one stores the prefixes that a request marks, and searches a few blocks back from each
//! mark of the next request; the other stores every prompt and returns the longest prefix that a later one
//! shares with it, in pieces of a fixed size.

use serde_json::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Blocks before a mark that are searched.
const LOOK_BACK: usize = 20;
const MOST_MARKS: usize = 4;
/// Bytes per token, roughly; only ratios are compared.
const BYTES: usize = 4;
/// The size of the pieces of a prompt, in tokens.
const PIECE: usize = 128;

/// The cache use of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheUse {
    /// Tokens read from the cache.
    pub read: usize,
    /// Tokens of the request.
    pub prompt: usize,
    /// Tokens that the previous request had sent as the same prefix, as far as a cache can return them.
    pub reusable: usize,
}

/// A cache of marked prefixes, each of which expires some seconds after its last use.
#[derive(Debug, Default)]
pub struct MarkedCache {
    /// The expiry of each prefix.
    kept: HashMap<u64, f64>,
    /// The previous request.
    last: Vec<u64>,
}

/// One part of a prompt: a digest of everything up to its end, and its mark.
struct Block {
    prefix: u64,
    end: usize,
    lives: Option<f64>,
}

impl MarkedCache {
    /// Processes a request at a time in seconds.
    pub fn ask(&mut self, body: &Value, now: f64) -> CacheUse {
        self.kept.retain(|_, until| *until >= now);
        let blocks = blocks(body);
        let marks: Vec<usize> = (0..blocks.len()).filter(|&place| blocks[place].lives.is_some()).collect();
        assert!(marks.len() <= MOST_MARKS, "{} cache marks", marks.len());
        let nearby = marks.iter().flat_map(|&mark| mark.saturating_sub(LOOK_BACK)..=mark);
        let found = nearby.filter(|&place| self.kept.contains_key(&blocks[place].prefix)).max();
        for &mark in &marks {
            let until = now + blocks[mark].lives.unwrap_or_default();
            self.kept.insert(blocks[mark].prefix, until);
        }
        if let Some(place) = found {
            // A use extends the lifetime.
            let lives = marks.first().and_then(|&mark| blocks[mark].lives).unwrap_or_default();
            self.kept.insert(blocks[place].prefix, now + lives);
        }
        let prefixes: Vec<u64> = blocks.iter().map(|block| block.prefix).collect();
        let reusable = self.last.iter().zip(&prefixes).take_while(|(a, b)| a == b).count();
        self.last = prefixes;
        let tokens = |count: usize| if count == 0 { 0 } else { blocks[count - 1].end / BYTES };
        CacheUse {
            read: found.map_or(0, |place| tokens(place + 1)),
            prompt: tokens(blocks.len()),
            reusable: tokens(reusable),
        }
    }
}

/// The prompt in the order of the provider: tools, system, messages.
fn blocks(body: &Value) -> Vec<Block> {
    let mut blocks = Blocks::default();
    for tool in body["tools"].as_array().into_iter().flatten() {
        blocks.add("tool", tool);
    }
    match &body["system"] {
        Value::Array(parts) => parts.iter().for_each(|part| blocks.add("system", part)),
        Value::Null => {}
        text => blocks.add("system", text),
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        match &message["content"] {
            Value::Array(parts) => parts.iter().for_each(|part| blocks.add(role, part)),
            content => blocks.add(role, content),
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            blocks.add("call", call);
        }
    }
    blocks.done
}

#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    so_far: DefaultHasher,
    end: usize,
}

impl Blocks {
    fn add(&mut self, role: &str, part: &Value) {
        let mut part = part.clone();
        let mark = part.as_object_mut().and_then(|part| part.shift_remove("cache_control"));
        let lives = mark.map(|mark| if mark["ttl"] == "1h" { 3_600.0 } else { 300.0 });
        let text = part.to_string();
        (role, &text).hash(&mut self.so_far);
        self.end += text.len();
        self.done.push(Block { prefix: self.so_far.finish(), end: self.end, lives });
    }
}

/// A cache without marks.
#[derive(Debug, Default)]
pub struct PrefixCache {
    /// The previous request.
    last: Vec<u8>,
}

impl PrefixCache {
    pub fn ask(&mut self, body: &[u8]) -> CacheUse {
        let common = self.last.iter().zip(body).take_while(|(a, b)| a == b).count();
        // Only whole pieces are stored.
        let reusable = self.last.len().min(body.len()) / BYTES / PIECE * PIECE;
        self.last = body.to_vec();
        CacheUse { read: common / BYTES / PIECE * PIECE, prompt: body.len() / BYTES, reusable }
    }
}

impl std::ops::AddAssign for CacheUse {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.prompt += other.prompt;
        self.reusable += other.reusable;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(texts: &[(&str, bool)]) -> Value {
        let content = |(text, marked): &(&str, bool)| {
            let mut part = json!({"type": "text", "text": text.repeat(100)});
            if *marked {
                part["cache_control"] = json!({"type": "ephemeral"});
            }
            json!({"role": "user", "content": [part]})
        };
        json!({"messages": texts.iter().map(content).collect::<Vec<_>>()})
    }

    #[test]
    fn only_marked_and_fresh_prefixes_are_hit() {
        let mut cache = MarkedCache::default();
        assert_eq!(cache.ask(&body(&[("a", true)]), 0.0).read, 0);
        let second = cache.ask(&body(&[("a", false), ("b", true)]), 10.0);
        assert!(second.read > 0 && second.read == second.reusable, "{second:?}");
        // A changed beginning is a different prompt, and entries expire.
        assert_eq!(cache.ask(&body(&[("x", false), ("b", true)]), 11.0).read, 0);
        assert_eq!(cache.ask(&body(&[("a", false), ("b", true)]), 400.0).read, 0);
        // Without a mark nothing is searched for.
        assert_eq!(cache.ask(&body(&[("a", false), ("b", false)]), 401.0).read, 0);
    }
}
