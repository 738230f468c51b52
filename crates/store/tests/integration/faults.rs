//! Full and read-only disks, removed files, changed bytes. Each gives a clear error, no acknowledged write is
//! lost, and the process continues.

use crate::desk::{closing, opening, owner, session, ticking};
use hermes_conversation::{Lease, Message, SessionId, Transcript};
use hermes_store::{NewSession, SessionDb, StoreError, verify};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system in memory. Only root can mount one.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], folder.path());
        if !mounted {
            let _ = writeln_stderr("skipped: a small disk cannot be mounted here (needs root)");
            return None;
        }
        Some(Self { folder })
    }

    fn remount(&self, options: &str) {
        // A dropped store closes its files asynchronously.
        let options = format!("remount,{options}");
        let done = (0..1_000).any(|_| mount(&["-o", &options], self.folder.path()));
        assert!(done, "{options}");
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

fn mount(options: &[&str], at: &Path) -> bool {
    let outcome = Command::new("mount").args(options).arg(at).output();
    outcome.is_ok_and(|output| output.status.success())
}

fn writeln_stderr(text: &str) -> std::io::Result<()> {
    use std::io::Write;
    writeln!(std::io::stderr(), "{text}")
}

fn with_causes(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

async fn taken(db: &SessionDb, id: &str) -> Lease {
    db.acquire(session(id), owner(1)).await.unwrap().lease
}

/// Adds messages until a write fails; returns the acknowledged ones and the error.
async fn until_it_fails(db: &SessionDb, lease: &Lease) -> (Vec<Message>, String) {
    let turn = db.open_turn(lease, opening("begin")).await.unwrap();
    let mut acknowledged = vec![Message::user("begin")];
    for number in 0.. {
        let message = Message::user(format!("{number} {}", "some words ".repeat(500)));
        let row = std::slice::from_ref(&message);
        match db.extend(lease, &turn, row, None).await {
            Ok(()) => acknowledged.push(message),
            Err(error) => return (acknowledged, error.to_string()),
        }
    }
    unreachable!("a disk of this size is never full")
}

#[tokio::test]
async fn full_disk_is_an_error_and_loses_nothing() {
    let Some(disk) = SmallDisk::new("2m") else { return };
    let db = SessionDb::open(&disk.database(), ticking()).unwrap();
    let lease = taken(&db, "s").await;
    let (acknowledged, error) = until_it_fails(&db, &lease).await;
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
    assert_eq!(
        error,
        "the session store failed: cannot commit: database or disk is full; \
         free some space and run the command again (everything recorded before is kept)"
    );
    // Reads still work.
    assert_eq!(db.load(&SessionId::new("s")).await.unwrap().messages, acknowledged);
    assert!(db.search("words", 3).await.is_ok());
    // A turn cannot be opened on a full disk, and the error names the reason.
    let other = SessionDb::open(&disk.database(), ticking()).unwrap();
    let refused = other
        .acquire(NewSession { system_prompt: "long ".repeat(50_000), ..session("other") }, owner(2))
        .await;
    let refused = refused.map(drop).unwrap_err();
    assert!(refused.is_full(), "{}", with_causes(&refused));
    drop(other);
    // With free space the same handle works again.
    disk.remount("size=16m");
    let lease = db.acquire(session("s"), owner(1)).await.unwrap().lease;
    db.recover(&lease, crate::desk::texts(), Vec::new()).await.unwrap();
    let turn = db.open_turn(&lease, opening("again")).await.unwrap();
    db.close(&lease, turn, closing("fine")).await.unwrap();
    let now = db.load(&SessionId::new("s")).await.unwrap().messages;
    assert_eq!(now[..acknowledged.len()], acknowledged);
    assert_eq!(verify(&disk.database()).findings, []);
}

#[tokio::test]
async fn disk_that_is_full_from_the_start_is_named() {
    let Some(disk) = SmallDisk::new("16k") else { return };
    let error = SessionDb::open(&disk.database(), ticking()).map(drop).unwrap_err();
    assert!(error.is_full(), "{}", with_causes(&error));
}

#[tokio::test]
async fn read_only_home_is_named_in_the_error() {
    let Some(disk) = SmallDisk::new("8m") else { return };
    let db = SessionDb::open(&disk.database(), ticking()).unwrap();
    let lease = taken(&db, "s").await;
    let turn = db.open_turn(&lease, opening("hello")).await.unwrap();
    db.close(&lease, turn, closing("hi")).await.unwrap();
    drop(db);
    disk.remount("ro");
    match SessionDb::open(&disk.database(), ticking()) {
        Err(error) => assert!(error.is_read_only(), "{}", with_causes(&error)),
        Ok(db) => {
            assert_eq!(db.load(&SessionId::new("s")).await.unwrap().messages.len(), 2);
            let error = db.acquire(session("s"), owner(1)).await.map(drop).unwrap_err();
            assert!(error.is_read_only(), "{}", with_causes(&error));
        }
    }
    disk.remount("rw");
    let db = SessionDb::open(&disk.database(), ticking()).unwrap();
    assert_eq!(db.load(&SessionId::new("s")).await.unwrap().messages.len(), 2);
}

#[tokio::test]
async fn removed_log_is_noticed_before_the_answer() {
    let desk = crate::desk::Desk::new();
    let lease = desk.lease("s").await;
    desk.say(&lease, "hello", "hi").await;
    std::fs::remove_file(desk.path.with_extension("db-wal")).unwrap();
    let error = desk.db.open_turn(&lease, opening("lost?")).await.unwrap_err().to_string();
    assert!(error.contains("was removed or replaced while open; restart Hermes"), "{error}");
    // Every further write fails, too; nothing is written to a file that no process reads.
    assert!(desk.db.open_turn(&lease, opening("lost?")).await.is_err());
    drop(desk.db.search("hello", 9).await);
}

/// Copies of a database with changed bytes: every operation gives an answer or an error, and a database
/// with wrong answers does not pass a verification.
#[tokio::test]
async fn changed_bytes_are_never_silent() {
    const COPIES: u64 = 200;
    let desk = crate::desk::Desk::new();
    for session in ["a", "b", "c"] {
        let lease = desk.lease(session).await;
        for number in 0..12 {
            let answer = format!("answer {number} 中文 {}", "with many different terms ".repeat(60));
            desk.say(&lease, &format!("question {number} of {session}"), &answer).await;
        }
    }
    desk.db.drain(std::time::Duration::from_secs(60)).await.unwrap();
    let copy = desk.path.with_file_name("copy.db");
    desk.db.backup(&copy, hermes_store::Existing::Keep, |_, _| {}).await.unwrap();
    let original = std::fs::read(&copy).unwrap();
    let (want, _) = everything(&desk.db).await.unwrap();
    let mut tally = std::collections::BTreeMap::<&str, u32>::new();
    for number in 0..COPIES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let bytes = damaged(&original, number);
        std::fs::write(&path, &bytes).unwrap();
        let outcome = used(&path, &want).await;
        if outcome.starts_with("answered") {
            // Verified before use, which may change more.
            std::fs::write(folder.path().join("again.db"), &bytes).unwrap();
            let findings = verify(&folder.path().join("again.db")).findings;
            assert_ne!(findings, [], "copy {number} answered wrongly and passed the verification");
        }
        *tally.entry(outcome).or_default() += 1;
    }
    let _ = writeln_stderr(&format!("{COPIES} copies: {tally:?}"));
    assert!(tally.len() > 1, "the damage did not reach anything: {tally:?}");
}

/// Changes one to eight bytes, at positions derived from the number.
fn damaged(original: &[u8], number: u64) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    for _ in 0..=number % 8 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(state >> 33).unwrap() % bytes.len();
        bytes[place] ^= u8::try_from(state >> 20 & 0xff).unwrap() | 1;
    }
    bytes
}

/// Loads all messages; the flag is true if a changed message was noticed.
async fn everything(db: &SessionDb) -> Result<(Vec<Vec<Message>>, bool), StoreError> {
    let (mut all, mut changed) = (Vec::new(), false);
    for session in ["a", "b", "c"] {
        let stored = db.load(&SessionId::new(session)).await?;
        changed |= !stored.changed.is_empty();
        all.push(stored.messages);
    }
    Ok((all, changed))
}

/// Reads, searches and writes; returns the result.
async fn used(path: &Path, want: &[Vec<Message>]) -> &'static str {
    let Ok(db) = SessionDb::open(path, ticking()) else { return "not opened" };
    let read = everything(&db).await;
    let listed = db.list(hermes_store::ListFilter::default()).await.is_ok();
    let found = db.search("question", 99).await.is_ok() && db.search("中文", 99).await.is_ok();
    let written = match db.acquire(session("new"), owner(1)).await {
        Ok(taken) => match db.open_turn(&taken.lease, opening("more")).await {
            Ok(turn) => db.close(&taken.lease, turn, closing("said")).await.is_ok(),
            Err(_) => false,
        },
        Err(_) => false,
    };
    match read {
        Err(_) => "not read",
        Ok((read, true)) if read != want => "answered with a warning",
        Ok((read, false)) if read != want => "answered wrongly",
        Ok(_) if !(listed && found) => "partly read",
        Ok(_) if !written => "not written",
        Ok(_) => "unharmed",
    }
}
