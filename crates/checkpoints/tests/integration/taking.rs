//! When a checkpoint is taken, and what the lists and differences show.

use crate::bench::Bench;
use hermes_checkpoints::{CheckpointError, Enabled};
use hermes_tools::Touches;

#[tokio::test]
async fn turn_has_one_checkpoint_of_a_project() {
    let bench = Bench::new();
    bench.write("a", "1\n");
    bench.turn();
    bench.edit("a", "2\n").await;
    bench.edit("sub/b", "new\n").await;
    bench.command(true, || std::fs::remove_file(bench.path("a")).unwrap()).await;
    assert_eq!(bench.list().await.len(), 1);
    bench.turn();
    bench.edit("sub/b", "newer\n").await;
    // An unchanged tree is not saved twice.
    bench.turn();
    bench.edit("sub/b", "newer\n").await;
    bench.turn();
    bench.edit("sub/b", "newest\n").await;
    let list = bench.list().await;
    let seen: Vec<_> =
        list.iter().map(|one| (one.number, one.reason.as_str(), one.files_changed, one.insertions)).collect();
    assert_eq!(
        seen,
        [(1, "before write_file", 1, 1), (2, "before write_file", 2, 1), (3, "before write_file", 0, 0)]
    );
    let difference = bench.store.diff(&bench.project, "3").await.unwrap();
    assert!(difference.diff.contains("-1\n") && difference.diff.contains("+newest"), "{}", difference.diff);
    assert!(difference.stat.contains("2 files changed"), "{}", difference.stat);
    assert_eq!(*bench.notices.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn harmless_commands_take_no_checkpoint() {
    let bench = Bench::new();
    bench.turn();
    bench.command(false, || bench.write("made", "x")).await;
    assert!(bench.list().await.is_empty());
    assert!(!bench.dir.path().join("home/checkpoints").exists(), "nothing is created");
    bench.command(true, || {}).await;
    assert_eq!(bench.list().await.len(), 1);
}

#[tokio::test]
async fn settings_and_places_decide_about_a_project() {
    for (enabled, is_marked, want) in [
        (Enabled::Auto, true, 1),
        (Enabled::Auto, false, 0),
        (Enabled::On, true, 1),
        (Enabled::On, false, 1),
        (Enabled::Off, true, 0),
    ] {
        let bench = Bench::with(|options| options.enabled = enabled);
        if !is_marked {
            std::fs::remove_file(bench.path("Cargo.toml")).unwrap();
            bench.write("a", "x");
        }
        bench.turn();
        bench.edit("b", "x").await;
        assert_eq!(bench.list().await.len(), want, "{enabled:?} {is_marked}");
    }
    // A home directory is never a project, also with a marker.
    let bench = Bench::with(|options| options.enabled = Enabled::On);
    let home = bench.project.parent().unwrap().to_owned();
    std::fs::write(home.join("Makefile"), "").unwrap();
    let file = home.join("notes");
    bench.call(Touches::Files(vec![file.clone()]), "", || std::fs::write(&file, "x").unwrap()).await;
    assert!(!bench.dir.path().join("home/checkpoints").exists());
    let error = bench.store.project_of(&home).unwrap_err();
    assert!(matches!(error, CheckpointError::NoProject { .. }), "{error}");
}

#[tokio::test]
async fn missing_git_never_fails_a_call() {
    let empty = tempfile::tempdir().unwrap();
    for (enabled, want) in [(Enabled::Auto, 0), (Enabled::On, 1)] {
        let bench = Bench::with(|options| {
            options.path = empty.path().display().to_string();
            options.enabled = enabled;
        });
        for text in ["1", "2"] {
            bench.turn();
            bench.edit("a", text).await;
        }
        assert_eq!(bench.read("a").as_deref(), Some("2"));
        let notices = bench.notices.lock().unwrap().clone();
        assert_eq!(notices.len(), want, "{notices:?}");
        assert!(notices.iter().all(|text| text.contains("install git")), "{notices:?}");
    }
}

#[tokio::test]
async fn two_sessions_share_a_project() {
    let bench = Bench::new();
    let other = hermes_checkpoints::SessionCheckpoints::new(bench.store.clone(), std::sync::Arc::new(|_| {}));
    bench.write("a", "1");
    let edits = (0..6).map(|number| {
        let (bench, other) = (&bench, &other);
        async move {
            use hermes_tools::{Checkpoints, PlannedChange};
            let name = format!("f{number}");
            let session: &dyn Checkpoints = if number % 2 == 0 { &bench.session } else { other };
            let touches = Touches::Files(vec![bench.path(&name)]);
            let change = PlannedChange { touches, reason: "before write_file".to_owned() };
            let before = session.before_change(&change).await;
            bench.write(&name, "x");
            session.after_change(before.unwrap()).await;
        }
    });
    futures_join(edits).await;
    let restored = bench.restore(bench.list().await.len()).await.unwrap();
    assert_eq!(restored.kept, Vec::<String>::new());
    assert_eq!(bench.read("a").as_deref(), Some("1"));
}

async fn futures_join(all: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut running: Vec<_> = all.map(Box::pin).collect();
    std::future::poll_fn(|cx| {
        running.retain_mut(|one| one.as_mut().poll(cx).is_pending());
        if running.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}
