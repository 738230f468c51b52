//! The conformance suite: one list of cases for every backend.

use crate::bench::{Bench, same};
use crate::cases::CASES;
use crate::commands::COMMANDS;
use crate::servers;
use hermes_exec::{Backend, Local};
use hermes_places::{Check, FarBackend, Place, run_checks};
use std::sync::Arc;

/// Runs every case and reports all that fail.
async fn conforms(bench: Bench) {
    let mut failures = Vec::new();
    for &(name, script, text, code) in COMMANDS {
        let verdict = match bench.run(script).await {
            Ok(output) => same((output.text.as_str(), output.exit_code), (text, code)),
            Err(error) => Err(error),
        };
        failures.extend(verdict.err().map(|error| format!("{name}: {error}")));
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
    checked.into_iter().filter_map(|one| one.result.err().map(|error| format!("{}: {error}", one.name))).collect()
}

fn far(place: Arc<Place>) -> Bench {
    let dir = place.directory().display().to_string();
    let backend: Arc<dyn Backend> = Arc::new(FarBackend::new(place, Arc::new(Local)));
    Bench::new(backend, &dir, &[])
}

#[test]
fn suite_has_enough_cases() {
    assert!(COMMANDS.len() + CASES.len() >= 40);
}

#[tokio::test]
async fn local_conforms() {
    let path = std::env::var("PATH").unwrap();
    conforms(Bench::new(Arc::new(Local), "/", &[("PATH", &path), ("HOME", "/tmp")])).await;
}

#[tokio::test]
async fn ssh_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(place) = servers::ssh(temporary.path()) {
        conforms(far(place)).await;
    }
}

#[tokio::test]
async fn podman_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(container) = servers::container("podman", "conformance-p", temporary.path()) {
        conforms(far(container.place.clone())).await;
    }
}

#[tokio::test]
async fn docker_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(container) = servers::container("docker", "conformance-d", temporary.path()) {
        conforms(far(container.place.clone())).await;
    }
}

#[tokio::test]
async fn singularity_stand_in_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    conforms(far(servers::singularity(temporary.path()))).await;
}
