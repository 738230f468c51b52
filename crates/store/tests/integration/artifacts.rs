//! Files that messages mention: recorded with the message, shared by sessions, removed with the last one.

use crate::desk::{Desk, closing, opening, session, ticking};
use hermes_conversation::{Owner, SessionId, Transcript};
use hermes_store::{ExportFilter, ExportFormat, FileRule, PruneReason, SessionDb, check_files, verify};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Hashes of the texts "a", "b" and "c".
const A: &str = "ca978112ca1bbdcafac231b39a23dc4d.txt";
const B: &str = "3e23e8160039594a33894f6564e1b134.txt";
const C: &str = "2e7d2c03a9507ae265ecf5b5356885a5.txt";

const LONG: Duration = Duration::from_secs(60);

/// A desk with a directory of files that were last used long before the desk's clock.
struct Cabinet {
    desk: Desk,
    db: SessionDb,
    dir: PathBuf,
}

impl Cabinet {
    fn new() -> Self {
        let desk = Desk::new();
        let dir = desk.path.with_file_name("hermes-results");
        std::fs::create_dir(&dir).unwrap();
        let db = desk.db.clone().with_files(dir.clone());
        for (name, text) in [(A, "a"), (B, "b"), (C, "c")] {
            put(&dir, name, text, 10);
        }
        Self { desk, db, dir }
    }

    /// Records a session that mentions files, and releases it.
    async fn mention(&self, id: &str, names: &[&str]) {
        let lease = self.desk.lease(id).await;
        let mentions: Vec<String> =
            names.iter().map(|name| format!("it is in /h/hermes-results/{name}]")).collect();
        self.desk.say(&lease, "Where is it?", &mentions.join("\n")).await;
        self.db.release(&lease).await.unwrap();
    }

    fn kept(&self) -> Vec<String> {
        names_in(&self.dir)
    }

    async fn sessions_mentioning(&self, name: &str) -> Vec<String> {
        let files = self.db.files().await.unwrap();
        let file = files.into_iter().find(|file| file.name == name).unwrap();
        file.sessions.iter().map(ToString::to_string).collect()
    }

    async fn delete(&self, id: &str) {
        self.db.delete(&SessionId::new(id)).await.unwrap();
    }
}

fn put(dir: &Path, name: &str, text: &str, used_at: u64) {
    std::fs::write(dir.join(name), text).unwrap();
    let file = File::open(dir.join(name)).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(used_at)).unwrap();
}

fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn none_alive(_: &Owner) -> bool {
    false
}

fn all_alive(_: &Owner) -> bool {
    true
}

fn orphans() -> FileRule {
    FileRule { orphans: true, ..FileRule::default() }
}

#[tokio::test]
async fn file_is_removed_with_the_last_session_that_mentions_it() {
    let cabinet = Cabinet::new();
    cabinet.mention("one", &[A, B]).await;
    cabinet.mention("two", &[B]).await;
    assert_eq!(cabinet.sessions_mentioning(A).await, ["one"]);
    assert_eq!(cabinet.sessions_mentioning(B).await, ["one", "two"]);
    assert!(cabinet.sessions_mentioning(C).await.is_empty());
    cabinet.delete("one").await;
    assert_eq!(cabinet.kept(), [C, B]);
    cabinet.delete("two").await;
    // Deleting a session removes no file that it does not mention.
    assert_eq!(cabinet.kept(), [C]);
    assert!(verify(&cabinet.desk.path).findings.is_empty());
}

#[tokio::test]
async fn failed_delete_keeps_the_files() {
    let cabinet = Cabinet::new();
    cabinet.mention("one", &[A]).await;
    let lease = cabinet.desk.lease("one").await;
    let busy = cabinet.db.clone().with_liveness(all_alive);
    busy.delete(&SessionId::new("one")).await.unwrap_err();
    assert_eq!(cabinet.sessions_mentioning(A).await, ["one"]);
    assert!(cabinet.kept().contains(&A.to_owned()));
    cabinet.db.release(&lease).await.unwrap();
}

#[tokio::test]
async fn mentions_of_other_programs_are_found_before_files_are_removed() {
    let cabinet = Cabinet::new();
    cabinet.mention("ours", &[A, B]).await;
    // Like a version without the table, and like the Python release, which records no mentions.
    let raw = cabinet.desk.raw();
    raw.execute_batch(&format!(
        "DELETE FROM hx_artifacts;
         INSERT INTO sessions (id, source, started_at) VALUES ('theirs', 'cli', 1);
         INSERT INTO messages (session_id, role, tool_calls, timestamp)
             VALUES ('theirs', 'assistant', '[{{\"arguments\":\"hermes-results/{B}\"}}]', 1)"
    ))
    .unwrap();
    cabinet.delete("ours").await;
    assert_eq!(cabinet.kept(), [C, B]);
    assert_eq!(cabinet.sessions_mentioning(B).await, ["theirs"]);
    // Mentions of a session that the Python release deleted are ignored, although our rows stay.
    raw.execute_batch(
        "DELETE FROM messages WHERE session_id = 'theirs'; DELETE FROM sessions WHERE id = 'theirs'",
    )
    .unwrap();
    let files = cabinet.db.files().await.unwrap();
    assert!(files.iter().all(|file| file.is_orphan()), "{files:?}");
}

#[tokio::test]
async fn mentions_are_found_in_a_database_without_the_table() {
    let cabinet = Cabinet::new();
    cabinet.mention("one", &[A]).await;
    cabinet.desk.raw().execute_batch("DROP TABLE hx_artifacts; DROP TABLE hx_marks").unwrap();
    let examined = check_files(&cabinet.desk.path, &cabinet.dir, u64::MAX);
    assert_eq!((examined.files, examined.orphans, examined.orphan_bytes), (3, Some(2), 2));
    let again = SessionDb::open(&cabinet.desk.path, ticking()).unwrap().with_files(cabinet.dir.clone());
    let gone = again.tidy_files(orphans(), LONG).await;
    assert_eq!((gone, cabinet.kept()), (vec![C.to_owned(), B.to_owned()], vec![A.to_owned()]));
}

#[tokio::test]
async fn current_database_is_opened_and_listed_without_a_write() {
    let cabinet = Cabinet::new();
    cabinet.mention("one", &[A]).await;
    cabinet.db.files().await.unwrap();
    let again = SessionDb::open(&cabinet.desk.path, ticking()).unwrap().with_files(cabinet.dir.clone());
    assert_eq!(again.files().await.unwrap().len(), 3);
    assert_eq!(again.stats().commits, 0);
}

#[tokio::test]
async fn files_of_an_open_turn_are_kept() {
    let cabinet = Cabinet::new();
    cabinet.mention("one", &[A]).await;
    let lease = cabinet.desk.lease("two").await;
    let turn = cabinet.db.open_turn(&lease, opening("go on")).await.unwrap();
    let busy = cabinet.db.clone().with_liveness(all_alive);
    // Written after the turn began, so it may belong to a result that is not stored yet.
    put(&cabinet.dir, A, "a", 50_000);
    busy.delete(&SessionId::new("one")).await.unwrap();
    assert_eq!(cabinet.kept(), [C, B, A]);
    assert_eq!(busy.tidy_files(orphans(), LONG).await, [C, B]);
    // The process died, so its turn needs no file any more.
    let dead = cabinet.db.clone().with_liveness(none_alive);
    assert_eq!(dead.tidy_files(orphans(), LONG).await, [A]);
    cabinet.db.close(&lease, turn, closing("done")).await.unwrap();
}

#[tokio::test]
async fn prune_removes_chosen_files_that_still_match() {
    let cabinet = Cabinet::new();
    cabinet.mention("one", &[A]).await;
    put(&cabinet.dir, "7-0.part", "half", 10);
    put(&cabinet.dir, "notes.txt", "theirs", 10);
    let found = cabinet.db.prunable_files(orphans()).await.unwrap();
    let names: Vec<_> = found.iter().map(|old| (old.file.name.as_str(), old.reason)).collect();
    assert_eq!(names, [(C, PruneReason::Orphan), (B, PruneReason::Orphan)]);
    // A session mentions one of them since the list was shown.
    cabinet.mention("two", &[C]).await;
    let chosen: Vec<String> = found.into_iter().map(|old| old.file.name).collect();
    assert_eq!(cabinet.db.prune_files(orphans(), &chosen).await.unwrap(), [B]);
    assert_eq!(cabinet.kept(), [C, "7-0.part", A, "notes.txt"]);
    let all = FileRule { max_bytes: Some(0), ..FileRule::default() };
    cabinet.db.tidy_files(all, LONG).await;
    assert_eq!(cabinet.kept(), ["7-0.part"]);
}

#[tokio::test]
async fn files_follow_an_export_into_another_home() {
    let (here, there) = (Cabinet::new(), Cabinet::new());
    for name in there.kept() {
        std::fs::remove_file(there.dir.join(name)).unwrap();
    }
    let gone = "00000000000000000000000000000000.txt";
    here.mention("one", &[A, B, gone]).await;
    here.mention("two", &[C]).await;
    std::fs::write(here.dir.join(B), "damaged").unwrap();
    let (one, copies) = ([SessionId::new("one")], here.desk.path.with_file_name("copies"));
    let done = here.db.export_files(&one, &copies).await.unwrap();
    assert_eq!((done.copied, done.missing), (vec![A.to_owned()], vec![gone.to_owned()]));
    assert_eq!(done.problems, [format!("{B} does not match the hash in its name")]);
    assert_eq!(names_in(&copies), [A]);

    let filter = ExportFilter { session: Some(one[0].clone()), ..ExportFilter::default() };
    let text = here.desk.export(filter, ExportFormat::Jsonl).await;
    assert!(there.db.import(&text).await.unwrap().problems.is_empty());
    // Files without a mention and damaged files are not copied.
    std::fs::write(copies.join(C), "c").unwrap();
    std::fs::write(copies.join(B), "forged").unwrap();
    let done = there.db.import_files(&one, &copies).await.unwrap();
    assert_eq!((done.copied, there.kept()), (vec![A.to_owned()], vec![A.to_owned()]));
    assert_eq!(done.problems.len(), 1);
    assert_eq!(there.sessions_mentioning(A).await, ["one"]);
    there.delete("one").await;
    assert!(there.kept().is_empty());
}

#[tokio::test]
async fn files_are_checked_within_a_budget() {
    let cabinet = Cabinet::new();
    cabinet.mention("one", &[A]).await;
    std::fs::write(cabinet.dir.join(B), "other").unwrap();
    put(&cabinet.dir, "7-0.part", "half", 10);
    let seen = check_files(&cabinet.desk.path, &cabinet.dir, u64::MAX);
    assert_eq!((seen.files, seen.bytes, seen.growing, seen.orphans), (4, 11, 1, Some(2)));
    assert_eq!((seen.damaged, seen.unchecked), (vec![B.to_owned()], 0));
    let seen = check_files(&cabinet.desk.path, &cabinet.dir, 1);
    assert_eq!((seen.damaged.len(), seen.unchecked), (0, 2));
    let missing = check_files(&cabinet.desk.path, &cabinet.dir.join("none"), 1);
    assert_eq!((missing.files, missing.orphans, missing.problems.len()), (0, Some(0), 0));
    let unreadable = check_files(&cabinet.dir.join(A), &cabinet.dir, 1);
    assert_eq!((unreadable.orphans, unreadable.problems.len()), (None, 1));
}

#[tokio::test]
async fn without_a_directory_there_are_no_files_and_no_errors() {
    let desk = Desk::new();
    let lease = desk.db.acquire(session("one"), crate::desk::owner(1)).await.unwrap().lease;
    desk.say(&lease, "hi", &format!("hermes-results/{A}")).await;
    desk.db.release(&lease).await.unwrap();
    assert_eq!(desk.db.files().await.unwrap(), []);
    desk.db.delete(&SessionId::new("one")).await.unwrap();
}

#[tokio::test]
async fn mention_is_recorded_with_its_message() {
    let cabinet = Cabinet::new();
    let noted = || -> Vec<String> {
        let raw = cabinet.desk.raw();
        let mut find = raw.prepare("SELECT session || ' ' || name FROM hx_artifacts ORDER BY 1").unwrap();
        find.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    };
    cabinet.mention("one", &[A]).await;
    assert_eq!(noted(), [format!("one {A}")]);
    // From here on only later messages are scanned.
    cabinet.mention("two", &[]).await;
    cabinet.db.files().await.unwrap();
    let filter = ExportFilter { session: Some(SessionId::new("one")), ..ExportFilter::default() };
    let exported = cabinet.desk.export(filter, ExportFormat::Jsonl).await;
    cabinet.delete("one").await;
    assert_eq!(noted(), [] as [String; 0]);
    // It gets its old ids, which are before the mark.
    cabinet.db.import(&exported).await.unwrap();
    put(&cabinet.dir, A, "a", 10);
    assert_eq!(cabinet.sessions_mentioning(A).await, ["one"]);
}
