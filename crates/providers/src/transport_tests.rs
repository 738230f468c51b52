use super::*;
use crate::login::{VendorState, VendorToken};
use crate::{Lookups, Wanted, resolve, resolve_with};
use secrecy::SecretString;

fn endpoint(provider: &str, base_url: &str, mode: &str, model: &str, key: &str) -> Endpoint {
    let wanted = Wanted {
        provider: Some(provider.to_owned()),
        base_url: (!base_url.is_empty()).then(|| base_url.to_owned()),
        api_mode: (!mode.is_empty()).then(|| mode.to_owned()),
        model: Some(model.to_owned()),
        api_key: (!key.is_empty()).then(|| SecretString::from(key.to_owned())),
        ..Wanted::default()
    };
    let lookup = |name: &str| name.ends_with("_API_KEY").then(|| SecretString::from("from-env".to_owned()));
    resolve(&wanted, &lookup).unwrap()
}

#[test]
fn each_format_has_its_address_and_its_header_for_the_key() {
    for (provider, base_url, mode, key, url_want, header) in [
        (
            "custom",
            "http://localhost:9/v1",
            "",
            "k",
            "http://localhost:9/v1/chat/completions",
            "authorization=Bearer k",
        ),
        ("openai", "", "", "", "https://api.openai.com/v1/responses", "authorization=Bearer from-env"),
        ("anthropic", "", "", "", "https://api.anthropic.com/v1/messages", "x-api-key=from-env"),
        (
            "custom",
            "http://localhost:9/anthropic",
            "anthropic_messages",
            "k",
            "http://localhost:9/anthropic/v1/messages",
            "x-api-key=k",
        ),
        (
            "custom",
            "http://localhost:9/v1",
            "anthropic_messages",
            "k",
            "http://localhost:9/v1/messages",
            "x-api-key=k",
        ),
        (
            "anthropic",
            "https://api.anthropic.com",
            "",
            "sk-ant-oat01-x",
            "https://api.anthropic.com/v1/messages",
            "authorization=Bearer sk-ant-oat01-x",
        ),
    ] {
        let endpoint = endpoint(provider, base_url, mode, "m", key);
        assert_eq!(url(&endpoint).as_str(), url_want, "{provider} {base_url}");
        let headers = headers(&endpoint, endpoint.key.as_ref());
        let keys: Vec<String> = ["authorization", "x-api-key"]
            .iter()
            .filter_map(|name| Some(format!("{name}={}", headers.get(*name)?.to_str().ok()?)))
            .collect();
        assert_eq!(keys, [header], "{provider} {base_url}");
        let is_login = header.contains("oat01");
        let betas = headers.get("anthropic-beta").and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!(betas.contains(OAUTH_BETA), is_login, "{provider}");
        assert_eq!(
            headers.contains_key("anthropic-version"),
            endpoint.api_mode == ApiMode::AnthropicMessages
        );
        // Nothing in them names another vendor's program.
        assert!(!headers.contains_key("user-agent"));
    }
}

#[test]
fn account_is_sent_to_codex_only_and_no_header_names_another_program() {
    let vendors = KeySource::VendorFile { tool: "Codex", file: "/f".into() };
    let token = VendorState::Valid(VendorToken {
        access: SecretString::from("opaque-token"),
        expires_at: None,
        account: Some("acc-1".into()),
        from: "/f".into(),
    });
    let wanted = Wanted { provider: Some("codex".into()), model: Some("gpt-5".into()), ..Wanted::default() };
    let lookups = Lookups { variable: &|_| None, pooled: &|_| vec![], vendor: &|_| token.clone() };
    let codex = resolve_with(&wanted, lookups).unwrap();
    assert_eq!(
        (url(&codex).as_str(), &codex.key_source),
        ("https://chatgpt.com/backend-api/codex/responses", &vendors)
    );
    let mut sent: Vec<_> =
        headers(&codex, codex.key.as_ref()).iter().map(|(name, _)| name.to_string()).collect();
    sent.sort();
    assert_eq!(sent, ["authorization", "chatgpt-account-id", "content-type"]);
    // A login of Claude Code is sent as a login, whatever its token looks like, and names no account.
    let claude = Wanted { provider: Some("anthropic".into()), ..wanted };
    let lookups = Lookups { variable: &|_| None, pooled: &|_| vec![], vendor: &|_| token.clone() };
    let claude = resolve_with(&claude, lookups).unwrap();
    let headers = headers(&claude, claude.key.as_ref());
    assert_eq!(headers["authorization"], "Bearer opaque-token");
    assert!(headers["anthropic-beta"].to_str().unwrap().contains(OAUTH_BETA));
    assert!(!headers.contains_key("chatgpt-account-id") && !headers.contains_key("x-api-key"));
}

#[test]
fn cache_marks_are_sent_where_they_are_supported() {
    for (provider, base_url, mode, model, want) in [
        ("anthropic", "", "", "claude-opus", true),
        ("openrouter", "", "", "anthropic/claude-sonnet", true),
        ("openrouter", "", "", "moonshotai/kimi-k2", true),
        ("openrouter", "", "", "openai/gpt-4o", false),
        ("openai", "", "", "gpt-5", false),
        ("custom", "http://localhost:9/v1", "", "claude-like", false),
        ("custom", "http://localhost:9/v1", "anthropic_messages", "claude-like", true),
        ("custom", "http://localhost:9/v1", "anthropic_messages", "glm", false),
    ] {
        let endpoint = endpoint(provider, base_url, mode, model, "");
        assert_eq!(cache(&endpoint, CacheTtl::OneHour).is_some(), want, "{provider} {base_url} {model}");
    }
}
