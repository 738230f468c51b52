use super::*;
use std::sync::{Arc, Mutex};
use std::time::Instant;

fn program(script: &str) -> LineProgramSpec {
    LineProgramSpec {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        most_line: 1 << 20,
        sandbox: None,
    }
}

async fn started(script: &str) -> LineProgram {
    LineProgram::start(&program(script), |_| {}).await.unwrap()
}

/// Returns true if no process with this id runs.
fn is_over(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

fn wait_until_over(id: u32) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_over(id) {
        assert!(Instant::now() < deadline, "{id} is still there");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn lines_are_exchanged() {
    let mut cat = started("cat").await;
    assert_eq!(cat.exchange("ü one").await.unwrap(), "ü one".as_bytes());
    // More than a pipe holds, so that both sides must run concurrently.
    let long = "x".repeat(900_000);
    assert_eq!(cat.exchange(&long).await.unwrap(), long.as_bytes());
    let too_long = "x".repeat((1 << 20) + 1);
    let error = cat.exchange(&too_long).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    cat.end(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn stream_end_within_a_line_is_an_error() {
    let mut child = started("printf 'half a li'; exit 3").await;
    assert_eq!(child.read_line().await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert_eq!(child.exit_code(Duration::from_secs(5)).await, Some(3));
}

#[tokio::test]
async fn stderr_is_passed_on_up_to_a_limit() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let list = heard.clone();
    let script = "echo oh >&2; head -c 10000 /dev/zero | tr '\\0' y >&2; echo >&2; echo; cat";
    let note = move |line: &str| list.lock().unwrap().push(line.to_owned());
    let mut child = LineProgram::start(&program(script), note).await.unwrap();
    child.read_line().await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while heard.lock().unwrap().len() < 2 {
        assert!(Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    assert_eq!(*heard.lock().unwrap(), ["oh".to_owned(), "y".repeat(MAX_STDERR_LINE)]);
}

#[tokio::test]
async fn no_process_remains() {
    // Ignores TERM and has a child.
    let script = "trap '' TERM; sleep 1000 & echo $!; while true; do sleep 1000; done";
    for is_dropped in [false, true] {
        let mut child = started(script).await;
        let grandchild: u32 = String::from_utf8(child.read_line().await.unwrap()).unwrap().parse().unwrap();
        let id = child.guard.group.id;
        assert!(!is_over(id) && !is_over(grandchild));
        match is_dropped {
            true => drop(child),
            false => child.end(Duration::from_millis(1)).await,
        }
        wait_until_over(id);
        wait_until_over(grandchild);
    }
}

#[tokio::test]
async fn failed_start_is_an_error() {
    let missing = LineProgramSpec { argv: vec!["/no/such/program".into()], ..program("") };
    assert!(LineProgram::start(&missing, |_| {}).await.is_err());
    let nowhere = LineProgramSpec { cwd: "/no/such/folder".into(), ..program("") };
    assert!(matches!(LineProgram::start(&nowhere, |_| {}).await, Err(ExecError::NoDirectory { .. })));
}
