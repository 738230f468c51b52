//! The conformance suite on each place. `clouds` runs it on those that it has.

use crate::bench::Bench;
use crate::suite::conforms;
use crate::{servers, supervisor};
use hermes_exec::supervisor::SupervisorSettings;

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
