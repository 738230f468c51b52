//! Activity in a period.

use crate::desk::{Desk, call, closing, intent, reply, spent};
use hermes_conversation::{IntentState, Settled, Settlement, ToolMessage, Transcript, Usage};
use hermes_store::{CostSummary, Count, Insights, InsightsFilter, MessageCounts, Quarter, SessionUse, Share};

/// Three sessions of other programs around the time 100,000: before it, across it, after it.
fn across(desk: &Desk) {
    desk.raw()
        .execute_batch(
            r#"INSERT INTO sessions (id, source, model, started_at, ended_at, end_reason, title, input_tokens, api_call_count)
                 VALUES ('old', 'cli', 'm', 10.0, 20.0, 'cli_close', NULL, 999, 9);
               INSERT INTO sessions (id, source, model, started_at, ended_at, end_reason, title, input_tokens, output_tokens,
                                     api_call_count, estimated_cost_usd, cost_status)
                 VALUES ('across', 'cli', 'm', 50000.0, 100900.0, NULL, 'The long one', 5000, 5000, 50, NULL, NULL),
                        ('after', 'telegram', 'plain', 100000.0, 100700.0, 'session_reset', NULL, 30, 20, 2, 0.25, 'estimated'),
                        ('silent', 'cron', NULL, 100500.0, NULL, NULL, NULL, 0, 0, 0, NULL, NULL);
               INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'hi', 11.0);
               INSERT INTO messages (session_id, role, content, timestamp, tool_calls, tool_name, active) VALUES
                 ('across', 'user', 'first entry', 99999.0, NULL, NULL, 1),
                 ('across', 'user', 'more text', 100000.0, NULL, NULL, 0),
                 ('across', 'assistant', '', 100060.0, '[{"id":"a","function":{"name":"terminal","arguments":"{}"}},{"id":"b","name":"todo","arguments":{}}]', NULL, 1),
                 ('across', 'tool', 'out', 100090.0, NULL, NULL, 1),
                 ('across', 'tool', 'out', 100100.0, NULL, 'todo', 1),
                 ('across', 'assistant', 'done', 101000.0, NULL, NULL, 1),
                 ('after', 'user', 'hello', 100000.0, NULL, NULL, 1),
                 ('after', 'tool', 'an answer to nothing', 100010.0, NULL, 'terminal', 1),
                 ('after', 'session_meta', '{}', 100020.0, NULL, NULL, 1);
               INSERT INTO session_model_usage (session_id, model, task, api_call_count, input_tokens, cache_read_tokens,
                                                cache_write_tokens, actual_cost_usd, cost_status, first_seen, last_seen)
                 VALUES ('across', 'big', '', 3, 100, 300, 100, 0.0, NULL, 50000.0, 100500.0),
                        ('across', 'big', 'title', 1, 10, 0, 0, 0.5, 'actual', 50000.0, 100500.0),
                        ('across', 'older', '', 7, 700, 0, 0, 0.0, NULL, 50000.0, 60000.0);"#,
        )
        .unwrap();
}

fn window() -> InsightsFilter {
    InsightsFilter { since: 100_000.0, until: 200_000.0, ..InsightsFilter::default() }
}

fn named(names: &[(&str, u64)]) -> Vec<Count> {
    names.iter().map(|&(name, count)| Count { name: name.to_owned(), count }).collect()
}

fn share(name: &str, sessions: u64, messages: u64, api_calls: u64, usage: Usage) -> Share {
    Share { name: name.to_owned(), sessions, messages, api_calls, usage }
}

#[tokio::test]
async fn only_activity_in_the_period_counts() {
    let desk = Desk::new();
    across(&desk);
    let found = desk.db.insights(window()).await.unwrap();
    let big = Usage { input: 110, cache_read: 300, cache_write: 100, ..Usage::default() };
    let plain = Usage { input: 30, output: 20, ..Usage::default() };
    let mut all = big;
    all += plain;
    let longest = SessionUse {
        id: hermes_conversation::SessionId::new("across"),
        title: Some("The long one".into()),
        preview: "first entry".into(),
        source: "cli".into(),
        started_at: 50_000.0,
        messages: 5,
        api_calls: 4,
        usage: big,
        active_seconds: 100.0,
    };
    let after = SessionUse {
        id: hermes_conversation::SessionId::new("after"),
        title: None,
        preview: "hello".into(),
        source: "telegram".into(),
        started_at: 100_000.0,
        messages: 3,
        api_calls: 2,
        usage: plain,
        active_seconds: 20.0,
    };
    let want = Insights {
        approvals: hermes_store::ApprovalCounts::default(),
        sessions: 3,
        messages: MessageCounts { user: 2, assistant: 2, tool: 3, other: 1 },
        tool_calls: 3,
        api_calls: 6,
        usage: all,
        cost: CostSummary {
            estimated_usd: Some(0.25),
            actual_usd: Some(0.5),
            included_sessions: 0,
            unknown_sessions: 1,
        },
        active_seconds: 120.0,
        models: vec![share("big", 1, 0, 4, big), share("plain", 1, 0, 2, plain)],
        sources: vec![
            share("cli", 1, 5, 4, big),
            share("telegram", 1, 3, 2, plain),
            share("cron", 1, 0, 0, Usage::default()),
        ],
        tools: named(&[("terminal", 2), ("todo", 1)]),
        turn_exits: vec![],
        session_ends: named(&[("session_reset", 1), ("unknown", 1)]),
        quarters: vec![Quarter { at: 99_900, messages: 7 }, Quarter { at: 100_800, messages: 1 }],
        top_sessions: vec![longest.clone(), after.clone()],
        longest: Some(longest.clone()),
    };
    assert_eq!(found, want);
    assert_eq!(found.cache_hit_rate(), Some(300.0 / 540.0));
    let one = InsightsFilter { top: 1, ..window() };
    assert_eq!(desk.db.top_sessions(one).await.unwrap(), [longest]);
    let telegram = InsightsFilter { source: Some("telegram".into()), ..window() };
    assert_eq!(desk.db.top_sessions(telegram.clone()).await.unwrap(), [after]);
    let found = desk.db.insights(telegram).await.unwrap();
    assert_eq!((found.sessions, found.messages.total(), found.usage), (1, 3, plain));
}

#[tokio::test]
async fn empty_period_is_all_zero() {
    let desk = Desk::new();
    assert_eq!(desk.db.insights(InsightsFilter::default()).await.unwrap(), Insights::default());
    across(&desk);
    let later = InsightsFilter { since: 300_000.0, until: 400_000.0, ..window() };
    assert_eq!(desk.db.insights(later.clone()).await.unwrap(), Insights::default());
    assert_eq!(desk.db.top_sessions(later).await.unwrap(), []);
    assert_eq!(Insights::default().cache_hit_rate(), None);
}

#[tokio::test]
async fn turns_are_counted_by_exit_reason() {
    let desk = Desk::new();
    let lease = desk.lease("a").await;
    let turn = desk.open(&lease, "list it").await;
    let intents = [intent("c1", IntentState::Started)];
    let permits = desk.db.plan(&lease, &turn, &reply(&["c1"]), Some(&spent(10)), &intents).await.unwrap();
    let asked = call("c1");
    let message = ToolMessage::new(asked.id, asked.name, "a".to_owned());
    let result = Settled { intent: permits.ids[0], state: IntentState::Done, message };
    let settlement = Settlement { results: vec![result], ..Settlement::default() };
    desk.db.settle(&lease, &turn, settlement).await.unwrap();
    desk.db.close(&lease, turn, closing("done")).await.unwrap();
    desk.say(&lease, "again", "yes").await;
    desk.open(&lease, "never answered").await;
    let found = desk.db.insights(InsightsFilter::default()).await.unwrap();
    assert_eq!(found.turn_exits, named(&[("text_response", 2), ("open", 1)]));
    assert_eq!(found.tools, named(&[("terminal", 1)]));
    assert_eq!(found.models, [share("m", 1, 0, 1, spent(10).usage)]);
    assert_eq!((found.tool_calls, found.messages.tool, found.cost.unknown_sessions), (1, 1, 1));
    let elsewhere = InsightsFilter { source: Some("cron".into()), ..InsightsFilter::default() };
    assert_eq!(desk.db.insights(elsewhere).await.unwrap(), Insights::default());
}
