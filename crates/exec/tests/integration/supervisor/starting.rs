//! Starting commands and supervisors exactly once.

use super::case::{Agent, Case, Plan, PlannedCommand, is_alive, key, until};
use hermes_exec::supervisor::{Lifetime, Outcome, SuperviseError};
use hermes_exec::{Backend, BoxFuture, Ended, ExecError, Group, Output, Started, Watch};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn key_that_is_started_repeatedly_runs_once() {
    let case = Case::new();
    let script = "echo x >> ran; echo out; exit 3";
    let (first, second) = tokio::join!(case.run("k", script), case.run("k", script));
    let third = case.run("k", script).await.unwrap();
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!((first.text.as_str(), first.exit_code, first.ended), ("out\n", 3, Ended::Exited));
    assert_eq!(first.cwd.as_deref(), Some(case.dir.path()));
    // Variables are not recorded, so a later request does not get them.
    let recorded = [first, second, third].map(|output| Output { exports: None, ..output });
    assert!(recorded.iter().all(|output| *output == recorded[0]), "{recorded:?}");
    assert_eq!(case.text("ran"), "x\n");
    let error = case.run("k", "true").await.unwrap_err().to_string();
    assert!(error.contains("`k` already names another command"), "{error}");
    case.supervised().forget(&key("k")).await.unwrap();
    let known = case.supervised().reattach(&key("k"), Default::default()).await.unwrap();
    assert!(matches!(known, Outcome::NoRecord), "{known:?}");
}

#[tokio::test]
async fn clients_that_race_to_start_a_supervisor_get_one() {
    let case = Case::new();
    let names: Vec<String> = (0..8).map(|number| format!("k{number}")).collect();
    let steps: Vec<Agent> =
        names.iter().map(|name| case.agent(&[(name, "echo $PPID >> parents", Lifetime::Turn)])).collect();
    for mut agent in steps {
        assert!(agent.0.wait().unwrap().success());
    }
    let parents = case.ids("parents");
    assert_eq!(parents, [case.supervisor().await; 8]);
}

#[tokio::test]
async fn start_during_supervisor_exit_is_not_lost() {
    let mut case = Case::new();
    case.settings.idle = Duration::ZERO;
    for number in 0..40 {
        // Not for ordering: the next start happens before, during and after the exit of the supervisor.
        tokio::time::sleep(Duration::from_micros(number % 8 * 500)).await;
        let output = case.run(&format!("k{number}"), "echo $PPID >> parents; echo done").await.unwrap();
        assert_eq!(output.text, "done\n", "{number}");
    }
    let mut parents = case.ids("parents");
    assert_eq!(parents.len(), 40);
    parents.dedup();
    assert!(parents.len() > 1, "it left in between");
}

#[tokio::test]
async fn idle_supervisor_exits_and_leaves_no_files() {
    let mut case = Case::new();
    case.settings.idle = Duration::from_millis(50);
    case.run("k", "echo $PPID > parent").await.unwrap();
    let id = case.ids("parent")[0];
    until("the supervisor leaves", || !is_alive(id)).await;
    assert_eq!(std::fs::read_dir(case.path("run")).unwrap().count(), 0);
}

/// A command has the umask of its client, not of the process that started the supervisor.
#[tokio::test]
async fn command_uses_umask_of_the_client() {
    let case = Case::new();
    case.run("k", "umask").await.unwrap();
    let own = case.run("own", "umask").await.unwrap().text;
    let plan = Plan {
        home: case.dir.path().to_owned(),
        settings: case.settings,
        steps: vec![PlannedCommand::new("other", "umask", Lifetime::Turn)],
        unlink: None,
    };
    let wrapper = case.path("wrapper");
    let program = std::env::current_exe().unwrap();
    std::fs::write(&wrapper, format!("#!/bin/bash\numask 0057\nexec '{}' \"$@\"\n", program.display()))
        .unwrap();
    std::fs::set_permissions(&wrapper, Permissions::from_mode(0o700)).unwrap();
    assert!(Agent::start(&wrapper, &plan).0.wait().unwrap().success());
    assert_eq!(case.text("result-other"), "0 0057\n");
    assert_ne!(own, "0057\n");
}

/// A supervisor is detached: other parent, other session, no terminal, no inherited descriptors.
#[tokio::test]
async fn supervisor_is_detached_and_survives_a_replaced_program() {
    let case = Case::new();
    let (program, leak) = (case.path("program"), case.path("leak"));
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::fs::write(&leak, "").unwrap();
    let steps = vec![PlannedCommand::new("k", "echo ran > ran", Lifetime::Turn)];
    let plan = Plan {
        home: case.dir.path().to_owned(),
        settings: case.settings,
        steps,
        unlink: Some(program.clone()),
    };
    // A shell leaves a descriptor open for the agent.
    let wrapper = case.path("wrapper");
    let text = format!("#!/bin/bash\nexec 9<'{}'\nexec '{}' \"$@\"\n", leak.display(), program.display());
    std::fs::write(&wrapper, text).unwrap();
    std::fs::set_permissions(&wrapper, Permissions::from_mode(0o700)).unwrap();
    let mut agent = Agent::start(&wrapper, &plan);
    assert!(agent.0.wait().unwrap().success());
    assert_eq!(case.text("ran"), "ran\n");
    let id = case.supervisor().await;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<i64> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .skip(1)
        .take(4)
        .map(|f| f.parse().unwrap())
        .collect();
    let [parent, _, session, terminal] = fields[..] else { panic!("{fields:?}") };
    assert_ne!(parent, i64::from(std::process::id()));
    assert_ne!(session, i64::from(id));
    assert_eq!(terminal, 0);
    for entry in std::fs::read_dir(format!("/proc/{id}/fd")).unwrap() {
        // A descriptor that was closed since it was listed was not inherited.
        let target = std::fs::read_link(entry.unwrap().path()).unwrap_or_default();
        assert_ne!(target, leak, "inherited");
    }
}

#[tokio::test]
async fn obstacle_in_place_of_the_socket_is_rejected() {
    let case = Case::new();
    case.run("k", "true").await.unwrap();
    let address = std::path::PathBuf::from(case.text("spool/address"));
    let id = case.supervisor().await;
    super::case::signal(id, rustix::process::Signal::TERM);
    until("the supervisor leaves", || !is_alive(id)).await;
    // A directory that is readable for others.
    std::fs::create_dir(&address).unwrap();
    std::fs::set_permissions(&address, Permissions::from_mode(0o755)).unwrap();
    let error = case.run("l", "touch l").await.unwrap_err();
    assert!(matches!(error, ExecError::Supervisor(SuperviseError::UnsafeFolder { .. })), "{error}");
    // A private directory with a regular file in place of the socket.
    std::fs::set_permissions(&address, Permissions::from_mode(0o700)).unwrap();
    std::fs::write(address.join("s"), "mine").unwrap();
    let error = case.run("l", "touch l").await.unwrap_err().to_string();
    assert!(error.contains("did not start") && error.contains("not a socket"), "{error}");
    assert_eq!(std::fs::read_to_string(address.join("s")).unwrap(), "mine");
    assert!(!case.path("l").exists());
}

fn hello(version: u32) -> Vec<u8> {
    let body = format!(r#"{{"ask":"hello","version":{version}}}"#);
    [&u32::try_from(body.len()).unwrap().to_be_bytes()[..], &[0], body.as_bytes()].concat()
}

#[tokio::test]
async fn other_supervisor_version_is_reported() {
    let case = Case::new();
    let supervised = case.supervised();
    let folder = case.path("run/other");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    std::fs::write(case.path("spool/address"), folder.to_str().unwrap()).unwrap();
    let listener = tokio::net::UnixListener::bind(folder.join("s")).unwrap();
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = vec![0; hello(4).len()];
        stream.read_exact(&mut heard).await.unwrap();
        assert_eq!(heard, hello(4));
        let said = String::from_utf8(hello(99)).unwrap().replace("ask", "say");
        stream.write_all(said.as_bytes()).await.unwrap();
    };
    let (status, ()) = tokio::join!(supervised.status(), answer);
    let error = status.unwrap_err();
    assert!(matches!(error, SuperviseError::OtherVersion { ours: 4, theirs: 99 }), "{error}");
    assert!(error.to_string().contains("try again"), "{error}");
}

#[tokio::test]
async fn older_supervisor_exits_for_a_newer_client() {
    let case = Case::new();
    case.run("k", "true").await.unwrap();
    let id = case.supervisor().await;
    let mut stream = case.raw().await;
    stream.write_all(&hello(99)).await.unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    assert!(String::from_utf8_lossy(&heard).contains(r#"{"say":"hello","version":4}"#));
    until("the supervisor leaves", || !is_alive(id)).await;
}

/// Stores the group of a run and returns the given answer.
struct Witness(Result<(), String>, std::sync::Mutex<Option<Group>>);

impl Started for Witness {
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        *self.1.lock().unwrap() = Some(group.clone());
        Box::pin(async { self.0.clone() })
    }
}

#[tokio::test]
async fn command_does_not_run_before_it_is_recorded() {
    let case = Case::new();
    let call = case.supervised().call(key("k"), "s", Lifetime::Turn);
    let witness = Witness(Err("disk full".to_owned()), Default::default());
    let cancel = CancellationToken::new();
    let watch = Watch { started: &witness, cancel: &cancel };
    let error = call.run(case.command("touch ran"), watch).await.unwrap_err();
    assert_eq!(error.to_string(), "the start of the command could not be recorded: disk full");
    let group = witness.1.lock().unwrap().clone().unwrap();
    assert!(!is_alive(group.id) && !case.path("ran").exists());
    let outcome = case.supervised().reattach(&key("k"), Default::default()).await.unwrap();
    assert!(matches!(outcome, Outcome::NeverStarted), "{outcome:?}");
}
