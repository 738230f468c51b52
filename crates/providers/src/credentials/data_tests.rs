use super::*;

fn parse(text: &str) -> Result<AuthData, String> {
    AuthData::parse(Path::new("/h/auth.json"), text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn unknown_layout_is_refused_with_its_field() {
    for (text, want) in [
        ("{", "/h/auth.json is not valid JSON (EOF while parsing an object at line 1 column 1)"),
        ("[]", "/h/auth.json is not valid JSON (it is not an object)"),
        ("", "/h/auth.json is not valid JSON (EOF while parsing a value at line 1 column 0)"),
        (r#"{"version": 2}"#, "/h/auth.json is left as it is: its layout has version 2"),
        (
            r#"{"credential_pool": []}"#,
            "/h/auth.json is left as it is: `credential_pool` in it is not a section",
        ),
        (
            r#"{"credential_pool": {"x": {}}}"#,
            "/h/auth.json is left as it is: `credential_pool.x` in it is not a list",
        ),
        (
            r#"{"suppressed_sources": {"x": 1}}"#,
            "/h/auth.json is left as it is: `suppressed_sources.x` in it",
        ),
    ] {
        let got = parse(text).unwrap_err();
        assert!(got.starts_with(want), "{text}: {got}");
    }
    // A secret in a broken file is not quoted.
    let broken = parse(r#"{"access_token": "sk-hidden-123456" "#).unwrap_err();
    assert!(!broken.contains("hidden"), "{broken}");
}

#[test]
fn unknown_fields_are_kept_in_place() {
    let text = r#"{"later": {"a": [1, null]}, "version": 1, "credential_pool": {"odd": [7, {"id": "x", "new": {"deep": true}}], "p": []}, "providers": {"nous": {"k": 1.50}}}"#;
    let mut data = parse(text).unwrap();
    data.entry_mut("odd", "x").unwrap().insert("last_status".into(), json!("ok"));
    data.suppress("p", "env:P");
    let written: Value = serde_json::from_str(&data.into_text(1_800_000_000.0)).unwrap();
    let want = json!({
        "later": {"a": [1, null]},
        "version": 1,
        "credential_pool": {"odd": [7, {"id": "x", "new": {"deep": true}, "last_status": "ok"}], "p": []},
        "providers": {"nous": {"k": 1.5}},
        "suppressed_sources": {"p": ["env:P"]},
        "updated_at": "2027-01-15T08:00:00Z",
    });
    assert_eq!(written, want);
    let keys: Vec<_> = written.as_object().unwrap().keys().collect();
    assert_eq!(keys[..4], ["later", "version", "credential_pool", "providers"]);
}

#[test]
fn suppressed_source_can_be_restored() {
    let mut data = AuthData::default();
    data.suppress("p", "env:P");
    data.suppress("p", "env:P");
    assert!(data.is_suppressed("p", "env:P") && !data.is_suppressed("q", "env:P"));
    data.unsuppress("p");
    assert_eq!(data, AuthData::default());
}

#[test]
fn nothing_of_it_is_printed() {
    let data = parse(r#"{"credential_pool": {"p": [{"access_token": "sk-hidden-123456"}]}}"#).unwrap();
    assert_eq!(format!("{data:?}"), "AuthData(1 fields)");
    let pool = crate::credentials::Pool::of(&data, "p", &[]);
    assert!(!format!("{pool:?}").contains("hidden"));
}
