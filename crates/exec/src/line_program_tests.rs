use super::*;
use std::sync::{Arc, Mutex};
use std::time::Instant;

fn program(script: &str) -> CompanionProgram {
    CompanionProgram {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        most_line: 1 << 20,
    }
}

async fn started(script: &str) -> Companion {
    Companion::start(&program(script), |_| {}).await.unwrap()
}

/// Whether nothing with this process id runs any more.
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
async fn lines_go_to_and_fro() {
    let mut cat = started("cat").await;
    assert_eq!(cat.exchange("ü one").await.unwrap(), "ü one".as_bytes());
    // More than any pipe holds, so that both sides must go on at the same time.
    let long = "x".repeat(900_000);
    assert_eq!(cat.exchange(&long).await.unwrap(), long.as_bytes());
    let too_long = "x".repeat((1 << 20) + 1);
    let error = cat.exchange(&too_long).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    cat.end(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn an_end_in_the_middle_of_a_line_is_no_line() {
    let mut child = started("printf 'half a li'; exit 3").await;
    assert_eq!(child.hear().await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert_eq!(child.exit_code(Duration::from_secs(5)).await, Some(3));
}

#[tokio::test]
async fn complaints_are_passed_on_within_bounds() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let list = heard.clone();
    let script = "echo oh >&2; head -c 10000 /dev/zero | tr '\\0' y >&2; echo >&2; echo; cat";
    let note = move |line: &str| list.lock().unwrap().push(line.to_owned());
    let mut child = Companion::start(&program(script), note).await.unwrap();
    child.hear().await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while heard.lock().unwrap().len() < 2 {
        assert!(Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    assert_eq!(*heard.lock().unwrap(), ["oh".to_owned(), "y".repeat(MOST_COMPLAINT)]);
}

#[tokio::test]
async fn nothing_is_left_behind() {
    // Deaf to requests, with a child of its own.
    let script = "trap '' TERM; sleep 1000 & echo $!; while true; do sleep 1000; done";
    for is_dropped in [false, true] {
        let mut child = started(script).await;
        let grandchild: u32 = String::from_utf8(child.hear().await.unwrap()).unwrap().parse().unwrap();
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
async fn what_cannot_be_started_is_an_error() {
    let missing = CompanionProgram { argv: vec!["/no/such/program".into()], ..program("") };
    assert!(Companion::start(&missing, |_| {}).await.is_err());
    let nowhere = CompanionProgram { cwd: "/no/such/folder".into(), ..program("") };
    assert!(matches!(Companion::start(&nowhere, |_| {}).await, Err(ExecError::NoDirectory { .. })));
}
