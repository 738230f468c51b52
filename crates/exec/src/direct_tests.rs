use super::*;
use std::path::Path;

fn program(script: &str, folder: &Path) -> Direct {
    Direct {
        argv: vec!["sh".into(), "-c".into(), script.into()],
        cwd: folder.to_owned(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("GREETING".into(), "hi".into())],
        input: b"a line\n".to_vec(),
        timeout: Duration::from_secs(20),
        most_output: 1000,
        sandbox: None,
    }
}

async fn run(script: &str) -> DirectOutput {
    let folder = tempfile::tempdir().unwrap();
    run_direct(program(script, folder.path())).await.unwrap()
}

#[tokio::test]
async fn run_returns_streams_and_exit_code() {
    let output = run("cat; echo $GREETING; echo no >&2; exit 3").await;
    assert_eq!(
        output,
        DirectOutput {
            stdout: "a line\nhi\n".into(),
            stderr: "no\n".into(),
            exit_code: 3,
            ended: Ended::Exited
        }
    );
}

#[tokio::test]
async fn arguments_bypass_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let mut echo = program("", folder.path());
    echo.argv = vec!["echo".into(), "$GREETING; x".into()];
    assert_eq!(run_direct(echo).await.unwrap().stdout, "$GREETING; x\n");
}

#[tokio::test]
async fn timeout_ends_the_program_and_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 300 & echo $! > child; trap '' TERM; sleep 300";
    let late = Direct { timeout: Duration::from_millis(500), ..program(script, folder.path()) };
    let output = run_direct(late).await.unwrap();
    assert_eq!((output.ended, output.exit_code), (Ended::TimedOut, 124));
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    assert!(is_gone(child.trim()));
}

#[tokio::test]
async fn remaining_children_are_killed_without_waiting() {
    let begun = Instant::now();
    let output = run("sleep 300 & echo $!").await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(output.ended, Ended::Exited);
    assert!(is_gone(output.stdout.trim()));
}

#[tokio::test]
async fn dropping_the_future_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("child");
    let running =
        run_direct(program("sleep 300 & echo $! > child.new; mv child.new child; wait", folder.path()));
    tokio::select! {
        _ = running => panic!("it ended by itself"),
        () = async { while !mark.exists() { sleep(POLL).await } } => {}
    }
    let child = std::fs::read_to_string(mark).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_gone(child.trim()) {
        assert!(Instant::now() < deadline, "it still runs");
        sleep(POLL).await;
    }
}

#[tokio::test]
async fn long_output_is_truncated_and_unread_input_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let mut chatty = program("exec 0<&-; yes | head -c 100000", folder.path());
    chatty.input = vec![b'x'; 1_000_000];
    let output = run_direct(chatty).await.unwrap();
    assert_eq!((output.stdout.len(), output.exit_code), (1000, 0));
}

#[tokio::test]
async fn failed_start_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for argv in [vec![], vec!["/no/such/program".to_owned()], vec!["no-such-program".to_owned()]] {
        assert!(run_direct(Direct { argv, ..program("", folder.path()) }).await.is_err());
    }
}

fn is_gone(id: &str) -> bool {
    let id: u32 = id.parse().unwrap();
    !crate::group::Stat::of(id).is_ok_and(|stat| stat.is_alive())
}
