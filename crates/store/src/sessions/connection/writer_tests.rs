use super::*;
use crate::sessions::connection::checkpoint::OVERDUE;
use std::sync::mpsc;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    (dir, path)
}

fn start(path: &std::path::Path, max_wait: Duration) -> Writer {
    let db = crate::sessions::connection::connect::writer(path).unwrap();
    Writer::start(db, path.to_owned(), max_wait).unwrap()
}

fn note(key: &'static str) -> impl FnOnce(&Connection) -> Result<(), StoreError> + Send + 'static {
    move |db| {
        db.execute("INSERT INTO state_meta VALUES (?1, '')", [key]).doing("take a note")?;
        Ok(())
    }
}

/// Keeps the thread busy until the returned sender is dropped, so that later jobs are queued together.
fn hold(writer: &Writer) -> (mpsc::Sender<()>, impl Future<Output = Result<(), StoreError>>) {
    let (release, held) = mpsc::channel::<()>();
    let (entered, inside) = mpsc::channel::<()>();
    let done = writer.submit(Level::Normal, move |_| {
        drop(entered);
        let _ = held.recv();
        Ok(())
    });
    let _ = inside.recv();
    (release, done)
}

#[tokio::test]
async fn queued_jobs_share_one_commit() {
    let (_dir, path) = scratch();
    let writer = start(&path, Duration::from_secs(5));
    let (release, held) = hold(&writer);
    let first = writer.submit(Level::Normal, note("a"));
    let failing = writer.submit(Level::Full, |db| {
        note("half")(db)?;
        Err::<(), _>(StoreError::Stopped)
    });
    let last = writer.submit(Level::Full, note("b"));
    drop(release);
    held.await.unwrap();
    first.await.unwrap();
    assert!(failing.await.is_err());
    last.await.unwrap();
    assert_eq!(writer.stats(), WriterStats { full_commits: 1, commits: 2 });
    let keys = writer.submit(Level::Normal, |db| {
        db.query_row("SELECT group_concat(key) FROM state_meta", [], |row| row.get(0)).doing("read")
    });
    let keys: String = keys.await.unwrap();
    assert_eq!(keys, "a,b");
}

#[tokio::test]
async fn job_runs_even_if_its_answer_is_dropped() {
    let (_dir, path) = scratch();
    let writer = start(&path, Duration::from_secs(5));
    drop(writer.submit(Level::Normal, note("a")));
    assert!(writer.submit(Level::Normal, note("a")).await.is_err());
}

#[tokio::test]
async fn permanent_lock_becomes_an_error() {
    let (_dir, path) = scratch();
    let writer = start(&path, Duration::ZERO);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = writer.submit(Level::Full, note("a")).await.unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    other.execute_batch("ROLLBACK").unwrap();
    writer.submit(Level::Full, note("a")).await.unwrap();
}

#[tokio::test]
async fn replaced_log_is_noticed_before_the_answer() {
    let (dir, path) = scratch();
    let writer = start(&path, Duration::from_secs(5));
    writer.submit(Level::Full, note("a")).await.unwrap();
    let log = dir.path().join("state.db-wal");
    std::fs::rename(&log, dir.path().join("elsewhere")).unwrap();
    std::fs::write(&log, b"").unwrap();
    let refused = writer.submit(Level::Full, note("b")).await.unwrap_err();
    assert!(matches!(refused, StoreError::WalReplaced { .. }), "{refused}");
}

#[tokio::test]
async fn checkpoint_during_a_long_run_loses_nothing() {
    let (_dir, path) = scratch();
    let writer = start(&path, Duration::from_secs(5));
    for _ in 0..=OVERDUE {
        let job = writer.submit(Level::Normal, |db| {
            db.execute("INSERT INTO schema_version VALUES (22)", []).doing("take a note")
        });
        job.await.unwrap();
    }
    let count = writer.submit(Level::Normal, |db| {
        db.query_row("SELECT COUNT(*) FROM schema_version", [], |row| row.get(0)).doing("read")
    });
    let count: u32 = count.await.unwrap();
    assert_eq!(count, OVERDUE + 2);
}

/// A database with a page limit fails like one on a full disk, without needing root.
#[tokio::test]
async fn full_database_fails_and_works_again_with_free_space() {
    let (_dir, path) = scratch();
    let db = crate::sessions::connection::connect::writer(&path).unwrap();
    let pages: u32 = db.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |db: &Connection, pages: u32| {
        db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).doing("set a limit")
    };
    limit(&db, pages + 20).unwrap();
    let writer = Writer::start(db, path.clone(), Duration::from_secs(5)).unwrap();
    let add = |number: u32| {
        writer.submit(Level::Full, move |db| {
            let row = (format!("key {number}"), "x".repeat(4_000));
            db.execute("INSERT INTO state_meta VALUES (?1, ?2)", row).doing("take a note")
        })
    };
    let mut kept = 0;
    let error = loop {
        match add(kept).await {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(error.is_full() && kept > 5, "{error} after {kept}");
    let count = |db: &Connection| {
        db.query_row("SELECT COUNT(*) FROM state_meta", [], |row| row.get::<_, u32>(0)).doing("count")
    };
    assert_eq!(writer.submit(Level::Normal, count).await.unwrap(), kept);
    writer.submit(Level::Normal, move |db| limit(db, pages + 10_000)).await.unwrap();
    add(kept).await.unwrap();
    assert_eq!(writer.submit(Level::Normal, count).await.unwrap(), kept + 1);
}
