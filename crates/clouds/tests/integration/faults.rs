//! Answers of services that are late, wrong or hostile: a clear error, in bounded time, and no key elsewhere.

use crate::fixture::{Fixture, SERVICES};
use crate::stand_in::{Fault, Request, StandIn};
use hermes_clouds::Service;
use std::time::{Duration, Instant};

/// A fixture with short time limits.
fn fixture(service: Service, server: &StandIn) -> Fixture {
    let mut fixture = Fixture::new(service, server);
    fixture.settings.timing.pause_ms = 5;
    fixture.settings.timing.request_ms = 700;
    fixture
}

#[tokio::test]
async fn fault_of_every_answer_is_reported() {
    let long = "x".repeat(4 << 20);
    for (name, fault, want) in [
        ("401", Fault::Status(401, "{}".into()), "rejects the key (HTTP 401); check"),
        ("403", Fault::Status(403, "<html>".into()), "rejects the key (HTTP 403); check"),
        ("402", Fault::Status(402, r#"{"message":"no credit"}"#.into()), "(HTTP 402): no credit"),
        ("429", Fault::Status(429, "slow".into()), "does not answer: HTTP 429: slow"),
        ("500", Fault::Status(500, String::new()), "does not answer: HTTP 500"),
        ("garbage", Fault::Body("\u{1b}[31m<html>".into()), "cannot be used"),
        ("empty", Fault::Body(String::new()), "cannot be used"),
        (
            "wrong types",
            Fault::Body(r#"{"id":7,"status":[],"output":{},"result":1}"#.into()),
            "cannot be used",
        ),
        ("a hostile id", Fault::Body(r#"{"id":"../../x"}"#.into()), "cannot be used"),
        ("too long", Fault::Body(long), "cannot be used"),
        ("hang", Fault::Hang, "does not answer"),
        ("no end", Fault::Endless, "answer"),
        ("cut", Fault::Lost, "does not answer"),
    ] {
        for service in SERVICES {
            let server = StandIn::start();
            let fault = fault.clone();
            server.fail(move |_| Some(fault.clone()));
            let begun = Instant::now();
            let error = fixture(service, &server).unsupervised().run("echo ran").await.unwrap_err();
            assert!(error.contains(want), "{name}, {service:?}: {error}");
            assert!(error.contains("hermes backend test"), "{name}: {error}");
            assert!(!error.contains('\u{1b}') && error.len() < 2000, "{name}: {error}");
            assert!(begun.elapsed() < Duration::from_secs(60), "{name}: {:?}", begun.elapsed());
        }
    }
}

#[tokio::test]
async fn busy_service_is_asked_again() {
    for status in [429, 500, 502, 503] {
        for service in SERVICES {
            let server = StandIn::start();
            let mut count = 0;
            server.fail(move |_| {
                count += 1;
                (count % 3 != 0).then(|| Fault::Status(status, "busy".into()))
            });
            let output = fixture(service, &server).unsupervised().run("echo ran; exit 3").await.unwrap();
            assert_eq!((output.text.as_str(), output.exit_code), ("ran\n", 3), "{status} {service:?}");
        }
    }
}

/// The answer to the start is lost each time at first: the command runs once.
#[tokio::test]
async fn command_whose_answers_are_lost_runs_once() {
    for service in SERVICES {
        let server = StandIn::start();
        let mut count = 0;
        server.fail(move |request: &Request| {
            count += u32::from(request.is_command());
            (request.is_command() && count % 2 == 1).then_some(Fault::Lost)
        });
        let file = server.home().join("runs");
        let script = format!("echo run >>{0}; sleep 0.3; cat {0}", file.display());
        let output = fixture(service, &server).unsupervised().run(&script).await.unwrap();
        assert_eq!(output.text, "run\n", "{service:?}");
    }
}

/// A service that goes away in the middle of a command leaves its outcome open.
#[tokio::test]
async fn lost_connection_is_an_unknown_outcome() {
    for (name, fault) in [
        ("500", Fault::Status(500, String::new())),
        ("hang", Fault::Hang),
        ("garbage", Fault::Body("x".into())),
        ("wrong text", Fault::Body(r#"{"result":"HX","status":"completed","output":"HX"}"#.into())),
        ("401", Fault::Status(401, String::new())),
        ("404", Fault::Status(404, String::new())),
    ] {
        for service in SERVICES {
            let server = StandIn::start();
            let fixture = fixture(service, &server);
            let bench = fixture.unsupervised();
            bench.run("true").await.unwrap();
            let (mut count, fault) = (0, fault.clone());
            server.fail(move |request| {
                count += u32::from(request.is_command());
                (request.is_command() && count > 1).then(|| fault.clone())
            });
            let output = bench.run("echo before; sleep 20").await.unwrap();
            assert_eq!(output.exit_code, 255, "{name} {service:?}: {}", output.text);
            assert!(output.text.contains("how the command went is not known"), "{name}: {}", output.text);
        }
    }
}

/// A lost answer to the request that starts a command: it may have run.
#[tokio::test]
async fn start_without_an_answer_is_an_unknown_outcome() {
    for service in SERVICES {
        let server = StandIn::start();
        let fixture = fixture(service, &server);
        let bench = fixture.unsupervised();
        bench.run("true").await.unwrap();
        server.fail(|request| request.is_command().then_some(Fault::Lost));
        let output = bench.run("true").await.unwrap();
        assert!(output.text.contains("how the command went is not known"), "{service:?}: {}", output.text);
    }
}

#[tokio::test]
async fn command_that_the_service_refuses_was_not_run() {
    for service in SERVICES {
        let server = StandIn::start();
        let fixture = fixture(service, &server);
        let bench = fixture.unsupervised();
        bench.run("true").await.unwrap();
        server.fail(|request| {
            request.is_command().then(|| Fault::Status(402, r#"{"error":"no credit"}"#.into()))
        });
        let output = bench.run("true").await.unwrap();
        let text = output.text;
        assert!(
            text.contains("no credit") && text.contains("the command was not run"),
            "{service:?}: {text}"
        );
    }
}

#[tokio::test]
async fn redirects_and_foreign_toolboxes_do_not_get_the_key() {
    let other = StandIn::start();
    for service in SERVICES {
        let server = StandIn::start();
        let url = format!("{}/api/sandbox/hermes-default", other.url);
        server.fail(move |_| Some(Fault::Redirect(url.clone())));
        let error = fixture(service, &server).unsupervised().run("true").await.unwrap_err();
        assert!(error.contains("307"), "{error}");
    }
    let server = StandIn::start();
    let body = format!(r#"{{"id":"a","state":"started","toolboxProxyUrl":"{}/toolbox"}}"#, other.url);
    server.fail(move |_| Some(Fault::Body(body.clone())));
    let error = fixture(Service::Daytona, &server).unsupervised().run("true").await.unwrap_err();
    assert!(error.contains("DAYTONA_TOOLBOX_URL"), "{error}");
    assert_eq!(other.requests().len(), 0);
}
