//! A home directory with a project, keys and a Hermes home, and commands in it.

use super::outside::Outside;
use hermes_exec::{
    Backend, Command, EnvChanges, ExecError, Local, Output, OutputLimits, ShellReport, Unwatched, Watch,
};
use hermes_sandbox::{Places, Policy};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Fixture {
    root: TempDir,
    env: Vec<(String, String)>,
}

const DIRECTORIES: [&str; 22] = [
    "session",
    "home/work/.git/objects",
    "home/work/.git/refs/heads",
    "home/work/.git/hooks",
    "home/work/.git/info",
    "home/work/.git/worktrees/tree",
    "home/tree",
    "home/other",
    "home/.ssh",
    "home/.gnupg",
    "home/.aws",
    "home/.mozilla/firefox/x",
    "home/.hermes/skills",
    "home/.hermes/commands",
    "home/.hermes/bin",
    "home/.local/bin",
    "home/.cargo/bin",
    "home/.cargo/registry",
    "home/.cache/huggingface",
    "home/.cache/bin",
    "home/.config/autostart",
    "home/.config/systemd/user",
];

const FILES: [(&str, &str); 17] = [
    ("home/work/.git/HEAD", "ref: refs/heads/main\n"),
    ("home/work/.git/config", "[core]\n\trepositoryformatversion = 0\n"),
    ("home/work/.git/hooks/pre-commit.sample", "#!/bin/sh\n"),
    ("home/work/.git/worktrees/tree/commondir", "../..\n"),
    ("home/work/.git/worktrees/tree/HEAD", "ref: refs/heads/tree\n"),
    ("home/other/file", "text\n"),
    ("home/notes", "text\n"),
    ("home/.ssh/id_ed25519", "SECRET\n"),
    ("home/.netrc", "SECRET\n"),
    ("home/.aws/credentials", "SECRET\n"),
    ("home/.mozilla/firefox/x/logins.json", "SECRET\n"),
    ("home/.bash_history", "SECRET\n"),
    ("home/.bashrc", "# text\n"),
    ("home/.cache/huggingface/token", "SECRET\n"),
    ("home/.hermes/auth.json", "SECRET\n"),
    ("home/.hermes/state.db", "SECRET\n"),
    ("home/.hermes/config.yaml", "a: 1\n"),
];

impl Fixture {
    pub(crate) fn new(base: &Path) -> Self {
        let root = tempfile::tempdir_in(base).unwrap();
        let at = |name: &str| root.path().join(name);
        for name in DIRECTORIES {
            fs::create_dir_all(at(name)).unwrap();
        }
        for (name, text) in FILES {
            fs::write(at(name), text).unwrap();
        }
        for name in ["home/.local/bin/tool", "home/.cargo/bin/cargo", "home/.hermes/bin/tool"] {
            fs::write(at(name), "#!/bin/sh\n").unwrap();
            fs::set_permissions(at(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let (tree, git) = (at("home/tree"), at("home/work/.git"));
        fs::write(git.join("worktrees/tree/gitdir"), format!("{}/.git\n", tree.display())).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}/worktrees/tree\n", git.display())).unwrap();
        let env = [
            ("HOME", at("home")),
            ("PROJECT", at("home/work")),
            ("HERMES", at("home/.hermes")),
            ("OUT", at("home/other")),
            ("TREE", tree),
            ("TREEMAIN", git),
            ("TMPDIR", at("session")),
            ("SUID", base.join("suid-id")),
        ];
        let mut env: Vec<_> = env.into_iter().map(|(name, path)| (name.into(), text(&path))).collect();
        let programs = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from);
        let programs = programs.into_iter().chain([at("home/.local/bin"), at("home/.cache/bin")]);
        env.push(("PATH".into(), text(Path::new(&std::env::join_paths(programs).unwrap()))));
        env.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
        Self { root, env }
    }

    /// Adds the names of things outside.
    pub(crate) fn with(mut self, outside: &Outside) -> Self {
        fs::hard_link(outside.path("GPG"), self.path("home/.gnupg/S.gpg-agent")).unwrap();
        self.env.extend(outside.facts.clone());
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(other, _)| other != name);
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// A shell in the project without a sandbox.
    pub(crate) fn unconfined(&self, script: &str) -> std::process::Command {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", script]).current_dir(self.path("home/work")).env_clear().envs(self.env.clone());
        shell
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The policy of a session in a directory of the home.
    pub(crate) fn policy(&self, project: &str) -> Policy {
        let places = Places {
            project: self.path("home").join(project),
            temporary: self.path("session"),
            user_home: Some(self.path("home")),
            hermes_home: self.path("home/.hermes"),
        };
        Policy { places, max_processes: 1024, ..Policy::default() }
    }

    pub(crate) fn command(&self, script: &str, project: &str, sandbox: Option<Policy>) -> Command {
        Command {
            key: None,
            script: script.to_owned(),
            cwd: self.path("home").join(project),
            env: self.env.clone(),
            timeout: Duration::from_secs(60),
            changes: EnvChanges::default(),
            report: Some(ShellReport {
                file: self.path("home/.hermes/cwd-1"),
                cwd: true,
                exports: Some(Vec::new()),
            }),
            output: OutputLimits::default(),
            sandbox,
            client: None,
        }
    }

    pub(crate) async fn run_command(&self, command: Command) -> Result<Output, ExecError> {
        Local.run(command, Watch { started: &Unwatched, cancel: &CancellationToken::new() }).await
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
