//! Maintenance of a store: statistics, verification, backup, reindex and pruning.

use crate::desk::{Desk, call, closing, intent, owner, reply, session, spent};
use hermes_conversation::{IntentState, SessionId, Settled, Settlement, ToolMessage, Transcript};
use hermes_store::{
    AutoPrune, AutoPruned, BackupError, Check, Existing, NewSession, PruneFilter, SearchFilter, SessionDb,
    Sort, StoreError, Tally, check, verify,
};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

/// Two sessions, one of them with a tool call.
async fn filled() -> Desk {
    let desk = Desk::new();
    let lease = desk.lease("a").await;
    desk.say(&lease, "the quick brown fox", "jumped over").await;
    let turn = desk.open(&lease, "list it").await;
    let intents = [intent("c1", IntentState::Started)];
    let permits = desk.db.plan(&lease, &turn, &reply(&["c1"]), Some(&spent(10)), &intents).await.unwrap();
    let asked = call("c1");
    let result = Settled {
        intent: permits.ids[0],
        state: IntentState::Done,
        message: ToolMessage::new(asked.id, asked.name, "a fox too".to_owned()),
    };
    let settlement = Settlement { results: vec![result], ..Settlement::default() };
    desk.db.settle(&lease, &turn, settlement).await.unwrap();
    desk.db.close(&lease, turn, closing("done, said the fox")).await.unwrap();
    desk.db.release(&lease).await.unwrap();
    let other = NewSession { source: "cron".into(), model: "n".into(), ..session("b") };
    let lease = desk.db.acquire(other, owner(1)).await.unwrap().lease;
    desk.say(&lease, "中文搜索", "a late fox").await;
    desk.db.release(&lease).await.unwrap();
    desk
}

#[tokio::test]
async fn statistics_count_everything() {
    let desk = filled().await;
    let found = desk.db.statistics().await.unwrap();
    let want = Tally {
        sessions: 2,
        messages: 8,
        tool_calls: 1,
        api_calls: 1,
        input_tokens: 10,
        output_tokens: 2,
        cache_read_tokens: 3,
        cache_write_tokens: 4,
        reasoning_tokens: 5,
    };
    assert_eq!(found.total, want);
    let names = |rows: &[hermes_store::NamedTally]| {
        rows.iter()
            .map(|row| (row.name.clone(), row.tally.messages, row.tally.input_tokens))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&found.by_model), [("m".to_owned(), 6, 10), ("n".to_owned(), 2, 0)]);
    assert_eq!(names(&found.by_source), [("cli".to_owned(), 6, 10), ("cron".to_owned(), 2, 0)]);
    assert_eq!(found.by_day.len(), 1);
    assert_eq!(found.by_day[0].tally, want);
    assert!(found.bytes + found.log_bytes > 0);
    let empty = Desk::new().db.statistics().await.unwrap();
    assert_eq!((empty.total, empty.by_model.len()), (Tally::default(), 0));
}

#[tokio::test]
async fn damaged_index_is_rebuilt() {
    let model = Desk::new();
    let schema = |desk: &Desk| -> Vec<String> {
        let raw = desk.raw();
        let mut find = raw
            .prepare("SELECT type || name || COALESCE(sql, '') FROM sqlite_master WHERE name LIKE 'messages_fts%' ORDER BY 1")
            .unwrap();
        find.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for damage in [
        "SELECT 1",
        "DROP TABLE messages_fts",
        "DROP TABLE messages_fts; DROP TABLE messages_fts_trigram; DROP TRIGGER messages_fts_insert",
        "DELETE FROM messages_fts_data",
        "DROP TABLE messages_fts_config",
        "DROP TABLE messages_fts_trigram_data",
        "DELETE FROM messages_fts_config",
        "UPDATE messages_fts_data SET block = x'00ff00ff'",
        "DROP TABLE messages_fts_docsize; DROP TABLE messages_fts_content",
    ] {
        let desk = filled().await;
        desk.db.drain(Duration::from_secs(10)).await.unwrap();
        // A connection that has not read the index yet, like that of another program.
        desk.raw().execute_batch(damage).unwrap();
        let desk = desk.again();
        let mut heard = Vec::new();
        let indexed = desk.db.reindex(|done, total| heard.push((done, total))).await.unwrap();
        assert_eq!(indexed, 8, "{damage}");
        assert_eq!((heard.first(), heard.last()), (Some(&(0, 16)), Some(&(16, 16))), "{damage}");
        assert_eq!(schema(&desk), schema(&model), "{damage}");
        for (query, want) in [("fox", 4), ("中文搜索", 1)] {
            let report = desk.db.search(query, 20).await.unwrap();
            assert_eq!((report.hits.len(), report.complete), (want, true), "{damage}: {query}");
        }
        assert_eq!(verify(&desk.path).findings, [], "{damage}");
        // The triggers of the Python release still work.
        let raw = desk.raw();
        raw.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('b', 'user', 'walrus', 1.0)",
            [],
        )
        .unwrap();
        assert_eq!(desk.db.search("walrus", 20).await.unwrap().hits.len(), 1, "{damage}");
    }
}

#[tokio::test]
async fn messages_are_written_while_the_index_is_rebuilt() {
    let desk = filled().await;
    let lease = desk.lease("a").await;
    let writer = async {
        for number in 0..20 {
            desk.say(&lease, &format!("meanwhile {number}"), "yes").await;
        }
    };
    let (indexed, ()) = tokio::join!(desk.db.reindex(|_, _| {}), writer);
    assert!(indexed.unwrap() >= 8);
    assert_eq!(desk.db.search("meanwhile", 50).await.unwrap().hits.len(), 20);
    assert_eq!(verify(&desk.path).findings, []);
}

#[tokio::test]
async fn verification_names_the_session_of_a_finding() {
    for (damage, check, session) in [
        ("UPDATE hx_message_ext SET seq = 99 WHERE session = 'a' AND seq = 3", Check::Sequence, Some("a")),
        ("DELETE FROM messages_fts WHERE rowid = 8", Check::Index, Some("b")),
        ("UPDATE hx_intents SET state = 'started'", Check::Intents, Some("a")),
        ("UPDATE sessions SET message_count = 7 WHERE id = 'b'", Check::Counters, Some("b")),
        ("UPDATE sessions SET tool_call_count = 0 WHERE id = 'a'", Check::Counters, Some("a")),
        ("UPDATE messages SET tool_call_id = 'c9' WHERE role = 'tool'", Check::Calls, Some("a")),
        ("UPDATE messages SET tool_calls = NULL WHERE tool_calls IS NOT NULL", Check::Calls, Some("a")),
        ("INSERT INTO hx_nodes VALUES ('a', 1, 0, '[]', 5, 4, 1, 'n')", Check::Epochs, Some("a")),
        ("INSERT INTO hx_nodes VALUES ('a', 1, 1, '[1]', 1, 4, 4, 'n')", Check::Epochs, Some("a")),
        ("INSERT INTO hx_compactions VALUES ('b', 1, 1.0, 'x')", Check::Epochs, Some("b")),
        ("UPDATE hx_message_ext SET copy_of = 1 WHERE message_id = 2", Check::Epochs, Some("a")),
        ("DROP TABLE messages_fts_trigram", Check::Index, None),
        ("DROP TABLE hx_outbox", Check::Integrity, None),
        ("UPDATE schema_version SET version = 23", Check::Integrity, None),
    ] {
        let desk = filled().await;
        desk.db.drain(Duration::from_secs(10)).await.unwrap();
        let sound = verify(&desk.path);
        assert_eq!((sound.sessions, sound.messages, sound.outbox, sound.findings), (2, 8, 0, vec![]));
        desk.raw().execute_batch(damage).unwrap();
        let found = verify(&desk.path).findings;
        let expected = |finding: &&hermes_store::Finding| {
            finding.check == check && finding.session.as_ref().map(SessionId::as_str) == session
        };
        assert!(found.iter().any(|finding| expected(&finding)), "{damage}: {found:?}");
    }
}

#[tokio::test]
async fn file_that_is_not_a_database_is_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::fs::write(&path, "this is plain text, not a base".repeat(100)).unwrap();
    assert_eq!(verify(&path).findings[0].check, Check::Integrity);
    let waiting = filled().await;
    assert_eq!((verify(&waiting.path).outbox, verify(&waiting.path).findings), (8, vec![]));
}

#[tokio::test]
async fn backup_is_complete_private_and_atomic() {
    let desk = filled().await;
    let folder = desk.path.parent().unwrap();
    let target = folder.join("copy.db");
    let bytes = desk.db.backup(&target, Existing::Keep, |_, _| {}).await.unwrap();
    let file = std::fs::metadata(&target).unwrap();
    assert_eq!((file.len(), file.permissions().mode() & 0o777), (bytes, 0o600));
    assert_eq!(verify(&target).findings, []);
    let again = desk.db.backup(&target, Existing::Keep, |_, _| {}).await;
    assert!(matches!(again, Err(BackupError::Exists { .. })), "{again:?}");
    let lease = desk.lease("a").await;
    desk.say(&lease, "later", "yes").await;
    desk.db.backup(&target, Existing::Replace, |_, _| {}).await.unwrap();
    assert_eq!(check(&target).messages, Some(10));
    let copy = SessionDb::open(&target, crate::desk::ticking()).unwrap();
    assert_eq!(copy.load(&SessionId::new("a")).await.unwrap().messages.len(), 8);
    let in_use = desk.db.backup(&target, Existing::Replace, |_, _| {}).await;
    assert!(matches!(in_use, Err(BackupError::InUse { .. })), "{in_use:?}");
    let itself = desk.db.backup(&desk.path, Existing::Replace, |_, _| {}).await;
    assert!(matches!(itself, Err(BackupError::IsTheDatabase { .. })), "{itself:?}");
    let nowhere = desk.db.backup(&folder.join("no/such"), Existing::Keep, |_, _| {}).await;
    assert!(matches!(nowhere, Err(BackupError::File { .. })), "{nowhere:?}");
    let left = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("unfinished")));
}

#[tokio::test]
async fn only_old_unused_sessions_are_pruned() {
    let desk = filled().await;
    let day = 86_400.0;
    desk.raw()
        .execute_batch(
            "INSERT INTO sessions (id, source, started_at, ended_at) VALUES ('ended', 'cli', 5.0, 6.0), ('fresh', 'cli', 800000.0, 800001.0);
             INSERT INTO sessions (id, source, started_at) VALUES ('used', 'cli', 5.0), ('active', 'cli', 5.0);
             INSERT INTO sessions (id, source, started_at, ended_at) VALUES ('resumed', 'cli', 5.0, 800001.0);
             INSERT INTO messages (session_id, role, content, timestamp) VALUES ('resumed', 'user', 'hi', 800000.0);
             INSERT INTO sessions (id, source, started_at, parent_session_id) VALUES ('child', 'cli', 900000.0, 'ended');
             INSERT INTO messages (session_id, role, content, timestamp) VALUES ('active', 'user', 'hi', 800000.0);",
        )
        .unwrap();
    let db = SessionDb::open(&desk.path, Arc::new(move || 10.0 * day)).unwrap().with_liveness(|_| true);
    db.acquire_existing(SessionId::new("used"), owner(7)).await.unwrap();
    let ended = PruneFilter { older_than_days: 5, ..PruneFilter::default() };
    let filter = PruneFilter { ended_only: false, ..ended.clone() };
    let ids = |found: Vec<hermes_store::Prunable>| {
        found.into_iter().map(|old| old.id.as_str().to_owned()).collect::<Vec<_>>()
    };
    let found = ids(db.prunable(filter.clone()).await.unwrap());
    assert_eq!(found, ["ended", "a", "b"]);
    let cron = PruneFilter { source: Some("cron".into()), ..filter.clone() };
    assert_eq!(ids(db.prunable(cron).await.unwrap()), ["b"]);
    assert_eq!(ids(db.prunable(ended).await.unwrap()), ["ended"]);
    let chosen = ["ended", "a", "active", "resumed", "used"].map(SessionId::new);
    let gone = db.prune(filter, &chosen).await.unwrap();
    assert_eq!(gone, ["ended", "a"].map(SessionId::new));
    let parent: Option<String> = desk
        .raw()
        .query_row("SELECT parent_session_id FROM sessions WHERE id = 'child'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(parent, None);
    assert_eq!(check(&desk.path).sessions, Some(6));
}

#[tokio::test]
async fn search_hits_are_sorted_filtered_and_have_context() {
    let desk = filled().await;
    let hits = async |filter: SearchFilter| desk.db.search_with("fox", filter).await.unwrap().hits;
    let ids = |hits: &[hermes_store::SearchHit]| hits.iter().map(|hit| hit.message.0).collect::<Vec<_>>();
    let base = SearchFilter::default;
    assert_eq!(ids(&hits(SearchFilter { sort: Sort::Newest, ..base() }).await), [8, 6, 5, 1]);
    assert_eq!(ids(&hits(SearchFilter { sort: Sort::Oldest, limit: 2, ..base() }).await), [1, 5]);
    assert_eq!(ids(&hits(SearchFilter { role: Some("tool".into()), ..base() }).await), [5]);
    assert_eq!(ids(&hits(SearchFilter { source: Some("cron".into()), ..base() }).await), [8]);
    let filter = SearchFilter { sort: Sort::Oldest, with_context: true, ..base() };
    let found = hits(filter).await;
    let context = |place: usize| {
        found[place].context.iter().map(|near| (near.role.as_str(), near.text.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(context(0), [("user", "the quick brown fox"), ("assistant", "jumped over")]);
    assert_eq!(
        context(1),
        [("assistant", "terminal: ls"), ("tool", "a fox too"), ("assistant", "done, said the fox")]
    );
    assert_eq!(context(3), [("user", "中文搜索"), ("assistant", "a late fox")]);
    // Without an index, too.
    desk.raw().execute_batch("DROP TABLE messages_fts").unwrap();
    let filter = SearchFilter { sort: Sort::Oldest, role: Some("assistant".into()), ..base() };
    assert_eq!(ids(&hits(filter).await), [6, 8]);
}

#[tokio::test]
async fn optimize_frees_space_unless_the_store_is_in_use() {
    let desk = filled().await;
    let lease = desk.lease("big").await;
    let large = "many different terms ".repeat(20_000);
    for number in 0..4 {
        desk.say(&lease, &format!("question {number}"), &large).await;
    }
    let used = desk.db.clone().with_liveness(|_| true).optimize().await;
    assert!(matches!(used, Err(StoreError::Busy { pid: 1, .. })), "{used:?}");
    desk.db.release(&lease).await.unwrap();
    desk.db.drain(Duration::from_secs(60)).await.unwrap();
    desk.db.delete(&SessionId::new("big")).await.unwrap();
    let done = desk.db.optimize().await.unwrap();
    assert!(done.bytes_after * 4 < done.bytes_before, "{done:?}");
    assert_eq!(verify(&desk.path).findings, []);
    let lease = desk.lease("a").await;
    desk.say(&lease, "still writing", "yes").await;
    assert_eq!(desk.db.search("fox", 20).await.unwrap().hits.len(), 4);
}

#[tokio::test]
async fn interrupted_rebuild_loses_no_message() {
    let desk = filled().await;
    desk.db.drain(Duration::from_secs(10)).await.unwrap();
    let stopped = tokio::time::timeout(Duration::ZERO, desk.db.reindex(|_, _| {})).await;
    assert!(stopped.is_err());
    let lease = desk.lease("a").await;
    desk.say(&lease, "one more fox", "yes").await;
    assert_eq!(verify(&desk.path).findings, []);
    assert_eq!(desk.db.search("fox", 20).await.unwrap().hits.len(), 5);
}

#[tokio::test]
async fn old_sessions_are_pruned_automatically_once_per_interval() {
    let desk = filled().await;
    let (hour, day) = (3_600.0, 86_400.0);
    desk.raw()
        .execute_batch(
            "INSERT INTO sessions (id, source, started_at, ended_at) VALUES ('old', 'cli', 5.0, 6.0), ('ghost', 'tui', 86400.0 * 98, 1.0),
                 ('empty', 'cli', 86400.0 * 98, 1.0), ('new-ghost', 'tui', 86400.0 * 99.5, 1.0);
             INSERT INTO sessions (id, source, started_at, ended_at, end_reason) VALUES ('split', 'cli', 86400.0 * 80, 1.0, 'compression');
             INSERT INTO sessions (id, source, started_at, parent_session_id, api_call_count) VALUES
                 ('orphan', 'cli', 86400.0 * 80, 'split', 0), ('alive', 'cli', 86400.0 * 80, 'split', 1),
                 ('young', 'cli', 86400.0 * 95, 'split', 0), ('unended', 'cli', 5.0, NULL, 0);",
        )
        .unwrap();
    let at = |time: f64| SessionDb::open(&desk.path, Arc::new(move || time)).unwrap();
    let settings = AutoPrune::default();
    let done = at(100.0 * day).auto_prune(settings).await.unwrap().unwrap();
    assert_eq!(
        done,
        AutoPruned {
            old: vec![SessionId::new("old")],
            ghosts: vec![SessionId::new("ghost")],
            vacuumed: true,
        }
    );
    let reason = |id: &str| -> Option<String> {
        desk.raw().query_row("SELECT end_reason FROM sessions WHERE id = ?1", [id], |row| row.get(0)).unwrap()
    };
    assert_eq!(["orphan", "alive", "young"].map(reason), [Some("orphaned_compression".into()), None, None]);
    for (hours, is_due) in [(1.0, false), (23.9, false), (24.0, true), (47.0, false)] {
        let done = at(100.0 * day + hours * hour).auto_prune(settings).await.unwrap();
        assert_eq!(done.is_some(), is_due, "{hours}");
    }
    // A second program at the same time does nothing.
    let (later, at_once) = (at(200.0 * day), at(200.0 * day));
    let (one, other) = tokio::join!(later.auto_prune(settings), at_once.auto_prune(settings));
    assert_eq!([one, other].into_iter().filter(|done| matches!(done, Ok(Some(_)))).count(), 1);
    desk.raw().execute("UPDATE state_meta SET value = 'nonsense' WHERE key = 'last_auto_prune'", []).unwrap();
    // The file is vacuumed only if sessions were removed and the setting allows it.
    let done = at(200.0 * day).auto_prune(settings).await.unwrap().unwrap();
    assert!(!done.vacuumed, "{done:?}");
    assert!(reason("unended").is_none());
}
