//! Ordinary work in the sandbox, as root and as an ordinary user, with and without namespaces.

use super::fixture::Fixture;
use super::outside::{Ground, NOBODY, copy_program};
use super::tasks_list::{ALL, IN_CI, Task};
use hermes_sandbox::Policy;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const BASE: &str = "HERMES_SANDBOX_TEST_BASE";

#[test]
fn ordinary_work_of_root_succeeds() {
    run_as(0, std::env::var("PATH").unwrap());
}

#[test]
fn ordinary_work_of_ordinary_user_succeeds() {
    // The programs in root's home directory are out of reach.
    run_as(NOBODY, "/usr/local/bin:/usr/bin:/bin".to_owned());
}

fn run_as(user: u32, path: String) {
    let Some(ground) = Ground::new(user) else {
        println!("skipped: only root can make the directories and change the user");
        return;
    };
    let program = ground.base.path().join("test");
    copy_program(&std::env::current_exe().unwrap(), &program);
    let alone = Command::new("setpriv")
        .args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()])
        .arg(&program)
        .args(["--exact", "sandbox::tasks::as_this_user", "--ignored", "--nocapture", "--test-threads=1"])
        .env(BASE, ground.base.path())
        .env("PATH", path)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&alone.stdout);
    let errors = String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success() && report.contains("1 passed"), "{report}\n{errors}");
    println!("{report}");
}

#[tokio::test]
#[ignore = "other tests start it as a process of its own"]
async fn as_this_user() {
    let base = PathBuf::from(std::env::var_os(BASE).unwrap());
    let is_root = rustix::process::geteuid().is_root();
    let (mut failures, mut done) = (Vec::new(), 0);
    for task in ALL {
        if let Some(missing) = task.needs.iter().find(|needed| !is_there(needed)) {
            println!("{}: skipped, there is no `{missing}`", task.name);
            let is_needed = std::env::var_os("CI").is_some() && IN_CI.contains(missing) && is_root;
            assert!(!is_needed, "{missing} must be installed in CI");
            continue;
        }
        for without_namespaces in [false, true] {
            let work = Work::new(&base, task);
            let output = work.run(task, without_namespaces).await;
            if let Err(error) = output {
                failures.push(format!("{}, without namespaces {without_namespaces}: {error}", task.name));
            }
        }
        done += 1;
    }
    println!("{done} of {} tasks", ALL.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(done >= 40 || std::env::var_os("CI").is_none());
}

/// Returns true if a program, or a program with arguments, runs.
fn is_there(needed: &str) -> bool {
    let test = if needed.contains(' ') {
        format!("{needed} >/dev/null 2>&1")
    } else {
        format!("command -v {needed}")
    };
    Command::new("bash").args(["-c", &test]).stdout(Stdio::null()).status().unwrap().success()
}

/// A project with some history, and a server of its repository.
struct Work {
    fixture: Fixture,
    daemon: Option<Child>,
}

const HISTORY: &str = "set -e
git config --global user.name test; git config --global user.email test@example.org
git config --global init.defaultBranch main; git config --global gc.auto 0
rm -rf .git $TREE; git init -q
echo first > file; git add file; git commit -qm first
echo second >> file; git commit -qam second
git clone -q --bare . $REMOTE; git worktree add -q $TREE";

impl Work {
    fn new(base: &Path, task: &Task) -> Self {
        let has_daemon = task.script.contains("$DAEMON");
        let mut fixture = Fixture::new(base);
        let remotes = fixture.path("remotes");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let home = std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(|| fixture.path("home"));
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        fixture.set("REMOTE", &text(&remotes.join("remote.git")));
        fixture.set("DAEMON", &format!("git://127.0.0.1:{port}"));
        fixture.set("SHELL", "/bin/bash");
        fixture.set("PATH", &std::env::var("PATH").unwrap());
        fixture.set("USER_HOME", &text(&fixture.path("home")));
        fixture.set("CARGO_HOME", &text(&fixture.path("session/cargo")));
        for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")] {
            if home.join(folder).is_dir() {
                fixture.set(name, &text(&home.join(folder)));
            }
        }
        std::fs::create_dir(&remotes).unwrap();
        // Without namespaces, no directory beside an unreadable one can be created.
        std::fs::remove_dir_all(fixture.path("home/.cache/huggingface")).unwrap();
        let history = if task.needs.contains(&"git") { HISTORY } else { "echo first > file" };
        let made = fixture.unconfined(history).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut serve = fixture.unconfined(&format!(
            "exec $(git --exec-path)/git-daemon --listen=127.0.0.1 --port={port} --export-all --reuseaddr \
                 --enable=receive-pack --base-path={} 2>/dev/null",
            remotes.display()
        ));
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = has_daemon.then(|| serve.spawn().unwrap());
        if has_daemon {
            while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
                std::thread::yield_now();
            }
        }
        Self { fixture, daemon }
    }

    async fn run(&self, task: &Task, without_namespaces: bool) -> Result<(), String> {
        let policy = Policy { without_namespaces, ..self.fixture.policy("work") };
        let project = if task.script.contains("$TREE") { "tree" } else { "work" };
        let mut policy = Policy { places: self.fixture.policy(project).places, ..policy };
        // Toolchains are in the home directory of the user who runs the tests.
        policy.extra_read.extend(std::env::home_dir());
        let command = self.fixture.command(&format!("set -e\n{}", task.script), project, Some(policy));
        match self.fixture.run_command(command).await {
            Ok(output) if output.exit_code == 0 => Ok(()),
            Ok(output) => Err(format!("exit code {}: {}", output.exit_code, output.text)),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
