//! The screen of `hermes demo`, with times, ids and paths masked.

use crate::process::{code, finished, hermes, stderr, stdout};
use hermes_testkit::TempHome;
use regex::Regex;

/// Replaces what differs from run to run.
fn masked(screen: &str) -> String {
    let masks = [
        (r"\d{8}_\d{6}_[0-9a-f]{6}", "SESSION_ID            "),
        (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", "DATE TIME       "),
        (r"\d+\.\d+s\b", "N.Ns"),
        (r"/\S*/hermes-demo-\w+", "FOLDER"),
    ];
    let text = masks.iter().fold(screen.to_owned(), |text, (pattern, mask)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    });
    // The two reads run in parallel, and either may end first.
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.chunk_by_mut(|a, b| a.contains("📖 read") && b.contains("📖 read")).for_each(<[&str]>::sort);
    lines.join("\n")
}

#[tokio::test]
async fn demo_shows_the_agent_at_work() {
    let home = TempHome::new();
    let out = finished(hermes(home.path(), home.path(), &["demo"])).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    insta::assert_snapshot!(masked(&stdout(&out)));
    let left_over = std::fs::read_dir(home.path()).unwrap().count();
    assert_eq!(left_over, 0, "the demo changed the user's home");
}

#[test]
fn readme_quotes_the_demo() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let quoted = readme.split("```text\n$ hermes --yolo").nth(1).expect("the README quotes the demo");
    let quoted = quoted.split("```").next().unwrap();
    let screen = include_str!("snapshots/integration__demo__demo_shows_the_agent_at_work.snap");
    assert!(screen.contains(&masked(quoted)), "{quoted}");
}
