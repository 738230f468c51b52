use super::*;

struct Case {
    name: &'static str,
    wanted: Wanted,
    env: &'static [(&'static str, &'static str)],
    want: Result<(&'static str, &'static str, KeySource), ResolveError>,
}

fn wanted(provider: &str, base_url: &str, key: &str) -> Wanted {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Wanted {
        provider: some(provider),
        model: Some("m".into()),
        base_url: some(base_url),
        api_key: some(key).map(SecretString::from),
        ..Wanted::default()
    }
}

#[test]
fn the_endpoint_and_the_key_follow_the_settings() {
    use KeySource::*;
    let local = "http://127.0.0.1:8080/v1";
    for case in [
        Case {
            name: "nothing",
            wanted: wanted("", "", ""),
            env: &[],
            want: Err(ResolveError::NothingConfigured),
        },
        Case {
            name: "an OpenRouter key chooses OpenRouter",
            wanted: wanted("", "", ""),
            env: &[("OPENROUTER_API_KEY", "k1"), ("OPENAI_API_KEY", "k2")],
            want: Ok(("openrouter", "https://openrouter.ai/api/v1", Variable("OPENROUTER_API_KEY"))),
        },
        Case {
            name: "an OpenAI key never goes to OpenRouter",
            wanted: wanted("openrouter", "", ""),
            env: &[("OPENAI_API_KEY", "k2")],
            want: Err(ResolveError::NoKey { provider: "openrouter", variable: "OPENROUTER_API_KEY" }),
        },
        Case {
            name: "an OpenAI key alone chooses OpenAI",
            wanted: wanted("auto", "", ""),
            env: &[("OPENAI_API_KEY", "k2")],
            want: Ok(("openai-api", "https://api.openai.com/v1", Variable("OPENAI_API_KEY"))),
        },
        Case {
            name: "OPENAI_BASE_URL takes the OpenAI key with it",
            wanted: wanted("openai", "", ""),
            env: &[("OPENAI_API_KEY", "k2"), ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")],
            want: Ok(("openai-api", "http://127.0.0.1:9/v1", Variable("OPENAI_API_KEY"))),
        },
        Case {
            name: "a bare address is a custom endpoint and needs no key",
            wanted: wanted("", local, ""),
            env: &[("OPENROUTER_API_KEY", "k1")],
            want: Ok(("custom", local, None)),
        },
        Case {
            name: "its own key comes first",
            wanted: wanted("custom", local, "own"),
            env: &[("OPENAI_API_KEY", "k2")],
            want: Ok(("custom", local, Config)),
        },
        Case {
            name: "a custom endpoint without its own key gets none",
            wanted: wanted("custom", local, ""),
            env: &[("OPENAI_API_KEY", "k2")],
            want: Ok(("custom", local, None)),
        },
        Case {
            name: "a foreign address under a known provider gets no key of that provider",
            wanted: wanted("openrouter", "https://elsewhere.example/v1", ""),
            env: &[("OPENROUTER_API_KEY", "k1")],
            want: Ok(("openrouter", "https://elsewhere.example/v1", None)),
        },
        Case {
            name: "a host that merely contains the name is foreign",
            wanted: wanted("openrouter", "https://openrouter.ai.evil.example/v1", ""),
            env: &[("OPENROUTER_API_KEY", "k1")],
            want: Ok(("openrouter", "https://openrouter.ai.evil.example/v1", None)),
        },
        Case {
            name: "a bare address does not get the OpenAI key",
            wanted: wanted("", local, ""),
            env: &[("OPENAI_API_KEY", "k2")],
            want: Ok(("custom", local, None)),
        },
        Case {
            name: "the right host without TLS is foreign",
            wanted: wanted("openai", "http://api.openai.com/v1", ""),
            env: &[("OPENAI_API_KEY", "k2")],
            want: Ok(("openai-api", "http://api.openai.com/v1", None)),
        },
        Case {
            name: "placeholders are not keys",
            wanted: wanted("openai", "", ""),
            env: &[("OPENAI_API_KEY", "your-key-here")],
            want: Err(ResolveError::NoKey { provider: "openai-api", variable: "OPENAI_API_KEY" }),
        },
        Case {
            name: "custom without an address",
            wanted: wanted("custom", "", ""),
            env: &[],
            want: Err(ResolveError::NoBaseUrl { provider: "custom" }),
        },
        Case {
            name: "unknown provider",
            wanted: wanted("acme", "", ""),
            env: &[],
            want: Err(ResolveError::UnknownProvider { name: "acme".into() }),
        },
    ] {
        let lookup = |name: &str| {
            case.env.iter().find(|(key, _)| *key == name).map(|(_, value)| SecretString::from(*value))
        };
        let got = resolve(&case.wanted, &lookup).map(|e| (e.provider, e.base_url.to_string(), e.key_source));
        let want = case.want.map(|(provider, url, source)| (provider, url.to_owned(), source));
        assert_eq!(got, want, "{}", case.name);
    }
}

#[test]
fn a_model_is_needed_and_loses_its_provider_prefix() {
    let none = |_: &str| None;
    let mut asked = wanted("custom", "http://127.0.0.1:1/v1", "");
    asked.model = None;
    assert_eq!(resolve(&asked, &none).err(), Some(ResolveError::NoModel));
    asked.model = Some("qwen:7b".into());
    assert_eq!(resolve(&asked, &none).unwrap().model, "qwen:7b");
    let routed = Wanted { model: Some("openrouter:a/b".into()), ..wanted("openrouter", "", "") };
    let key = |name: &str| (name == "OPENROUTER_API_KEY").then(|| SecretString::from("k-value"));
    assert_eq!(resolve(&routed, &key).unwrap().model, "a/b");
}

#[test]
fn an_address_with_a_password_is_refused_without_showing_it() {
    let asked = wanted("custom", "http://me:hunter2@host/v1", "");
    let error = resolve(&asked, &|_: &str| None).err().unwrap().to_string();
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn key_beside_a_provider_is_sent_to_it_only() {
    let local = "http://127.0.0.1:8080/v1";
    let key = |text: &str| GivenKey::Key { key: text.to_owned().into(), by: "here".into() };
    let variable = |name: &str| GivenKey::Variable { name: name.into(), by: "here".into() };
    let elsewhere = ("OPENROUTER_BASE_URL", "http://127.0.0.1:9/v1");
    let own = ("OPENROUTER_API_KEY", "k1");
    for (name, provider, base_url, given, env, want) in [
        ("before the variable", "openrouter", "", key("k9"), vec![own], "key from `here` in config.yaml"),
        (
            "a placeholder is not a key",
            "openrouter",
            "",
            key("your-key-here"),
            vec![own],
            "key from OPENROUTER_API_KEY",
        ),
        (
            "an unset variable in the key",
            "openrouter",
            "",
            key("${NONE}"),
            vec![own],
            "takes its key from NONE, which is not set",
        ),
        ("with an address", "custom", local, key("k9"), vec![own], "key from `here` in config.yaml"),
        ("a moved provider gets none", "openrouter", "", key("k9"), vec![own, elsewhere], "no key"),
        (
            "a moved provider, by variable",
            "openrouter",
            "",
            variable("SPARE"),
            vec![("SPARE", "k9"), elsewhere],
            "no key",
        ),
        ("by variable", "deepseek", "", variable("SPARE"), vec![("SPARE", "k9")], "key from SPARE"),
        (
            "no such variable",
            "deepseek",
            "",
            variable("SPARE"),
            vec![("DEEPSEEK_API_KEY", "k2")],
            "takes its key from SPARE, which is not set",
        ),
        (
            "a variable of another",
            "custom",
            local,
            variable("OPENROUTER_API_KEY"),
            vec![own],
            "is a key of openrouter and is not sent to",
        ),
    ] {
        let lookup = |name: &str| {
            env.iter().find(|(known, _)| *known == name).map(|(_, value)| SecretString::from(*value))
        };
        let wanted = Wanted { given: Some(given), ..wanted(provider, base_url, "") };
        let got = match resolve(&wanted, &lookup) {
            Ok(found) => found.key_source.to_string(),
            Err(error) => error.to_string(),
        };
        assert!(got.contains(want), "{name}: {got}");
    }
}
