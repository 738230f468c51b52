//! Records the cost of model calls: in the shared counters of the session, in the shared totals per model,
//! and in our own ledger by day, which budgets use.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::rows::counts::stored;
use hermes_conversation::{CostStatus, Money, SpentCall};
use rusqlite::{Connection, params};

/// Cost statuses by decreasing certainty; a total has the status of its least certain part.
const STATUSES: &str = "included actual estimated unknown";

/// Counts a call and releases its reservations.
pub(crate) fn count(db: &Connection, session: &str, call: &SpentCall, at: f64) -> Result<(), StoreError> {
    let counted = (|| {
        if call.calls > 0 {
            add_to_session(db, session, call)?;
            add_to_model_usage(db, session, call, at)?;
        }
        let amounts = Amounts { charged: call.bill.charged, uncertain: call.bill.uncertain };
        if call.calls > 0 || amounts.charged > Money::ZERO {
            add_to_ledger(db, &LedgerKey::of(session, call), amounts, Some(call), at)?;
        }
        release_reservations(db, &call.bill.reservations)
    })();
    counted.doing("record the cost of a call")
}

fn add_to_session(db: &Connection, session: &str, call: &SpentCall) -> rusqlite::Result<()> {
    let (usage, cost) = (&call.usage, &call.bill.cost);
    db.prepare_cached(&format!(
        "UPDATE sessions SET api_call_count = COALESCE(api_call_count, 0) + ?9,
             input_tokens = COALESCE(input_tokens, 0) + ?2,
             output_tokens = COALESCE(output_tokens, 0) + ?3,
             cache_read_tokens = COALESCE(cache_read_tokens, 0) + ?4,
             cache_write_tokens = COALESCE(cache_write_tokens, 0) + ?5,
             reasoning_tokens = COALESCE(reasoning_tokens, 0) + ?6,
             billing_provider = COALESCE(billing_provider, ?7),
             billing_base_url = COALESCE(billing_base_url, ?8),
             estimated_cost_usd = CASE WHEN ?10 IS NULL THEN estimated_cost_usd
                                       ELSE COALESCE(estimated_cost_usd, 0) + ?10 END,
             actual_cost_usd = CASE WHEN ?11 IS NULL THEN actual_cost_usd
                                    ELSE COALESCE(actual_cost_usd, 0) + ?11 END,
             cost_status = CASE WHEN instr('{STATUSES}', COALESCE(cost_status, '')) >= instr('{STATUSES}', ?12)
                                     AND cost_status <> '' THEN cost_status ELSE ?12 END,
             cost_source = CASE WHEN ?13 = '' THEN cost_source ELSE ?13 END
         WHERE id = ?1"
    ))?
    .execute(params![
        session,
        stored(usage.input),
        stored(usage.output),
        stored(usage.cache_read),
        stored(usage.cache_write),
        stored(usage.reasoning),
        call.provider,
        call.base_url,
        stored(call.calls),
        cost.estimated.map(Money::dollars),
        cost.actual.map(Money::dollars),
        cost.status.as_str(),
        cost.source,
    ])?;
    Ok(())
}

/// Adds a call to the totals per model; calls without a stored session have none.
fn add_to_model_usage(db: &Connection, session: &str, call: &SpentCall, at: f64) -> rusqlite::Result<()> {
    let (usage, cost) = (&call.usage, &call.bill.cost);
    db.prepare_cached(&format!(
        "INSERT INTO session_model_usage (session_id, model, billing_provider, billing_base_url,
             billing_mode, task, api_call_count, input_tokens, output_tokens, cache_read_tokens,
             cache_write_tokens, reasoning_tokens, first_seen, last_seen,
             estimated_cost_usd, actual_cost_usd, cost_status, cost_source)
         SELECT ?1, ?2, ?3, ?4, '', ?12, ?11, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?13, ?14, ?15, NULLIF(?16, '')
         WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1)
         ON CONFLICT DO UPDATE SET
             api_call_count = api_call_count + excluded.api_call_count,
             input_tokens = input_tokens + excluded.input_tokens,
             output_tokens = output_tokens + excluded.output_tokens,
             cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
             cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
             reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
             estimated_cost_usd = estimated_cost_usd + excluded.estimated_cost_usd,
             actual_cost_usd = actual_cost_usd + excluded.actual_cost_usd,
             cost_status = CASE WHEN instr('{STATUSES}', COALESCE(cost_status, '')) >= instr('{STATUSES}', excluded.cost_status)
                                     AND cost_status <> '' THEN cost_status ELSE excluded.cost_status END,
             cost_source = COALESCE(excluded.cost_source, cost_source),
             last_seen = excluded.last_seen"
    ))?
    .execute(params![
        session,
        call.model,
        call.provider,
        call.base_url,
        stored(usage.input),
        stored(usage.output),
        stored(usage.cache_read),
        stored(usage.cache_write),
        stored(usage.reasoning),
        at,
        stored(call.calls),
        call.task,
        cost.estimated.unwrap_or_default().dollars(),
        cost.actual.unwrap_or_default().dollars(),
        cost.status.as_str(),
        cost.source,
    ])?;
    Ok(())
}

/// The key of a ledger row.
pub(crate) struct LedgerKey<'a> {
    pub(crate) session: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    pub(crate) task: &'a str,
}

impl<'a> LedgerKey<'a> {
    fn of(session: &'a str, call: &'a SpentCall) -> Self {
        Self { session, provider: &call.provider, model: &call.model, task: &call.task }
    }
}

/// Amounts to add to a ledger row.
pub(crate) struct Amounts {
    pub(crate) charged: Money,
    /// The part that may not have been spent.
    pub(crate) uncertain: Money,
}

/// Adds amounts to the ledger row of the local day of `at`.
pub(crate) fn add_to_ledger(
    db: &Connection,
    key: &LedgerKey<'_>,
    amounts: Amounts,
    call: Option<&SpentCall>,
    at: f64,
) -> rusqlite::Result<()> {
    let usage = call.map(|call| call.usage).unwrap_or_default();
    let calls = call.map_or(0, |call| call.calls);
    let is_unpriced = call.is_some_and(|call| call.bill.cost.status == CostStatus::Unknown);
    db.prepare_cached(
        "INSERT INTO hx_ledger (session, day, provider, model, task, calls, input, output, cache_read,
             cache_write, reasoning, charged, uncertain, unpriced)
         VALUES (?1, date(?2, 'unixepoch', 'localtime'), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT DO UPDATE SET
             calls = calls + excluded.calls,
             input = input + excluded.input,
             output = output + excluded.output,
             cache_read = cache_read + excluded.cache_read,
             cache_write = cache_write + excluded.cache_write,
             reasoning = reasoning + excluded.reasoning,
             charged = charged + excluded.charged,
             uncertain = uncertain + excluded.uncertain,
             unpriced = unpriced + excluded.unpriced",
    )?
    .execute(params![
        key.session,
        at,
        key.provider,
        key.model,
        key.task,
        stored(calls),
        stored(usage.input),
        stored(usage.output),
        stored(usage.cache_read),
        stored(usage.cache_write),
        stored(usage.reasoning),
        stored(amounts.charged.units()),
        stored(amounts.uncertain.units()),
        stored(if is_unpriced { calls } else { 0 }),
    ])?;
    Ok(())
}

pub(crate) fn release_reservations(db: &Connection, reservations: &[i64]) -> rusqlite::Result<()> {
    for id in reservations {
        db.prepare_cached("DELETE FROM hx_reservations WHERE id = ?1")?.execute([id])?;
    }
    Ok(())
}
