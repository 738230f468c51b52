//! One `auth.json` for both programs: each reads what the other writes, and two that write at the same time lose
//! nothing.
//!
//! `HERMES_PYTHON` names a Python that has release 0.19; `.ci/python` installs it. Without it these
//! tests say so and do nothing, except in CI.

use hermes_providers::credentials::{
    AuthData, AuthFile, Availability, Binding, ClockAndRandom, Credentials, Keys, NewEntry, NoRefresh, Pool,
    PooledKeys, Seed, Strategy,
};
use hermes_testkit::TempHome;
use hermes_wire::{Failure, classify};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const PEER: &str = include_str!("python/peer.py");

struct Peer {
    python: PathBuf,
    home: TempHome,
}

impl Peer {
    #[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
    fn new() -> Option<Self> {
        match std::env::var_os("HERMES_PYTHON").filter(|path| !path.is_empty()) {
            Some(path) => Some(Self { python: path.into(), home: TempHome::new() }),
            None if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
                panic!("HERMES_PYTHON must be set in CI; `.ci/python` prints it")
            }
            None => {
                println!("skipped: HERMES_PYTHON is not set; `.ci/python` prints it");
                None
            }
        }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        Command::new(&self.python)
            .args(["-c", PEER])
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs([("HERMES_HOME", self.home.path()), ("HOME", self.home.path())])
            .env("DEEPSEEK_API_KEY", "deepseek-from-the-shell")
            .current_dir(self.home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn ask(&self, arguments: &[&str]) -> Value {
        answer(self.start(arguments))
    }

    fn file(&self) -> AuthFile {
        AuthFile::at(self.home.path().join("auth.json"))
    }

    fn pool(&self, provider: &str) -> Pool {
        Pool::of(&self.file().read().unwrap(), provider, &[])
    }
}

fn answer(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

fn new(name: &str) -> NewEntry {
    let base_url = Some("https://p.example/v1".to_owned());
    NewEntry { label: Some(format!("label of {name}")), key: format!("rust-key-{name}").into(), base_url }
}

#[test]
fn written_credentials_are_read_by_the_release() {
    let Some(peer) = Peer::new() else { return };
    peer.file()
        .change(now(), |data| {
            data.root_mut().insert("of_a_later_version".to_owned(), json!({"kept": [1, 2.5, null]}));
            for name in ["a", "b", "c"] {
                data.add("openrouter", new(name), name);
            }
        })
        .unwrap();
    let theirs = peer.ask(&["entries", "openrouter"]);
    let ours = peer.pool("openrouter");
    assert_eq!(theirs.as_array().unwrap().len(), 3);
    for (ours, theirs) in ours.entries.iter().zip(theirs.as_array().unwrap()) {
        let want = json!({
            "id": ours.id, "label": ours.label, "auth_type": "api_key", "priority": ours.priority, "source": "manual",
            "access_token": ours.key.expose_secret(), "runtime_key": ours.key.expose_secret(),
            "last_status": null, "last_status_at": null, "last_error_code": null, "last_error_reason": null,
            "last_error_message": null, "last_error_reset_at": null,
            "base_url": "https://p.example/v1", "request_count": 0,
        });
        assert_eq!(*theirs, want);
    }
    // A change by the release keeps fields that are unknown to both.
    peer.ask(&["mark", "openrouter", "429"]);
    assert_eq!(peer.file().read().unwrap().root()["of_a_later_version"], json!({"kept": [1, 2.5, null]}));
}

#[test]
fn cooldowns_of_the_release_apply_here() {
    let Some(peer) = Peer::new() else { return };
    peer.ask(&["add", "openrouter", "one", "two", "three"]);
    assert_eq!(peer.ask(&["mark", "openrouter", "429", "rate_limit", &(now() + 500.0).to_string()]), "two");
    assert_eq!(peer.ask(&["mark", "openrouter", "401", "token_revoked", "0"]), "three");
    let pool = peer.pool("openrouter");
    let states: Vec<_> = pool.entries.iter().map(|entry| entry.availability(now())).collect();
    let [Availability::CoolingDown { until }, Availability::Dead, Availability::Ready] = states[..] else {
        panic!("{states:?}")
    };
    assert!((until - now() - 500.0).abs() < 60.0, "{until}");
    assert_eq!(pool.entries[0].last_error.reason.as_deref(), Some("rate_limit"));
}

#[tokio::test]
async fn cooldowns_apply_to_the_release_and_borrowed_keys_are_not_stored() {
    let Some(peer) = Peer::new() else { return };
    peer.ask(&["add", "deepseek", "one"]);
    // Loading seeds the variable there, as a reference.
    let theirs = peer.ask(&["entries", "deepseek"]);
    assert_eq!(theirs.as_array().unwrap().len(), 2, "{theirs}");
    let outside = ClockAndRandom { now: Arc::new(now), random: Arc::new(|| 0.0) };
    let credentials = Arc::new(Credentials::load(peer.file().path(), outside));
    let seed = Seed {
        source: "env:DEEPSEEK_API_KEY".into(),
        label: "DEEPSEEK_API_KEY".into(),
        key: "deepseek-from-the-shell".into(),
        base_url: Some("https://p.example/v1".into()),
    };
    let binding = Binding {
        provider: "deepseek".into(),
        origin: "https://p.example".into(),
        is_own: true,
        strategy: Strategy::FillFirst,
        seeds: vec![seed],
    };
    let keys = PooledKeys::new(credentials, binding, Arc::new(NoRefresh));
    let body = json!({"error": {"message": "no credit", "code": "insufficient_quota"}}).to_string();
    let fault = classify(&Failure::Http { status: 402, retry_after: None, body });
    let mut seen = Vec::new();
    for _ in 0..2 {
        let key = keys.current().await.unwrap().unwrap();
        seen.push(key.expose_secret().to_owned());
        keys.after(&fault).await;
    }
    seen.sort();
    assert_eq!(seen, ["deepseek-from-the-shell", "python-key-one"]);
    let text = std::fs::read_to_string(peer.file().path()).unwrap();
    assert!(!text.contains("deepseek-from-the-shell"), "{text}");
    let theirs = peer.ask(&["entries", "deepseek"]);
    let resting = theirs.as_array().unwrap().iter().filter(|entry| entry["last_status"] == "exhausted");
    let resting: Vec<_> = resting.collect();
    assert_eq!(resting.len(), 1, "{theirs}");
    assert_eq!(
        (&resting[0]["last_error_code"], &resting[0]["last_error_reason"]),
        (&json!(402), &json!("insufficient_quota"))
    );
    let chosen = peer.ask(&["select", "deepseek"]);
    assert_ne!(chosen, resting[0]["id"]);
}

#[test]
fn both_write_fifty_times_and_nothing_is_lost() {
    let Some(peer) = Peer::new() else { return };
    let names: Vec<String> = (0..50).map(|number| format!("p{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut theirs = peer.start(&[&["add", "openrouter"], &names[..]].concat());
    // Started after the release has: its first entry is there.
    while peer.file().read().unwrap() == AuthData::default() && theirs.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    for number in 0..50 {
        let name = format!("r{number:02}");
        peer.file().change(now(), |data| data.add("openrouter", new(&name), &name)).unwrap();
    }
    assert_eq!(answer(theirs), true);
    let pool = peer.pool("openrouter");
    let count = |start: &str| {
        pool.entries.iter().filter(|entry| entry.key.expose_secret().starts_with(start)).count()
    };
    assert_eq!((count("python-key-"), count("rust-key-")), (50, 50));
    let there = peer.ask(&["entries", "openrouter"]);
    assert_eq!(there.as_array().unwrap().len(), 100);
}
