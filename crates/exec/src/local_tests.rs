use super::*;
use crate::backend::{OutputLimits, ShellReport, Started, Unwatched};
use crate::exports::{EnvChanges, Exports, LeftOut};
use crate::reap;
use std::sync::Mutex;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct Case {
    dir: TempDir,
    timeout: Duration,
    cancel: CancellationToken,
}

impl Case {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            timeout: Duration::from_secs(20),
            cancel: CancellationToken::new(),
        }
    }

    fn command(&self, script: &str) -> Command {
        Command {
            script: script.into(),
            cwd: self.dir.path().to_owned(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            timeout: self.timeout,
            key: None,
            changes: EnvChanges::default(),
            report: Some(ShellReport {
                file: self.dir.path().join(".cwd"),
                cwd: true,
                exports: Some(Vec::new()),
            }),
            sandbox: None,
            client: None,
            output: OutputLimits {
                chars: 1000,
                spill: Some(self.dir.path().join("spill")),
                ..Default::default()
            },
        }
    }

    async fn run_watched(&self, script: &str, started: &dyn Started) -> Result<Output, ExecError> {
        let cancel = &self.cancel;
        Local.run(self.command(script), Watch { started, cancel }).await
    }

    async fn run(&self, script: &str) -> Output {
        self.run_watched(script, &Unwatched).await.unwrap()
    }
}

/// Stores the group of a run and returns the given answer.
struct Witness {
    group: Mutex<Option<Group>>,
    answer: Result<(), String>,
}

impl Witness {
    fn answering(answer: Result<(), String>) -> Self {
        Self { group: Mutex::new(None), answer }
    }

    fn group(&self) -> Group {
        self.group.lock().unwrap().clone().unwrap()
    }
}

impl Started for Witness {
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        *self.group.lock().unwrap() = Some(group.clone());
        Box::pin(async { self.answer.clone() })
    }
}

#[tokio::test]
async fn run_returns_output_and_exit_code() {
    for (script, text, code) in [
        ("echo a; echo b >&2; echo c", "a\nb\nc\n", 0),
        ("exit 3", "", 3),
        ("false", "", 1),
        ("kill -9 $$", "", 137),
        ("printf '%s' \"$#\"", "0", 0),
        ("cat", "", 0),
        ("printf 'a\\377b'", "a\u{fffd}b", 0),
        ("", "", 0),
        ("# only a comment", "", 0),
        ("cat <<'X'\n$HOME\nX", "$HOME\n", 0),
        ("(sleep 0.02; echo late) & echo early", "early\nlate\n", 0),
        ("env | grep -c OPENAI", "0\n", 1),
    ] {
        let output = Case::new().run(script).await;
        assert_eq!((output.text.as_str(), output.exit_code), (text, code), "{script}");
        assert_eq!(output.ended, Ended::Exited, "{script}");
    }
}

#[tokio::test]
async fn syntax_error_is_reported_and_keeps_the_directory() {
    let case = Case::new();
    let output = case.run("if true; then").await;
    assert_ne!(output.exit_code, 0);
    assert!(output.text.contains("syntax error"), "{}", output.text);
    assert_eq!(output.cwd, Some(case.dir.path().canonicalize().unwrap()));
}

#[tokio::test]
async fn last_directory_is_reported_for_every_end() {
    for (script, code) in [("mkdir -p sub; cd sub", 0), ("mkdir sub; cd sub; exit 3", 3)] {
        let case = Case::new();
        let output = case.run(script).await;
        let want = case.dir.path().canonicalize().unwrap().join("sub");
        assert_eq!((output.cwd, output.exit_code), (Some(want), code), "{script}");
        assert!(!case.dir.path().join(".cwd").exists());
    }
}

#[tokio::test]
async fn timeout_ends_the_group_and_keeps_partial_output() {
    let case = Case { timeout: Duration::from_millis(300), ..Case::new() };
    let witness = Witness::answering(Ok(()));
    let output = case.run_watched("echo before; set -m; sleep 1000 & sleep 1000", &witness).await.unwrap();
    assert_eq!((output.exit_code, output.ended), (124, Ended::TimedOut));
    assert_eq!(output.text.lines().next(), Some("before"));
    assert_eq!(witness.group().members(), []);
}

#[tokio::test]
async fn process_that_ignores_term_is_killed() {
    let case = Case { timeout: Duration::from_millis(200), ..Case::new() };
    let witness = Witness::answering(Ok(()));
    let output = case.run_watched("trap '' TERM; while :; do sleep 0.05; done", &witness).await.unwrap();
    assert_eq!(output.exit_code, 124);
    assert_eq!(witness.group().members(), []);
}

#[tokio::test]
async fn cancelled_command_has_exit_code_130() {
    let case = Case::new();
    let cancel = case.cancel.clone();
    let (output, ()) = tokio::join!(case.run("sleep 1000"), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    assert_eq!((output.exit_code, output.ended), (130, Ended::Cancelled));
}

#[tokio::test]
async fn term_is_sent_twice() {
    let case = Case::new();
    let (cancel, begun) = (case.cancel.clone(), case.dir.path().join("begun"));
    let cancelling = tokio::spawn(async move {
        while !begun.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    });
    // Only the second TERM ends it; after a KILL there would be no output.
    let deaf = "asked=0; trap 'asked=$((asked+1)); test $asked -lt 2 || { echo heard; exit 0; }' TERM; \
                mkfifo quiet; exec 3<>quiet; touch begun; while :; do read -r -t 0.02 _ <&3; done";
    let output = case.run(deaf).await;
    cancelling.await.unwrap();
    assert_eq!((output.exit_code, output.text.trim()), (130, "heard"));
}

#[tokio::test]
async fn command_cancelled_before_its_start_never_runs() {
    let case = Case::new();
    case.cancel.cancel();
    let output = case.run("touch ran").await;
    assert_eq!((output.exit_code, output.ended), (130, Ended::Cancelled));
    assert!(!case.dir.path().join("ran").exists());
}

#[tokio::test]
async fn background_processes_do_not_outlive_the_command() {
    let case = Case::new();
    let witness = Witness::answering(Ok(()));
    let output = case.run_watched("sleep 1000 & echo x", &witness).await.unwrap();
    assert!(!live_groups::contains(&witness.group()));
    assert_eq!((output.text.as_str(), output.exit_code), ("x\n", 0));
    assert_eq!(witness.group().members(), []);
}

#[tokio::test]
async fn endless_output_is_bounded() {
    let case = Case { timeout: Duration::from_millis(300), ..Case::new() };
    let mut command = case.command("yes 中文");
    command.output.spill_limits.bytes = 5000;
    let cancel = &case.cancel;
    let output = Local.run(command, Watch { started: &Unwatched, cancel }).await.unwrap();
    assert_eq!(output.exit_code, 124);
    assert!(output.text.chars().count() < 1300, "{}", output.text.len());
    let spill = output.spill.unwrap();
    assert!(spill.cut && spill.bytes <= 5000);
    assert_eq!(std::fs::metadata(&spill.path).unwrap().len(), spill.bytes);
}

#[tokio::test]
async fn command_without_recorded_start_never_runs() {
    let case = Case::new();
    let witness = Witness::answering(Err("disk full".into()));
    let error = case.run_watched("touch ran", &witness).await.unwrap_err();
    assert!(matches!(error, ExecError::NotRecorded { .. }), "{error}");
    assert!(!case.dir.path().join("ran").exists());
    assert_eq!(witness.group().members(), []);
}

#[tokio::test]
async fn closed_gate_prevents_the_command() {
    let case = Case::new();
    let mut running = Running::spawn(&mut case.command("touch ran")).unwrap();
    drop(running.child.stdin.take());
    let status = running.child.wait().await.unwrap();
    assert_eq!(status.code(), Some(shell_wrapper::NEVER_STARTED));
    assert!(!case.dir.path().join("ran").exists());
}

#[tokio::test]
async fn dropping_the_run_kills_it() {
    let case = Case::new();
    let witness = Witness::answering(Ok(()));
    let run = case.run_watched("sleep 1000 & sleep 1000", &witness);
    assert!(tokio::time::timeout(Duration::from_millis(200), run).await.is_err());
    assert!(!live_groups::contains(&witness.group()) && !case.dir.path().join(".cwd").exists());
    // Killed, but perhaps not gone yet; nothing here kills it a second time.
    let gone = async {
        while !witness.group().members().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.unwrap();
}

#[tokio::test]
async fn reap_kills_an_orphaned_group() {
    let case = Case::new();
    let mut running = Running::spawn(&mut case.command("sleep 1000 & sleep 1000 & wait")).unwrap();
    running.open_gate(None).await.unwrap();
    running.guard.armed = false;
    let group = running.guard.group.clone();
    while group.members().len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(reap(&group).await, 3);
    assert_eq!(group.members(), []);
}

#[tokio::test]
async fn error_names_the_missing_directory() {
    let case = Case::new();
    let mut command = case.command("true");
    command.cwd = "/does/not/exist".into();
    let cancel = &case.cancel;
    let error = Local.run(command, Watch { started: &Unwatched, cancel }).await.unwrap_err();
    assert_eq!(error.to_string(), "/does/not/exist is not a directory");
}

fn exports(set: &[(&str, &str)], unset: &[&str]) -> Option<Exports> {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let unset = unset.iter().map(|name| (*name).to_owned()).collect();
    Some(Exports { changes: EnvChanges { set, unset }, left_out: Vec::new() })
}

#[tokio::test]
async fn changes_of_exported_variables_are_reported() {
    for (script, want) in [
        ("true", exports(&[], &[])),
        ("export A=1 B=\"it's\"", exports(&[("A", "1"), ("B", "it's")], &[])),
        ("A=1; (export C=2); C=3 true; f() { :; }; export -f f; alias x=y", exports(&[], &[])),
        ("export A=$'two\\nlines'; exit 3", exports(&[("A", "two\nlines")], &[])),
        ("export A='$(touch ran)`touch ran`'", exports(&[("A", "$(touch ran)`touch ran`")], &[])),
        ("export PATH=/x/bin:$PATH; cd /", exports(&[("PATH", "/x/bin:/usr/bin:/bin")], &[])),
        ("unset PATH", exports(&[], &["PATH"])),
        ("export -n PATH", exports(&[], &["PATH"])),
        ("set -e; export A=1; false; export A=2", exports(&[("A", "1")], &[])),
        ("set -eu -o posix -o noclobber; export A=1", exports(&[("A", "1")], &[])),
        ("readonly A=1; export A", exports(&[("A", "1")], &[])),
        ("export A=1; exec true", None),
        ("export A=1; kill -9 $$", None),
    ] {
        let case = Case::new();
        let output = case.run(script).await;
        assert_eq!(output.exports, want, "{script}");
        assert!(!case.dir.path().join("ran").exists() && !case.dir.path().join(".cwd").exists(), "{script}");
    }
}

#[tokio::test]
async fn changes_of_earlier_commands_are_part_of_the_environment() {
    let case = Case::new();
    let mut command = case.command("echo $A $B; export A=3; unset C");
    command.env.push(("B".into(), "base".into()));
    command.changes.set = [("A".to_owned(), "1".to_owned()), ("C".to_owned(), "2".to_owned())].into();
    command.changes.unset = ["B".to_owned()].into();
    let output = Local.run(command, Watch { started: &Unwatched, cancel: &case.cancel }).await.unwrap();
    assert_eq!((output.text.as_str(), output.exports), ("1\n", exports(&[("A", "3")], &["C"])));
}

#[tokio::test]
async fn trace_of_the_shell_does_not_show_the_report() {
    assert_eq!(Case::new().run("set -x; true").await.text, "++ true\n");
}

#[tokio::test]
async fn withheld_variables_are_neither_reported_nor_written() {
    let case = Case::new();
    let copy = case.dir.path().join("copy");
    // A hard link keeps what the shell wrote.
    let mut command = case.command("ln .cwd copy; export KEY=other A=1");
    command.env.push(("KEY".into(), "hidden-value".into()));
    command.report.as_mut().unwrap().exports = Some(vec!["KEY".into(), "no name; touch ran".into()]);
    let output = Local.run(command, Watch { started: &Unwatched, cancel: &case.cancel }).await.unwrap();
    assert_eq!(output.exports, exports(&[("A", "1")], &[]));
    let written = std::fs::read_to_string(copy).unwrap();
    assert!(written.contains("A=\"1\"") && !written.contains("KEY"), "{written}");
    assert!(!case.dir.path().join("ran").exists());
}

/// The file can be replaced by the command; then nothing is known, and the reader neither waits nor follows.
#[tokio::test]
async fn replaced_report_is_ignored() {
    let secret = "export STOLEN='1'\n";
    for script in [
        "rm .cwd; mkfifo .cwd; exec 9<>.cwd",
        "rm .cwd; mkfifo .cwd; trap - EXIT",
        "ln -sf secret .cwd; trap - EXIT",
        "ln -sf /dev/zero .cwd; trap - EXIT",
        "rm .cwd; mkdir .cwd",
        "rm .cwd",
        "printf 'export A=1' > .cwd; trap - EXIT",
        "printf '/\\0rm -rf x\\n' > .cwd; trap - EXIT",
        "head -c 4000000 /dev/zero > .cwd; trap - EXIT",
        "yes 'declare -x A' | head -c 4000000 > .cwd; trap - EXIT",
    ] {
        let case = Case { timeout: Duration::from_secs(5), ..Case::new() };
        std::fs::write(case.dir.path().join("secret"), format!("/\0{secret}")).unwrap();
        let output = case.run(script).await;
        let set = output.exports.map(|exports| exports.changes);
        assert_eq!((output.exit_code, set.unwrap_or_default()), (0, EnvChanges::default()), "{script}");
        let kept = std::fs::read_to_string(case.dir.path().join("secret")).unwrap();
        assert_eq!(kept, format!("/\0{secret}"), "{script}");
    }
    // A link is written to by the shell, with the rights of the command, and not read.
    let case = Case::new();
    let output = case.run("ln -sf linked .cwd; export A=1").await;
    assert_eq!((output.exports, output.cwd), (None, None));
}

#[tokio::test]
async fn flood_of_variables_is_bounded() {
    let script = "x=$(head -c 100000 /dev/zero | tr '\\0' x); export A=1 BIG=$x; \
                  for i in {100..160}; do export V$i=${x:0:20000}; done; export Z=1";
    let exports = Case::new().run(script).await.exports.unwrap();
    assert!(exports.changes.bytes() <= crate::LONGEST_CHANGES);
    assert_eq!(exports.changes.set["A"], "1");
    assert!(exports.left_out.contains(&LeftOut::TooLong("BIG".to_owned())));
    assert!(exports.left_out.contains(&LeftOut::Rest), "{:?}", exports.left_out);
}
