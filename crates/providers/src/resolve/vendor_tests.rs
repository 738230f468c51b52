use crate::login::{VendorState, VendorToken, VendorTool};
use crate::{GivenKey, Lookups, PooledKey, Wanted, resolve_with};
use secrecy::{ExposeSecret, SecretString};

fn state(words: &str) -> VendorState {
    let from = "/home/me/file.json".into();
    match words {
        "valid" => VendorState::Valid(VendorToken {
            access: SecretString::from("vendor-token"),
            expires_at: None,
            account: Some("acc-1".into()),
            from,
        }),
        "expired" => VendorState::Expired { tool: VendorTool::ClaudeCode, from },
        "broken" => VendorState::Unreadable { from, why: "it is not JSON".into() },
        _ => VendorState::Absent,
    }
}

/// The chosen key and its source; or the error.
fn chosen(wanted: Wanted, env: &[(&str, &str)], vendor: &str, pooled: Option<&str>) -> String {
    let variable =
        |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| SecretString::from(*value));
    let pooled = |_: &str| {
        let stored = |key| PooledKey { key: SecretString::from(key), base_url: None, label: "own".into() };
        pooled.map(stored).into_iter().collect()
    };
    let lookups = Lookups { variable: &variable, pooled: &pooled, vendor: &|_| state(vendor) };
    match resolve_with(&Wanted { model: Some("m".into()), ..wanted }, lookups) {
        Ok(found) => {
            let key = found.key.map(|key| key.expose_secret().to_owned()).unwrap_or_default();
            let why = &found.reasons.iter().find(|reason| reason.what == "key").unwrap().why;
            format!("{key} | {} | {why}", found.account.unwrap_or_default())
        }
        Err(error) => error.to_string(),
    }
}

fn of(provider: &str) -> Wanted {
    Wanted { provider: Some(provider.into()), ..Wanted::default() }
}

#[test]
fn login_comes_after_explicit_keys_and_before_copied_tokens() {
    let file = "login of Claude Code in /home/me/file.json";
    let api = ("ANTHROPIC_API_KEY", "sk-ant-api03-x");
    let token = ("ANTHROPIC_TOKEN", "sk-ant-oat01-t");
    let own = ("CLAUDE_CODE_OAUTH_TOKEN", "cc-t");
    for (env, vendor, want) in [
        (&[api, token][..], "valid", "sk-ant-api03-x |  | key from ANTHROPIC_API_KEY".to_owned()),
        (&[token, own], "valid", format!("vendor-token | acc-1 | {file}")),
        (&[], "valid", format!("vendor-token | acc-1 | {file}")),
        // A token in the place of an API key counts as a copied one.
        (&[("ANTHROPIC_API_KEY", "sk-ant-oat01-t")], "valid", format!("vendor-token | acc-1 | {file}")),
        (&[("ANTHROPIC_TOKEN", "opaque")], "valid", format!("vendor-token | acc-1 | {file}")),
        (&[("ANTHROPIC_TOKEN", "sk-ant-api03-y")], "valid", "sk-ant-api03-y |  | key from ANTHROPIC_TOKEN".into()),
        (&[token, own], "absent", "sk-ant-oat01-t |  | key from ANTHROPIC_TOKEN".into()),
        (&[own], "absent", "cc-t |  | key from CLAUDE_CODE_OAUTH_TOKEN".into()),
        (
            &[token],
            "expired",
            format!("sk-ant-oat01-t |  | key from ANTHROPIC_TOKEN; the {file} has expired: run `claude`, which renews it"),
        ),
        (&[], "expired", format!("provider anthropic cannot be used: the {file} has expired: run `claude`, which renews it; or set ANTHROPIC_API_KEY")),
        (&[], "broken", format!("provider anthropic cannot be used: the {file} cannot be read: it is not JSON; run `claude`; or set ANTHROPIC_API_KEY")),
        (
            &[],
            "absent",
            "provider anthropic has no key: set ANTHROPIC_API_KEY with `hermes config set ANTHROPIC_API_KEY ...`".into(),
        ),
    ] {
        assert_eq!(chosen(of("anthropic"), env, vendor, None), want, "{env:?} {vendor}");
    }
}

#[test]
fn flag_setting_and_stored_key_take_precedence() {
    let token = [("ANTHROPIC_TOKEN", "sk-ant-oat01-t")];
    let given = GivenKey::Key { key: SecretString::from("given-key"), by: "--api-key".into() };
    let by_flag = Wanted { given: Some(given), ..of("anthropic") };
    let by_setting = Wanted {
        base_url: Some("https://api.anthropic.com".into()),
        api_key: Some(SecretString::from("set-key")),
        ..of("anthropic")
    };
    assert!(chosen(by_flag, &token, "valid", None).starts_with("given-key |"));
    assert!(chosen(by_setting, &token, "valid", None).starts_with("set-key |"));
    assert!(chosen(of("anthropic"), &token, "valid", Some("pool-key")).starts_with("pool-key |"));
}

#[test]
fn a_login_goes_to_its_vendor_only_and_serves_no_other_provider() {
    let elsewhere = Wanted { base_url: Some("https://proxy.example".into()), ..of("anthropic") };
    assert!(chosen(elsewhere, &[], "valid", None).starts_with(" |  | the address is not the provider's own"));
    let by_variable = [("ANTHROPIC_BASE_URL", "https://proxy.example"), ("ANTHROPIC_TOKEN", "tok-123456")];
    assert!(chosen(of("anthropic"), &by_variable, "valid", None).starts_with("tok-123456 |"));
    let deepseek = chosen(of("deepseek"), &[], "valid", None);
    assert!(deepseek.contains("has no key"), "{deepseek}");
    // Without naming the vendor its login is not used.
    let unnamed = chosen(Wanted::default(), &[], "valid", None);
    assert_eq!(unnamed, "no model provider is configured");
}

#[test]
fn codex_uses_its_program_login_or_names_the_command() {
    for (vendor, want) in [
        ("valid", "vendor-token | acc-1 | login of Codex in /home/me/file.json"),
        (
            "absent",
            "provider openai-codex cannot be used: there is no login of Codex on this machine: run `codex login`; or use `openai` with OPENAI_API_KEY",
        ),
        (
            "expired",
            "provider openai-codex cannot be used: the login of Codex in /home/me/file.json has expired: run `codex login`, which renews it; or use `openai` with OPENAI_API_KEY",
        ),
    ] {
        assert_eq!(chosen(of("codex"), &[("OPENAI_API_KEY", "sk-o")], vendor, None), want, "{vendor}");
    }
}
