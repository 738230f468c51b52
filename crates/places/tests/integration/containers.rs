//! The life of a container: made once, found again, made again, ended when idle, and its failures.

use crate::bench::Bench;
use crate::servers::{TestContainer, container, container_settings, profile};
use crate::supervisor::unsupervised;
use hermes_places::{ContainerSettings, Place, PlaceSettings, SshSettings};
use std::path::Path;
use std::time::{Duration, Instant};

const LABEL: &str = "label=hermes-task-id=";

async fn says(bench: &Bench, script: &str) -> String {
    bench.run(script).await.unwrap().text
}

#[tokio::test]
async fn container_is_found_again_by_another_process() {
    let dir = tempfile::tempdir().unwrap();
    let Some(first) = container("podman", "found", dir.path()) else { return };
    says(&unsupervised(first.place.clone()), "echo kept >/workspace/f").await;
    let again = TestContainer::new(container_settings("podman", "found").unwrap(), dir.path());
    assert_eq!(says(&unsupervised(again.place.clone()), "cat /workspace/f").await, "kept\n");
    let listed = first.engine(&["ps", "-a", "--filter", &format!("{LABEL}found"), "--format", "{{.Names}}"]);
    assert!(listed.lines().any(|name| name == first.name), "{listed}");
}

#[tokio::test]
async fn two_sessions_never_make_two_containers() {
    let dir = tempfile::tempdir().unwrap();
    let Some(one) = container("podman", "doubled", dir.path()) else { return };
    let two = TestContainer::new(container_settings("podman", "doubled").unwrap(), dir.path());
    let (a, b) = (unsupervised(one.place.clone()), unsupervised(two.place.clone()));
    let (a, b) =
        tokio::join!(says(&a, "cat /proc/sys/kernel/hostname"), says(&b, "cat /proc/sys/kernel/hostname"));
    assert_eq!(a, b);
    let profile = format!("label=hermes-profile={}", profile());
    let listed =
        one.engine(&["ps", "-a", "--filter", &format!("{LABEL}doubled"), "--filter", &profile, "-q"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[tokio::test]
async fn dead_container_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let Some(container) = container("podman", "dead", dir.path()) else { return };
    let bench = unsupervised(container.place.clone());
    assert_eq!(says(&bench, "echo 1").await, "1\n");
    for end in [&["kill", &container.name][..], &["rm", "-f", &container.name], &["pause", &container.name]] {
        container.engine(end);
        assert_eq!(says(&bench, "echo again").await, "again\n", "{end:?}");
    }
}

#[tokio::test]
async fn container_dies_during_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let Some(container) = container("podman", "dies", dir.path()) else { return };
    let bench = unsupervised(container.place.clone());
    says(&bench, "true").await;
    let kill = async {
        while !container.engine(&["exec", &container.name, "ls", "/tmp"]).contains("begun") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        container.engine(&["kill", &container.name]);
    };
    let (output, ()) = tokio::join!(bench.run("echo out; : >/tmp/begun; sleep 600"), kill);
    let output = output.unwrap();
    assert_ne!(output.exit_code, 0);
    assert!(output.text.contains("how the command went is not known"), "{output:?}");
}

#[tokio::test]
async fn idle_container_ends_and_busy_one_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let Some(settings) = container_settings("podman", "idle") else { return };
    let idle = TestContainer::new(ContainerSettings { lifetime: 2, ..settings }, dir.path());
    let bench = unsupervised(idle.place.clone());
    let state = || idle.engine(&["container", "inspect", "--format", "{{.State.Status}}", &idle.name]);
    assert_eq!(says(&bench, "sleep 6; echo awake").await, "awake\n");
    assert_eq!(state(), "running");
    let begun = Instant::now();
    while state() == "running" {
        assert!(begun.elapsed() < Duration::from_secs(30), "it does not end");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(says(&bench, "echo back").await, "back\n");
}

#[tokio::test]
async fn kept_directories_survive_the_container() {
    let dir = tempfile::tempdir().unwrap();
    let Some(settings) = container_settings("podman", "kept") else { return };
    let settings = ContainerSettings { persistent: Some(dir.path().join("box")), ..settings };
    let kept = TestContainer::new(settings, dir.path());
    let bench = unsupervised(kept.place.clone());
    says(&bench, "echo h >/root/f; echo w >/workspace/f; echo lost >/tmp/f").await;
    kept.engine(&["rm", "-f", &kept.name]);
    assert_eq!(says(&bench, "cat /root/f /workspace/f; cat /tmp/f 2>/dev/null").await, "h\nw\n");
    assert_eq!(std::fs::read_to_string(dir.path().join("box/workspace/f")).unwrap(), "w\n");
}

#[tokio::test]
async fn failures_name_the_program_the_place_and_the_next_step() {
    let dir = tempfile::tempdir().unwrap();
    if let Some(settings) = container_settings("podman", "failing") {
        let engine = hermes_places::Engine { program: "no-such-engine".into() };
        for (settings, wants) in [
            (ContainerSettings { engine, ..settings.clone() }, &["no-such-engine", "install it"][..]),
            (
                ContainerSettings { image: "localhost/no-such-image:1".into(), ..settings.clone() },
                &["podman", "no-such-image", "terminal.docker_image"],
            ),
            (
                ContainerSettings { extra_args: Vec::new(), ..settings },
                &["podman", "docker_extra_args", "--ulimit"],
            ),
        ] {
            let failing = TestContainer::new(settings, dir.path());
            // A machine that may raise limits needs no advice about them.
            if let Err(error) = failing.place.make_ready().await {
                let text = error.to_string();
                assert!(wants.iter().all(|want| text.contains(want)), "{text}");
            }
        }
    }
    let error = closed_port(dir.path()).make_ready().await.unwrap_err().to_string();
    for want in ["ssh", "me@127.0.0.1", "refused", "terminal.ssh_host"] {
        assert!(error.contains(want), "{want}: {error}");
    }
}

/// A machine whose port is closed.
fn closed_port(dir: &Path) -> Place {
    let settings = SshSettings {
        host: "127.0.0.1".into(),
        user: "me".into(),
        port: 1,
        key: String::new(),
        options: Vec::new(),
        directory: String::new(),
        temporary: dir.to_owned(),
    };
    let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    Place::new(PlaceSettings::Ssh(settings), env).unwrap()
}
