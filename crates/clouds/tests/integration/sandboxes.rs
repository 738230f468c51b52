//! The life of sandboxes: found again, started again, made again, stopped, and never doubled. The key stays secret.

use crate::fixture::{Fixture, SERVICES, texts_below};
use crate::stand_in::{KEY, StandIn};
use hermes_clouds::Service;
use hermes_exec::{ExecError, Input, TerminalSize};
use hermes_places::Isolation;

#[tokio::test]
async fn two_processes_make_one_sandbox() {
    for service in SERVICES {
        let server = StandIn::start();
        let fixture = Fixture::new(service, &server);
        let settings = fixture.settings.argument();
        let clients: Vec<_> = (0..4)
            .map(|_| {
                fixture.client(&["ready", &settings]).stdout(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let lines: Vec<String> = clients
            .into_iter()
            .map(|client| String::from_utf8(client.wait_with_output().unwrap().stdout).unwrap())
            .collect();
        assert_eq!(server.made(), 1, "{service:?}");
        assert!(lines.iter().all(|line| *line == lines[0] && line.starts_with("{\"id\":")), "{lines:?}");
    }
}

/// Two home directories share no lock: the service takes the name once.
#[tokio::test]
async fn name_that_is_taken_is_used() {
    let server = StandIn::start();
    let fixtures = [Fixture::new(Service::Daytona, &server), Fixture::new(Service::Daytona, &server)];
    let benches = fixtures.each_ref().map(Fixture::unsupervised);
    let (first, second) = tokio::join!(benches[0].run("echo 1"), benches[1].run("echo 2"));
    assert_eq!((first.unwrap().text, second.unwrap().text), ("1\n".into(), "2\n".into()));
    assert_eq!(server.made(), 1);
}

#[tokio::test]
async fn sandbox_that_is_gone_is_made_again() {
    for service in SERVICES {
        let server = StandIn::start();
        let bench = Fixture::new(service, &server);
        let bench = bench.unsupervised();
        assert_eq!(bench.run("echo 1").await.unwrap().text, "1\n");
        server.remove_sandboxes();
        assert_eq!(bench.run("echo 2").await.unwrap().text, "2\n", "{service:?}");
        assert_eq!(server.made(), 2, "{service:?}");
    }
}

#[tokio::test]
async fn stopped_sandbox_is_started() {
    for state in ["stopped", "archived", "paused"] {
        let server = StandIn::start();
        let fixture = Fixture::new(Service::Daytona, &server);
        let bench = fixture.unsupervised();
        bench.run("true").await.unwrap();
        server.set_state(state);
        assert_eq!(bench.run("echo on").await.unwrap().text, "on\n", "{state}");
        assert_eq!((server.made(), server.states()), (1, vec!["started".to_owned()]), "{state}");
    }
}

#[tokio::test]
async fn broken_sandbox_is_reported_and_one_that_was_not_built_is_made_again() {
    let server = StandIn::start();
    let fixture = Fixture::new(Service::Daytona, &server);
    fixture.unsupervised().run("true").await.unwrap();
    server.set_state("error");
    let error = fixture.unsupervised().run("true").await.unwrap_err();
    assert!(error.contains("hermes-default is error: no room"), "{error}");
    server.set_state("build_failed");
    assert_eq!(fixture.unsupervised().run("echo on").await.unwrap().text, "on\n");
    assert_eq!(server.made(), 2);
}

#[tokio::test]
async fn stop_keeps_a_persistent_sandbox_and_deletes_another() {
    for (service, persistent, want) in [
        (Service::Daytona, true, &["stopped"][..]),
        (Service::Daytona, false, &[]),
        (Service::Modal, true, &[]),
    ] {
        let server = StandIn::start();
        let mut fixture = Fixture::new(service, &server);
        fixture.settings.persistent = persistent;
        let place = fixture.place();
        assert_eq!(place.stop().await.unwrap(), Ok("there is none".to_owned()));
        fixture.unsupervised().run("true").await.unwrap();
        assert_eq!(place.stop().await.unwrap(), Ok("stopped".to_owned()));
        assert_eq!(server.states(), want, "{service:?}");
        if service == Service::Modal {
            let ended = server.requests().into_iter().find(|request| request.is("POST", "/terminate"));
            assert_eq!(ended.unwrap().body["snapshotBeforeTerminate"], true);
        }
        assert_eq!(fixture.unsupervised().run("echo on").await.unwrap().text, "on\n");
    }
}

/// Other settings make another sandbox of the gateway, and end the one before.
#[tokio::test]
async fn changed_settings_replace_the_sandbox_of_modal() {
    let server = StandIn::start();
    let mut fixture = Fixture::new(Service::Modal, &server);
    fixture.unsupervised().run("true").await.unwrap();
    fixture.settings.image = "debian:13".into();
    fixture.unsupervised().run("true").await.unwrap();
    assert_eq!((server.made(), server.states().len()), (2, 1));
}

#[tokio::test]
async fn sandbox_that_is_never_stopped_gets_the_lifetime() {
    let server = StandIn::start();
    let mut fixture = Fixture::new(Service::Daytona, &server);
    fixture.settings.lifetime = 0;
    fixture.unsupervised().run("true").await.unwrap();
    fixture.settings.lifetime = 90;
    fixture.unsupervised().run("true").await.unwrap();
    assert!(server.requests().iter().any(|request| request.is("POST", "/hermes-default/autostop/2")));
}

#[tokio::test]
async fn sandbox_is_isolated_and_has_no_terminal() {
    let server = StandIn::start();
    for service in SERVICES {
        let fixture = Fixture::new(service, &server);
        assert_eq!(fixture.place().isolation(), Isolation::Isolated);
        let bench = fixture.unsupervised();
        let terminal = Input::Terminal(TerminalSize { rows: 24, columns: 80 });
        match bench.backend.prepare(bench.command("true"), terminal).await {
            Err(ExecError::Unreachable(why)) => assert!(why.contains("without pty"), "{why}"),
            other => panic!("{other:?}"),
        }
        assert!(bench.backend.prepare(bench.command("true"), Input::Pipe).await.is_ok());
    }
}

/// The command looks for the key of its own client; it may find it in a request only.
#[tokio::test]
async fn key_is_in_requests_only() {
    for service in SERVICES {
        let server = StandIn::start();
        let fixture = Fixture::new(service, &server);
        let bench = fixture.supervised();
        let look = "for f in /proc/[0-9]*/cmdline /proc/[0-9]*/environ; do tr '\\0' '\\n' <$f; done 2>/dev/null | grep -c place_client";
        let found = bench.run(look).await.unwrap();
        assert_ne!(found.text, "0\n", "the client is seen");
        let look = look.replace("place_client", "'[d]tn-key-of-the-test'");
        assert_eq!(bench.run(&look).await.unwrap().text, "0\n", "{service:?}");
        let prepared = bench.backend.prepare(bench.command("true"), Input::Closed).await.unwrap();
        assert!(!format!("{:?}", prepared.client).contains(KEY));
        for (path, text) in texts_below(fixture.home.path()).into_iter().chain(texts_below(server.home())) {
            assert!(path.ends_with(".env") || !text.contains(KEY), "{}", path.display());
        }
        let bearer = format!("Bearer {KEY}");
        for request in server.requests() {
            assert_eq!(request.headers["authorization"], bearer);
            assert!(!request.path.contains(KEY) && !request.body.to_string().contains(KEY));
        }
    }
}
