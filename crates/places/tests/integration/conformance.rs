//! The conformance suite: one list of cases for every backend.

use crate::bench::{Bench, same};
use crate::cases::CASES;
use crate::commands::COMMANDS;
use crate::{servers, supervisor};
use hermes_exec::supervisor::SupervisorSettings;
use hermes_places::{Check, run_checks};

/// Runs every case and reports all that fail.
async fn conforms(bench: Bench) {
    let mut failures = Vec::new();
    for &(name, script, text, code) in COMMANDS {
        let verdict = match bench.run(script).await {
            Ok(output) => same((output.text.as_str(), output.exit_code), (text, code)),
            Err(error) => Err(error),
        };
        failures.extend(verdict.err().map(|error| format!("{name}: {error}")));
        assert!(failures.len() < COMMANDS.len() / 2, "{}", failures.join("\n"));
    }
    for (name, case) in CASES {
        failures.extend(case(&bench).await.err().map(|error| format!("{name}: {error}")));
    }
    let checked = check(&bench).await;
    failures.extend(checked);
    assert!(failures.is_empty(), "{} cases failed:\n{}", failures.len(), failures.join("\n"));
}

/// The checks of `hermes backend test` must pass where the suite does.
async fn check(bench: &Bench) -> Vec<String> {
    let check = Check {
        directory: bench.dir.clone(),
        env: bench.env.clone(),
        scratch: bench.scratch.path().to_owned(),
    };
    let checked = run_checks(bench.backend.as_ref(), &check).await;
    checked
        .into_iter()
        .filter_map(|one| one.result.err().map(|error| format!("{}: {error}", one.name)))
        .collect()
}

#[test]
fn suite_has_enough_cases() {
    assert!(COMMANDS.len() + CASES.len() >= 40);
}

#[tokio::test]
async fn local_conforms() {
    let (path, home) = (std::env::var("PATH").unwrap(), tempfile::tempdir().unwrap());
    conforms(Bench::new(supervisor::commands(home.path()), "/", &[("PATH", &path), ("HOME", "/tmp")])).await;
}

#[tokio::test]
async fn ssh_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(place) = servers::ssh(temporary.path()) {
        conforms(supervisor::bench(place, temporary.path(), SupervisorSettings::default())).await;
    }
}

#[tokio::test]
async fn podman_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(container) = servers::container("podman", "conformance-p", temporary.path()) {
        conforms(supervisor::bench(container.place.clone(), temporary.path(), SupervisorSettings::default()))
            .await;
    }
}

#[tokio::test]
async fn docker_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(container) = servers::container("docker", "conformance-d", temporary.path()) {
        conforms(supervisor::bench(container.place.clone(), temporary.path(), SupervisorSettings::default()))
            .await;
    }
}

#[tokio::test]
async fn singularity_stand_in_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    conforms(supervisor::unsupervised(servers::singularity(temporary.path()))).await;
}
