//! The table of tokens and costs per session and model, which exists since version 20.

use super::columns::columns;
use super::steps::OldFile;
use crate::sessions::schema;
use rusqlite::Result;

/// Rebuilds the table: since version 22 the task is part of its key, and a key cannot be altered.
pub(super) fn rebuild(old: &OldFile<'_>) -> Result<()> {
    let before = columns(old.db, "session_model_usage")?;
    if before.iter().any(|column| column.name == "task" && column.in_key) {
        return Ok(());
    }
    old.db.execute_batch(
        "DROP TABLE IF EXISTS temp.hx_usage_before;
         CREATE TEMP TABLE hx_usage_before AS SELECT * FROM main.session_model_usage;
         DROP TABLE main.session_model_usage;",
    )?;
    old.db.execute_batch(schema::TABLES)?;
    let declared = columns(old.db, "session_model_usage")?;
    let shared: Vec<_> = declared
        .iter()
        .map(|column| column.name.as_str())
        .filter(|name| before.iter().any(|column| column.name == *name))
        .collect();
    let shared = shared.join(", ");
    old.db.execute_batch(&format!(
        "INSERT INTO main.session_model_usage ({shared}) SELECT {shared} FROM temp.hx_usage_before;
         DROP TABLE temp.hx_usage_before;"
    ))
}

/// Adds rows for sessions from before version 20, which have only totals. Existing rows are kept.
pub(super) fn back_fill(old: &OldFile<'_>) -> Result<()> {
    if old.version >= 20 {
        return Ok(());
    }
    old.db.execute_batch(
        "INSERT OR IGNORE INTO session_model_usage (
             session_id, model, billing_provider, billing_base_url, billing_mode, api_call_count,
             input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
             estimated_cost_usd, actual_cost_usd, cost_status, cost_source, first_seen, last_seen)
         SELECT id, IFNULL(model, 'unknown'), IFNULL(billing_provider, ''), IFNULL(billing_base_url, ''),
                IFNULL(billing_mode, ''), IFNULL(api_call_count, 0), ins, outs, reads, writes, thoughts,
                IFNULL(estimated_cost_usd, 0), IFNULL(actual_cost_usd, 0), cost_status, cost_source,
                started_at, IFNULL(ended_at, started_at)
         FROM (SELECT *, IFNULL(input_tokens, 0) AS ins, IFNULL(output_tokens, 0) AS outs,
                      IFNULL(cache_read_tokens, 0) AS reads, IFNULL(cache_write_tokens, 0) AS writes,
                      IFNULL(reasoning_tokens, 0) AS thoughts
               FROM sessions WHERE id IS NOT NULL)
         WHERE ins + outs + reads + writes + thoughts > 0",
    )
}
