use super::*;
use crate::credentials::Availability;
use secrecy::ExposeSecret;
use serde_json::json;
use std::path::Path;

fn data(root: Value) -> AuthData {
    AuthData::parse(Path::new("auth.json"), root.to_string().as_bytes()).unwrap()
}

fn seed(source: &str, key: &str) -> Seed {
    Seed { source: source.into(), label: source.into(), key: key.into(), base_url: None }
}

/// Ids or sources with their keys, in order.
fn shown(pool: &Pool) -> Vec<String> {
    let name = |entry: &Entry| if entry.is_manual() { entry.id.clone() } else { entry.source.clone() };
    pool.entries.iter().map(|entry| format!("{}={}", name(entry), entry.key.expose_secret())).collect()
}

#[test]
fn stored_and_found_keys_make_one_pool_in_order() {
    let stored = data(json!({"credential_pool": {"p": [
        {"id": "b", "priority": 2, "access_token": "kb"},
        {"id": "e", "priority": 0, "source": "env:P_KEY", "access_token": "stale"},
        {"id": "a", "priority": 1, "access_token": "ka"},
        {"id": "g", "priority": 3, "source": "env:GONE", "access_token": "old"},
        "not an entry",
    ]}}));
    let seeds = [seed("env:P_KEY", "fresh"), seed("env:P_TOKEN", "second")];
    let pool = Pool::of(&stored, "p", &seeds);
    assert_eq!(shown(&pool), ["env:P_KEY=fresh", "a=ka", "b=kb", "env:GONE=", "env:P_TOKEN=second"]);
    assert_eq!(pool.entries[3].availability(0.0), Availability::NoKey, "a borrowed key is not kept");
    let again = Pool::of(&stored, "p", &seeds);
    assert_eq!(pool.entries[4].id, again.entries[4].id, "a found key has the same id each time");
}

#[test]
fn a_source_that_was_removed_does_not_come_back() {
    let stored = data(json!({"suppressed_sources": {"p": ["env:P_KEY"]}}));
    assert_eq!(shown(&Pool::of(&stored, "p", &[seed("env:P_KEY", "k")])), [""; 0]);
}

#[test]
fn new_key_in_a_variable_has_no_state_of_the_old_one() {
    let entry = |key: &str| {
        json!({"id": "e", "source": "env:P_KEY", "last_status": "dead",
        "secret_fingerprint": fingerprint(&key.into())})
    };
    for (known, want) in [("same", Status::Dead), ("old", Status::Ok)] {
        let stored = data(json!({"credential_pool": {"p": [entry(known)]}}));
        let pool = Pool::of(&stored, "p", &[seed("env:P_KEY", "same")]);
        assert_eq!(pool.entries[0].status, want, "{known}");
    }
}

#[test]
fn keys_stay_at_their_origin() {
    let stored = data(json!({"credential_pool": {"p": [
        {"id": "own", "access_token": "k"},
        {"id": "here", "access_token": "k", "base_url": "https://Here.example/v1/"},
        {"id": "port", "access_token": "k", "base_url": "https://here.example:8443/v1"},
        {"id": "plain", "access_token": "k", "base_url": "http://here.example/v1"},
        {"id": "near", "access_token": "k", "base_url": "https://here.example.evil/v1"},
        {"id": "bad", "access_token": "k", "base_url": "::"},
    ]}}));
    for (is_own, want) in [(true, vec!["own=k", "here=k"]), (false, vec!["here=k"])] {
        let pool = Pool::of(&stored, "p", &[]).at("https://here.example", is_own);
        assert_eq!(shown(&pool), want);
    }
}

#[test]
fn one_provider_has_an_order_of_its_own() {
    let stored = data(json!({"credential_pool": {"anthropic": [
        {"id": "api", "priority": 0, "source": "env:ANTHROPIC_API_KEY"},
        {"id": "m2", "priority": 9, "access_token": "2"},
        {"id": "cc", "priority": 1, "source": "claude_code"},
        {"id": "m1", "priority": 4, "access_token": "1"},
        {"id": "tok", "priority": 7, "source": "env:ANTHROPIC_TOKEN"},
    ]}}));
    let pool = Pool::of(&stored, "anthropic", &[]);
    let ids: Vec<_> = pool.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["m1", "m2", "tok", "cc", "api"]);
}
