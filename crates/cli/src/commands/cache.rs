//! `hermes cache report`: cache hits of each request, and reasons for misses.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use clap::{Args, Subcommand};
use hermes_conversation::{Money, PrefixStatus};
use hermes_runtime::{Prices, list_prices};
use hermes_store::CacheLedgerEntry;
use hermes_terminal::print;
use hermes_terminal::term::{self, Style};
use hermes_terminal::text::counted;
use serde_json::{Value, json};

/// Show how much of a session the provider's prompt cache served
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes cache report
  hermes cache report 20261116_1 --json")]
pub(crate) enum CacheCommand {
    /// Show cache hits and misses of each request of a session
    ///
    /// One line per request: a bar for the share served from the cache, the tokens read, and the reason where the
    /// prompt prefix changed. An unexpected change is a bug in Hermes: please report it. The cost of a miss is what
    /// the tokens cost beyond their cached price, where prices are known.
    Report(ReportArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ReportArgs {
    /// Session: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION", default_value = "latest")]
    session: String,
}

pub(crate) async fn run(command: &CacheCommand, common: &Common) -> Result<Exit, Failure> {
    let CacheCommand::Report(args) = command;
    let runtime = launch::open(common)?;
    let found = async {
        let session = launch::stored(&runtime, &args.session).await?;
        let ledger = runtime.store()?.cache_ledger(&session).await?;
        Ok::<_, Failure>((session, ledger))
    }
    .await;
    runtime.leave().await;
    let (session, ledger) = found?;
    let rows: Vec<Request<'_>> = ledger.iter().map(Request::of).collect();
    let sums = Sums::of(&rows);
    if common.json {
        print::json(&as_json(session.as_str(), &rows, &sums));
        return Ok(Exit::Answered);
    }
    if rows.is_empty() {
        return Err(Failure::usage(format!(
            "session {session} has no recorded requests; another program may have written it"
        )));
    }
    let style = Style::for_stream(&std::io::stdout());
    print::lines(report(session.as_str(), &rows, &sums, &style));
    Ok(Exit::Answered)
}

/// One request of the report.
struct Request<'a> {
    entry: &'a CacheLedgerEntry,
    /// Input tokens, and those of them from the cache, as the provider reported them.
    read: Option<(u64, u64)>,
    /// Estimated tokens that were sent before and not served from the cache.
    resent: u64,
    lost: Option<Money>,
    reason: Option<String>,
}

/// Estimated bytes of a token.
const BYTES: u64 = 4;

impl<'a> Request<'a> {
    fn of(entry: &'a CacheLedgerEntry) -> Self {
        let resent = entry.cache.lost / BYTES;
        let reason = match entry.cache.status {
            PrefixStatus::First | PrefixStatus::Extends => None,
            PrefixStatus::Broken(reason) => Some(reason.describe().to_owned()),
            PrefixStatus::Unexplained(part) => Some(format!("unexplained: {} changed", part.as_str())),
        };
        let prices = list_prices(&entry.provider, &entry.model).filter(|_| resent > 0);
        Self {
            entry,
            read: entry.usage.map(|usage| (usage.prompt(), usage.cache_read)).filter(|(all, _)| *all > 0),
            resent,
            lost: prices.and_then(|prices| dearer(&prices, resent)),
            reason,
        }
    }

    fn is_unexplained(&self) -> bool {
        matches!(self.entry.cache.status, PrefixStatus::Unexplained(_))
    }

    fn share(&self) -> Option<f64> {
        self.read.map(|(all, cached)| cached as f64 / all as f64)
    }
}

/// The cost of tokens beyond their cached price.
fn dearer(prices: &Prices, tokens: u64) -> Option<Money> {
    Some(prices.input.saturating_sub(prices.cache_read?).times(tokens))
}

/// The sums of a session.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    read: u64,
    cached: u64,
    resent: u64,
    lost: Money,
    breaks: usize,
    unexplained: usize,
}

impl Sums {
    fn of(rows: &[Request<'_>]) -> Self {
        rows.iter().fold(Self::default(), |sums, row| {
            let (read, cached) = row.read.unwrap_or_default();
            Self {
                read: sums.read + read,
                cached: sums.cached + cached,
                resent: sums.resent + row.resent,
                lost: sums.lost + row.lost.unwrap_or_default(),
                breaks: sums.breaks + usize::from(row.reason.is_some()),
                unexplained: sums.unexplained + usize::from(row.is_unexplained()),
            }
        })
    }
}

/// A bar of ten cells.
fn bar(share: Option<f64>) -> String {
    let Some(share) = share else { return "·".repeat(10) };
    let full = (share * 10.0).round().clamp(0.0, 10.0) as usize;
    "█".repeat(full) + &"░".repeat(10 - full)
}

fn report(session: &str, rows: &[Request<'_>], sums: &Sums, style: &Style) -> Vec<String> {
    let mut lines = vec![format!("Session {session}: {}", counted(rows.len(), "request")), String::new()];
    for (place, row) in rows.iter().enumerate() {
        let share = row.share().map_or_else(|| "   –".to_owned(), |share| format!("{:3.0}%", share * 100.0));
        let read = row.read.map_or_else(|| "-".to_owned(), |(all, _)| all.to_string());
        let answered = if row.entry.was_answered { "" } else { "  no answer" };
        let why = match &row.reason {
            Some(reason) if row.is_unexplained() => format!("  {}{reason}{}", style.red, style.off),
            Some(reason) => format!("  {reason}"),
            None => String::new(),
        };
        let resent = match row.resent {
            0 => String::new(),
            tokens => format!(", about {tokens} tokens sent again"),
        };
        let lost = row.lost.map(|money| format!(" (${money})")).unwrap_or_default();
        lines.push(format!(
            "{:>4}  turn {:<4}{} {share} of {read:>8}  {}{answered}{why}{resent}{lost}",
            place + 1,
            row.entry.turn,
            bar(row.share()),
            term::printable(&row.entry.model),
        ));
    }
    lines.push(String::new());
    lines.push(match sums.read {
        0 => "The provider reported no token counts.".to_owned(),
        read => format!(
            "{:.1}% of {read} tokens were cache hits; {} prefix changes, {} of them unexpected",
            sums.cached as f64 * 100.0 / read as f64,
            sums.breaks,
            sums.unexplained
        ),
    });
    if sums.resent > 0 {
        let lost = match sums.lost {
            Money::ZERO => String::new(),
            lost => format!(", at an extra cost of ${lost}"),
        };
        lines.push(format!("About {} tokens were sent again{lost}.", sums.resent));
    }
    lines
}

fn as_json(session: &str, rows: &[Request<'_>], sums: &Sums) -> Value {
    let requests = rows.iter().map(|row| {
        json!({
            "turn": row.entry.turn,
            "at": row.entry.at,
            "provider": row.entry.provider,
            "model": row.entry.model,
            "answered": row.entry.was_answered,
            "tokens_read": row.read.map(|(all, _)| all),
            "tokens_cached": row.read.map(|(_, cached)| cached),
            "step": row.entry.cache.status,
            "reason": row.reason,
            "tokens_resent": row.resent,
            "lost_usd": row.lost.map(Money::dollars),
        })
    });
    json!({
        "session": session,
        "requests": requests.collect::<Vec<_>>(),
        "tokens_read": sums.read,
        "tokens_cached": sums.cached,
        "tokens_resent": sums.resent,
        "lost_usd": sums.lost.dollars(),
        "breaks": sums.breaks,
        "unexplained": sums.unexplained,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{CacheBreak, CacheEntry, PrefixDigest, PromptPart, Usage};

    fn entry(status: PrefixStatus, lost: u64, cached: u64) -> CacheLedgerEntry {
        CacheLedgerEntry {
            turn: 1,
            at: 0.0,
            provider: "nobody".into(),
            model: "m".into(),
            was_answered: true,
            usage: Some(Usage { input: 100 - cached, cache_read: cached, ..Usage::default() }),
            cache: CacheEntry { status, kept: 0, lost, has_tools: true, mark: PrefixDigest::default() },
        }
    }

    #[test]
    fn prefix_changes_are_listed_with_their_reasons() {
        let ledger = [
            entry(PrefixStatus::First, 0, 0),
            entry(PrefixStatus::Extends, 0, 96),
            entry(PrefixStatus::Broken(CacheBreak::ModelSwitch), 400, 0),
            entry(PrefixStatus::Unexplained(PromptPart::System), 800, 50),
        ];
        let rows: Vec<Request<'_>> = ledger.iter().map(Request::of).collect();
        let sums = Sums::of(&rows);
        let want = Sums { read: 400, cached: 146, resent: 300, lost: Money::ZERO, breaks: 2, unexplained: 1 };
        assert_eq!(sums, want);
        let text = report("s", &rows, &sums, &Style::PLAIN).join("\n");
        for part in [
            "██████████  96%",
            "the model was changed, about 100 tokens sent again",
            "unexplained: system prompt changed, about 200 tokens sent again",
            "36.5% of 400 tokens were cache hits; 2 prefix changes, 1 of them unexpected",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }

    #[test]
    fn cost_of_a_miss_is_the_difference_of_two_prices() {
        let price = |text: &str| Money::parse(text).unwrap();
        let prices = Prices {
            input: price("0.000003"),
            output: price("1"),
            cache_read: Some(price("0.0000003")),
            cache_write: None,
        };
        assert_eq!(dearer(&prices, 1_000_000), Some(price("2.7")));
        assert_eq!(dearer(&Prices { cache_read: None, ..prices }, 5), None);
    }
}
