//! Reports of unused settings.

use super::*;
use crate::testing::config_of;
use serde_json::Map;

/// All defaults of the Python release as one file.
fn written_out(change: impl Fn(&str, &mut Value)) -> String {
    let mut tree = Map::new();
    for (key, mut value) in Defaults::read().0 {
        change(&key, &mut value);
        let mut place = &mut tree;
        let mut parts: Vec<&str> = key.split('.').collect();
        let leaf = parts.pop().unwrap();
        for part in parts {
            let inner = place.entry(part).or_insert_with(|| json!({}));
            place = inner.as_object_mut().unwrap();
        }
        place.insert(leaf.to_owned(), value);
    }
    Value::Object(tree).to_string()
}

fn names(text: &str) -> Vec<String> {
    config_of(text).unused_keys().into_iter().map(|unused| unused.key).collect()
}

#[test]
fn a_file_with_all_defaults_of_python_has_no_unused_settings() {
    assert_eq!(names(&written_out(|_, _| ())), [""; 0]);
    let changed = written_out(|key, value| {
        if key == "memory.provider" {
            *value = json!("honcho");
        }
    });
    assert_eq!(names(&changed), ["memory.provider"]);
}

#[test]
fn only_values_that_differ_from_the_default_are_named() {
    for (text, want) in [
        ("network: {force_ipv4: false}", &[][..]),
        ("network: {force_ipv4: true}", &["network.force_ipv4"]),
        ("terminal: {daemon_term_grace_seconds: 2}", &[]),
        ("display: {streaming: true}", &[]),
        ("hooks: {}\nquick_commands:\nplatform_toolsets: {}", &[]),
        ("platform_toolsets: {cli: [web]}", &[]),
        ("agent: {save_trajectories: true}", &["agent.save_trajectories"]),
        ("nothing_of_this_name: 1", &["nothing_of_this_name"]),
        ("_config_version: 33", &[]),
    ] {
        assert_eq!(names(text), want, "{text}");
    }
}

#[test]
fn unused_settings_are_one_line_and_misspellings_get_a_suggestion() {
    let unused = config_of(
        "memory: {provider: honcho}\nmcp_servers: {github: {command: x, args: [y]}}\nagent: {max_turn: 5}\n",
    )
    .unused_keys();
    assert_eq!(
        unused_summary(&unused).unwrap(),
        "4 settings in config.yaml are not used by this version: agent.max_turn (did you mean agent.max_turns?), \
         mcp_servers (2 keys), memory.provider (`hermes doctor` lists them)"
    );
    assert_eq!(
        unused_by_section(&unused),
        [
            "not used by this version: agent.max_turn (did you mean agent.max_turns?)",
            "not used by this version: mcp_servers.github.command, mcp_servers.github.args",
            "not used by this version: memory.provider",
        ]
    );
    assert_eq!(unused_summary(&[]), None);
}
