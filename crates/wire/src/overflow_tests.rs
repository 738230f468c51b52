use super::*;

#[test]
fn context_window_is_read_from_errors() {
    for (detail, window) in [
        ("HTTP 400: prompt is too long: 210000 tokens > 200000 maximum", Some(200_000)),
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
            Some(128_000),
        ),
        ("This model's maximum context length is 8,192 tokens", Some(8_192)),
        (
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
            Some(32_768),
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Some(1_048_576),
        ),
        ("Your input exceeds the context window of this model.", None),
        ("the request exceeds the available context size. try increasing it: n_ctx = 4096", Some(4_096)),
        ("request (9000 tokens) exceeds the available context size (8192 tokens)", Some(8_192)),
        ("slot context exceeded, n_ctx_slot = 16384", Some(16_384)),
        ("the prompt is longer than the max_model_len of 65536", Some(65_536)),
        ("Input length 70000 exceeds maximum input length of 65536", Some(65_536)),
        (
            "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
            Some(131_072),
        ),
        (
            "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
            Some(4_096),
        ),
        (
            "tokens to keep from the initial prompt is greater than the context length: context length is 4096",
            Some(4_096),
        ),
        ("too many tokens: exceeds the 128k token limit", None),
        ("exceeds the token limit of 256K", Some(256_000)),
        ("请求超过最大长度 32768", Some(32_768)),
        ("context_length_exceeded", None),
        ("maximum context length is 12 tokens", None),
        ("maximum context length is 99999999999999999999 tokens", None),
        ("", None),
    ] {
        assert_eq!(overflow(detail).window, window, "{detail}");
    }
}

#[test]
fn output_limit_is_read_from_errors() {
    for (detail, output, is_about_output) in [
        (
            "max_tokens: 65536 > 8192, which is the maximum allowed number of output tokens for claude",
            Some(8_192),
            true,
        ),
        ("max_tokens: exceeds the maximum output tokens of this model", None, true),
        (
            "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (1000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
            Some(3_097),
            true,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens (32000 > 32768 - 1000).",
            Some(31_768),
            true,
        ),
        (
            "This model's maximum context length is 32768 tokens. However, you requested 8192 output tokens and your prompt contains at least 24577 input tokens, for a total of at least 32769 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
            Some(8_191),
            true,
        ),
        (
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (8000 of text input, 2000 of tool input, 130000 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.",
            Some(121_072),
            true,
        ),
        (
            "This model's maximum context length is 10000 tokens. However, you requested 12000 tokens (8000 in the messages, 4000 in the completion). Please reduce max_tokens.",
            Some(2_000),
            true,
        ),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens`",
            Some(10_000),
            true,
        ),
        ("max_tokens is too large: 4096; available_tokens: 1000", Some(1_000), true),
        // The prompt alone is too long.
        (
            "maximum context length is 10000 tokens (11000 in the messages, 4000 in the completion); reduce max_tokens",
            None,
            false,
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", None, false),
    ] {
        let read = overflow(detail);
        assert_eq!((read.output, read.is_about_output), (output, is_about_output), "{detail}");
    }
}

/// An output limit must not be stored as the window, which would shorten every conversation.
#[test]
fn output_limit_is_not_taken_for_the_window() {
    for detail in [
        "max_tokens: 65536 > 8192, which is the maximum allowed number of output tokens for claude",
        "max_tokens: exceeds the maximum output tokens of this model (limit of 4096)",
    ] {
        assert_eq!(overflow(detail).window, None, "{detail}");
    }
}

#[test]
fn any_text_can_be_parsed() {
    for text in ["limit of", "limit of 中", "> ", " > é", "1 + 2", "n_ctx = 9k9", "max_tokens: 1 + "] {
        overflow(text);
    }
}
