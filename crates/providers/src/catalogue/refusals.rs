//! Refusals of this program: some vendors accept the tokens of their logins from their own programs only. Hermes
//! does not impersonate one, so the user gets the reason.

/// The kind of refusal.
pub(crate) struct Refused<'a> {
    pub(crate) host: &'a str,
    pub(crate) status: u16,
    /// The server demands a browser check.
    pub(crate) is_challenge: bool,
    pub(crate) body: &'a str,
}

/// Returns the reason for the user if the refusal is about this program.
pub(crate) fn foreign_client(refused: &Refused<'_>) -> Option<&'static str> {
    let Refused { host, status, is_challenge, body } = *refused;
    let says = |words: &[&str]| {
        let body = body.to_ascii_lowercase();
        words.iter().any(|word| body.contains(word))
    };
    let is_copilot = host == "githubcopilot.com" || host.ends_with(".githubcopilot.com");
    match host {
        "api.anthropic.com" if says(&["only authorized for use with claude code"]) => Some(
            "Anthropic takes the token of this login from its own program only, and Hermes does not impersonate it; \
             use an API key (ANTHROPIC_API_KEY)",
        ),
        "chatgpt.com" if is_challenge && matches!(status, 403 | 429 | 503) => Some(
            "chatgpt.com takes requests from OpenAI's own programs only here, and Hermes does not impersonate one; \
             use `openai` with OPENAI_API_KEY",
        ),
        _ if is_copilot && says(&["editor-version", "ide auth", "integration-id", "integration id"]) => Some(
            "GitHub Copilot takes requests from programs that it knows only, and Hermes does not impersonate one; \
             use a provider with a key",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_wire::{Failure, classify};

    #[test]
    fn refusals_of_this_program_are_recognised() {
        let anthropic = r#"{"error":{"message":"This credential is only authorized for use with Claude Code and cannot"}}"#;
        for (host, status, is_challenge, body, want) in [
            ("api.anthropic.com", 400, false, anthropic, Some("ANTHROPIC_API_KEY")),
            ("elsewhere.example", 400, false, anthropic, None),
            ("api.anthropic.com", 400, false, "max_tokens is too large", None),
            ("chatgpt.com", 403, true, "<html>", Some("OPENAI_API_KEY")),
            ("chatgpt.com", 403, false, "not entitled", None),
            (
                "api.githubcopilot.com",
                400,
                false,
                "missing Editor-Version header for IDE auth",
                Some("GitHub Copilot"),
            ),
            ("evilgithubcopilot.com", 400, false, "missing Editor-Version header for IDE auth", None),
        ] {
            let got = foreign_client(&Refused { host, status, is_challenge, body });
            assert_eq!(got.is_some(), want.is_some(), "{host} {body}");
            if let Some(why) = got {
                let failure = Failure::Http { status, retry_after: None, body: why.to_owned() };
                let flags = classify(&failure).flags;
                assert!(!flags.retry && flags.fallback, "{host}: {flags:?}");
            }
            assert!(want.is_none_or(|words| got.unwrap_or_default().contains(words)), "{host} {body}");
        }
    }
}
