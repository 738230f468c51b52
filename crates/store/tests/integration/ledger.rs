//! Costs of calls, and budgets: no two calls reserve the same money.

use crate::desk::{Desk, closing, spent};
use hermes_conversation::{Bill, Cost, CostStatus, Money, SessionId, SpentCall, Transcript, Usage};
use hermes_store::{LimitExceeded, Reservation, Reserved, SpendLimit, SpendLimits, Spending, SpendingRow};

fn money(units: u64) -> Money {
    Money::from_units(units)
}

fn reservation(session: &str, units: u64) -> Reservation {
    Reservation {
        session: session.into(),
        provider: "p".into(),
        model: "m".into(),
        task: String::new(),
        amount: money(units),
    }
}

fn limits(session: Option<u64>, day: Option<u64>) -> SpendLimits {
    SpendLimits { session: session.map(money), day: day.map(money) }
}

fn billed(task: &str, charged: u64, reservations: Vec<i64>) -> SpentCall {
    let estimated = Some(money(charged));
    let cost = Cost { estimated, actual: None, status: CostStatus::Estimated, source: "user_override" };
    let bill = Bill { cost, charged: money(charged), reservations, ..Bill::default() };
    SpentCall { task: task.into(), bill, ..spent(10) }
}

async fn reserve(desk: &Desk, request: Reservation, limits: SpendLimits) -> Result<i64, LimitExceeded> {
    match desk.db.reserve(request, limits).await.unwrap() {
        Reserved::Granted(id) => Ok(id),
        Reserved::Refused(refused) => Err(refused),
    }
}

#[tokio::test]
async fn reservation_counts_until_it_is_spent() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "hello").await;
    let limits = limits(Some(100), None);
    let id = reserve(&desk, reservation("s", 60), limits).await.unwrap();
    let refused =
        LimitExceeded { by: SpendLimit::Session, limit: money(100), spent: Money::ZERO, reserved: money(60) };
    assert_eq!(reserve(&desk, reservation("s", 41), limits).await, Err(refused));
    // Recording the reply counts its cost and releases the rest, in one commit.
    let mut closing = closing("hi");
    closing.spent = Some(billed("", 25, vec![id]));
    desk.db.close(&lease, turn, closing).await.unwrap();
    let refused = LimitExceeded { spent: money(25), reserved: Money::ZERO, ..refused };
    assert_eq!(reserve(&desk, reservation("s", 76), limits).await, Err(refused));
    reserve(&desk, reservation("s", 75), limits).await.unwrap();
    // Another session has its own limit.
    reserve(&desk, reservation("t", 100), limits).await.unwrap();
}

#[tokio::test]
async fn session_and_its_sub_agents_share_one_limit() {
    let desk = Desk::new();
    for id in ["a", "helper", "deep", "branch", "next", "other"] {
        desk.lease(id).await;
    }
    let link = |id: &str, parent: &str, marks: &str| {
        let sql = "UPDATE sessions SET parent_session_id = ?2, model_config = ?3 WHERE id = ?1";
        desk.raw().execute(sql, [id, parent, marks]).unwrap();
    };
    link("helper", "a", r#"{"_delegate_from": "a", "_delegate_call": "c"}"#);
    link("deep", "helper", r#"{"_delegate_from": "helper"}"#);
    link("branch", "a", r#"{"_branched_from": "a"}"#);
    link("next", "a", "");
    let limits = limits(Some(100), None);
    for (id, charged) in [("a", 10), ("helper", 20), ("deep", 30), ("branch", 500), ("next", 500)] {
        desk.db.count_call(id, billed("", charged, vec![])).await.unwrap();
    }
    reserve(&desk, reservation("deep", 15), limits).await.unwrap();
    // Read by another process, as after a resume: each of them has 25 left.
    for id in ["a", "helper", "deep"] {
        let refused = reserve(&desk.again(), reservation(id, 26), limits).await.unwrap_err();
        assert_eq!(
            (refused.by, refused.spent, refused.reserved),
            (SpendLimit::Session, money(60), money(15))
        );
        let Spending { charged, reserved, rows, .. } = desk.db.spending(Some(id)).await.unwrap();
        assert_eq!((charged, reserved, rows[0].calls), (money(60), money(15), 3), "{id}");
    }
    reserve(&desk, reservation("helper", 25), limits).await.unwrap();
    assert!(reserve(&desk, reservation("a", 1), limits).await.is_err());
    // Branches and continuations have a budget of their own.
    for id in ["branch", "next"] {
        assert_eq!(reserve(&desk, reservation(id, 1), limits).await.unwrap_err().spent, money(500), "{id}");
    }
    reserve(&desk, reservation("other", 100), limits).await.unwrap();
    // Cycles of links end.
    link("a", "deep", r#"{"_delegate_from": "deep"}"#);
    assert_eq!(desk.db.spending(Some("a")).await.unwrap().charged, money(60));
}

#[tokio::test]
async fn daily_limit_holds_for_all_sessions() {
    let desk = Desk::new();
    let limits = limits(Some(80), Some(100));
    reserve(&desk, reservation("s", 60), limits).await.unwrap();
    let refused = reserve(&desk.again(), reservation("t", 41), limits).await.unwrap_err();
    assert_eq!((refused.by, refused.reserved), (SpendLimit::Day, money(60)));
    reserve(&desk, reservation("t", 40), limits).await.unwrap();
    // Nothing is left, so only free calls are granted.
    assert!(reserve(&desk, reservation("u", 1), limits).await.is_err());
    reserve(&desk, reservation("u", 0), limits).await.unwrap();
}

#[tokio::test]
async fn calls_of_a_dead_process_count_in_full() {
    let desk = Desk::new();
    let id = reserve(&desk, reservation("s", 60), limits(Some(100), None)).await.unwrap();
    desk.raw().execute("UPDATE hx_reservations SET pid = 4000000, started = 1 WHERE id = ?1", [id]).unwrap();
    let refused = reserve(&desk, reservation("s", 41), limits(Some(100), None)).await.unwrap_err();
    assert_eq!((refused.spent, refused.reserved), (money(60), Money::ZERO));
    let spending = desk.db.spending(Some("s")).await.unwrap();
    assert_eq!((spending.charged, spending.uncertain), (money(60), money(60)));
}

#[tokio::test]
async fn interrupted_call_is_uncertain_and_refused_call_leaves_no_row() {
    let desk = Desk::new();
    let limits = limits(Some(100), None);
    let away = reserve(&desk, reservation("s", 60), limits).await.unwrap();
    let freed = Bill { reservations: vec![away], ..Bill::default() };
    desk.db
        .count_call("s", SpentCall { calls: 0, usage: Usage::default(), bill: freed, ..spent(0) })
        .await
        .unwrap();
    let spending = desk.db.spending(Some("s")).await.unwrap();
    assert_eq!((spending.rows.len(), spending.reserved), (0, Money::ZERO));
    let broken = reserve(&desk, reservation("s", 60), limits).await.unwrap();
    let bill =
        Bill { charged: money(60), uncertain: money(50), reservations: vec![broken], ..Bill::default() };
    desk.db.count_call("s", SpentCall { bill, ..spent(1) }).await.unwrap();
    let spending = desk.db.spending(Some("s")).await.unwrap();
    assert_eq!(
        (spending.charged, spending.uncertain, spending.reserved),
        (money(60), money(50), Money::ZERO)
    );
}

#[tokio::test]
async fn ledger_and_shared_totals_agree() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "hello").await;
    for (task, charged) in [("", 20), ("compression", 5), ("", 7)] {
        desk.db.count_call("s", billed(task, charged, vec![])).await.unwrap();
    }
    // An unknown price makes the total unknown; a call without a session is in no shared table.
    desk.db.count_call("s", spent(1)).await.unwrap();
    desk.db.count_call("", billed("title", 3, vec![])).await.unwrap();
    desk.db.close(&lease, turn, closing("hi")).await.unwrap();
    let usage = |input: u64, calls: u64| Usage {
        input,
        output: 2 * calls,
        cache_read: 3 * calls,
        cache_write: 4 * calls,
        reasoning: 5 * calls,
    };
    let row = |task: &str, calls, input, charged, unpriced| SpendingRow {
        provider: "p".into(),
        model: "m".into(),
        task: task.into(),
        calls,
        usage: usage(input, calls),
        charged: money(charged),
        uncertain: Money::ZERO,
        unpriced,
    };
    let Spending { charged, rows, .. } = desk.db.spending(Some("s")).await.unwrap();
    assert_eq!((charged, rows), (money(32), vec![row("", 3, 21, 27, 1), row("compression", 1, 10, 5, 0)]));
    let today = desk.db.spending(None).await.unwrap();
    assert_eq!((today.charged, today.rows.len(), today.day.len()), (money(35), 3, 10));
    let raw = desk.raw();
    let sums: (i64, i64, f64, String, String) = raw
        .query_row(
            "SELECT api_call_count, input_tokens, estimated_cost_usd, cost_status, cost_source FROM sessions",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )
        .unwrap();
    assert_eq!((sums.0, sums.1, sums.3.as_str(), sums.4.as_str()), (4, 31, "unknown", "user_override"));
    assert!((sums.2 - money(32).dollars()).abs() < 1e-15);
    let by_task: Vec<(String, i64, String)> = raw
        .prepare("SELECT task, api_call_count, cost_status FROM session_model_usage ORDER BY task")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        by_task,
        [(String::new(), 3, "unknown".into()), ("compression".into(), 1, "estimated".into())]
    );
}

#[tokio::test]
async fn spending_outlives_its_session() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    desk.say(&lease, "hello", "hi").await;
    desk.db.count_call("s", billed("", 20, vec![])).await.unwrap();
    desk.db.release(&lease).await.unwrap();
    desk.db.delete(&SessionId::new("s")).await.unwrap();
    assert_eq!(desk.db.spending(None).await.unwrap().charged, money(20));
}

#[tokio::test]
async fn concurrent_reservations_never_exceed_the_limit() {
    let desk = Desk::new();
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let other = desk.again();
            tokio::spawn(async move {
                let mut granted = 0;
                for _ in 0..20 {
                    granted += u64::from(
                        reserve(&other, reservation("s", 7), limits(None, Some(500))).await.is_ok(),
                    );
                }
                granted
            })
        })
        .collect();
    let mut granted = 0;
    for task in tasks {
        granted += task.await.unwrap();
    }
    assert_eq!(granted, 500 / 7);
}
