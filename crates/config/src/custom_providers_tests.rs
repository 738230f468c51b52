use super::super::{ConfigFile, Layers};
use crate::Config;
use secrecy::ExposeSecret;
use std::path::Path;

fn config(text: &str) -> Config {
    let file = ConfigFile::parse(Path::new("/h/config.yaml"), text.into()).unwrap();
    let shell = [("MY_CRED".to_owned(), "shy-value-123".to_owned())].into();
    Config::new(Layers { file, shell, ..Layers::default() })
}

const BOTH: &str = "\
custom_providers:
  - name: My Box
    base_url: http://127.0.0.1:8000/v1
    key_env: MY_CRED
    api_mode: chat_completions
    model: big
    models: {big: {context_length: 32768}, small: }
    discover_models: true
    extra_headers: {a: b}
  - {name: twice, url: https://first.example/v1, api_key: '${MY_CRED}', models: [one, two]}
providers:
  twice: {api: https://second.example/v1}
  openrouter: {enabled: false}
  other: {base_url: https://o.example/v1, context_length: 4096, enabled: false}
";

#[test]
fn both_spellings_are_read() {
    let config = config(BOTH);
    let all = config.settings.providers.get().unwrap();
    let names: Vec<_> =
        all.entries.iter().map(|entry| (entry.name.as_str(), entry.base_url.as_str())).collect();
    let want = [
        ("my-box", "http://127.0.0.1:8000/v1"),
        ("twice", "https://first.example/v1"),
        ("other", "https://o.example/v1"),
    ];
    assert_eq!(names, want);
    assert_eq!(all.disabled, ["openrouter"]);
    let (first, second, third) = (&all.entries[0], &all.entries[1], &all.entries[2]);
    assert_eq!(first.key_env.as_deref(), Some("MY_CRED"));
    assert_eq!(first.default_model.as_deref(), Some("big"));
    assert_eq!(first.models["big"].context_length, Some(32_768));
    assert_eq!(first.models["small"].context_length, None);
    assert_eq!(second.api_key.as_ref().map(|key| key.expose_secret()), Some("shy-value-123"));
    assert_eq!(second.models.len(), 2);
    assert_eq!((third.context_length, third.is_disabled), (Some(4_096), true));
}

#[test]
fn only_unread_fields_are_unused() {
    let unused: Vec<_> = config(BOTH).unused_keys().into_iter().map(|unused| unused.key).collect();
    assert_eq!(unused, ["custom_providers[1].discover_models"]);
}

#[test]
fn the_value_of_a_named_variable_is_a_secret() {
    assert!(config("").secrets().is_empty());
    assert!(!config(BOTH).secrets().is_empty());
}

#[test]
fn mistakes_are_named_without_values_of_keys() {
    for (text, want) in [
        ("custom_providers: yes please\n", "`custom_providers` must be a list of sections"),
        ("custom_providers: [a]\n", "`custom_providers[1]` must be a section"),
        ("custom_providers: [{base_url: 'http://x/'}]\n", "`custom_providers[1].name` must be text"),
        ("custom_providers: [{name: a}]\n", "`custom_providers[1].base_url` must be an address"),
        ("providers: [a]\n", "`providers` must be a section"),
        ("providers: {a: 1}\n", "`providers.a` must be a section"),
        ("providers: {a: {url: 'http://x', api_mode: soap}}\n", "`providers.a.api_mode` must be one of"),
        ("providers: {a: {url: 'http://x', api_key: [hush]}}\n", "`providers.a.api_key` must be text"),
        ("providers: {a: {url: 'http://x', context_length: -1}}\n", "`providers.a.context_length` must be"),
        ("providers: {a: {url: 'http://x', models: 3}}\n", "`providers.a.models` must be a list"),
        ("providers: {a: {url: 'http://x', enabled: maybe}}\n", "`providers.a.enabled` must be true"),
    ] {
        let config = config(text);
        let error = config.settings.providers.get().unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
        assert!(!error.contains("hush"), "{error}");
        assert!(config.check().iter().any(|problem| problem.to_string() == error), "{text}");
    }
}

#[test]
fn an_entry_says_how_long_calls_may_take() {
    let config = config(
        "providers: {openrouter: {request_timeout_seconds: 60, stale_timeout_seconds: 20, \
         models: {slow: {timeout_seconds: 600}}}}\n\
         custom_providers: [{name: My Box, base_url: 'http://127.0.0.1:9/v1', stale_timeout_seconds: 5}]\n",
    );
    let seconds = |label: &str, model: &str| {
        let found = config.time_limits_with(label, model).unwrap();
        (found.gap.map(|gap| gap.as_secs()), found.total.map(|total| total.as_secs()))
    };
    assert_eq!(seconds("openrouter", "m"), (Some(20), Some(60)));
    assert_eq!(seconds("openrouter", "slow"), (Some(20), Some(600)));
    assert_eq!(seconds("custom:my-box", "m"), (Some(5), None));
    assert_eq!(seconds("deepseek", "m"), (None, None));
    assert_eq!(config.unused_keys().len(), 0);
}
