//! Restoring files, with edits by hand in between.

use crate::bench::Bench;
use hermes_checkpoints::CheckpointError;
use std::os::unix::fs::{PermissionsExt, symlink};

fn names(conflicts: &CheckpointError) -> Vec<&str> {
    match conflicts {
        CheckpointError::Conflicts { conflicts } => conflicts.iter().map(|one| one.path.as_str()).collect(),
        other => panic!("{other}"),
    }
}

/// Twenty edits of the agent: written, patched, removed, moved and made executable, in turns of different length, with
/// edits by hand between and within turns.
#[tokio::test]
async fn rollback_after_twenty_mixed_edits_keeps_edits_by_hand() {
    let bench = Bench::new();
    for number in 0..10 {
        bench.write(&format!("src/{number}"), &format!("original {number}\n"));
    }
    bench.write("by_hand_only", "original\n");
    symlink("src/0", bench.path("link")).unwrap();
    let original = |number: usize| Some(format!("original {number}\n"));
    bench.turn();
    for number in 0..5 {
        bench.edit(&format!("src/{number}"), "agent\n").await;
        // A user edits other files while the turn runs.
        bench.write("by_hand_only", &format!("by hand {number}\n"));
    }
    bench.write("made_by_hand", "by hand\n");
    bench.turn();
    for number in 0..5 {
        bench.edit(&format!("src/{number}"), "agent again\n").await;
        bench.edit(&format!("made/{number}"), "agent\n").await;
    }
    bench.turn();
    bench.command(true, || std::fs::remove_file(bench.path("src/6")).unwrap()).await;
    bench.command(false, || std::fs::rename(bench.path("src/7"), bench.path("moved")).unwrap()).await;
    bench
        .command(true, || {
            std::fs::remove_file(bench.path("link")).unwrap();
            symlink("src/1", bench.path("link")).unwrap();
        })
        .await;
    let executable =
        || std::fs::set_permissions(bench.path("src/8"), PermissionsExt::from_mode(0o755)).unwrap();
    bench.command(false, executable).await;
    bench
        .command(true, || {
            // A file becomes a directory.
            std::fs::remove_file(bench.path("src/9")).unwrap();
            bench.write("src/9/deep", "agent\n");
        })
        .await;
    assert_eq!(bench.list().await.len(), 3);

    let restored = bench.restore(3).await.unwrap();
    assert_eq!(restored.kept, ["by_hand_only", "made_by_hand"]);
    assert!(restored.forced.is_empty());
    for number in 0..10 {
        assert_eq!(bench.read(&format!("src/{number}")), original(number), "src/{number}");
    }
    assert_eq!(std::fs::read_link(bench.path("link")).unwrap().to_str(), Some("src/0"));
    assert!(!bench.path("made").exists() && !bench.path("moved").exists());
    assert_eq!(bench.read("by_hand_only").as_deref(), Some("by hand 4\n"));
    assert_eq!(bench.read("made_by_hand").as_deref(), Some("by hand\n"));
    let mode = std::fs::metadata(bench.path("src/8")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0);

    // The state before the rollback is the newest checkpoint, and brings everything back.
    let list = bench.list().await;
    assert!(list[0].reason.starts_with("pre-rollback snapshot (restoring to "), "{}", list[0].reason);
    bench.restore(1).await.unwrap();
    assert_eq!(bench.read("src/0").as_deref(), Some("agent again\n"));
    assert_eq!(bench.read("src/9/deep").as_deref(), Some("agent\n"));
    assert_eq!((bench.read("src/6"), bench.read("moved")), (None, original(7)));
}

#[tokio::test]
async fn file_that_both_changed_refuses_the_restore() {
    for how in ["before", "between", "after", "removed"] {
        let bench = Bench::new();
        bench.write("both", "1\n");
        bench.write("agent", "1\n");
        bench.turn();
        bench.edit("agent", "2\n").await;
        if how == "before" {
            bench.write("both", "by hand\n");
        }
        bench.edit("both", "2\n").await;
        if how == "between" {
            bench.write("both", "2\nby hand\n");
        }
        bench.turn();
        bench.edit("both", "3\n").await;
        match how {
            "after" => bench.write("both", "3\nby hand\n"),
            "removed" => std::fs::remove_file(bench.path("both")).unwrap(),
            _ => {}
        }
        let now = bench.read("both");
        let oldest = bench.list().await.len();
        let refused = bench.restore(oldest).await.unwrap_err();
        assert_eq!(names(&refused), ["both"], "{how}");
        let text = refused.to_string();
        assert!(text.contains("both: was edited by hand") && text.contains("--force"), "{text}");
        // Nothing was touched, also not the file without a conflict.
        assert_eq!((bench.read("agent").as_deref(), bench.read("both")), (Some("2\n"), now.clone()), "{how}");

        let forced = bench.restore_files(oldest, &[], true).await.unwrap();
        assert_eq!(forced.forced, ["both"]);
        assert_eq!(bench.read("both").as_deref(), Some("1\n"));
        // The edit by hand is in the checkpoint that was taken before.
        bench.restore(1).await.unwrap();
        assert_eq!(bench.read("both"), now, "{how}");
    }
}

#[tokio::test]
async fn named_files_are_restored_alone() {
    let bench = Bench::new();
    for name in ["a", "dir/b", "dir/c", "hand"] {
        bench.write(name, "1\n");
    }
    bench.turn();
    for name in ["a", "dir/b", "dir/c", "dir/new"] {
        bench.edit(name, "2\n").await;
    }
    bench.write("hand", "by hand\n");
    let restored = bench.restore_files(1, &["dir/b"], false).await.unwrap();
    assert_eq!(restored.restored, ["dir/b"]);
    let restored = bench.restore_files(2, &["dir"], false).await.unwrap();
    assert_eq!((restored.restored, restored.removed), (vec!["dir/c".to_owned()], vec!["dir/new".to_owned()]));
    assert_eq!(bench.read("a").as_deref(), Some("2\n"));
    // A file that is named and was edited by hand is not silently left alone.
    let refused = bench.restore_files(3, &["hand"], false).await.unwrap_err();
    assert_eq!(names(&refused), ["hand"]);
    let refused = bench.restore_files(3, &["none"], false).await.unwrap_err();
    assert!(matches!(refused, CheckpointError::NothingAt { .. }), "{refused}");
    let refused = bench.restore_files(3, &["../../other"], false).await.unwrap_err();
    assert!(matches!(refused, CheckpointError::Outside { .. }), "{refused}");
}

#[tokio::test]
async fn file_that_checkpoints_do_not_save_is_never_replaced() {
    let bench = Bench::with(|options| options.max_file = 1000);
    bench.write("data", "1\n");
    bench.write("config", "1\n");
    bench.turn();
    bench.edit("data", "2\n").await;
    bench.edit("config", "2\n").await;
    bench.write("data", &"x".repeat(2000));
    bench.write(".gitignore", "config\n");
    let refused = bench.restore_files(1, &[], true).await.unwrap_err();
    assert_eq!(names(&refused), ["config", "data"]);
    assert!(refused.to_string().contains("out of the way"), "{refused}");
    assert_eq!(bench.read("config").as_deref(), Some("2\n"));
}

#[tokio::test]
async fn unfinished_change_counts_as_an_edit_by_hand() {
    let bench = Bench::new();
    bench.write("a", "1\n");
    bench.turn();
    bench.edit("b", "2\n").await;
    // Hermes is killed after the write and before the note.
    use hermes_tools::{Checkpoints, PlannedChange, Touches};
    let touches = Touches::Files(vec![bench.path("a")]);
    let before = bench.session.before_change(&PlannedChange { touches, reason: String::new() }).await;
    bench.write("a", "2\n");
    drop(before);
    let restored = bench.restore(1).await.unwrap();
    assert_eq!((restored.kept, restored.removed), (vec!["a".to_owned()], vec!["b".to_owned()]));
}
