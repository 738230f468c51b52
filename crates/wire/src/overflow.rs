//! What a refusal for being too long says about how long a request may be.

/// Numbers in a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overflow {
    /// Tokens that fit into the window.
    pub window: Option<u64>,
    /// Tokens that the model could still write beside this prompt.
    pub output: Option<u64>,
    /// The prompt fits; what the model may write is too much.
    pub is_about_output: bool,
}

/// Windows outside of this are misread.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 1_024..=10_000_000;

/// Words before the number of tokens that fit, in the spellings of servers.
const WINDOW_BEFORE: &[&str] = &[
    "maximum context length is",
    "maximum context length of",
    "maximum context length (",
    "maximum context size of",
    "maximum context size is",
    "maximum context window of",
    "context window of",
    "context window is",
    "context length is only",
    "context length is",
    "context length of only",
    "context length of",
    "context size is",
    "context size (",
    "context_length:",
    "max_model_len of",
    "max_model_len (",
    "max_model_len=",
    "max_model_len:",
    "n_ctx_slot =",
    "n_ctx_slot:",
    "n_ctx =",
    "n_ctx:",
    "n_ctx (",
    "\"n_ctx\":",
    "maximum number of tokens allowed (",
    "maximum number of tokens allowed is",
    "maximum allowed number of input tokens",
    "maximum prompt length is",
    "maximum input length is",
    "maximum input length of",
    "token limit of",
    "token limit is",
    "token limit:",
    "model's limit of",
    "limit of",
    "最大上下文长度为",
    "最大上下文长度是",
    "最大长度为",
    "最大长度",
];

/// Words after it.
const WINDOW_AFTER: &[&str] = &["maximum", "token limit", "context window", "context limit"];

/// Words before the number of tokens that could still be written.
const OUTPUT_BEFORE: &[&str] = &["available_tokens:", "available tokens:", "only", "at most"];

/// Reads a refusal.
pub fn overflow(detail: &str) -> Overflow {
    let text = detail.to_lowercase();
    if let Some(output) = output_cap(&text) {
        return Overflow { window: None, output, is_about_output: true };
    }
    let window = WINDOW_BEFORE
        .iter()
        .find_map(|words| number_after(&text, words))
        .or_else(|| greater_than(&text))
        .or_else(|| WINDOW_AFTER.iter().find_map(|words| number_before(&text, words)))
        .filter(|tokens| PLAUSIBLE.contains(tokens));
    // Some say how the prompt and the wish make too much: what the wish may be follows from it.
    let output = match (window, written_sum(&text)) {
        (Some(window), Some((prompt, wish))) if prompt < window && prompt + wish > window => {
            Some(window - prompt)
        }
        _ => is_about_wish(&text)
            .then(|| OUTPUT_BEFORE.iter().find_map(|words| number_after(&text, words)))
            .flatten()
            .filter(|tokens| (1..1_000_000).contains(tokens) && window != Some(*tokens)),
    };
    Overflow { window, output, is_about_output: output.is_some() }
}

fn is_about_wish(text: &str) -> bool {
    text.contains("max_tokens") || text.contains("max_completion_tokens")
}

/// `max_tokens: 65536 > 8192, which is the maximum allowed number of output tokens`: the number is what may
/// be written, and says nothing about the window. The outer `None` is for a refusal about something else.
fn output_cap(text: &str) -> Option<Option<u64>> {
    let (_, rest) = text.split_once("max_tokens: ")?;
    let rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_cap = text.contains("number of output tokens") || text.contains("maximum output tokens");
    match rest.strip_prefix(" > ") {
        Some(rest) => Some(leading_number(rest).filter(|tokens| *tokens > 0)),
        None => is_cap.then_some(None),
    }
}

/// The number right after some words.
fn number_after(text: &str, words: &str) -> Option<u64> {
    text.match_indices(words).find_map(|(at, _)| {
        let rest = &text[at + words.len()..];
        leading_number(rest.trim_start_matches([' ', ':', '=', '(', '"', '\'', '约']))
    })
}

/// The number right before some words, with a little between them.
fn number_before(text: &str, words: &str) -> Option<u64> {
    text.match_indices(words).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let before = before.strip_suffix("tokens").or(before.strip_suffix("token")).unwrap_or(before);
        let digits: String = before
            .trim_end()
            .chars()
            .rev()
            .take_while(|character| character.is_ascii_digit() || matches!(character, ',' | '_'))
            .collect();
        digits.chars().rev().filter(char::is_ascii_digit).collect::<String>().parse().ok()
    })
}

/// `210000 tokens > 200000 maximum`, and the like: what stands after the sign.
fn greater_than(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once(" > ").or_else(|| text.split_once(">="))?;
    leading_number(rest.trim_start())
}

/// The prompt and what was to be written, from `(N in the messages, M in the completion)`, `(N of text input,
/// M in the output)`, `N input tokens` and `M output tokens`, or `N + M > LIMIT`.
fn written_sum(text: &str) -> Option<(u64, u64)> {
    let of_input = |kind: &str| number_before(text, kind).unwrap_or_default();
    let of_text = number_before(text, " of text input")
        .map(|tokens| tokens + of_input(" of tool input") + of_input(" of image input"));
    let in_messages = number_before(text, " in the messages")
        .or(of_text)
        .or_else(|| number_before(text, " from the input"))
        .or_else(|| number_before(text, " input tokens"));
    let in_completion = number_before(text, " in the completion")
        .or_else(|| number_before(text, " in the output"))
        .or_else(|| number_before(text, " for the completion"))
        .or_else(|| number_before(text, " output tokens"))
        .or_else(|| number_after(text, "is too large:").filter(|_| is_about_wish(text)));
    if let (Some(prompt), Some(wish)) = (in_messages, in_completion) {
        return Some((prompt, wish));
    }
    let (before, after) = text.split_once(" + ")?;
    let prompt = number_before(&format!("{before}|"), "|")?;
    Some((prompt, leading_number(after.trim_start())?))
}

/// A number with or without separators at the beginning of a text; `128k` is one too.
fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|character: char| !(character.is_ascii_digit() || matches!(character, ',' | '_')));
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    let number: u64 = digits.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()?;
    let is_unit = |sign: char| {
        rest.starts_with(sign) && !rest[1..].starts_with(|next: char| next.is_ascii_alphanumeric())
    };
    Some(match () {
        () if is_unit('k') => number.saturating_mul(1_000),
        () if is_unit('m') => number.saturating_mul(1_000_000),
        () => number,
    })
}

#[cfg(test)]
#[path = "overflow_tests.rs"]
mod tests;
