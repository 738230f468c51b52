use super::*;
use crate::settings::{Service, Timing};

fn settings() -> CloudSettings {
    CloudSettings {
        service: Service::Daytona,
        url: "https://app.example/api".into(),
        toolbox: None,
        target: None,
        task: "default".into(),
        image: "debian:12".into(),
        cpu: 1,
        memory: 5120,
        disk: 51_200,
        persistent: true,
        lifetime: 300,
        timing: Timing::default(),
    }
}

#[test]
fn sandbox_has_name_label_and_limits() {
    assert_eq!(
        creation(&settings()).to_string(),
        r#"{"name":"hermes-default","labels":{"hermes_task_id":"default"},"buildInfo":{"dockerfileContent":"FROM debian:12\n"},"autoStopInterval":5,"cpu":1,"memory":5,"disk":10}"#
    );
    let other = CloudSettings {
        persistent: false,
        lifetime: 0,
        cpu: 0,
        memory: 1025,
        disk: 1024,
        target: Some("eu".into()),
        ..settings()
    };
    assert_eq!(
        creation(&other).to_string(),
        r#"{"name":"hermes-default","labels":{"hermes_task_id":"default"},"buildInfo":{"dockerfileContent":"FROM debian:12\n"},"autoStopInterval":0,"memory":2,"disk":1,"autoDeleteInterval":0,"target":"eu"}"#
    );
}

#[test]
fn state_decides_the_next_step() {
    for (state, want) in [
        ("started", Step::Use),
        ("stopped", Step::Start),
        ("archived", Step::Start),
        ("paused", Step::Start),
        ("creating", Step::Wait),
        ("stopping", Step::Wait),
        ("pulling_snapshot", Step::Wait),
        ("of a later version", Step::Wait),
        ("build_failed", Step::Delete),
        ("error", Step::Fail),
    ] {
        assert_eq!(step(state), want, "{state}");
    }
    assert_eq!(step(""), Step::Wait);
}

#[test]
fn key_goes_to_the_host_of_the_service_and_those_below() {
    for (base, url, want) in [
        ("https://app.example/api", "https://proxy.app.example/toolbox", true),
        ("https://app.example/api", "https://app.example/toolbox", true),
        ("https://app.example/api", "https://app.example:8443/toolbox", false),
        ("https://app.example/api", "https://example/toolbox", false),
        ("https://app.example/api", "https://badapp.example/", false),
        ("https://app.example/api", "http://proxy.app.example/", false),
        ("https://app.example/api", "https://u@proxy.app.example/", false),
        ("https://app.example/api", "https://evil.example/app.example", false),
        ("http://localhost:3000/api", "http://proxy.localhost:4000/toolbox", true),
        ("http://127.0.0.1:3000/api", "http://127.0.0.1:3000/toolbox", true),
        ("http://127.0.0.1:3000/api", "http://1.127.0.0.1:3000/", false),
    ] {
        let Ok(found) = url.parse::<Url>() else {
            assert!(!want, "{url}");
            continue;
        };
        assert_eq!(is_below(&found, &base.parse().unwrap()), want, "{base} {url}");
    }
}
