use super::super::testing::config_of as config;
use super::*;

#[test]
fn router_preferences_become_one_object() {
    let text = "\
provider_routing: {only: [a, b], sort: price, require_parameters: true, data_collection: deny}
openrouter: {response_cache: false}
";
    let found = config(text).router_settings().unwrap();
    let want =
        json!({"only": ["a", "b"], "sort": "price", "data_collection": "deny", "require_parameters": true});
    assert_eq!(Value::from(found.provider), want);
    assert_eq!((found.response_cache, found.min_coding_score), (None, Some(0.65)));
    assert_eq!(config("").router_settings().unwrap(), config("openrouter: {}").router_settings().unwrap());
    let usual = config("").router_settings().unwrap();
    assert_eq!((usual.provider.len(), usual.response_cache), (0, Some(300)));
    assert_eq!(config("openrouter: {response_cache_ttl: 0}").router_settings().unwrap().response_cache, None);
}

#[test]
fn additions_of_an_entry_are_read() {
    let text = "\
providers:
  box:
    base_url: https://box.example/v1
    extra_body: {top_k: 5, nested: {a: 1}}
    extra_headers: {X-Team: blue-4711-team, X-Number: 12345678}
    ssl_ca_cert: /etc/box.pem
    ssl_verify: 'no'
";
    let config = config(text);
    let extras = config.settings.providers.get().unwrap().entries[0].clone().extras;
    assert_eq!(Value::from(extras.body.clone()), json!({"top_k": 5, "nested": {"a": 1}}));
    assert_eq!(extras.tls, TlsOptions { ca_cert: Some("/etc/box.pem".into()), verify: false });
    assert!(config.unused_keys().is_empty());
    let shown = hermes_guard::redact(&config.secrets(), "it is blue-4711-team and 12345678").into_owned();
    assert!(!shown.contains("4711") && !shown.contains("12345678"), "{shown}");
}

#[test]
fn additions_that_cannot_be_sent_are_named() {
    for (line, want) in [
        ("extra_body: 5", "providers.box.extra_body"),
        ("extra_body: {messages: []}", "providers.box.extra_body.messages"),
        ("extra_headers: {Host: x}", "`Host` is not the name of a header"),
        ("extra_headers: {a b: x}", "`a b` is not the name of a header"),
        ("ssl_verify: maybe", "providers.box.ssl_verify"),
    ] {
        let text = format!("providers:\n  box:\n    base_url: https://b.example\n    {line}\n");
        let error = config(&text).settings.providers.get().unwrap_err().to_string();
        assert!(error.contains(want), "{line}: {error}");
    }
}

#[test]
fn additions_beside_a_built_in_provider_are_unused() {
    let text = "providers:\n  openrouter: {extra_body: {a: 1}, request_timeout_seconds: 5}\n";
    let unused: Vec<_> = config(text).unused_keys().into_iter().map(|unused| unused.key).collect();
    assert_eq!(unused, ["providers.openrouter.extra_body"]);
}
