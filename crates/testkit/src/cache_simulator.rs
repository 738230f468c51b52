//! A provider's prompt cache, as far as it can be told from outside.
//!
//! Two kinds: one that keeps what a request marks, and looks for it a few blocks back from each
//! mark of the next; and one that keeps every prompt and gives back the longest beginning that a
//! later one shares with it, in pieces of a fixed size.

use serde_json::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How far back from a mark an earlier end is looked for.
const LOOK_BACK: usize = 20;
const MOST_MARKS: usize = 4;
/// Bytes in one token, roughly; only shares of them are compared.
const BYTES: usize = 4;
/// A prompt is kept in pieces of this many tokens.
const PIECE: usize = 128;

/// What one request found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheUse {
    /// Tokens that came from the cache.
    pub read: usize,
    /// Tokens of the request.
    pub prompt: usize,
    /// Tokens that the request before had sent in the same place, as far as a cache can give them back.
    pub reusable: usize,
}

/// A cache of marked prefixes, each forgotten some seconds after it was last used.
#[derive(Debug, Default)]
pub struct MarkedCache {
    /// When each prefix is forgotten.
    kept: HashMap<u64, f64>,
    /// The request before.
    last: Vec<u64>,
}

/// One part of a prompt: everything up to its end, and whether it carries a mark.
struct Block {
    prefix: u64,
    end: usize,
    lives: Option<f64>,
}

impl MarkedCache {
    /// Takes a request at a moment in seconds.
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
            // What is used lives on.
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

/// The prompt in the order in which a provider reads it: tools, system, messages.
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

/// A cache that needs no marks.
#[derive(Debug, Default)]
pub struct PrefixCache {
    /// The request before.
    last: Vec<u8>,
}

impl PrefixCache {
    pub fn ask(&mut self, body: &[u8]) -> CacheUse {
        let common = self.last.iter().zip(body).take_while(|(a, b)| a == b).count();
        // Only whole pieces are kept.
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
    fn only_what_was_marked_and_is_fresh_is_read() {
        let mut cache = MarkedCache::default();
        assert_eq!(cache.ask(&body(&[("a", true)]), 0.0).read, 0);
        let second = cache.ask(&body(&[("a", false), ("b", true)]), 10.0);
        assert!(second.read > 0 && second.read == second.reusable, "{second:?}");
        // A changed beginning is another prompt, and time passes.
        assert_eq!(cache.ask(&body(&[("x", false), ("b", true)]), 11.0).read, 0);
        assert_eq!(cache.ask(&body(&[("a", false), ("b", true)]), 400.0).read, 0);
        // Without a mark nothing is looked for.
        assert_eq!(cache.ask(&body(&[("a", false), ("b", false)]), 401.0).read, 0);
    }
}
