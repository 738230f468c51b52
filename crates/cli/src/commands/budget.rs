//! `hermes budget`: spending, reservations and what is left.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use clap::Args;
use hermes_config::settings::BudgetSettings;
use hermes_conversation::Money;
use hermes_runtime::Budget;
use hermes_store::{Spending, SpendingRow};
use hermes_terminal::text::counted;
use hermes_terminal::{print, term};
use serde_json::{Value, json};

/// Show spending today or in a session, and the remaining budget
///
/// The limits are the settings budget.day_usd and budget.session_usd, in dollars. A call that could exceed a limit is
/// not made: its price is reserved before it is sent, at two bytes of the request to a token and as many tokens of
/// reply as it may have. Reservations of interrupted calls count as spent, because the provider may have billed them.
///
/// Days are days of local time.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes budget
  hermes budget latest
  hermes config set budget.day_usd 5")]
pub(crate) struct BudgetArgs {
    /// Show one session, over all days: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION")]
    session: Option<String>,
}

pub(crate) async fn run(args: &BudgetArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let budget = Budget::read(runtime.config())?;
    let session = match &args.session {
        Some(which) => Some(runtime.store()?.resolve(which).await?),
        None => None,
    };
    // Nothing was spent without a database; it is not created here.
    let found = match runtime.home().state_db().exists() {
        true => launch::store(&runtime)?.spending(session.as_ref().map(|id| id.as_str())).await,
        false => Ok(Spending::default()),
    };
    runtime.leave().await;
    let spending = found?;
    let (what, key, limit) = match &session {
        Some(id) => (format!("session {id}"), BudgetSettings::session_usd.name, budget.limits.session),
        None => ("today".to_owned(), BudgetSettings::day_usd.name, budget.limits.day),
    };
    match common.json {
        true => {
            let id = session.as_ref().map(|id| id.as_str());
            print::json(&as_json(&spending, id, &budget));
        }
        false => {
            print::lines(report(&spending, &what, key, limit).iter().map(|line| term::printable(line)));
        }
    }
    Ok(Exit::Answered)
}

fn report(spending: &Spending, what: &str, key: &str, limit: Option<Money>) -> Vec<String> {
    let Spending { charged, uncertain, reserved, rows, .. } = spending;
    let mut lines = vec![format!("{:<12}{charged}  {what}", "spent")];
    if *uncertain > Money::ZERO {
        lines
            .push(format!("{:<12}{uncertain}  of it reserved for interrupted calls; perhaps not billed", ""));
    }
    if *reserved > Money::ZERO {
        lines.push(format!("{:<12}{reserved}  for running calls", "reserved"));
    }
    lines.push(match limit {
        Some(limit) => {
            let left = limit.saturating_sub(*charged + *reserved);
            format!("{:<12}{left}  of {limit} ({key})", "left")
        }
        None => format!("{:<12}no limit; set one with `hermes config set {key} AMOUNT`", "left"),
    });
    if !rows.is_empty() {
        lines.push(String::new());
    }
    lines.extend(rows.iter().map(row_line));
    lines
}

fn row_line(row: &SpendingRow) -> String {
    let SpendingRow { provider, model, task, calls, usage, charged, unpriced, .. } = row;
    let task = if task.is_empty() { String::new() } else { format!(" for {task}") };
    let unpriced = match unpriced {
        0 => String::new(),
        count => format!(", {count} of them at an unknown price"),
    };
    let (input, output) = (usage.prompt(), usage.output);
    let calls = counted(*calls, "call");
    format!("{charged:>12}  {provider}/{model}{task}: {calls}, {input} tokens in, {output} out{unpriced}")
}

fn as_json(spending: &Spending, session: Option<&str>, budget: &Budget) -> Value {
    let dollars = |amount: Option<Money>| amount.map(Money::dollars);
    let rows: Vec<Value> = spending
        .rows
        .iter()
        .map(|row| {
            json!({
                "provider": row.provider, "model": row.model, "task": row.task, "calls": row.calls,
                "input_tokens": row.usage.input, "output_tokens": row.usage.output,
                "cache_read_tokens": row.usage.cache_read, "cache_write_tokens": row.usage.cache_write,
                "reasoning_tokens": row.usage.reasoning, "spent_usd": row.charged.dollars(),
                "uncertain_usd": row.uncertain.dollars(), "unpriced_calls": row.unpriced,
            })
        })
        .collect();
    json!({
        "day": (!spending.day.is_empty()).then_some(&spending.day),
        "session": session,
        "spent_usd": spending.charged.dollars(),
        "uncertain_usd": spending.uncertain.dollars(),
        "reserved_usd": spending.reserved.dollars(),
        "limits": { "session_usd": dollars(budget.limits.session), "day_usd": dollars(budget.limits.day) },
        "unknown_price": if budget.allows_unknown { "allow" } else { "block" },
        "rows": rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::Usage;

    #[test]
    fn report_shows_rest_and_reservations() {
        let dollars = |text| Money::parse(text).unwrap();
        let row = SpendingRow {
            provider: "p".into(),
            model: "m".into(),
            task: "compression".into(),
            calls: 3,
            usage: Usage { input: 10, output: 2, cache_read: 5, ..Usage::default() },
            charged: dollars("1.25"),
            uncertain: dollars("0.25"),
            unpriced: 1,
        };
        let spending = Spending {
            day: "2026-11-15".into(),
            charged: row.charged,
            uncertain: row.uncertain,
            reserved: dollars("0.5"),
            rows: vec![row],
        };
        let lines = report(&spending, "today", "budget.day_usd", Some(dollars("5")));
        let want = [
            "spent       $1.25  today",
            "            $0.25  of it reserved for interrupted calls; perhaps not billed",
            "reserved    $0.50  for running calls",
            "left        $3.25  of $5.00 (budget.day_usd)",
            "",
            "       $1.25  p/m for compression: 3 calls, 15 tokens in, 2 out, 1 of them at an unknown price",
        ];
        assert_eq!(lines, want);
        let lines = report(&Spending::default(), "today", "budget.day_usd", None);
        let want = [
            "spent       $0.00  today",
            "left        no limit; set one with `hermes config set budget.day_usd AMOUNT`",
        ];
        assert_eq!(lines, want);
    }
}
