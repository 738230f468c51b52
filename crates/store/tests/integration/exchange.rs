//! A complete export: a home created from it gives the same export and the same requests.

use crate::desk::{Desk, closing, intent, owner, reply, session, spent};
use crate::round_trip::every_shape;
use hermes_conversation::{
    CallId, Closing, IntentState, Message, Quirks, SessionId, Settled, Settlement, ToolMessage, Transcript,
};
use hermes_store::{ExportFilter, ExportFormat, NewSession, verify};
use proptest::prelude::*;
use rusqlite::params;
use serde_json::{Value, json};
use std::time::Duration;

/// Two related sessions with every kind of row, and a turn that is still open.
async fn filled() -> Desk {
    let desk = Desk::new();
    let lease = desk.lease("root").await;
    let turn = desk.open(&lease, "\0json:[1]").await;
    let mut shapes = every_shape();
    shapes.insert(shapes.len() - 1, Message::Assistant(reply(&["c"])));
    desk.db.extend(&lease, &turn, &shapes, Some(&spent(1))).await.unwrap();
    desk.db.close(&lease, turn, Closing { spent: Some(spent(10)), ..closing("so") }).await.unwrap();
    desk.say(&lease, "taken back", "yes").await;
    desk.say(&lease, "compacted", "yes").await;
    desk.say(&lease, "later", "yes").await;
    desk.db.set_quirks(&lease, Quirks { no_streaming: true, ..Quirks::default() }).await.unwrap();
    desk.db.set_title(&lease.session, "Sea").await.unwrap();
    // Older than its parent, so that an export lists it first.
    let child = NewSession { parent: Some(SessionId::new("root")), ..session("a-child") };
    let child = desk.db.acquire(child, owner(1)).await.unwrap().lease;
    let turn = desk.open(&child, "go").await;
    let intents = [intent("c1", IntentState::Started)];
    let permits = desk.db.plan(&child, &turn, &reply(&["c1"]), None, &intents).await.unwrap();
    let message = ToolMessage::new(CallId::new("c1"), "terminal", "half");
    let results = vec![Settled { intent: permits.ids[0], state: IntentState::Done, message }];
    desk.db.settle(&child, &turn, Settlement { results, ..Settlement::default() }).await.unwrap();
    desk.raw()
        .execute_batch(
            "UPDATE sessions SET started_at = 0.1 + 0.2, archived = 1 WHERE id = 'a-child';
             UPDATE sessions SET ended_at = 2.5, end_reason = 'compression', rewind_count = 1,
                 message_count = 20, tool_call_count = 4,
                 model_config = '{ \"_branched_from\": 1.10 }', chat_id = 'c' WHERE id = 'root';
             UPDATE messages SET active = 0 WHERE content = 'taken back';
             UPDATE messages SET active = 0, compacted = 1 WHERE content = 'compacted';
             INSERT INTO session_model_usage (session_id, model, task, estimated_cost_usd, first_seen)
                 VALUES ('root', 'm', 'title_generation', 1e-7, NULL);
             INSERT INTO messages (session_id, role, content, tool_calls, codex_message_items, timestamp, observed,
                 platform_message_id, token_count)
                 VALUES ('root', 'user', NULL, '[ {\"id\": \"x\"} ]', 'null', 12345.678901, 1, '77', 3);",
        )
        .unwrap();
    desk
}

async fn imported(text: &str) -> Desk {
    let desk = Desk::new();
    let done = desk.db.import(text).await.unwrap();
    assert_eq!((done.skipped, done.problems), (vec![], vec![]));
    desk
}

#[tokio::test]
async fn imported_home_gives_the_same_export_and_messages() {
    let desk = filled().await;
    for format in [ExportFormat::Jsonl, ExportFormat::Json] {
        let text = desk.export(ExportFilter::default(), format).await;
        let other = imported(&text).await;
        assert_eq!(other.export(ExportFilter::default(), format).await, text);
        for id in ["root", "a-child"] {
            let id = SessionId::new(id);
            let mut brought = other.db.load(&id).await.unwrap();
            assert!(std::mem::take(&mut brought.is_imported), "{id}");
            assert_eq!(brought, desk.db.load(&id).await.unwrap(), "{id}");
        }
        assert_eq!(verify(&other.path).findings, []);
        other.db.drain(Duration::from_secs(10)).await.unwrap();
        assert_eq!(verify(&other.path).findings, []);
        // The session can be resumed, including its open turn.
        let taken = other.db.acquire_existing(SessionId::new("a-child"), owner(2)).await.unwrap();
        assert!(taken.open_turn.is_some());
        assert_eq!(other.db.recover(&taken.lease, crate::desk::texts(), Vec::new()).await.unwrap().turns, 1);
        other.say(&taken.lease, "and now", "yes").await;
        assert_eq!(verify(&other.path).findings, []);
    }
}

#[tokio::test]
async fn own_data_is_exported_beside_the_shared_columns() {
    let desk = filled().await;
    let all = desk.exported().await;
    let root = all.iter().find(|session| session["id"] == "root").unwrap();
    let turns: Vec<_> =
        root["hx_turns"].as_array().unwrap().iter().map(|turn| &turn["exit_reason"]).collect();
    assert_eq!(turns, vec!["text_response"; 4]);
    let tasks: Vec<_> =
        root["session_model_usage"].as_array().unwrap().iter().map(|usage| &usage["task"]).collect();
    assert_eq!(tasks, ["title_generation", ""]);
    let contents = |key: &str| -> Vec<&Value> {
        root[key].as_array().unwrap().iter().map(|message| &message["content"]).collect()
    };
    assert_eq!(contents("hx_inactive_messages"), ["taken back", "compacted"]);
    assert!(!contents("messages").contains(&&json!("taken back")));
    // Text that looks like structured content stays text, and exact bytes are added where needed.
    let first = &root["messages"][0];
    assert_eq!(
        (&first["content"], &first["hx"]),
        (&json!("\0json:[1]"), &json!({ "turn": 1, "plain": true }))
    );
    let last = root["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        last["hx"]["text"],
        json!({ "tool_calls": "[ {\"id\": \"x\"} ]", "codex_message_items": "null" })
    );
}

#[tokio::test]
async fn edited_value_wins_over_the_exact_text() {
    let desk = filled().await;
    let text = desk.export(ExportFilter::default(), ExportFormat::Jsonl).await;
    let changed = text.replace("\"tool_calls\":[{\"id\":\"x\"}]", "\"tool_calls\":[{\"id\":\"y\"}]");
    assert_ne!(changed, text);
    let all = imported(&changed).await.exported().await;
    let root = all.iter().find(|session| session["id"] == "root").unwrap();
    assert_eq!(root["messages"].as_array().unwrap().last().unwrap()["tool_calls"], json!([{ "id": "y" }]));
}

#[tokio::test]
async fn lineage_is_exported_with_its_ancestors_and_cycles_end() {
    let desk = filled().await;
    let only = ExportFilter { session: Some(SessionId::new("a-child")), ..ExportFilter::default() };
    let ids = async |filter: ExportFilter| -> Vec<String> {
        let text = desk.export(filter, ExportFormat::Jsonl).await;
        let sessions = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        sessions.map(|session| session["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(only.clone()).await, ["a-child"]);
    assert_eq!(ids(ExportFilter { lineage: true, ..only.clone() }).await, ["root", "a-child"]);
    assert_eq!(ids(ExportFilter { source: Some("cron".into()), ..only }).await, Vec::<String>::new());
    assert_eq!(Desk::new().export(ExportFilter::default(), ExportFormat::Json).await, "[]\n");

    let text = desk.export(ExportFilter::default(), ExportFormat::Jsonl).await;
    let circle = text.replacen("\"parent_session_id\":null", "\"parent_session_id\":\"a-child\"", 1);
    assert_ne!(circle, text);
    let all = imported(&circle).await.exported().await;
    let linked = all.iter().filter(|session| session["parent_session_id"].is_string()).count();
    assert_eq!(linked, 1);
}

#[tokio::test]
async fn ids_of_deleted_messages_are_not_reused() {
    let desk = filled().await;
    let text = desk.export(ExportFilter::default(), ExportFormat::Jsonl).await;
    let other = Desk::new();
    let lease = other.lease("mine").await;
    other.say(&lease, "one", "two").await;
    other.raw().execute("DELETE FROM messages", []).unwrap();
    other.db.import(&text).await.unwrap();
    other.db.drain(Duration::from_secs(10)).await.unwrap();
    let findings = verify(&other.path).findings;
    assert!(findings.iter().all(|finding| finding.check != hermes_store::Check::Sequence), "{findings:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Any text in a column is restored, and so is the whole file.
    #[test]
    fn any_row_survives(
        texts in prop::collection::vec(
            ("(\0json:)?(\\[1, 2\\]|null|\\{\"a\": \"\\\\ud800\"\\}|1\\.10|\"x\"|\\PC{0,12})", any::<bool>()), 1..8
        )
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let desk = Desk::new();
            let lease = desk.lease("s").await;
            let raw = desk.raw();
            for (text, active) in &texts {
                desk.say(&lease, text, text).await;
                raw.execute(
                    "INSERT INTO messages (session_id, role, content, tool_calls, reasoning_details, timestamp, active)
                     VALUES ('s', 'assistant', ?1, ?1, ?1, 1.5, ?2)",
                    params![text, active],
                )
                .unwrap();
            }
            let text = desk.export(ExportFilter::default(), ExportFormat::Jsonl).await;
            let other = imported(&text).await;
            assert_eq!(other.export(ExportFilter::default(), ExportFormat::Jsonl).await, text);
            assert_eq!(other.messages("s").await, desk.messages("s").await);
        });
    }
}
