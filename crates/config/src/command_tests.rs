use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("home"));
    (dir, home)
}

#[test]
fn keys_go_to_their_file() {
    let (_dir, home) = home();
    for (key, text, target) in [
        ("OPENAI_API_KEY", "sk-hush", Target::DotEnv),
        ("hf_token", "hush-hush", Target::DotEnv),
        ("model.default", "some/name", Target::ConfigFile),
        ("model.api_key", "hush-hush", Target::ConfigFile),
        ("agent.max_turns", "12", Target::ConfigFile),
    ] {
        let report = set(&home, key, text).unwrap();
        assert_eq!((report.target, report.changed, report.notices.len()), (target, true, 0), "{key}");
        assert!(!format!("{report:?}").contains("hush"), "{report:?}");
    }
    assert_eq!(fs::read_to_string(home.env_file()).unwrap(), "OPENAI_API_KEY=sk-hush\nHF_TOKEN=hush-hush\n");
    assert_eq!(
        fs::read_to_string(home.config_file()).unwrap(),
        "model:\n  default: some/name\n  api_key: hush-hush\nagent:\n  max_turns: 12\n"
    );
    for path in [home.env_file(), home.config_file()] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn unset_undoes_set() {
    let (_dir, home) = home();
    for key in ["A_TOKEN", "x.y.z"] {
        set(&home, key, "1").unwrap();
        assert!(unset(&home, key).unwrap().changed, "{key}");
        assert!(!unset(&home, key).unwrap().changed, "{key}");
    }
    assert_eq!((fs::read(home.env_file()).unwrap(), fs::read(home.config_file()).unwrap()), (vec![], vec![]));
}

#[test]
fn unknown_keys_are_kept_with_a_notice() {
    let (_dir, home) = home();
    let report = set(&home, "agent.max_turn", "3").unwrap();
    assert_eq!(
        report.notices,
        ["`agent.max_turn` is not used by this version; did you mean `agent.max_turns`?"]
    );
    assert_eq!(fs::read_to_string(home.config_file()).unwrap(), "agent:\n  max_turn: 3\n");
}

#[test]
fn a_list_is_changed_as_it_is_and_an_empty_one_goes() {
    let (_dir, home) = home();
    home.ensure().unwrap();
    fs::write(home.config_file(), "# mine\nskills:\n  disabled: [a]\n").unwrap();
    let add = |name: &'static str| {
        move |mut list: Vec<String>| {
            list.push(name.to_owned());
            list
        }
    };
    assert!(change_list(&home, "skills.disabled", add("b")).unwrap());
    assert!(change_list(&home, "skills.platform_disabled.telegram", add("c")).unwrap());
    assert!(!change_list(&home, "skills.disabled", |list| list).unwrap());
    let text = fs::read_to_string(home.config_file()).unwrap();
    assert!(text.starts_with("# mine\nskills:\n"), "{text}");
    let file = ConfigFile::load(&home.config_file()).unwrap();
    assert_eq!(file.get("skills.disabled"), Some(&serde_json::json!(["a", "b"])));
    assert_eq!(file.get("skills.platform_disabled.telegram"), Some(&serde_json::json!(["c"])));
    assert!(change_list(&home, "skills.disabled", |_| vec![]).unwrap());
    assert_eq!(ConfigFile::load(&home.config_file()).unwrap().get("skills.disabled"), None);
}

#[test]
fn several_keys_change_together_or_not_at_all() {
    let (_dir, home) = home();
    home.ensure().unwrap();
    let text = "# mine\nmodel:\n  base_url: http://127.0.0.1:1/v1\n  default: a\n";
    fs::write(home.config_file(), text).unwrap();
    assert!(change(&home, &[("model.default", Some("b")), ("agent.max_turns", Some("x"))]).is_err());
    assert_eq!(fs::read_to_string(home.config_file()).unwrap(), text);
    let done = change(
        &home,
        &[("model.provider", Some("openrouter")), ("model.base_url", None), ("model.api_key", None)],
    );
    let changed: Vec<_> = done.unwrap().iter().map(|report| report.changed).collect();
    assert_eq!(changed, [true, true, false]);
    let after = fs::read_to_string(home.config_file()).unwrap();
    assert_eq!(after, "# mine\nmodel:\n  default: a\n  provider: openrouter\n");
}

#[test]
fn nothing_is_written_when_the_file_is_malformed_or_the_value_is_wrong() {
    let (_dir, home) = home();
    home.ensure().unwrap();
    for (text, key, value) in
        [("a: [\n", "b", "1"), ("agent: {}\n", "agent.max_turns", "many"), ("a: 1\n", "a.b", "1")]
    {
        fs::write(home.config_file(), text).unwrap();
        assert!(set(&home, key, value).is_err(), "{key}");
        assert_eq!(fs::read_to_string(home.config_file()).unwrap(), text);
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no other file appeared");
}
