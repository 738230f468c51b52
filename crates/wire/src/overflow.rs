//! Reads token limits from the error text of requests that are too long.

/// The numbers in such an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overflow {
    /// The size of the context window in tokens.
    pub window: Option<u64>,
    /// The tokens left for output with this prompt.
    pub output: Option<u64>,
    /// The prompt fits; the requested output is too long.
    pub is_about_output: bool,
}

/// Other values are misread numbers.
const PLAUSIBLE: std::ops::RangeInclusive<u64> = 1_024..=10_000_000;

/// Text before the size of the context window, as servers write it.
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

/// Text after it.
const WINDOW_AFTER: &[&str] = &["maximum", "token limit", "context window", "context limit"];

/// Text before the number of tokens left for output.
const OUTPUT_BEFORE: &[&str] = &["available_tokens:", "available tokens:", "only", "at most"];

/// Parses an error text.
pub fn overflow(detail: &str) -> Overflow {
    let text = detail.to_lowercase();
    if let Some(output) = output_cap(&text) {
        return Overflow { window: None, output, is_about_output: true };
    }
    let window = WINDOW_BEFORE
        .iter()
        .find_map(|label| number_after(&text, label))
        .or_else(|| greater_than(&text))
        .or_else(|| WINDOW_AFTER.iter().find_map(|label| number_before(&text, label)))
        .filter(|tokens| PLAUSIBLE.contains(tokens));
    // Some errors state prompt and requested output: the possible output follows from them.
    let output = match (window, written_sum(&text)) {
        (Some(window), Some((prompt, wish))) if prompt < window && prompt + wish > window => {
            Some(window - prompt)
        }
        _ => is_about_wish(&text)
            .then(|| OUTPUT_BEFORE.iter().find_map(|label| number_after(&text, label)))
            .flatten()
            .filter(|tokens| (1..1_000_000).contains(tokens) && window != Some(*tokens)),
    };
    Overflow { window, output, is_about_output: output.is_some() }
}

fn is_about_wish(text: &str) -> bool {
    text.contains("max_tokens") || text.contains("max_completion_tokens")
}

/// `max_tokens: 65536 > 8192, which is the maximum allowed number of output tokens`: the number limits the
/// output and says nothing about the window. The outer `None` is for other errors.
fn output_cap(text: &str) -> Option<Option<u64>> {
    let (_, rest) = text.split_once("max_tokens: ")?;
    let rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_cap = text.contains("number of output tokens") || text.contains("maximum output tokens");
    match rest.strip_prefix(" > ") {
        Some(rest) => Some(leading_number(rest).filter(|tokens| *tokens > 0)),
        None => is_cap.then_some(None),
    }
}

/// The number right after a label.
fn number_after(text: &str, label: &str) -> Option<u64> {
    text.match_indices(label).find_map(|(at, _)| {
        let rest = &text[at + label.len()..];
        leading_number(rest.trim_start_matches([' ', ':', '=', '(', '"', '\'', '约']))
    })
}

/// The number right before a label, with a short gap.
fn number_before(text: &str, label: &str) -> Option<u64> {
    text.match_indices(label).find_map(|(at, _)| {
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

/// The number after the `>` of `210000 tokens > 200000 maximum` and similar.
fn greater_than(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once(" > ").or_else(|| text.split_once(">="))?;
    leading_number(rest.trim_start())
}

/// The prompt and the requested output, from `(N in the messages, M in the completion)`, `(N of text input, M
/// in the output)`, `N input tokens` and `M output tokens`, or `N + M > LIMIT`.
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

/// A number at the start of a text, with or without separators, or like `128k`.
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
