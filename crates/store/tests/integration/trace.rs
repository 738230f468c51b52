//! Observations of a turn are recorded with its commits, and read back.

use crate::desk::{Desk, closing, intent, owner, reply, session, texts};
use hermes_conversation::{
    CacheEntry, CallEnd, Closing, Cost, IntentId, IntentState, Lease, ModelCall, Money, OpenTurn,
    PrefixDigest, PrefixStatus, SessionId, Settled, Settlement, ToolMessage, TraceSpan, Transcript, Usage,
};
use hermes_store::{TraceEnd, TurnTrace};
use std::time::Duration;

fn asked(turn: &OpenTurn, attempt: u32, end: CallEnd) -> TraceSpan {
    let is_reply = matches!(end, CallEnd::Replied(_));
    let cost = Cost { estimated: Money::parse("0.5"), ..Cost::default() };
    let call = ModelCall {
        took: Duration::from_millis(1500),
        first_byte: is_reply.then_some(Duration::from_millis(200)),
        provider: "p".into(),
        model: "m".into(),
        attempt,
        end,
        usage: is_reply.then(|| Usage { input: 10, output: 2, ..Usage::default() }),
        cost: is_reply.then_some(cost),
        partial: (end == CallEnd::Stopped).then(|| "half of".into()),
        cache: CacheEntry {
            status: PrefixStatus::Extends,
            kept: 30,
            lost: 0,
            has_tools: true,
            mark: PrefixDigest {
                tools: 1,
                system: u64::MAX,
                count: 3,
                messages: 4,
                bytes: u64::from(attempt),
            },
        },
    };
    TraceSpan::ModelCall { turn: turn.id, call: Box::new(call) }
}

fn ended(intent: IntentId, id: &str) -> Settled {
    let call = crate::desk::call(id);
    Settled { intent, state: IntentState::Done, message: ToolMessage::new(call.id, call.name, "ok") }
}

async fn trace(desk: &Desk, lease: &Lease, number: Option<u64>) -> Option<TurnTrace> {
    desk.db.trace(&lease.session, number).await.unwrap()
}

#[tokio::test]
async fn cache_ledger_has_every_request_and_the_last_ones() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "hi").await;
    desk.db.note_span(asked(&turn, 1, CallEnd::Failed("timeout")));
    desk.db.note_span(asked(&turn, 2, CallEnd::Replied("stop")));
    let closing = Closing { message: None, spent: None, exit_reason: "done".into() };
    desk.db.close(&lease, turn, closing).await.unwrap();
    let ledger = desk.db.cache_ledger(&lease.session).await.unwrap();
    let seen: Vec<_> =
        ledger.iter().map(|entry| (entry.turn, entry.was_answered, entry.cache.mark.bytes)).collect();
    assert_eq!(seen, [(1, false, 1), (1, true, 2)]);
    let last = desk.db.last_sent(&lease.session).await.unwrap();
    let seen: Vec<_> = last.iter().map(|sent| (sent.model.as_str(), sent.has_tools, sent.mark)).collect();
    assert_eq!(seen, [("m", true, ledger[1].cache.mark)]);
    assert!(desk.db.cache_ledger(&SessionId::new("other")).await.unwrap().is_empty());
}

#[tokio::test]
async fn observations_have_their_own_times_and_cost_no_commit() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "hi").await;
    let before = desk.db.stats();
    desk.db.note_span(asked(&turn, 1, CallEnd::Replied("tool_calls")));
    let started = IntentState::Started;
    let intents = [intent("a", started), intent("b", started)];
    let ids = desk.db.plan(&lease, &turn, &reply(&["a", "b"]), None, &intents).await.unwrap().ids;
    for (id, millis) in [(ids[1], 100), (ids[0], 2500)] {
        desk.db.note_span(TraceSpan::ToolRan { intent: id, took: Duration::from_millis(millis) });
    }
    let results = vec![ended(ids[0], "a"), ended(ids[1], "b")];
    desk.db.settle(&lease, &turn, Settlement { results, ..Settlement::default() }).await.unwrap();
    desk.db.note_span(asked(&turn, 1, CallEnd::Stopped));
    desk.db.close(&lease, turn, closing("done")).await.unwrap();
    let after = desk.db.stats();
    assert_eq!((after.commits - before.commits, after.full_commits - before.full_commits), (3, 3));

    let found = trace(&desk, &lease, None).await.unwrap();
    assert_eq!(found.end, TraceEnd::Closed { exit_reason: "text_response".into() });
    let calls: Vec<_> = found.calls.iter().map(|call| (call.outcome.as_str(), call.why.as_str())).collect();
    assert_eq!(calls, [("replied", "tool_calls"), ("stopped", "")]);
    let first = &found.calls[0];
    assert_eq!((first.first_byte_ms, first.cost_usd, first.usage.unwrap().input), (Some(200), Some(0.5), 10));
    let took = |from: f64, to: f64| ((to - from) * 1000.0).round() as u64;
    assert_eq!(took(first.started_at, first.ended_at), 1500);
    let tools: Vec<_> =
        found.tools.iter().map(|tool| took(tool.started_at.unwrap(), tool.ended_at.unwrap())).collect();
    assert_eq!(tools, [2500, 100], "each has its own time, though one commit recorded both");
    assert_eq!(found.calls[1].partial.as_deref(), Some("half of"));
    let stopped = desk.db.partial_replies(&lease.session).await.unwrap();
    let messages = desk.db.messages(&lease.session, hermes_store::Include::Originals).await.unwrap();
    assert_eq!(stopped, [(messages.last().unwrap().id, "half of".to_owned())], "beside the closing message");
    // Other turns are not mixed in, and an unknown turn is not found.
    assert_eq!((found.number, found.turns), (1, 1));
    desk.say(&lease, "again", "yes").await;
    let second = trace(&desk, &lease, None).await.unwrap();
    assert_eq!((second.number, second.turns, second.calls.len()), (2, 2, 0));
    assert_eq!(trace(&desk, &lease, Some(1)).await.unwrap().calls.len(), 2);
    assert_eq!(trace(&desk, &lease, Some(3)).await, None);
}

#[tokio::test]
async fn killed_turn_is_reported_before_and_after_recovery() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "hi").await;
    // Written at once: no other commit follows before the next reply.
    desk.db.note_span(asked(&turn, 1, CallEnd::Failed("overloaded")));
    let started = [intent("a", IntentState::Started)];
    desk.db.note_span(asked(&turn, 2, CallEnd::Replied("tool_calls")));
    desk.db.plan(&lease, &turn, &reply(&["a"]), None, &started).await.unwrap();

    let alive = desk.db.clone().with_liveness(|_| true);
    assert_eq!(alive.trace(&lease.session, None).await.unwrap().unwrap().end, TraceEnd::Running);
    let other = desk.again();
    let open = trace(&other, &lease, None).await.unwrap();
    assert_eq!((open.end, open.closed_at), (TraceEnd::Killed, None));
    let outcomes: Vec<_> = open.calls.iter().map(|call| (call.attempt, call.outcome.as_str())).collect();
    assert_eq!(outcomes, [(1, "failed"), (2, "replied")]);

    let taken = other.db.acquire(session("s"), owner(2)).await.unwrap();
    other.db.recover(&taken.lease, texts(), Vec::new()).await.unwrap();
    let closed = trace(&other, &lease, None).await.unwrap();
    let tool = &closed.tools[0];
    assert_eq!((closed.end, tool.state, tool.ended_at), (TraceEnd::Killed, IntentState::Unknown, None));

    other.db.release(&taken.lease).await.unwrap();
    other.db.delete(&lease.session).await.unwrap();
    let left: i64 = desk.raw().query_row("SELECT COUNT(*) FROM hx_spans", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "spans go with their session");
}
