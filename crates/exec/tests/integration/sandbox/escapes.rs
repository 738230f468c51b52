//! Every attempt succeeds without the sandbox and fails in it.

use super::attempt::{Attempt, Held, Who};
use super::confinement::number_of_processes_is_limited;
use super::fixture::Fixture;
use super::outside::{Ground, NOBODY, Outside, copy_program};
use super::{attempts_files, attempts_git, attempts_network, attempts_processes, attempts_system};
use hermes_sandbox::{Network, Policy, support};
use std::path::{Path, PathBuf};
use std::process::Command;

const BASE: &str = "HERMES_SANDBOX_TEST_BASE";
const RUN: &str = "HERMES_SANDBOX_TEST_RUN";

#[test]
fn no_attempt_of_root_escapes() {
    run_as(0);
}

#[test]
fn no_attempt_of_ordinary_user_escapes() {
    run_as(NOBODY);
}

/// Starts the tests once more as another user, with directories of its own.
fn run_as(user: u32) {
    let Some(ground) = Ground::new(user) else {
        println!("skipped: only root can make the directories and change the user");
        return;
    };
    // The build directory may be unreadable for the other user.
    let program = ground.base.path().join("test");
    copy_program(&std::env::current_exe().unwrap(), &program);
    let alone = Command::new("setpriv")
        .args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()])
        .arg(&program)
        .args(["--exact", "sandbox::escapes::as_this_user", "--ignored", "--nocapture", "--test-threads=1"])
        .env(BASE, ground.base.path())
        .env(RUN, ground.run.path())
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
    let path = |name| PathBuf::from(std::env::var_os(name).unwrap());
    let (base, run) = (path(BASE), path(RUN));
    let _inherited = inheritable(&base);
    let outside = Outside::start(&base, &run);
    let is_root = rustix::process::geteuid().is_root();
    let (mut failures, mut counts) = (Vec::new(), [0; 3]);
    for (attempt, network) in attempts() {
        let seen = match attempt.who {
            Who::All => true,
            Who::Root => is_root,
            Who::Nobody => !is_root,
        };
        let trial = Trial { base: &base, outside: &outside, attempt, network };
        if !seen && attempt.who == Who::Nobody {
            continue;
        }
        if seen && attempt.unseen.is_some() {
            println!("{}: may fail without a sandbox: {}", attempt.name, attempt.unseen.unwrap_or_default());
        } else if seen {
            counts[0] += usize::from(trial.expect(Mode::Plain, true, &mut failures).await);
        }
        counts[1] += usize::from(trial.expect(Mode::Namespaces, false, &mut failures).await);
        match attempt.held {
            Held::Always => {
                counts[2] += usize::from(trial.expect(Mode::LandlockAndSeccomp, false, &mut failures).await);
            }
            // The list must stay true: what is held by now belongs to the others.
            Held::ByNamespaces(_) if seen => {
                trial.expect(Mode::LandlockAndSeccomp, true, &mut failures).await;
            }
            Held::ByNamespaces(_) => {}
        }
    }
    if !is_root && support().mounts.is_ok() {
        number_of_processes_is_limited(&Fixture::new(&base)).await;
    }
    let all = attempts().count();
    println!(
        "{all} attempts: {} succeed without a sandbox, {} are held with namespaces, {} without",
        counts[0], counts[1], counts[2]
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(all >= 80);
}

/// All attempts, with the network that they face.
fn attempts() -> impl Iterator<Item = (&'static Attempt, Network)> {
    let on = [attempts_files::ALL, attempts_git::ALL, attempts_processes::ALL, attempts_system::ALL];
    let on = on.into_iter().flatten().map(|attempt| (attempt, Network::On));
    on.chain(attempts_network::ALL.iter().map(|attempt| (attempt, Network::Off)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Namespaces,
    LandlockAndSeccomp,
}

struct Trial<'a> {
    base: &'a Path,
    outside: &'a Outside,
    attempt: &'a Attempt,
    network: Network,
}

impl Trial<'_> {
    /// Returns true if the attempt went as expected.
    async fn expect(&self, mode: Mode, escapes: bool, failures: &mut Vec<String>) -> bool {
        let fixture = Fixture::new(self.base).with(self.outside);
        let project = if attempts_git::is_in_worktree(self.attempt) { "tree" } else { "work" };
        let policy = Policy {
            network: self.network.clone(),
            hidden: vec![self.outside.path("SUPERVISOR")],
            without_namespaces: mode == Mode::LandlockAndSeccomp,
            ..fixture.policy(project)
        };
        let sandbox = (mode != Mode::Plain).then_some(policy);
        let command = fixture.command(&self.attempt.shell(), project, sandbox);
        let output = fixture.run_command(command).await.map_or_else(
            |error| format!("did not run: {error}: {:?}", std::error::Error::source(&error)),
            |output| output.text,
        );
        let is_as_expected = output.contains("ESCAPED") == escapes && !output.starts_with("did not run");
        if !is_as_expected {
            failures.push(format!("{}, {mode:?}: {output}", self.attempt.name));
        }
        is_as_expected
    }
}

/// An open file with a secret that programs inherit.
fn inheritable(base: &Path) -> std::fs::File {
    let path = base.join("inherited");
    std::fs::write(&path, "SECRET\n").unwrap();
    let file = std::fs::File::open(path).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    file
}
