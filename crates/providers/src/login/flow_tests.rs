use super::*;

fn own(pairs: &[(&str, &str)]) -> LoginOverrides {
    let get = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    LoginOverrides {
        client_id: get("client_id"),
        device_url: get("device_url"),
        authorize_url: get("authorize_url"),
        token_url: get("token_url"),
        scope: get("scope"),
        exchange_url: None,
        redirect_port: get("port").map(|port| port.parse().unwrap()),
    }
}

fn said(provider: &str, pairs: &[(&str, &str)]) -> String {
    match login_flow(provider, &own(pairs)) {
        Ok(Flow::Device(flow)) => {
            format!(
                "device {} {} {} {}",
                flow.device_url, flow.token.url, flow.token.client_id, flow.token.scope
            )
        }
        Ok(Flow::Browser(flow)) => format!(
            "browser {} {} {} port {}",
            flow.authorize_url, flow.token.url, flow.token.client_id, flow.redirect.port
        ),
        Err(error) => error.to_string(),
    }
}

#[test]
fn settings_override_the_catalogue() {
    let portal = "https://portal.nousresearch.com/api/oauth";
    let all =
        [("device_url", "http://127.0.0.1:9/d"), ("token_url", "http://127.0.0.1:9/t"), ("client_id", "me")];
    let browser = [
        ("authorize_url", "https://a.example/auth"),
        ("token_url", "https://a.example/t"),
        ("client_id", "me"),
    ];
    for (provider, pairs, want) in [
        ("nous", &[][..], format!("device {portal}/device/code {portal}/token hermes-cli inference:invoke")),
        (
            "nous",
            &[("client_id", "other"), ("scope", "a b"), ("token_url", "  ")],
            format!("device {portal}/device/code {portal}/token other a b"),
        ),
        ("nous", &all, "device http://127.0.0.1:9/d http://127.0.0.1:9/t me inference:invoke".into()),
        ("nous", &browser, "browser https://a.example/auth https://a.example/t me port 0".into()),
        ("anthropic", &browser, "browser https://a.example/auth https://a.example/t me port 0".into()),
        ("anthropic", &all, "device http://127.0.0.1:9/d http://127.0.0.1:9/t me ".into()),
    ] {
        assert_eq!(said(provider, pairs), want, "{provider} {pairs:?}");
    }
    let fixed: Vec<_> = browser.into_iter().chain([("port", "8976")]).collect();
    assert!(said("anthropic", &fixed).ends_with("port 8976"));
}

#[test]
fn missing_or_unsafe_settings_are_named() {
    for (provider, pairs, want) in [
        ("anthropic", &[][..], "no login is known for provider anthropic: set auth.anthropic.device_url"),
        (
            "xai-oauth",
            &[],
            "the login of provider xai-oauth needs a token_url: `hermes config set auth.xai-oauth.token_url",
        ),
        ("copilot", &[], "the login of provider copilot needs a client_id"),
        (
            "nous",
            &[("token_url", "http://evil.example/t")],
            "auth.nous.token_url is not a valid login address",
        ),
        (
            "nous",
            &[("token_url", "https://me:secret-word@h.example/t")],
            "auth.nous.token_url is not a valid login address",
        ),
        (
            "nous",
            &[("device_url", "file:///etc/passwd")],
            "auth.nous.device_url is not a valid login address",
        ),
        ("nous", &[("device_url", "no address")], "auth.nous.device_url is not a valid login address"),
    ] {
        let got = said(provider, pairs);
        assert!(got.starts_with(want) && !got.contains("secret-word"), "{provider} {pairs:?}: {got}");
    }
    assert!(said("copilot", &[]).contains("does not use another program's"));
}
