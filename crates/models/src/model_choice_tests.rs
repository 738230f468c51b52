use super::*;
use hermes_config::{ConfigFile, Layers};
use std::path::Path;

fn config(file: &str, flag: &str, env: &[(&str, &str)]) -> Config {
    let file = ConfigFile::parse(Path::new("/h/config.yaml"), file.into()).unwrap();
    let flags = (!flag.is_empty()).then(|| ("model.provider".to_owned(), flag.to_owned()));
    let shell = env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Config::new(Layers { file, flags: flags.into_iter().collect(), shell, ..Layers::default() })
}

#[test]
fn address_is_used_with_its_own_provider_only() {
    let far = "base_url: https://far.example/v1, api_key: own-key, default: m";
    let near = "base_url: http://127.0.0.1:5/v1, default: m";
    let env = [("OPENROUTER_API_KEY", "or-key"), ("OPENAI_API_KEY", "oa-key")];
    for (model, flag, want) in [
        (format!("{{provider: custom, {far}}}"), "", "custom https://far.example/v1 key from model.api_key"),
        (
            format!("{{provider: custom, {far}}}"),
            "openrouter",
            "openrouter https://openrouter.ai/api/v1 key from OPENROUTER_API_KEY",
        ),
        (
            format!("{{provider: openrouter, {far}}}"),
            "custom",
            "provider custom needs an address: `hermes config set model.base_url http://HOST:PORT/v1`",
        ),
        (format!("{{{far}}}"), "custom", "custom https://far.example/v1 key from model.api_key"),
        (format!("{{provider: openrouter, {near}}}"), "local", "custom http://127.0.0.1:5/v1 no key"),
        (
            format!("{{provider: or, {far}}}"),
            "openrouter",
            "openrouter https://far.example/v1 key from model.api_key",
        ),
    ] {
        let config = config(&format!("model: {model}\n"), flag, &env);
        let got = match endpoint(&config) {
            Ok(found) => format!("{} {} {}", found.provider, found.base_url, found.key_source),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, want, "{model} {flag}");
    }
}

#[test]
fn provider_prefix_of_a_model_yields_to_explicit_settings() {
    let env = [("OPENROUTER_API_KEY", "or-key"), ("DEEPSEEK_API_KEY", "ds-key")];
    let local = "base_url: 'http://127.0.0.1:9/v1', api_key: own-key";
    for (model, flag, want) in [
        ("{default: 'deepseek:deepseek-v4'}".to_owned(), None, "deepseek deepseek-v4"),
        ("{default: m}".to_owned(), Some("deepseek:deepseek-v4"), "deepseek deepseek-v4"),
        ("{provider: openrouter, default: m}".to_owned(), Some("deepseek:v4"), "deepseek v4"),
        ("{provider: openrouter, default: m}".to_owned(), Some("vendor/m:beta"), "openrouter vendor/m:beta"),
        // A provider beside the model in the file takes precedence; at a local server this is a tag.
        (format!("{{provider: custom, {local}, default: 'solar:10.7b'}}"), None, "custom solar:10.7b"),
        (format!("{{{local}, default: 'solar:10.7b'}}"), None, "custom solar:10.7b"),
        (format!("{{provider: custom, {local}, default: m}}"), Some("solar:10.7b"), "custom solar:10.7b"),
        (format!("{{provider: custom, {local}, default: m}}"), Some("deepseek:v4"), "deepseek v4"),
        (format!("{{provider: custom, {local}, default: m}}"), Some("qwen3:7b"), "custom qwen3:7b"),
    ] {
        let file = ConfigFile::parse(Path::new("/h/config.yaml"), format!("model: {model}\n")).unwrap();
        let flags = flag.map(|name| ("model.default".to_owned(), name.to_owned())).into_iter().collect();
        let shell = env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let config = Config::new(Layers { file, flags, shell, ..Layers::default() });
        let found = endpoint(&config).unwrap();
        assert_eq!(format!("{} {}", found.provider, found.model), want, "{model} {flag:?}");
        // The key of one provider is never sent to another.
        let key = found.key.map(|key| secrecy::ExposeSecret::expose_secret(&key).to_owned());
        let own = match found.provider {
            "deepseek" => "ds-key",
            "openrouter" => "or-key",
            _ => "own-key",
        };
        assert_eq!(key.as_deref(), Some(own), "{model} {flag:?}");
    }
}

#[test]
fn context_length_applies_to_the_model_beside_it() {
    let text =
        "model: {provider: custom, base_url: 'http://127.0.0.1:9/v1', default: m, context_length: 9000}\n";
    for (flag, want) in [(None, Some(9_000)), (Some("m"), Some(9_000)), (Some("other"), None)] {
        let file = ConfigFile::parse(Path::new("/h/config.yaml"), text.into()).unwrap();
        let flags = flag.map(|name| ("model.default".to_owned(), name.to_owned())).into_iter().collect();
        let config = Config::new(Layers { file, flags, ..Layers::default() });
        assert_eq!(endpoint(&config).unwrap().context_length, want, "{flag:?}");
    }
}

#[test]
fn a_named_endpoint_is_used_whole() {
    let file = "\
model: {provider: box, default: big, base_url: https://other.example/v1, api_key: not-this}
custom_providers:
  - {name: Box, base_url: 'http://127.0.0.1:9/v1', key_env: BOX_CRED, models: {big: {context_length: 5000}}}
";
    let found = endpoint(&config(file, "", &[("BOX_CRED", "box-cred-value")])).unwrap();
    assert_eq!(found.label(), "custom:box");
    assert_eq!((found.base_url.as_str(), found.context_length), ("http://127.0.0.1:9/v1", Some(5000)));
    assert_eq!(found.key_source.to_string(), "key from BOX_CRED");
    assert_eq!(found.reasons[0].why, "model.provider in /h/config.yaml");
}

#[test]
fn the_place_of_another_provider_has_its_own_key_and_address() {
    let file = "model: {provider: custom, base_url: 'http://127.0.0.1:9/v1', api_key: own, default: m}\n";
    let config =
        config(file, "", &[("DEEPSEEK_API_KEY", "ds-key"), ("DEEPSEEK_BASE_URL", "http://127.0.0.1:8/v1")]);
    let other = place(&config, Some("deepseek")).unwrap();
    assert_eq!(
        (other.base_url.as_str(), other.key_source.to_string().as_str()),
        ("http://127.0.0.1:8/v1", "key from DEEPSEEK_API_KEY")
    );
    let own = place(&config, None).unwrap();
    assert_eq!(own.key_source.to_string(), "key from model.api_key");
}
