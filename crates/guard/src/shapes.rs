//! What well-known credentials look like, for those whose value is not known.
//!
//! Each matcher looks at one position and reads no further than the credential it may find, so a
//! scan stays linear. Matchers are plain byte tests instead of regular expressions: there is
//! nothing to compile at start-up, and text without credentials costs one table look-up per byte.

use crate::pairs::PairSet;

/// A stretch of text to take out: byte positions in the scanned text.
#[derive(Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

enum Shape {
    /// A key that announces itself by a prefix and goes on for at least `least` key characters.
    Key { prefix: &'static str, least: usize },
    /// A header word; the token after it is taken out, the word stays.
    Header(&'static str),
    /// A PEM block; taken out whole when it holds a private key.
    Pem(&'static str),
    /// A URL authority; a password before the `@` is taken out.
    Authority(&'static str),
}

/// How much of a key is looked at to tell it from a long name.
const KEY_SAMPLE: usize = 64;

const fn key(prefix: &'static str, least: usize) -> Shape {
    Shape::Key { prefix, least }
}

/// `sk-` also covers `sk-ant-`, `sk-or-` and `sk-proj-`.
const SHAPES: [Shape; 29] = [
    key("sk-", 20),
    key("ghp_", 20),
    key("gho_", 20),
    key("ghu_", 20),
    key("ghs_", 20),
    key("ghr_", 20),
    key("github_pat_", 20),
    key("glpat-", 16),
    key("xoxa-", 10),
    key("xoxb-", 10),
    key("xoxp-", 10),
    key("xoxs-", 10),
    key("AKIA", 16),
    key("ASIA", 16),
    key("AIza", 30),
    key("hf_", 20),
    key("gsk_", 20),
    key("xai-", 20),
    key("pplx-", 20),
    key("npm_", 30),
    key("r8_", 30),
    key("tvly-", 16),
    Shape::Header("Bearer "),
    Shape::Header("bearer "),
    Shape::Header("BEARER "),
    Shape::Header("Authorization: Basic "),
    Shape::Header("authorization: basic "),
    Shape::Pem("-----BEGIN "),
    Shape::Authority("://"),
];

static STARTS: PairSet = starts();

const fn starts() -> PairSet {
    let mut set = PairSet::new();
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix().as_bytes();
        set.insert(prefix[0], prefix[1]);
        at += 1;
    }
    set
}

/// The first credential at or after `from`.
pub(crate) fn find(text: &str, mut from: usize) -> Option<Hit> {
    let bytes = text.as_bytes();
    while let Some(at) = STARTS.next_hit(bytes, from) {
        let shape = SHAPES.iter().find(|shape| bytes[at..].starts_with(shape.prefix().as_bytes()));
        if let Some(hit) = shape.and_then(|shape| shape.matches(bytes, at)) {
            return Some(hit);
        }
        from = at + 1;
    }
    None
}

impl Shape {
    const fn prefix(&self) -> &'static str {
        match self {
            Shape::Key { prefix, .. }
            | Shape::Header(prefix)
            | Shape::Pem(prefix)
            | Shape::Authority(prefix) => prefix,
        }
    }

    /// Looks at `at`, where the prefix is known to stand.
    fn matches(&self, bytes: &[u8], at: usize) -> Option<Hit> {
        let after = at + self.prefix().len();
        match self {
            Shape::Key { least, .. } => {
                // Judged by a bounded beginning: many prefixes in one long word stay linear.
                let sample = &bytes[after..bytes.len().min(after + KEY_SAMPLE)];
                let body = &sample[..run(sample, is_key_byte)];
                let likely = is_word_start(bytes, at) && body.len() >= *least && has_digit(body);
                likely.then(|| Hit { start: at, end: after + run(&bytes[after..], is_key_byte) })
            }
            Shape::Header(_) => {
                let start = after + run(&bytes[after..], |byte| byte == b' ');
                let end = start + run(&bytes[start..], is_token_byte);
                let token = &bytes[start..end];
                let likely = token.len() >= 16 || token.len() >= 8 && has_digit(token);
                (likely && is_word_start(bytes, at)).then_some(Hit { start, end })
            }
            Shape::Pem(_) => private_key_block(bytes, at, after),
            Shape::Authority(_) => password(bytes, after),
        }
    }
}

/// A block without an end (cut off output) is taken out to the end of its base64 lines.
fn private_key_block(bytes: &[u8], start: usize, after: usize) -> Option<Hit> {
    let label =
        run(&bytes[after..], |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let body = after + label;
    if !bytes[after..body].ends_with(b"PRIVATE KEY") || !bytes[body..].starts_with(b"-----") {
        return None;
    }
    let body = body + 5;
    let mut end = body + run(&bytes[body..], is_pem_body_byte);
    while bytes.get(end) == Some(&b'-') && !bytes[end..].starts_with(b"-----") {
        end += 1 + run(&bytes[end + 1..], is_pem_body_byte);
    }
    if bytes[end..].starts_with(b"-----END ") {
        end += 9;
        end += run(&bytes[end..], |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
        end += run(&bytes[end..], |byte| byte == b'-').min(5);
    }
    Some(Hit { start, end })
}

fn password(bytes: &[u8], after: usize) -> Option<Hit> {
    let authority =
        &bytes[after..after + run(&bytes[after..], |byte| byte > b' ' && !b"/\"'<>`\\".contains(&byte))];
    let host = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority[..host].iter().position(|byte| *byte == b':')?;
    let secret = &authority[colon + 1..host];
    // What the search by value has already replaced stays, with its name.
    let worth_it = !secret.is_empty() && !secret.starts_with(b"[redacted");
    worth_it.then_some(Hit { start: after + colon + 1, end: after + host })
}

/// How many bytes from the start satisfy `wanted`.
fn run(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !wanted(*byte)).unwrap_or(bytes.len())
}

/// A prefix inside a word (`task-…`) announces nothing.
fn is_word_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || !bytes[at - 1].is_ascii_alphanumeric()
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn is_token_byte(byte: u8) -> bool {
    is_key_byte(byte) || b".~+/=".contains(&byte)
}

/// Backslashes are in, because keys in JSON and `.env` files have their line ends escaped; colons and
/// commas occur in the headers of old encrypted keys, and so do single dashes.
fn is_pem_body_byte(byte: u8) -> bool {
    is_token_byte(byte) && byte != b'-' || b"\\\r\n\t :,".contains(&byte)
}

/// Long names made of words (`sk-toggleable-content-arrow`) have none; generated keys do.
fn has_digit(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit)
}
