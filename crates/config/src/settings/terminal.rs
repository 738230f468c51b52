//! Settings of commands and of the places where they run.

use super::declare::section;
use super::free_form::FreeForm;
use super::types::{List, Text};
use crate::keys::Env::Value;
use crate::keys::Order::FileFirst;
use crate::layers::Layers;

section! {
    /// Commands.
    TerminalSettings in [terminal] {
        /// place where commands run: local, ssh, docker, podman, singularity, daytona, modal
        backend: Text = "local", env: &[Value("TERMINAL_ENV")], order: FileFirst;
        /// maximum seconds for a command
        timeout: u64 = 180, env: &[Value("TERMINAL_TIMEOUT")];
        /// maximum seconds that a command runs after Hermes died
        orphan_grace: u64 = 600;
        /// directory commands start in; with another backend than local, one of that place
        cwd: Text = ".", env: &[Value("TERMINAL_CWD")], order: FileFirst;
        /// variables commands may see besides the basic ones
        env_passthrough: List = [];
        /// host of the backend ssh
        ssh_host: Text = "", env: &[Value("TERMINAL_SSH_HOST")];
        /// user on that host
        ssh_user: Text = "", env: &[Value("TERMINAL_SSH_USER")];
        /// port of that host
        ssh_port: u64 = 22, env: &[Value("TERMINAL_SSH_PORT")];
        /// file of the private key; empty for the keys that ssh finds itself
        ssh_key: Text = "", env: &[Value("TERMINAL_SSH_KEY")];
        /// more options of ssh, such as `ProxyJump=gate`; they win over those of Hermes
        ssh_options: List = [];
        /// image of the backends docker and podman; it must have bash
        docker_image: Text = "nikolaik/python-nodejs:python3.11-nodejs20", env: &[Value("TERMINAL_DOCKER_IMAGE")];
        /// mounts of the container, as `/path/here:/path/there`; with one, commands need approval as on this machine
        docker_volumes: List = [];
        /// variables of this process that commands in the container get
        docker_forward_env: List = [];
        /// mount the working directory as /workspace
        docker_mount_cwd_to_workspace: bool = false, env: &[Value("TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE")];
        /// network of the container
        docker_network: bool = true, env: &[Value("TERMINAL_DOCKER_NETWORK")];
        /// run commands as the user of this process instead of root
        docker_run_as_host_user: bool = false, env: &[Value("TERMINAL_DOCKER_RUN_AS_HOST_USER")];
        /// more arguments of `docker run`
        docker_extra_args: List = [];
        /// image of the backend singularity
        singularity_image: Text = "docker://nikolaik/python-nodejs:python3.11-nodejs20",
            env: &[Value("TERMINAL_SINGULARITY_IMAGE")];
        /// image of the backend daytona; it must have bash
        daytona_image: Text = "nikolaik/python-nodejs:python3.11-nodejs20", env: &[Value("TERMINAL_DAYTONA_IMAGE")];
        /// image of the backend modal; it must have bash
        modal_image: Text = "nikolaik/python-nodejs:python3.11-nodejs20", env: &[Value("TERMINAL_MODAL_IMAGE")];
        /// interface of the backend modal: auto and managed for the gateway; direct is not built in
        modal_mode: Text = "auto", env: &[Value("TERMINAL_MODAL_MODE")];
        /// processors of a container; 0 means no limit
        container_cpu: u64 = 1, env: &[Value("TERMINAL_CONTAINER_CPU")];
        /// MiB of memory of a container; 0 means no limit
        container_memory: u64 = 5120, env: &[Value("TERMINAL_CONTAINER_MEMORY")];
        /// MiB of disk of a container, where the storage driver knows limits; 0 means no limit, Daytona gives at most 10 GiB
        container_disk: u64 = 51_200, env: &[Value("TERMINAL_CONTAINER_DISK")];
        /// keep /root and /workspace of a container in the home directory of Hermes, and the files of a stopped cloud sandbox
        container_persistent: bool = true, env: &[Value("TERMINAL_CONTAINER_PERSISTENT")];
        /// seconds without a command after which a container or a cloud sandbox ends; 0 means never
        lifetime_seconds: u64 = 300, env: &[Value("TERMINAL_LIFETIME_SECONDS")];
    }
}

/// Variables of commands in a container: `terminal.docker_env`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DockerEnv(pub Vec<(String, String)>);

impl FreeForm for DockerEnv {
    fn read(layers: &Layers) -> Self {
        let Some(serde_json::Value::Object(fields)) = layers.file.get("terminal.docker_env") else {
            return Self::default();
        };
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        Self(fields.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect())
    }
}

impl Layers {
    /// Returns true if a key of the file is a variable of containers.
    pub(crate) fn is_docker_env_key(key: &str) -> bool {
        key == "terminal.docker_env" || key.starts_with("terminal.docker_env.")
    }
}
