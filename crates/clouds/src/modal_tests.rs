use super::*;
use crate::settings::{Service, Timing};

fn settings(lifetime: u64) -> CloudSettings {
    CloudSettings {
        service: Service::Modal,
        url: "https://g.example".into(),
        toolbox: None,
        target: None,
        task: "default".into(),
        image: "debian:12".into(),
        cpu: 1,
        memory: 5120,
        disk: 0,
        persistent: true,
        lifetime,
        timing: Timing::default(),
    }
}

#[test]
fn sandbox_has_limits_and_a_key() {
    assert_eq!(
        creation(&settings(300)).to_string(),
        r#"{"image":"debian:12","cwd":"/root","timeoutMs":3600000,"idleTimeoutMs":300000,"persistentFilesystem":true,"logicalKey":"default","cpu":1,"memoryMiB":5120}"#
    );
    for (lifetime, want) in [(0, 3_600_000), (10, 300_000), (600, 600_000), (u64::MAX, 3_600_000)] {
        assert_eq!(creation(&settings(lifetime))["idleTimeoutMs"], want, "{lifetime}");
    }
}

#[test]
fn only_an_ended_command_has_a_text() {
    for (body, want) in [
        (r#"{"status":"completed","output":"x","returncode":0}"#, Some("x")),
        (r#"{"status":"failed","returncode":1}"#, Some("")),
        (r#"{"status":"running","output":"part"}"#, None),
        (r#"{"execId":"1"}"#, None),
    ] {
        let exec: Exec = serde_json::from_str(body).unwrap();
        assert_eq!(exec.text().as_deref(), want, "{body}");
    }
}
