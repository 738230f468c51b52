//! Precedence of layers, types of values, and secrets.

use std::path::Path;

use super::*;

fn config(flags: &[(&str, &str)], dotenv: &str, shell: &[(&str, &str)], file: &str) -> Config {
    let owned = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect::<Vec<_>>()
    };
    Config::new(Layers {
        flags: owned(flags),
        dotenv: EnvFile::parse(Path::new("/h/.env"), dotenv.into()),
        shell: owned(shell).into_iter().collect(),
        file: ConfigFile::parse(Path::new("/h/config.yaml"), file.into()).unwrap(),
        ..Layers::default()
    })
}

#[test]
fn the_first_layer_that_says_something_wins() {
    let turns = "HERMES_MAX_ITERATIONS";
    let provider = "HERMES_INFERENCE_PROVIDER";
    for (key, flags, dotenv, shell, file, want, source) in [
        ("agent.max_turns", "1", "2", "3", "4", "1", Source::Flag),
        ("agent.max_turns", "", "2", "3", "4", "2", Source::DotEnv),
        ("agent.max_turns", "", "", "3", "4", "3", Source::Shell),
        ("agent.max_turns", "", "", "", "4", "4", Source::File),
        ("agent.max_turns", "", "", "", "", "90", Source::Default),
        ("model.provider", "a", "b", "c", "d", "a", Source::Flag),
        ("model.provider", "", "b", "c", "d", "d", Source::File),
        ("model.provider", "", "b", "c", "", "b", Source::DotEnv),
        ("model.provider", "", "", "c", "", "c", Source::Shell),
        ("model.provider", "", "", "", "", "auto", Source::Default),
    ] {
        let (section, leaf) = key.split_once('.').unwrap();
        let variable = if key == "model.provider" { provider } else { turns };
        let flags = if flags.is_empty() { vec![] } else { vec![(key, flags)] };
        let file = format!("{section}:\n  {leaf}: {file}\n");
        let config = config(&flags, &format!("{variable}={dotenv}"), &[(variable, shell)], &file);
        let found = config.resolve(key).unwrap().unwrap();
        assert_eq!((found.value.shown().as_str(), found.source), (want, source), "{key} {file}");
    }
}

#[test]
fn the_first_variable_of_a_key_counts() {
    let config = config(&[], "", &[("ALL_PROXY", "all"), ("https_proxy", "lower")], "");
    assert_eq!(config.settings.network.proxy.get().unwrap().as_deref(), Some("lower"));
}

#[test]
fn approvals_are_loosened_only_on_purpose() {
    for (file, yolo, want) in [
        ("", "", "smart"),
        ("", "1", "off"),
        ("", "0", "smart"),
        ("approvals: {mode: manual}", "", "manual"),
        ("approvals: {mode: manual}", "yes", "off"),
        ("approvals: {mode: off}", "", "off"),
        ("approvals: {mode: false}", "", "off"),
        ("approvals: {mode: anything}", "", "manual"),
    ] {
        let config = config(&[], "", &[("HERMES_YOLO_MODE", yolo)], file);
        assert_eq!(config.settings.approvals.mode.value().unwrap().as_str(), want, "{file} {yolo}");
    }
}

#[test]
fn values_come_from_flags_and_variables_inside_of_them() {
    let config = config(
        &[("model", "flag/model")],
        "HOST=example.org\n",
        &[("OPENAI_BASE_URL", "http://x")],
        "toolsets: [web, file]\nmodel:\n  base_url: https://${HOST}/v1\n  api_key: ${NOPE}\nfoo: {n: 7, list: [a]}\n",
    );
    let settings = &config.settings;
    assert_eq!(settings.model.default.get().unwrap().as_deref(), Some("flag/model"));
    assert_eq!(settings.model.base_url.get().unwrap().as_deref(), Some("https://example.org/v1"));
    assert_eq!(
        settings.model.api_key.get().unwrap_err().to_string(),
        "`model.api_key` at /h/config.yaml line 4 uses ${NOPE}, which is not set: `hermes config set NOPE ...`"
    );
    assert_eq!(settings.variables.openai_base_url.get().unwrap().as_deref(), Some("http://x"));
    // `config get` prints keys that no setting has, too.
    for (key, want) in [("foo.n", Some("7")), ("foo.list", Some("a")), ("foo.missing", None)] {
        assert_eq!(config.explain(key).unwrap().value.as_deref(), want, "{key}");
    }
}

#[test]
fn a_wrong_type_names_key_place_and_wish() {
    for (dotenv, file, key, want) in [
        (
            "",
            "a: 1\nagent:\n  max_turns: many\n",
            "agent.max_turns",
            "`agent.max_turns` must be a whole number, 0 or more, but /h/config.yaml line 3 has `many`",
        ),
        (
            "TERMINAL_TIMEOUT=soon",
            "",
            "terminal.timeout",
            "`terminal.timeout` must be a whole number, 0 or more, but TERMINAL_TIMEOUT in .env has `soon`",
        ),
        (
            "",
            "toolsets: {a: 1}\n",
            "toolsets",
            "`toolsets` must be a list of texts, but /h/config.yaml line 1 has a section",
        ),
        (
            "",
            "model:\n  api_key: [hush]\n",
            "model.api_key",
            "`model.api_key` must be text, but /h/config.yaml line 2 has a list",
        ),
    ] {
        let config = config(&[], dotenv, &[], file);
        assert_eq!(config.resolve(key).err().unwrap().to_string(), want);
        assert_eq!(config.check().len(), 1);
    }
}

#[test]
fn secrets_are_collected_from_every_layer() {
    let config = config(
        &[],
        "DEMO_API_KEY=from-dotenv\nPLAIN=visible-text\n",
        &[("SHELL_TOKEN", "from-shell")],
        "model: {api_key: \"${DEMO_API_KEY}-more\"}\ncustom_providers:\n- {name: x, api_key: in-a-list}\nplatforms: {t: {token: bot-token-1}}\n",
    );
    let text = "from-dotenv from-shell from-dotenv-more in-a-list bot-token-1 visible-text";
    let want = "[redacted:DEMO_API_KEY] [redacted:SHELL_TOKEN] [redacted:model.api_key] \
                [redacted:custom_providers.api_key] [redacted:platforms.t.token] visible-text";
    assert_eq!(hermes_guard::redact(&config.secrets(), text), want);
    assert_eq!(format!("{config:?}"), "Config(/h/config.yaml)");
}

#[test]
fn unused_keys_are_listed_with_a_suggestion() {
    let config =
        config(&[], "", &[], "_config_version: 33\nagent:\n  max_turn: 5\nkanban: {enabled: true}\n");
    let texts: Vec<_> = config.unused_keys().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "`agent.max_turn` is not used by this version; did you mean `agent.max_turns`?",
            "`kanban.enabled` is not used by this version"
        ]
    );
}
