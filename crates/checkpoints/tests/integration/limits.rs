//! Limits of the store.

use crate::bench::Bench;
use hermes_checkpoints::CheckpointError;

#[tokio::test]
async fn older_checkpoints_are_dropped_and_the_rest_stays_usable() {
    let bench = Bench::with(|options| options.max_snapshots = 3);
    bench.write("a", "0\n");
    for number in 1..=6 {
        bench.turn();
        bench.edit("a", &format!("{number}\n")).await;
    }
    let list = bench.list().await;
    assert_eq!(list.len(), 3);
    assert_eq!(list.iter().map(|one| one.files_changed).collect::<Vec<_>>(), [1, 1, 0]);
    let count = std::process::Command::new("git")
        .args(["rev-list", "--all", "--count"])
        .env("GIT_DIR", bench.dir.path().join("home/checkpoints/store"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&count.stdout).trim(), "3");
    bench.restore(3).await.unwrap();
    assert_eq!(bench.read("a").as_deref(), Some("3\n"));
    let unknown = bench.restore(4).await.unwrap_err();
    assert!(matches!(unknown, CheckpointError::Unknown { count: 3, .. }), "{unknown}");
}

#[tokio::test]
async fn large_files_are_not_saved() {
    let bench = Bench::with(|options| options.max_file = 100);
    bench.write("large", &"x".repeat(101));
    bench.turn();
    bench.edit("small", "x").await;
    let saved = std::process::Command::new("git")
        .args(["log", "--all", "--name-only", "--format="])
        .env("GIT_DIR", bench.dir.path().join("home/checkpoints/store"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&saved.stdout).trim(), "Cargo.toml");
}
