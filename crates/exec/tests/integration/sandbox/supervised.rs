//! Confined commands of the supervisor.

use super::super::supervisor::case::Case;
use hermes_exec::ShellReport;
use hermes_sandbox::{Network, Places, Policy};
use tokio_util::sync::CancellationToken;

fn policy(case: &Case) -> Policy {
    for name in ["home/work", "home/.hermes", "session"] {
        std::fs::create_dir_all(case.path(name)).unwrap();
    }
    std::fs::write(case.path("home/.hermes/auth.json"), "SECRET").unwrap();
    let root = case.path("").canonicalize().unwrap();
    let places = Places {
        project: root.join("home/work"),
        temporary: root.join("session"),
        user_home: Some(root.join("home")),
        hermes_home: root.join("home/.hermes"),
    };
    Policy { places, ..Policy::default() }
}

#[tokio::test]
async fn command_of_the_supervisor_is_confined() {
    let case = Case::new();
    let policy = policy(&case);
    for (name, script, want) in [
        ("secret", "cat ../.hermes/auth.json 2>/dev/null || echo refused", "refused\n"),
        ("project", "echo x > new && cat new && mkdir -p sub && cd sub; export A=1", "x\n"),
    ] {
        let mut command = case.command(script);
        command.cwd.clone_from(&policy.places.project);
        let file = policy.places.hermes_home.join("cwd-1");
        command.report = Some(ShellReport { file, cwd: true, exports: Some(Vec::new()) });
        command.sandbox = Some(policy.clone());
        let output = case.run_with(name, command, &CancellationToken::new()).await.unwrap();
        assert_eq!(output.text, want);
        if name == "project" {
            assert_eq!(output.cwd, Some(policy.places.project.join("sub")));
            let changes = output.exports.unwrap().changes;
            assert_eq!(changes.set, [("A".to_owned(), "1".to_owned())].into());
        }
    }
}

#[tokio::test]
async fn supervisor_refuses_what_it_cannot_confine() {
    let case = Case::new();
    let policy = Policy {
        network: Network::Allow(vec!["example.org".to_owned()]),
        without_namespaces: true,
        ..policy(&case)
    };
    let mut command = case.command("touch ran");
    command.cwd.clone_from(&policy.places.project);
    command.sandbox = Some(policy);
    let error = case.run_with("x", command, &CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("cannot enforce network"), "{error}");
    assert!(!case.path("home/work/ran").exists());
}
