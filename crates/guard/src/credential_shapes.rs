//! The shapes of well-known credentials, for those whose value is not known.
//!
//! Each matcher examines one position and reads no further than the credential it may find, so a scan is linear.
//! Matchers are plain byte tests instead of regular expressions: there is nothing to compile at start-up, and
//! text without credentials costs one table look-up per byte.

use crate::byte_pairs::PairSet;
use crate::labelled_secrets::{self, Label};

/// The byte range of a credential in the scanned text.
#[derive(Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

enum Shape {
    /// A key with a known prefix and at least `least` more key characters.
    Key { prefix: &'static str, least: usize },
    /// A header name; the token after it is redacted.
    Header(&'static str),
    /// A PEM block; redacted whole if it holds a private key.
    Pem(&'static str),
    /// A URL authority; a password before the `@` is redacted.
    Authority(&'static str),
    /// A label of a secret; the value after it is redacted.
    Label(&'static str, Label),
    /// An argument `name:password`; the password is redacted.
    BasicAuth(&'static str),
    /// A JSON web token, whole.
    WebToken(&'static str),
    /// A bot token, recognised by its middle.
    BotToken(&'static str),
}

/// Bytes of a key that are examined to tell it from a long name.
const KEY_SAMPLE: usize = 64;

const fn key(prefix: &'static str, least: usize) -> Shape {
    Shape::Key { prefix, least }
}

const fn password(word: &'static str) -> Shape {
    Shape::Label(word, Label::Password)
}

const fn secret(word: &'static str) -> Shape {
    Shape::Label(word, Label::Key)
}

const fn parameter(word: &'static str) -> Shape {
    Shape::Label(word, Label::Parameter)
}

/// The known shapes. `sk-` also covers `sk-ant-`, `sk-or-` and `sk-proj-`. A longer prefix comes before a shorter
/// one that it begins with.
const SHAPES: &[Shape] = &[
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
    key("xapp-", 16),
    key("xoxe-", 16),
    key("dop_v1_", 20),
    key("dckr_pat_", 16),
    key("syt_", 16),
    key("SG.", 16),
    key("pypi-", 30),
    key("sk_live_", 16),
    key("sk_test_", 16),
    key("rk_live_", 16),
    key("whsec_", 16),
    key("shpat_", 16),
    key("hvs.", 20),
    key("ya29.", 20),
    key("lin_api_", 20),
    key("fal_", 24),
    key("exa_", 24),
    key("AGE-SECRET-KEY-1", 40),
    Shape::WebToken("eyJ"),
    Shape::BotToken(":AA"),
    password("password"),
    password("Password"),
    password("PASSWORD"),
    password("passwd"),
    password("Passwd"),
    password("PASSWD"),
    password("passphrase"),
    password("Passphrase"),
    password("PASSPHRASE"),
    secret("secret_key"),
    secret("secretKey"),
    secret("SECRET_KEY"),
    secret("secret"),
    secret("Secret"),
    secret("SECRET"),
    secret("token"),
    secret("Token"),
    secret("TOKEN"),
    secret("api_key"),
    secret("apikey"),
    secret("api-key"),
    secret("apiKey"),
    secret("ApiKey"),
    secret("API_KEY"),
    secret("APIKEY"),
    secret("access_key"),
    secret("accessKey"),
    secret("ACCESS_KEY"),
    secret("private_key"),
    secret("privateKey"),
    secret("PRIVATE_KEY"),
    parameter("?code="),
    parameter("&code="),
    parameter("code_verifier="),
    parameter("device_code="),
    parameter("?key="),
    parameter("&key="),
    parameter("&sig="),
    Shape::BasicAuth("-u "),
    Shape::BasicAuth("--user"),
    Shape::BasicAuth("--proxy-user"),
    Shape::Header("Bearer "),
    Shape::Header("bearer "),
    Shape::Header("BEARER "),
    Shape::Header("Authorization: Bot "),
    Shape::Header("Authorization: Token "),
    Shape::Header("Authorization: Basic "),
    Shape::Header("authorization: basic "),
    Shape::Pem("-----BEGIN "),
    Shape::Authority("://"),
];

/// The first two bytes of every prefix.
static STARTS: PairSet = pairs_at(0);
/// The second and third bytes of every prefix; with these, ordinary text is rarely compared with all prefixes.
static SECONDS: PairSet = pairs_at(1);

const fn pairs_at(place: usize) -> PairSet {
    let mut set = PairSet::new();
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix().as_bytes();
        set.insert(prefix[place], prefix[place + 1]);
        at += 1;
    }
    set
}

/// The first credential at or after `from`.
pub(crate) fn find(text: &str, mut from: usize) -> Option<Hit> {
    let bytes = text.as_bytes();
    let begun = from;
    while let Some(at) = STARTS.next_hit(bytes, from) {
        if bytes.get(at + 2).is_none_or(|third| !SECONDS.contains(bytes[at + 1], *third)) {
            from = at + 1;
            continue;
        }
        let shape = SHAPES.iter().find(|shape| bytes[at..].starts_with(shape.prefix().as_bytes()));
        if let Some(hit) = shape.and_then(|shape| shape.matches(bytes, at)) {
            // A shape that is recognised by its middle begins before `at`, but not before `begun`.
            return Some(Hit { start: hit.start.max(begun), ..hit });
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
            | Shape::Authority(prefix)
            | Shape::Label(prefix, _)
            | Shape::BasicAuth(prefix)
            | Shape::WebToken(prefix)
            | Shape::BotToken(prefix) => prefix,
        }
    }

    /// Matches at `at`, where the prefix is known to be.
    fn matches(&self, bytes: &[u8], at: usize) -> Option<Hit> {
        let after = at + self.prefix().len();
        match self {
            Shape::Key { least, .. } => {
                // A bounded sample keeps many prefixes in one long word linear.
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
            Shape::Authority(_) => authority_password(bytes, after),
            Shape::Label(_, label) => range(labelled_secrets::value(bytes, at, after, *label)),
            Shape::BasicAuth(_) => range(labelled_secrets::basic_auth(bytes, at, after)),
            Shape::WebToken(_) => web_token(bytes, at),
            Shape::BotToken(_) => bot_token(bytes, at),
        }
    }
}

fn range(found: Option<(usize, usize)>) -> Option<Hit> {
    found.map(|(start, end)| Hit { start, end })
}

/// The token of a Telegram bot: a number, a colon and a secret.
fn bot_token(bytes: &[u8], colon: usize) -> Option<Hit> {
    const NUMBER: std::ops::RangeInclusive<usize> = 6..=12;
    const SECRET: usize = 35;
    let before = &bytes[colon.saturating_sub(*NUMBER.end())..colon];
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let length = run(&bytes[colon + 1..bytes.len().min(colon + 2 + SECRET)], is_key_byte);
    let (start, end) = (colon - digits, colon + 1 + length);
    (NUMBER.contains(&digits) && length == SECRET).then_some(Hit { start, end })
}

/// A JSON web token: two or three parts in base64, the first of which begins with an object.
fn web_token(bytes: &[u8], start: usize) -> Option<Hit> {
    const LONGEST_HEAD: usize = 256;
    if !is_word_start(bytes, start) {
        return None;
    }
    let head = run(&bytes[start..bytes.len().min(start + LONGEST_HEAD)], is_key_byte);
    let dot = start + head;
    if head < 15 || !bytes[dot..].starts_with(b".eyJ") {
        return None;
    }
    let claims = dot + 1 + run(&bytes[dot + 1..], is_key_byte);
    let end = match bytes.get(claims) {
        Some(b'.') => claims + 1 + run(&bytes[claims + 1..], is_key_byte),
        _ => claims,
    };
    Some(Hit { start, end })
}

/// A private key. A block without an end (truncated output) is redacted to the end of its base64 lines.
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

fn authority_password(bytes: &[u8], after: usize) -> Option<Hit> {
    let authority =
        &bytes[after..after + run(&bytes[after..], |byte| byte > b' ' && !b"/\"'<>`\\".contains(&byte))];
    let host = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority[..host].iter().position(|byte| *byte == b':')?;
    let secret = &authority[colon + 1..host];
    // A known value that is already redacted keeps its name.
    let worth_it = !secret.is_empty() && !secret.starts_with(b"[redacted");
    worth_it.then_some(Hit { start: after + colon + 1, end: after + host })
}

/// The number of leading bytes that satisfy `wanted`.
fn run(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !wanted(*byte)).unwrap_or(bytes.len())
}

/// Returns false for a prefix inside a word (`task-…`).
fn is_word_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || !bytes[at - 1].is_ascii_alphanumeric()
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn is_token_byte(byte: u8) -> bool {
    is_key_byte(byte) || b".~+/=".contains(&byte)
}

/// Includes backslashes, because line breaks of keys in JSON and `.env` files are escaped; colons and commas occur in
/// the headers of old encrypted keys, and so do single dashes.
fn is_pem_body_byte(byte: u8) -> bool {
    is_token_byte(byte) && byte != b'-' || b"\\\r\n\t :,".contains(&byte)
}

/// Generated keys have a digit; long names (`sk-toggleable-content-arrow`) do not.
fn has_digit(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit)
}
