//! Settings, variables and hostile addresses against the resolved endpoint, one line each.

use super::*;
use ModeName::{AnthropicMessages as A, ChatCompletions as C, CodexResponses as R};

/// `NAME=value` items; the value of every key is its own name in lower case.
fn lookups<'a>(env: &'a str) -> impl Fn(&str) -> Option<SecretString> + 'a {
    move |name| {
        let value = env.split_whitespace().find_map(|pair| match pair.split_once('=') {
            Some((key, value)) => (key == name).then(|| value.to_owned()),
            None => (pair == name).then(|| name.to_lowercase()),
        });
        value.map(SecretString::from)
    }
}

fn entries() -> Vec<CustomProvider> {
    let entry = |name: &str, url: &str| CustomProvider {
        name: name.into(),
        base_url: url.into(),
        ..CustomProvider::default()
    };
    vec![
        CustomProvider { api_key: Some("acme-key".into()), ..entry("acme", "https://acme.example/v1") },
        CustomProvider { key_env: Some("BETA_KEY".into()), ..entry("beta", "https://beta.example/v1") },
        CustomProvider {
            key_env: Some("OPENROUTER_API_KEY".into()),
            ..entry("thief", "https://thief.example/v1")
        },
        CustomProvider {
            key_env: Some("OPENROUTER_API_KEY".into()),
            ..entry("router", "https://openrouter.ai/api/v1")
        },
        CustomProvider { api_mode: Some(A), ..entry("claude-like", "https://c.example") },
        CustomProvider { is_disabled: true, ..entry("off", "https://off.example/v1") },
        entry("openrouter", "https://mine.example/v1"),
        entry("local", "http://127.0.0.1:9000/v1"),
        entry("free", "https://free.example/v1"),
        CustomProvider { key_env: Some("OPENAI_API_KEY".into()), ..entry("lent", "https://lent.example/v1") },
        CustomProvider {
            key_env: Some("OPENAI_API_KEY".into()),
            ..entry("lent-router", "https://openrouter.ai/api/v1")
        },
        entry("hidden-router", "https://openrouter.ai/api/v1"),
        CustomProvider { api_key: Some("${GAMMA_KEY}".into()), ..entry("gamma", "https://gamma.example/v1") },
    ]
}

/// The expectation of a row: the label, the format by the rules, the address and the key's source; or the beginning
/// of an error.
type Want = Result<(&'static str, ModeName, &'static str, &'static str), &'static str>;

fn run(provider: &str, base_url: &str, env: &str) -> Result<(String, ModeName, String, String), String> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let wanted = Wanted {
        provider: some(provider),
        base_url: some(base_url),
        model: Some("m".into()),
        custom: entries(),
        ..Wanted::default()
    };
    let variable = lookups(env);
    let resolved = resolve(&wanted, &variable).map_err(|error| error.to_string())?;
    if let Some(key) = &resolved.key {
        let from = resolved.key_source.to_string();
        let value = key.expose_secret().to_uppercase();
        let is_stated = env.to_uppercase().contains(&format!("={value}"));
        assert!(from.contains(&value) || from.contains("acme") || is_stated, "{from} gave {value}");
    }
    assert_eq!(resolved.key.is_none(), resolved.key_source == KeySource::None);
    let url = resolved.base_url.to_string();
    Ok((resolved.label(), resolved.mode, url, resolved.key_source.to_string()))
}

const ALL_KEYS: &str = "OPENROUTER_API_KEY OPENAI_API_KEY DEEPSEEK_API_KEY AI_GATEWAY_API_KEY OLLAMA_API_KEY \
    XAI_API_KEY LM_API_KEY BETA_KEY ZAI_API_KEY";

#[test]
fn settings_and_variables_choose_provider_format_address_and_key() {
    const OR: &str = "https://openrouter.ai/api/v1";
    const OAI: &str = "https://api.openai.com/v1";
    const DS: &str = "https://api.deepseek.com/v1";
    const ANT: &str = "https://api.anthropic.com/";
    let rows: &[(&str, &str, &str, Want)] = &[
        // auto
        ("", "", "", Err("no model provider is configured")),
        ("", "", ALL_KEYS, Ok(("openrouter", C, OR, "key from OPENROUTER_API_KEY"))),
        (
            "auto",
            "",
            "OPENAI_API_KEY DEEPSEEK_API_KEY",
            Ok(("openai-api", R, OAI, "key from OPENAI_API_KEY")),
        ),
        ("", "", "DEEPSEEK_API_KEY ZAI_API_KEY", Ok(("deepseek", C, DS, "key from DEEPSEEK_API_KEY"))),
        (
            "",
            "",
            "ANTHROPIC_API_KEY DEEPSEEK_API_KEY",
            Ok(("anthropic", A, ANT, "key from ANTHROPIC_API_KEY")),
        ),
        ("", "", "ANTHROPIC_API_KEY", Ok(("anthropic", A, ANT, "key from ANTHROPIC_API_KEY"))),
        ("", "", "GITHUB_TOKEN LM_API_KEY", Err("no model provider is configured")),
        ("", "", "OPENROUTER_API_KEY=your-key", Err("no model provider is configured")),
        (
            "",
            "",
            "CUSTOM_BASE_URL=http://h.example/v1 DEEPSEEK_API_KEY",
            Ok(("custom", C, "http://h.example/v1", "no key")),
        ),
        (
            "",
            "",
            "OPENAI_BASE_URL=http://127.0.0.1:9/v1",
            Err("provider openai-api has no key: set OPENAI_API_KEY"),
        ),
        // by name
        ("deepseek", "", ALL_KEYS, Ok(("deepseek", C, DS, "key from DEEPSEEK_API_KEY"))),
        ("GLM", "", ALL_KEYS, Ok(("zai", C, "https://api.z.ai/api/paas/v4", "key from ZAI_API_KEY"))),
        (
            "ai-gateway",
            "",
            ALL_KEYS,
            Ok(("ai-gateway", C, "https://ai-gateway.vercel.sh/v1", "key from AI_GATEWAY_API_KEY")),
        ),
        ("xai", "", ALL_KEYS, Ok(("xai", R, "https://api.x.ai/v1", "key from XAI_API_KEY"))),
        ("kimi", "", ALL_KEYS, Err("provider kimi-coding has no key: set KIMI_API_KEY")),
        ("openrouter", "", "OPENAI_API_KEY", Err("provider openrouter has no key")),
        ("lmstudio", "", "OPENAI_API_KEY", Ok(("lmstudio", C, "http://127.0.0.1:1234/v1", "no key"))),
        ("lmstudio", "", ALL_KEYS, Ok(("lmstudio", C, "http://127.0.0.1:1234/v1", "key from LM_API_KEY"))),
        ("bedrock", "", ALL_KEYS, Err("provider bedrock cannot be used yet: AWS")),
        (
            "copilot",
            "",
            "GITHUB_TOKEN",
            Ok(("copilot", C, "https://api.githubcopilot.com/", "key from GITHUB_TOKEN")),
        ),
        // Its token is for GitHub's exchange; another address does not get it.
        (
            "copilot",
            "http://127.0.0.1:9/v1",
            "GITHUB_TOKEN",
            Ok(("copilot", C, "http://127.0.0.1:9/v1", "no key")),
        ),
        ("copilot", "", "OPENAI_API_KEY", Err("provider copilot has no key: set COPILOT_GITHUB_TOKEN")),
        ("nous", "", ALL_KEYS, Err("provider nous cannot be used: you are not logged in")),
        ("xai-oauth", "", ALL_KEYS, Err("provider xai-oauth cannot be used: you are not logged in")),
        ("moa", "", ALL_KEYS, Err("provider moa cannot be used yet")),
        ("acme-corp", "", ALL_KEYS, Err("unknown provider `acme-corp`")),
        (
            "kimi",
            "",
            "KIMI_API_KEY=sk-kimi-abc",
            Ok(("kimi-coding", A, "https://api.kimi.com/coding", "key from KIMI_API_KEY")),
        ),
        // a provider's URL variable, and pinned keys
        (
            "deepseek",
            "",
            "DEEPSEEK_API_KEY DEEPSEEK_BASE_URL=http://127.0.0.1:7/v1",
            Ok(("deepseek", C, "http://127.0.0.1:7/v1", "key from DEEPSEEK_API_KEY")),
        ),
        (
            "openrouter",
            "",
            "OPENROUTER_API_KEY OPENROUTER_BASE_URL=https://proxy.example/v1",
            Ok(("openrouter", C, "https://proxy.example/v1", "no key")),
        ),
        (
            "ollama-cloud",
            "",
            "OLLAMA_API_KEY OLLAMA_BASE_URL=http://127.0.0.1:11434/v1",
            Ok(("ollama-cloud", C, "http://127.0.0.1:11434/v1", "no key")),
        ),
        (
            "deepseek",
            "",
            "DEEPSEEK_API_KEY DEEPSEEK_BASE_URL=https://openrouter.ai/api/v1",
            Ok(("deepseek", C, OR, "no key")),
        ),
        // OPENAI_API_KEY
        (
            "",
            "http://127.0.0.1:9/v1",
            "OPENAI_API_KEY OPENAI_BASE_URL=http://127.0.0.1:9/other",
            Ok(("custom", C, "http://127.0.0.1:9/v1", "key from OPENAI_API_KEY")),
        ),
        ("custom", "https://h.example/v1", ALL_KEYS, Ok(("custom", C, "https://h.example/v1", "no key"))),
        (
            "ollama",
            "http://127.0.0.1:11434/v1",
            ALL_KEYS,
            Ok(("custom", C, "http://127.0.0.1:11434/v1", "no key")),
        ),
        ("custom", OR, "OPENAI_API_KEY", Ok(("custom", C, OR, "no key"))),
        ("custom", OR, ALL_KEYS, Ok(("custom", C, OR, "key from OPENROUTER_API_KEY"))),
        ("custom", DS, "OPENAI_API_KEY", Ok(("custom", C, DS, "no key"))),
        (
            "custom",
            "",
            "CUSTOM_BASE_URL=https://h.example/v1 OPENAI_API_KEY",
            Ok(("custom", C, "https://h.example/v1", "no key")),
        ),
        (
            "custom",
            "https://api.openai.com.evil.example/v1",
            ALL_KEYS,
            Ok(("custom", C, "https://api.openai.com.evil.example/v1", "no key")),
        ),
        (
            "custom",
            "http://127.0.0.1:9/v1",
            "OPENAI_API_KEY OPENAI_BASE_URL=http://127.0.0.1:9/other",
            Ok(("custom", C, "http://127.0.0.1:9/v1", "key from OPENAI_API_KEY")),
        ),
        // the user's own resources
        (
            "azure",
            "https://r.openai.azure.com/openai/v1",
            "AZURE_FOUNDRY_API_KEY OPENAI_API_KEY",
            Ok((
                "azure-foundry",
                C,
                "https://r.openai.azure.com/openai/v1",
                "key from AZURE_FOUNDRY_API_KEY",
            )),
        ),
        ("azure", "", "AZURE_FOUNDRY_API_KEY", Err("provider azure-foundry needs an address")),
        ("azure", OR, "AZURE_FOUNDRY_API_KEY", Ok(("azure-foundry", C, OR, "no key"))),
        // bare addresses
        ("", OR, ALL_KEYS, Ok(("openrouter", C, OR, "key from OPENROUTER_API_KEY"))),
        (
            "",
            "https://OpenRouter.AI:443/api/v1/",
            ALL_KEYS,
            Ok(("openrouter", C, OR, "key from OPENROUTER_API_KEY")),
        ),
        (
            "",
            "https://opencode.ai/zen/go/v1",
            "OPENCODE_GO_API_KEY OPENCODE_ZEN_API_KEY",
            Ok(("opencode-go", C, "https://opencode.ai/zen/go/v1", "key from OPENCODE_GO_API_KEY")),
        ),
        (
            "",
            "https://api.x.ai/v1",
            "XAI_API_KEY",
            Ok(("xai", R, "https://api.x.ai/v1", "key from XAI_API_KEY")),
        ),
        ("", "http://[::1]:8080/v1", ALL_KEYS, Ok(("custom", C, "http://[::1]:8080/v1", "no key"))),
        (
            "",
            "https://api.githubcopilot.com",
            "GITHUB_TOKEN OPENAI_API_KEY",
            Ok(("copilot", C, "https://api.githubcopilot.com/", "key from GITHUB_TOKEN")),
        ),
        // Under another name it would not be exchanged, so it is not sent.
        (
            "custom",
            "https://api.githubcopilot.com",
            "GITHUB_TOKEN OPENAI_API_KEY",
            Ok(("custom", C, "https://api.githubcopilot.com/", "no key")),
        ),
        (
            "custom",
            "https://inference-api.nousresearch.com/v1",
            ALL_KEYS,
            Ok(("custom", C, "https://inference-api.nousresearch.com/v1", "no key")),
        ),
        // hostile addresses
        (
            "",
            "https://api.openai.com.evil.example/v1",
            ALL_KEYS,
            Ok(("custom", C, "https://api.openai.com.evil.example/v1", "no key")),
        ),
        (
            "openai",
            "https://api.openai.com.evil.example/v1",
            ALL_KEYS,
            Ok(("openai-api", C, "https://api.openai.com.evil.example/v1", "no key")),
        ),
        (
            "openai",
            "https://evil-api.openai.com/v1",
            ALL_KEYS,
            Ok(("openai-api", C, "https://evil-api.openai.com/v1", "no key")),
        ),
        (
            "openai",
            "https://api.openai.com./v1",
            ALL_KEYS,
            Ok(("openai-api", C, "https://api.openai.com./v1", "no key")),
        ),
        (
            "openai",
            "https://api.openai.com:8443/v1",
            ALL_KEYS,
            Ok(("openai-api", R, "https://api.openai.com:8443/v1", "no key")),
        ),
        (
            "openai",
            "http://api.openai.com/v1",
            ALL_KEYS,
            Ok(("openai-api", R, "http://api.openai.com/v1", "no key")),
        ),
        (
            "openai",
            "https://evil.example/api.openai.com/v1",
            ALL_KEYS,
            Ok(("openai-api", C, "https://evil.example/api.openai.com/v1", "no key")),
        ),
        (
            "openai",
            "https://evil.example#api.openai.com",
            ALL_KEYS,
            Ok(("openai-api", C, "https://evil.example/", "no key")),
        ),
        (
            "openai",
            "https://evil.example\\@api.openai.com/v1",
            ALL_KEYS,
            Ok(("openai-api", C, "https://evil.example/@api.openai.com/v1", "no key")),
        ),
        (
            "openai",
            "https://аpi.openai.com/v1",
            ALL_KEYS,
            Ok(("openai-api", C, "https://xn--pi-6kc.openai.com/v1", "no key")),
        ),
        ("openai", "https://[::1]/v1", ALL_KEYS, Ok(("openai-api", C, "https://[::1]/v1", "no key"))),
        ("lmstudio", "http://[::1]:1234/v1", ALL_KEYS, Ok(("lmstudio", C, "http://[::1]:1234/v1", "no key"))),
        (
            "openai",
            "https://API.OPENAI.COM/v1//",
            ALL_KEYS,
            Ok(("openai-api", R, OAI, "key from OPENAI_API_KEY")),
        ),
        (
            "openai",
            "https://api.openai.com@evil.example/v1",
            ALL_KEYS,
            Err("`evil.example` is not an http or https address: it carries"),
        ),
        ("openai", "https://user:secret@api.openai.com/v1", ALL_KEYS, Err("`api.openai.com` is not an http")),
        ("openai", "ftp://api.openai.com/v1", ALL_KEYS, Err("`ftp://api.openai.com/v1` is not an http")),
        ("openai", "//api.openai.com/v1", ALL_KEYS, Err("`//api.openai.com/v1` is not an http")),
        // endpoints with a name
        (
            "acme",
            "",
            ALL_KEYS,
            Ok(("custom:acme", C, "https://acme.example/v1", "key from `acme` in config.yaml")),
        ),
        (
            "Custom:ACME",
            "",
            "",
            Ok(("custom:acme", C, "https://acme.example/v1", "key from `acme` in config.yaml")),
        ),
        (
            "beta",
            "https://ignored.example/v1",
            ALL_KEYS,
            Ok(("custom:beta", C, "https://beta.example/v1", "key from BETA_KEY")),
        ),
        (
            "beta",
            "",
            "OPENAI_API_KEY",
            Err("`beta` in config.yaml takes its key from BETA_KEY, which is not set"),
        ),
        (
            "thief",
            "",
            ALL_KEYS,
            Err("OPENROUTER_API_KEY is a key of openrouter and is not sent to https://thief.example"),
        ),
        ("router", "", ALL_KEYS, Ok(("custom:router", C, OR, "key from OPENROUTER_API_KEY"))),
        ("hidden-router", "", "OPENAI_API_KEY", Ok(("custom:hidden-router", C, OR, "no key"))),
        ("free", "", ALL_KEYS, Ok(("custom:free", C, "https://free.example/v1", "no key"))),
        ("lent", "", ALL_KEYS, Ok(("custom:lent", C, "https://lent.example/v1", "key from OPENAI_API_KEY"))),
        (
            "lent-router",
            "",
            ALL_KEYS,
            Err("OPENAI_API_KEY is a key of openai-api and is not sent to https://openrouter.ai"),
        ),
        ("free", "", "OPENROUTER_API_KEY", Ok(("custom:free", C, "https://free.example/v1", "no key"))),
        ("gamma", "", ALL_KEYS, Err("`gamma` in config.yaml takes its key from GAMMA_KEY, which is not set")),
        ("off", "", ALL_KEYS, Err("provider off is switched off")),
        ("claude-like", "", ALL_KEYS, Ok(("custom:claude-like", A, "https://c.example/", "no key"))),
        ("openrouter", "", ALL_KEYS, Ok(("openrouter", C, OR, "key from OPENROUTER_API_KEY"))),
        ("custom:openrouter", "", "", Ok(("custom:openrouter", C, "https://mine.example/v1", "no key"))),
        ("local", "", "", Ok(("custom:local", C, "http://127.0.0.1:9000/v1", "no key"))),
        ("custom:unknown", "", ALL_KEYS, Err("unknown provider `custom:unknown`")),
    ];
    for (provider, base_url, env, want) in rows {
        let row = format!("provider `{provider}`, address `{base_url}`, variables `{env}`");
        match (run(provider, base_url, env), want) {
            (Ok(got), Ok((label, mode, url, key))) => {
                let got = (got.0.as_str(), got.1, got.2.as_str(), got.3.as_str());
                assert_eq!(got, (*label, *mode, *url, *key), "{row}");
            }
            (Err(error), Err(start)) => {
                assert!(error.starts_with(start), "{row}: {error}");
                assert!(!error.contains("secret"), "{row}: {error}");
            }
            (got, want) => panic!("{row}: {got:?} instead of {want:?}"),
        }
    }
}

#[test]
fn stored_credentials_come_before_variables_and_stay_at_their_address() {
    let stored = |label: &str, base_url: Option<&str>| PooledKey {
        key: "pool".into(),
        base_url: base_url.map(str::to_owned),
        label: label.into(),
    };
    let pooled = |id: &str| match id {
        "deepseek" => vec![stored("work", None)],
        "xai" => vec![stored("x", Some("https://api.x.ai/v1")), stored("y", Some("https://y.example/v1"))],
        "custom:free" => vec![stored("f", None)],
        _ => vec![],
    };
    let variable = lookups(ALL_KEYS);
    for (provider, base_url, want) in [
        ("deepseek", "", "stored credential work"),
        ("deepseek", "https://elsewhere.example/v1", "no key"),
        ("xai", "", "stored credential x"),
        ("xai", "https://elsewhere.example/v1", "no key"),
        ("xai", "https://y.example/v1", "stored credential y"),
        ("free", "", "stored credential f"),
        ("openrouter", "", "key from OPENROUTER_API_KEY"),
    ] {
        let wanted = Wanted {
            provider: Some(provider.into()),
            base_url: Some(base_url.into()),
            model: Some("m".into()),
            custom: entries(),
            ..Wanted::default()
        };
        let lookups =
            Lookups { variable: &variable, pooled: &pooled, vendor: &|_| crate::login::VendorState::Absent };
        let place = locate(&wanted, lookups).unwrap();
        assert_eq!(place.key_source.to_string(), want, "{provider} {base_url}");
    }
}

#[test]
fn an_entry_knows_its_models_and_every_choice_has_a_reason() {
    let mut entry = entries().remove(0);
    entry.default_model = Some("big".into());
    entry.context_length = Some(8_192);
    entry.models.insert("big".into(), crate::CustomModel { context_length: Some(131_072), prices: None });
    let wanted = Wanted { provider: Some("acme".into()), custom: vec![entry], ..Wanted::default() };
    let none = |_: &str| None;
    let endpoint = resolve(&wanted, &none).unwrap();
    assert_eq!((endpoint.model.as_str(), endpoint.context_length), ("big", Some(131_072)));
    let small = resolve(&Wanted { model: Some("small".into()), ..wanted.clone() }, &none).unwrap();
    assert_eq!((small.model.as_str(), small.context_length), ("small", Some(8_192)));
    assert_eq!(endpoint.with_model("small").context_length, Some(8_192), "the entry speaks of it, too");
    assert_eq!(small.with_model("big").context_length, Some(131_072));
    let what: Vec<_> = endpoint.reasons.iter().map(|reason| reason.what).collect();
    assert_eq!(what, ["provider", "base_url", "key", "model", "api_mode"]);
    assert!(endpoint.reasons.iter().all(|reason| !reason.why.is_empty()));
}

#[test]
fn ollama_is_recognised_by_address_or_name() {
    let mut named = entries().remove(0);
    (named.name, named.base_url) = ("ollama".into(), "http://127.0.0.1:9/v1".parse().unwrap());
    for (provider, base_url, want) in [
        ("custom", "http://127.0.0.1:11434/v1", true),
        ("custom", "http://localhost:11434/v1", true),
        ("custom", "http://127.0.0.1:1234/v1", false),
        ("custom", "http://192.0.2.1:11434/v1", false),
        ("custom:ollama", "", true),
    ] {
        let wanted = Wanted {
            provider: Some(provider.into()),
            base_url: Some(base_url.to_owned()).filter(|url| !url.is_empty()),
            model: Some("m".into()),
            ollama_num_ctx: Some(4_096),
            custom: vec![named.clone()],
            ..Wanted::default()
        };
        let endpoint = resolve(&wanted, &|_: &str| None).unwrap();
        assert_eq!(endpoint.may_be_ollama(), want, "{provider} {base_url}");
        // The window of one model does not apply to another.
        assert_eq!(endpoint.with_model("m").ollama_num_ctx, Some(4_096));
        assert_eq!(endpoint.with_model("n").ollama_num_ctx, None);
        // The window of the server is used, whatever the model was trained for.
        for (stated, want) in [(None, 4_096), (Some(2_048), 2_048), (Some(131_072), 4_096)] {
            let wanted = Wanted { context_length: stated, ..wanted.clone() };
            let endpoint = resolve(&wanted, &|_: &str| None).unwrap();
            assert_eq!(endpoint.facts(None).window.value, want, "{stated:?}");
        }
    }
}

#[test]
fn another_model_may_have_another_format() {
    let key = lookups("OPENCODE_ZEN_API_KEY");
    let wanted = Wanted { provider: Some("zen".into()), model: Some("qwen".into()), ..Wanted::default() };
    let endpoint = resolve(&wanted, &key).unwrap();
    assert_eq!(endpoint.with_model("kimi").mode, C);
    assert_eq!(endpoint.with_model("claude-x").mode, A);
}

#[test]
fn disabled_providers_and_unknown_formats_are_errors() {
    let key = lookups("OPENROUTER_API_KEY DEEPSEEK_API_KEY");
    let off = Wanted { disabled: vec!["or".into()], model: Some("m".into()), ..Wanted::default() };
    assert_eq!(resolve(&off, &key).unwrap().provider, "deepseek");
    let asked = Wanted { provider: Some("openrouter".into()), ..off };
    assert_eq!(resolve(&asked, &key).err(), Some(ResolveError::Disabled { name: "openrouter".into() }));
    let mode = Wanted { api_mode: Some("grpc".into()), model: Some("m".into()), ..Wanted::default() };
    assert_eq!(resolve(&mode, &key).err(), Some(ResolveError::UnknownMode { mode: "grpc".into() }));
}
