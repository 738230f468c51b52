//! The places that tests run on.

use hermes_places::{ContainerSettings, Engine, Place, PlaceSettings, SingularitySettings, SshSettings};
use std::path::Path;
use std::sync::Arc;

/// A variable of `.ci/servers`.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Says why a test does not run.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn skip(name: &str) {
    assert!(variable("CI").as_deref() != Some("true"), "{name} must be set in CI; `.ci/servers` prints it");
    println!("skipped: {name} is not set; `.ci/servers` prints it");
}

/// The environment of client programs: nothing of the user but the path.
fn client_env(temporary: &Path) -> Vec<(String, String)> {
    let mut env = vec![("HOME".to_owned(), temporary.display().to_string())];
    for name in ["PATH", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "DOCKER_HOST"] {
        env.extend(variable(name).map(|value| (name.to_owned(), value)));
    }
    env
}

/// The settings of the sshd on loopback.
pub(crate) fn ssh_settings(temporary: &Path) -> Option<SshSettings> {
    let Some(port) = variable("HERMES_TEST_SSH_PORT") else {
        skip("HERMES_TEST_SSH_PORT");
        return None;
    };
    Some(SshSettings {
        host: "127.0.0.1".into(),
        user: variable("HERMES_TEST_SSH_USER").unwrap(),
        port: port.parse().unwrap(),
        key: variable("HERMES_TEST_SSH_KEY").unwrap(),
        options: vec![format!("UserKnownHostsFile={}", temporary.join("known_hosts").display())],
        directory: String::new(),
        temporary: temporary.to_owned(),
    })
}

pub(crate) fn ssh(temporary: &Path) -> Option<Arc<Place>> {
    let settings = ssh_settings(temporary)?;
    Some(Arc::new(Place::new(PlaceSettings::Ssh(settings), client_env(temporary)).unwrap()))
}

/// The profile of the containers of this run of the tests.
pub(crate) const PROFILE: &str = "HERMES_PLACES_TEST_PROFILE";

pub(crate) fn profile() -> String {
    variable(PROFILE).unwrap_or_else(|| format!("tests-{}", std::process::id()))
}

/// The settings of a container of this test.
pub(crate) fn container_settings(program: &str, task: &str) -> Option<ContainerSettings> {
    let Some(image) = variable("HERMES_TEST_IMAGE") else {
        skip("HERMES_TEST_IMAGE");
        return None;
    };
    Some(ContainerSettings {
        engine: Engine { program: program.into() },
        image,
        volumes: Vec::new(),
        workspace: None,
        has_network: false,
        runs_as_host_user: false,
        extra_args: ["--ulimit", "nofile=20000:20000", "--ulimit", "nproc=4096:4096"]
            .map(str::to_owned)
            .to_vec(),
        cpu: 1,
        memory: 512,
        disk: 51_200,
        persistent: None,
        lifetime: 60,
        profile: profile(),
        task: task.into(),
        directory: String::new(),
    })
}

/// A container that is removed with the value.
pub(crate) struct TestContainer {
    pub(crate) place: Arc<Place>,
    pub(crate) name: String,
    pub(crate) program: String,
    env: Vec<(String, String)>,
}

impl TestContainer {
    pub(crate) fn new(settings: ContainerSettings, temporary: &Path) -> Self {
        let env = client_env(temporary);
        let program = settings.engine.program.clone();
        let place = Place::new(PlaceSettings::Container(settings), env.clone()).unwrap();
        let name = place.label().split(' ').nth(2).unwrap().to_owned();
        Self { place: Arc::new(place), name, program, env }
    }

    /// Runs the engine and returns its output.
    pub(crate) fn engine(&self, arguments: &[&str]) -> String {
        let mut command = std::process::Command::new(&self.program);
        let output = command.args(arguments).env_clear().envs(self.env.clone()).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    }
}

impl Drop for TestContainer {
    fn drop(&mut self) {
        self.engine(&["rm", "-f", &self.name]);
    }
}

pub(crate) fn container(program: &str, task: &str, temporary: &Path) -> Option<TestContainer> {
    Some(TestContainer::new(container_settings(program, task)?, temporary))
}

/// The stand-in for Singularity: it checks its arguments and runs commands on this machine.
pub(crate) fn singularity(temporary: &Path) -> Arc<Place> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/singularity-stand-in");
    let settings = SingularitySettings {
        program: program.display().to_string(),
        image: "docker://debian:12".into(),
        cpu: 1,
        memory: 512,
        overlays: Some(temporary.to_owned()),
        task: "default".into(),
        profile: "tests".into(),
        directory: "/".into(),
    };
    let mut env = client_env(temporary);
    env.push(("APPTAINER_STAND_IN_STATE".into(), temporary.join("instances").display().to_string()));
    Arc::new(Place::new(PlaceSettings::Singularity(settings), env).unwrap())
}
