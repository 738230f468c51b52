use super::*;
use crate::credentials::Seed;
use std::path::Path;

const NOW: f64 = 1_800_000_000.0;

fn data(root: Value) -> AuthData {
    AuthData::parse(Path::new("auth.json"), root.to_string().as_bytes()).unwrap()
}

fn exhausted(code: i64) -> LastError {
    let message = Some("HTTP 429: slow".to_owned());
    LastError { at: Some(NOW), code: Some(code), reason: None, message, reset_at: Some(NOW + 9.0) }
}

fn seed() -> Seed {
    Seed { source: "env:P_KEY".into(), label: "P_KEY".into(), key: "secret-from-env".into(), base_url: None }
}

#[test]
fn state_is_written_to_its_fields_only() {
    let mut stored = data(json!({"credential_pool": {"p": [
        {"id": "a", "access_token": "ka", "later": [1]},
        {"id": "b", "access_token": "kb"},
    ]}}));
    let entry = Pool::of(&stored, "p", &[]).entries[0].clone();
    stored.mark(&entry, Status::Exhausted, &exhausted(429));
    let want = json!([
        {"id": "a", "access_token": "ka", "later": [1], "last_status": "exhausted", "last_status_at": NOW,
         "last_error_code": 429, "last_error_reason": null, "last_error_message": "HTTP 429: slow",
         "last_error_reset_at": NOW + 9.0},
        {"id": "b", "access_token": "kb"},
    ]);
    assert_eq!(json!(stored.entries("p")), want);
    // One that was removed meanwhile stays removed.
    stored.remove(&entry);
    stored.mark(&entry, Status::Dead, &exhausted(401));
    assert_eq!(stored.entries("p").len(), 1);
}

#[test]
fn borrowed_key_is_stored_without_the_key() {
    let mut stored = AuthData::default();
    let entry = Pool::of(&stored, "p", &[seed()]).entries[0].clone();
    stored.mark(&entry, Status::Exhausted, &exhausted(429));
    let text = stored.clone().into_text(NOW);
    assert!(!text.contains("secret-from-env"), "{text}");
    assert!(text.contains("env:P_KEY") && text.contains("sha256:"), "{text}");
    let again = Pool::of(&stored, "p", &[seed()]);
    assert_eq!((again.entries.len(), again.entries[0].status), (1, Status::Exhausted));
    stored.mark(&entry, Status::Dead, &exhausted(401));
    assert_eq!(stored.entries("p").len(), 1, "noted once");
}

#[test]
fn keys_are_added_at_the_end_and_found_by_number_id_and_label() {
    let mut stored = data(json!({"suppressed_sources": {"p": ["env:P_KEY"]}}));
    let new = |label: Option<&str>, key: &str| NewEntry {
        label: label.map(str::to_owned),
        key: key.into(),
        base_url: Some("https://p.example/v1".into()),
    };
    let first = stored.add("p", new(None, "k1"), "seed");
    let second = stored.add("p", new(Some("Work"), "k2"), "seed");
    assert!(first.id != second.id && first.id.len() == 6 && second.id.len() == 6);
    assert_eq!((first.label.as_str(), second.priority), ("api-key-1", 1));
    assert!(!stored.is_suppressed("p", "env:P_KEY"));
    stored.add("p", new(Some("twice"), "k3"), "3");
    stored.add("p", new(Some("twice"), "k4"), "4");
    let pool = Pool::of(&stored, "p", &[]);
    for (target, want) in [
        ("1", Some("k1")),
        ("2", Some("k2")),
        (second.id.as_str(), Some("k2")),
        ("work", Some("k2")),
        ("twice", None),
        ("5", None),
        ("0", None),
        ("unknown", None),
    ] {
        let found = pool.find("p", target).ok().map(|entry| entry.key.expose_secret());
        assert_eq!(found, want, "{target}");
    }
    stored.remove(pool.find("p", "2").unwrap());
    let left = Pool::of(&stored, "p", &[]);
    let left: Vec<_> = left.entries.iter().map(|entry| (entry.priority, entry.key.expose_secret())).collect();
    assert_eq!(left, [(0, "k1"), (1, "k3"), (2, "k4")]);
}

#[test]
fn removing_a_borrowed_key_keeps_it_from_coming_back() {
    let mut stored = AuthData::default();
    let entry = Pool::of(&stored, "p", &[seed()]).entries[0].clone();
    stored.remove(&entry);
    assert!(Pool::of(&stored, "p", &[seed()]).entries.is_empty());
}

#[test]
fn dead_keys_of_the_user_are_removed_after_a_day() {
    let day = 24.0 * 3600.0;
    let entry = |id: &str, source: &str, status: &str, ago: f64| json!({"id": id, "source": source, "access_token": "k", "last_status": status, "last_status_at": NOW - ago});
    let mut stored = data(json!({"credential_pool": {"openai-codex": [
        entry("old", "manual", "dead", day + 1.0),
        entry("new", "manual:device_code", "dead", day - 1.0),
        entry("resting", "manual", "exhausted", 9.0 * day),
        entry("login", "device_code", "dead", 9.0 * day),
    ]}}));
    stored.prune("openai-codex", NOW);
    let pool = Pool::of(&stored, "openai-codex", &[]);
    let left: Vec<_> = pool.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(left, ["new", "resting", "login"]);
}

#[test]
fn reset_counts_cleared_states() {
    let mut stored = data(json!({"credential_pool": {"p": [
        {"id": "a", "last_status": "exhausted", "last_status_at": NOW, "last_error_code": 429},
        {"id": "b", "last_status": "dead"},
        {"id": "c", "last_status": "ok"},
        {"id": "d"},
    ]}}));
    assert_eq!((stored.forget_marks("p"), stored.forget_marks("p"), stored.forget_marks("q")), (2, 0, 0));
    assert!(stored.providers() == ["p"]);
}

#[test]
fn use_is_stored_for_strategies_that_need_it() {
    let root = json!({"credential_pool": {"p": [
        {"id": "a", "priority": 0, "access_token": "ka"},
        {"id": "b", "priority": 1, "access_token": "kb", "request_count": 4},
    ]}});
    for (strategy, at, want) in [
        (Strategy::FillFirst, 0, "a0:0 b1:4"),
        (Strategy::Random, 0, "a0:0 b1:4"),
        (Strategy::LeastUsed, 1, "a0:0 b1:5"),
        (Strategy::RoundRobin, 0, "b0:4 env1:0 a2:0"),
    ] {
        let mut stored = data(root.clone());
        let pool = Pool::of(&stored, "p", &[seed()]);
        stored.note_taken(&pool, &pool.entries[at], strategy);
        let after = Pool::of(&stored, "p", &[]);
        let name = |entry: &Entry| if entry.is_manual() { entry.id.clone() } else { "env".to_owned() };
        let shown = |entry: &Entry| format!("{}{}:{}", name(entry), entry.priority, entry.request_count);
        let shown: Vec<_> = after.entries.iter().map(shown).collect();
        assert_eq!(shown.join(" "), want, "{strategy:?}");
    }
}

#[test]
fn new_tokens_are_written_where_the_old_ones_were() {
    let mut stored = data(json!({"credential_pool": {"p": [
        {"id": "a", "auth_type": "oauth", "access_token": "t1", "refresh_token": "r1", "expires_at_ms": 5,
         "last_status": "exhausted", "last_status_at": NOW},
    ]}}));
    let entry = Pool::of(&stored, "p", &[]).entries[0].clone();
    let fields = json!({"scope": "all"}).as_object().unwrap().clone();
    let new = Refreshed {
        access_token: "t2".into(),
        refresh_token: Some("r2".into()),
        expires_at: Some(NOW + 60.0),
        fields,
    };
    stored.renew(&entry, &new, NOW);
    let entry = &stored.entries("p")[0];
    let got = ["access_token", "refresh_token", "scope", "last_status", "last_refresh"];
    let got = got.map(|name| entry[name].as_str().unwrap_or_default());
    assert_eq!(got, ["t2", "r2", "all", "ok", "2027-01-15T08:00:00Z"]);
    assert_eq!(
        (&entry["expires_at_ms"], &entry["last_status_at"]),
        (&json!(1_800_000_060_000_u64), &Value::Null)
    );
}
