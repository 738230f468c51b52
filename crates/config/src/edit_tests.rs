//! Texts before and after an edit: only the named key may change.

use serde_json::json;

use super::*;

fn file(text: &str) -> ConfigFile {
    ConfigFile::parse(Path::new("/h/config.yaml"), text.to_owned()).unwrap()
}

#[test]
fn setting_changes_one_key_and_keeps_the_rest() {
    for (before, key, value, after) in [
        ("", "a.b", json!(1), "a:\n  b: 1\n"),
        ("# only a comment\n\n", "a.b", json!("x"), "# only a comment\n\na:\n  b: x\n"),
        ("{}\n", "a", json!(1), "a: 1\n"),
        ("a: 1", "b", json!("x"), "a: 1\nb: x\n"),
        ("a: 1 # why\n\n# tail\n", "a", json!(2), "a: 2 # why\n\n# tail\n"),
        (
            "a:\n  x: 1 # one\n\n# about b\nb: 2\n",
            "a.y",
            json!(3),
            "a:\n  x: 1 # one\n  y: 3\n\n# about b\nb: 2\n",
        ),
        ("a:\n  x: 1\n", "new.deep.key", json!(true), "a:\n  x: 1\nnew:\n  deep:\n    key: true\n"),
        ("a:\n    x: 1\n", "a.y", json!(2), "a:\n    x: 1\n    y: 2\n"),
        // flow mappings and empty sections
        ("a: {x: 1, y: 2} # c\nb: 1\n", "a.z", json!("v"), "a: {x: 1, y: 2, z: v} # c\nb: 1\n"),
        ("a: {x: 1}\n", "a.x", json!("two, three"), "a: {x: \"two, three\"}\n"),
        ("a: {}\n", "a.z", json!(3), "a: {z: 3}\n"),
        ("a:\nb: 1\n", "a.z", json!(3), "a:\n  z: 3\nb: 1\n"),
        ("a: null\n", "a.z", json!(3), "a:\n  z: 3\n"),
        // scalars, lists and sections in each other's place
        ("a:\n  x: 1\n  # inner\n  y: 2\n# about b\nb: 1\n", "a", json!(5), "a: 5\n# about b\nb: 1\n"),
        ("a: 5\nb: 1\n", "a", json!({"x": {"w": [1, "z"]}}), "a: {x: {w: [1, z]}}\nb: 1\n"),
        ("t:\n- a # first\n- b\nc: 1\n", "t", json!(["x", "z"]), "t: [x, z]\nc: 1\n"),
        ("a: |\n  text\n  more\nb: 1\n", "a", json!("x"), "a: x\nb: 1\n"),
        ("a: 'it''s' # c\n", "a", json!("say \"hi\": #1"), "a: \"say \\\"hi\\\": #1\" # c\n"),
        // what surrounds a document
        ("---\na: 1\n", "b", json!(2), "---\na: 1\nb: 2\n"),
        ("a: 1\n# ── Security ──\n# foot\n", "b", json!(2), "a: 1\n# ── Security ──\n# foot\nb: 2\n"),
        ("a: ${X} # template\nb: 1\n", "b", json!("${Y}"), "a: ${X} # template\nb: \"${Y}\"\n"),
        // the two spellings of model
        ("model: some/name # mine\nb: 1\n", "model.default", json!("other"), "model: other # mine\nb: 1\n"),
        (
            "b: 1\nmodel: some/name\n",
            "model.provider",
            json!("custom"),
            "b: 1\nmodel:\n  default: some/name\n  provider: custom\n",
        ),
        ("model: \"\"\nb: 1\n", "model.provider", json!("custom"), "model:\n  provider: custom\nb: 1\n"),
        (
            "model:\n  default: x\n  base_url: u\n",
            "model",
            json!("z"),
            "model:\n  default: z\n  base_url: u\n",
        ),
        ("b: 1\n", "model", json!("z"), "b: 1\nmodel:\n  default: z\n"),
        ("model: x\n", "model", json!("z"), "model: z\n"),
    ] {
        match file(before).with(key, value) {
            Ok(changed) => assert_eq!(changed.text(), after, "{key} in {before:?}"),
            Err(error) => panic!("{key} in {before:?}: {error}"),
        }
    }
}

#[test]
fn unsetting_takes_one_key_and_sections_left_empty() {
    for (before, key, after) in [
        ("a: 1\n", "a", Some("")),
        ("# top\na: 1\n", "a", Some("# top\n")),
        ("# top\na: 1 # c\nb: 2\n", "a", Some("# top\nb: 2\n")),
        ("a:\n  x: 1\nb: 1\n", "a.x", Some("b: 1\n")),
        ("a:\n  x:\n    y: 1\nb: 1\n", "a.x.y", Some("b: 1\n")),
        ("a:\n  x: 1 # keep\n  y: 2\n\nb: 1\n", "a.y", Some("a:\n  x: 1 # keep\n\nb: 1\n")),
        ("a: {x: 1, y: 2}\n", "a.x", Some("a: {y: 2}\n")),
        ("a:\n  x: 1\n# about b\nb: 1\n", "a", Some("# about b\nb: 1\n")),
        ("model: x\nb: 1\n", "model.default", Some("b: 1\n")),
        ("a: 1\n", "b.c", None),
        ("a: 1\n", "a.b", None),
    ] {
        match file(before).without(key) {
            Ok(changed) => assert_eq!(changed.as_ref().map(ConfigFile::text), after, "{key} in {before:?}"),
            Err(error) => panic!("{key} in {before:?}: {error}"),
        }
    }
}

#[test]
fn edits_that_cannot_be_right_are_refused() {
    for (before, key, want) in [
        ("a: 5\n", "a.z", "`a` in /h/config.yaml is a value, not a section"),
        ("a: [1]\n", "a.z.y", "`a` in /h/config.yaml is a value, not a section"),
        ("x: &d {t: 1}\na: *d\n", "a.t", "could not change `a.t`"),
        ("a: 1\n", "", "is not a key"),
        ("a: 1\n", "a..b", "is not a key"),
        ("a: 1\n", "a[0]", "is not a key"),
        ("a: 1\n", "a b", "is not a key"),
    ] {
        let error = file(before).with(key, json!(1)).map(|file| file.text().to_owned()).unwrap_err();
        assert!(error.to_string().contains(want), "{key:?} in {before:?}: {error}");
    }
}

#[test]
fn an_edit_that_changes_more_is_caught() {
    let edit = Edit { path: Path::new("/h/config.yaml"), key: "a" };
    for text in ["a: 1\nb: 3\n", "a: [\n", "a: 1\n"] {
        assert!(edit.checked(text.into(), json!({"a": 1, "b": 2})).is_err(), "{text:?}");
    }
}

#[test]
fn windows_line_ends_and_merge_keys_survive_or_are_refused() {
    for (before, key) in [
        ("a:\r\n  x: 1\r\nb: 2\r\n", "a.y"),
        ("base: &b {x: 1}\nc:\n  <<: *b\n  y: 2\n", "c.x"),
        ("\u{feff}a: 1\n", "b"),
        ("a: 1\n...\n", "b"),
        ("? a\n: 1\n", "b"),
        ("a: !tag {x: 1}\n", "a.y"),
        ("1: one\ntrue: t\n", "b.c"),
        ("a: >-\n  folded\n  text\n\n\nb: 1\n", "c"),
        ("list:\n  - name: x\n    v: 1\n  - name: z\n", "list2.a"),
    ] {
        let before = file(before);
        match before.with(key, json!("new")) {
            Ok(after) => assert_eq!(after.get(key), Some(&json!("new")), "{key} in {:?}", before.text()),
            Err(error) => assert!(matches!(error, ConfigError::CannotEdit { .. }), "{error}"),
        }
    }
}
