use super::super::{ConfigFile, Layers};
use crate::Config;
use secrecy::ExposeSecret;
use std::path::Path;

fn config(text: &str) -> Config {
    let file = ConfigFile::parse(Path::new("/h/config.yaml"), text.into()).unwrap();
    let shell = [("MY_CRED".to_owned(), "shy-value-123".to_owned())].into();
    Config::new(Layers { file, shell, ..Layers::default() })
}

#[test]
fn both_settings_are_read_in_order() {
    let config = config(
        "fallback_model: {provider: or, model: last}\n\
         fallback_providers:\n\
         - {provider: box, model: m, key_env: MY_CRED, extra: 1}\n\
         - {provider: custom, model: o, base_url: 'http://127.0.0.1:1/v1', api_key: '${MY_CRED}'}\n",
    );
    let all = config.settings.fallbacks.clone();
    assert_eq!(all.warnings, [""; 0]);
    let seen: Vec<_> = all
        .entries
        .iter()
        .map(|entry| (entry.key.as_str(), entry.provider.as_str(), entry.model.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("fallback_providers[1]", "box", "m"),
            ("fallback_providers[2]", "custom", "o"),
            ("fallback_model", "or", "last"),
        ]
    );
    assert_eq!(all.entries[0].key_env.as_deref(), Some("MY_CRED"));
    assert_eq!(all.entries[1].base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
    assert_eq!(all.entries[1].api_key.as_ref().map(|key| key.expose_secret()), Some("shy-value-123"));
    let unused: Vec<_> = config.unused_keys().into_iter().map(|unused| unused.key).collect();
    assert_eq!(unused, ["fallback_providers[1].extra"]);
}

#[test]
fn an_entry_that_makes_no_sense_is_named_and_the_others_stay() {
    for (text, entries, warning) in [
        ("fallback_providers: []\nfallback_model: {}\n", 0, ""),
        ("fallback_providers:\nfallback_model: ''\n", 0, ""),
        ("fallback_model: [{provider: a, model: m}, {provider: b, model: m}]\n", 2, ""),
        ("fallback_providers: {provider: a, model: m}\n", 1, ""),
        (
            "fallback_providers: [{provider: a}, {provider: b, model: m}]\n",
            1,
            "fallback_providers[1] in config.yaml has no model and is ignored",
        ),
        (
            "fallback_model: {model: m, provider: ' '}\n",
            0,
            "fallback_model in config.yaml has no provider and is ignored",
        ),
        ("fallback_providers: [or]\n", 0, "a section with provider and model"),
        ("fallback_providers: 7\n", 0, "a section with provider and model"),
        ("fallback_providers: [{provider: a, model: [m]}]\n", 0, "fallback_providers[1].model"),
    ] {
        let all = config(text).settings.fallbacks.clone();
        assert_eq!(all.entries.len(), entries, "{text}");
        match all.warnings.as_slice() {
            [] => assert_eq!(warning, "", "{text}"),
            [said] => assert!(!warning.is_empty() && said.contains(warning), "{text}: {said}"),
            more => panic!("{text}: {more:?}"),
        }
    }
}

#[test]
fn keys_of_entries_are_secrets_whatever_their_variables_are_called() {
    for entry in ["key_env: MY_CRED", "api_key: shy-value-123", "api_key: '${MY_CRED}'"] {
        for setting in ["fallback_model: {ENTRY}", "fallback_providers: [{ENTRY}]"] {
            let text = setting.replace("ENTRY", &format!("provider: a, model: m, {entry}"));
            let shown =
                hermes_guard::redact(&config(&text).secrets(), "sent shy-value-123 there").into_owned();
            assert!(!shown.contains("shy-value-123"), "{text}: {shown}");
        }
    }
}
