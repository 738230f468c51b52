use super::super::fields::LONGEST;
use super::super::file::LogLimits;
use super::*;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn settings(level: LogLevel, dir: PathBuf, secrets: Secrets) -> LogSettings {
    LogSettings {
        dir,
        level,
        limits: LogLimits::default(),
        secrets,
        clock: jiff::Timestamp::now,
        zone: jiff::tz::TimeZone::system,
    }
}

/// The lines logged in this directory while `act` runs, without the times.
fn logged(level: LogLevel, dir: &Path, act: impl FnOnce()) -> (Vec<String>, Vec<String>) {
    let secrets = Secrets::new([("KEY", SecretString::from("open \"sesame\" 42"))]);
    let settings = settings(level, dir.join("logs"), secrets);
    let reported = Arc::new(Mutex::new(Vec::new()));
    let trouble = {
        let reported = reported.clone();
        Box::new(move |why: &str| reported.lock().unwrap().push(why.to_owned()))
    };
    let subscriber = LogSubscriber::new(settings, trouble);
    tracing::subscriber::with_default(subscriber, act);
    let text = std::fs::read_to_string(dir.join("logs/agent.log")).unwrap_or_default();
    let lines = text.lines().map(|line| line[24..].to_owned()).collect();
    let reported = reported.lock().unwrap().clone();
    (lines, reported)
}

#[test]
fn an_event_has_the_fields_of_the_spans_around_it() {
    let dir = tempfile::tempdir().unwrap();
    let (lines, _) = logged(LogLevel::Info, dir.path(), || {
        let turn = tracing::info_span!("turn", session = "s1", turn = tracing::field::Empty);
        let _in_turn = turn.enter();
        turn.record("turn", 7);
        let call = tracing::info_span!("call", model = "m x");
        call.in_scope(|| tracing::info!(ms = 3, none = None::<u64>, "answered"));
        drop(call);
        tracing::warn!(ok = true, "odd\nnews");
        tracing::debug!("not wanted");
        tracing::error!(target: "h2::proto", "theirs");
        tracing::info!(target: "h2::proto", "theirs, and not wanted");
    });
    let ours = "hermes_telemetry.log.subscriber.tests";
    assert_eq!(
        lines,
        [
            format!("INFO [s1] {ours}: answered ms=3 model=\"m x\" turn=7"),
            format!("WARNING [s1] {ours}: odd\\nnews ok=true turn=7"),
            "ERROR [s1] h2.proto: theirs turn=7".to_owned(),
        ]
    );
}

#[test]
fn warning_has_session_at_any_level() {
    let dir = tempfile::tempdir().unwrap();
    let (lines, _) = logged(LogLevel::Error, dir.path(), || {
        tracing::info_span!("turn", session = "s1").in_scope(|| {
            tracing::warn!("not wanted");
            tracing::error!("wanted");
        });
        tracing::error!("outside");
    });
    let ours = "hermes_telemetry.log.subscriber.tests";
    assert_eq!(lines, [format!("ERROR [s1] {ours}: wanted"), format!("ERROR {ours}: outside")]);
}

#[test]
fn no_value_shows_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let (lines, _) = logged(LogLevel::Info, dir.path(), || {
        let key = "open \"sesame\" 42";
        let long = format!("{}{key}", "x".repeat(LONGEST - 4));
        tracing::info_span!("span", key).in_scope(|| {
            tracing::info!(key, debug = ?Some("sk-abcdefghijklmnop1234"), "with {key} in it");
            tracing::info!(error = %std::io::Error::other(key), long, "more");
        });
    });
    let text = lines.join("\n");
    assert!(!text.contains("sesame") && !text.contains("abcdefgh"), "{text}");
    assert_eq!(text.matches("[redacted:KEY]").count(), 5, "{text}");
}

#[test]
fn closed_spans_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let settings = settings(LogLevel::Info, dir.path().to_owned(), Secrets::default());
    let subscriber = LogSubscriber::new(settings, Box::new(|_| {}));
    let dispatch = tracing::Dispatch::new(subscriber);
    tracing::dispatcher::with_default(&dispatch, || {
        let parent = tracing::info_span!("parent");
        let child = parent.in_scope(|| tracing::info_span!("child"));
        drop(parent);
        child.in_scope(|| tracing::info!("still here"));
    });
    let subscriber = dispatch.downcast_ref::<LogSubscriber>().unwrap();
    let spans = locked(&subscriber.spans);
    assert_eq!((spans.places.len(), spans.free.len()), (2, 2));
}

#[test]
fn write_failure_is_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("logs"), "in the way").unwrap();
    let (lines, reported) = logged(LogLevel::Info, dir.path(), || {
        tracing::info!("one");
        tracing::info!("two");
    });
    assert_eq!((lines.len(), reported.len()), (0, 1), "{reported:?}");
}
