//! The cost of a checkpoint of a large repository, compared with plain git.
//!
//! `cargo test --release -p hermes-checkpoints --test integration speed -- --ignored --nocapture`

use crate::bench::Bench;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const FILES: usize = 49_000;

fn fill(project: &Path) {
    for number in 0..FILES {
        let directory = project.join(format!("d{:03}/e{:02}", number / 490, number / 49 % 10));
        if number % 49 == 0 {
            std::fs::create_dir_all(&directory).unwrap();
        }
        let text = format!("file {number}\n{}", "some text of a source file\n".repeat(number % 80));
        std::fs::write(directory.join(format!("f{number}.txt")), text).unwrap();
    }
}

/// `git add -A` and `git write-tree` in a bare repository beside the project.
fn plain(bench: &Bench, repository: &Path) -> Duration {
    let begun = Instant::now();
    for arguments in [&["add", "-A"][..], &["write-tree"]] {
        let output = Command::new("git")
            .args(arguments)
            .env("GIT_DIR", repository)
            .env("GIT_WORK_TREE", &bench.project)
            .current_dir(&bench.project)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    begun.elapsed()
}

async fn checkpoint(bench: &Bench) -> Duration {
    bench.turn();
    let begun = Instant::now();
    let change = hermes_tools::PlannedChange {
        touches: hermes_tools::Touches::Files(vec![bench.path("d000/e00/f0.txt")]),
        reason: "before write_file".to_owned(),
    };
    let before = hermes_tools::Checkpoints::before_change(&bench.session, &change).await;
    assert!(before.is_some());
    begun.elapsed()
}

#[tokio::test]
#[ignore = "writes 49,000 files twice"]
async fn checkpoint_costs_at_most_half_more_than_git() {
    let bench = Bench::new();
    fill(&bench.project);
    let repository = bench.dir.path().join("plain.git");
    assert!(Command::new("git").args(["init", "-q", "--bare"]).arg(&repository).status().unwrap().success());
    let mut compare = Vec::new();
    compare.push(("first", plain(&bench, &repository), checkpoint(&bench).await));
    for round in 0..3 {
        compare.push(("unchanged", plain(&bench, &repository), checkpoint(&bench).await));
        for number in 0..20 {
            bench.write(&format!("d00{number:02}/new{round}.txt"), "new\n");
        }
        compare.push(("20 new files", plain(&bench, &repository), checkpoint(&bench).await));
    }
    for (case, plain, own) in &compare {
        let ratio = own.as_secs_f64() / plain.as_secs_f64();
        println!("{case:>12}: git {plain:>8.0?}  checkpoint {own:>8.0?}  ratio {ratio:.2}");
    }
    let (plain, own) = compare
        .iter()
        .fold((Duration::ZERO, Duration::ZERO), |sum, (_, plain, own)| (sum.0 + *plain, sum.1 + *own));
    assert!(own <= plain * 3 / 2, "{own:?} and {plain:?}");
}
