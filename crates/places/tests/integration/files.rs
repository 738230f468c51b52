//! The file tools at each place have the results that they have on this machine.

use crate::file_bench::FileBench;
use crate::file_cases::{CASES, FileCase};
use crate::servers;
use hermes_places::Place;
use serde_json::{Value, json};
use std::sync::Arc;

/// The results of a case, with the directories of the place named as on every place.
async fn results(case: &FileCase, bench: &mut FileBench) -> Vec<String> {
    bench.enter_new_directory(case.setup).await;
    let mut results = Vec::new();
    for (tool, arguments) in case.calls {
        let result = bench.call(tool, &arguments_of(arguments, &bench.root)).await;
        results.push(bench.masked(&result.to_string()));
    }
    if !case.look.is_empty() {
        results.push(bench.script(case.look).await);
    }
    results
}

fn arguments_of(text: &str, root: &str) -> Value {
    match text {
        "LARGE" => {
            let lines: String =
                (0..20_000).map(|number| format!("line {number} of a large file\n")).collect();
            json!({ "path": "large", "content": lines })
        }
        text => serde_json::from_str(&text.replace("ROOT", root)).unwrap(),
    }
}

/// Runs the cases at a place and on this machine, and reports all that differ.
async fn conforms<'a>(place: &Arc<Place>, cases: impl Iterator<Item = &'a FileCase>) {
    let (mut here, mut there) = (FileBench::at(None).await, FileBench::at(Some(place)).await);
    let mut failures = Vec::new();
    for case in cases {
        let (want, found) = (results(case, &mut here).await, results(case, &mut there).await);
        for (index, (found, want)) in found.iter().zip(&want).enumerate() {
            if !alike(found, want) {
                failures.push(format!("{} ({index}):\n  here {want}\n  there {found}", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} results differ:\n{}", failures.len(), failures.join("\n"));
}

/// Compares results. The system's messages have their numbers only on this machine. Where links lead is known here before
/// a call runs, there only while it runs.
fn alike(found: &str, want: &str) -> bool {
    let plain = |text: &str| {
        let text = text.split(" (os error").next().unwrap_or_default();
        let text = text.split_once(" was not run: ").map_or(text, |(_, why)| why);
        text.trim_start_matches("{\"error\":\"").trim_end_matches(['"', '}', '.']).to_owned()
    };
    found == want || (found.starts_with("{\"error\"") && plain(found) == plain(want))
}

#[tokio::test]
async fn cases_hold_on_this_machine() {
    assert!(CASES.len() >= 60);
    let (mut bench, mut failures) = (FileBench::at(None).await, Vec::new());
    for case in CASES {
        let results = results(case, &mut bench).await;
        let last = &results[case.calls.len() - 1];
        if !last.contains(case.has) {
            failures.push(format!("{}: {} is not in {last}", case.name, case.has));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn ssh_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(place) = servers::ssh(temporary.path()) {
        conforms(&place, CASES.iter()).await;
    }
}

#[tokio::test]
async fn podman_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(container) = servers::container("podman", "files-p", temporary.path()) {
        conforms(&container.place, CASES.iter()).await;
    }
}

#[tokio::test]
async fn docker_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(container) = servers::container("docker", "files-d", temporary.path()) {
        conforms(&container.place, CASES.iter().step_by(4)).await;
    }
}

#[tokio::test]
async fn singularity_stand_in_conforms() {
    let temporary = tempfile::tempdir().unwrap();
    conforms(&servers::singularity(temporary.path()), CASES.iter()).await;
}
