//! Insights as a page of text.

use super::activity::{Activity, Stretch};
use super::layout::{Page, Row};
use super::numbers::{columns, dollars, duration, number, percent};
use hermes_store::{CostSummary, Count, Insights, SessionUse, Share};
use hermes_terminal::term::{Style, one_line};
use hermes_terminal::text::{counted, padded};

/// Rows of a list; the rest is one row.
const MOST_ROWS: usize = 8;

pub(super) struct Shown<'a> {
    pub(super) insights: &'a Insights,
    pub(super) stretch: &'a Stretch,
    pub(super) source: Option<&'a str>,
}

/// The whole page, or one line without usage.
pub(super) fn text(shown: &Shown<'_>, width: usize, style: Style) -> String {
    let (all, days) = (shown.insights, shown.stretch.days());
    if all.sessions == 0 {
        return nothing(shown, days);
    }
    let mut page = Page::new(width, style);
    let source = shown.source.map(|source| format!(", source {source}")).unwrap_or_default();
    page.boxed(&[
        "Hermes insights".to_owned(),
        format!("{} to {} ({}){source}", shown.stretch.first, shown.stretch.last, counted(days, "day")),
    ]);
    overview(&mut page, all);
    shares(&mut page, "Models (tokens)", &all.models, |share| share.usage.total());
    shares(&mut page, "Sources (messages)", &all.sources, |share| share.messages);
    counts(&mut page, "Tools (calls)", &all.tools);
    approvals(&mut page, all);
    counts(&mut page, "Outcomes of turns", &all.turn_exits);
    counts(&mut page, "Outcomes of sessions", &all.session_ends);
    activity(&mut page, &shown.stretch.activity(&all.quarters));
    sessions(&mut page, all, style);
    page.into_text()
}

fn nothing(shown: &Shown<'_>, days: usize) -> String {
    let source = shown.source.map(|source| format!(" with source {source}")).unwrap_or_default();
    let source = hermes_terminal::term::printable(&source);
    let last = if days == 1 { "today".to_owned() } else { format!("in the last {days} days") };
    format!("No messages{source} {last}. Start with `hermes`, or look further back with --days.\n")
}

fn overview(page: &mut Page, all: &Insights) {
    let said = &all.messages;
    let other = if said.other > 0 { format!(", {} other", number(said.other)) } else { String::new() };
    let unknown = || "unknown".to_owned();
    page.heading("Overview");
    page.pairs(&[
        ("Sessions", number(all.sessions)),
        ("Messages", number(said.total())),
        ("Model calls", number(all.api_calls)),
        ("Tool calls", number(all.tool_calls)),
        ("Active time", duration(all.active_seconds)),
        ("Cache hits", all.cache_hit_rate().map_or_else(unknown, percent)),
        ("Tokens in", number(all.usage.prompt())),
        ("· fresh", number(all.usage.input)),
        ("· cache read", number(all.usage.cache_read)),
        ("· cache write", number(all.usage.cache_write)),
        ("Tokens out", number(all.usage.output)),
        ("· reasoning", number(all.usage.reasoning)),
    ]);
    let by = format!(
        "Messages: {} user, {} assistant, {} tool{other}",
        number(said.user),
        number(said.assistant),
        number(said.tool)
    );
    page.paragraph(&by);
    page.paragraph(&cost(&all.cost));
}

/// The cost, with the number of sessions whose cost is unknown.
fn cost(cost: &CostSummary) -> String {
    let mut parts = Vec::new();
    parts.extend(cost.actual_usd.map(|usd| format!("{} billed", dollars(usd))));
    parts.extend(cost.estimated_usd.map(|usd| format!("{} estimated", dollars(usd))));
    for (sessions, what) in [(cost.included_sessions, "included"), (cost.unknown_sessions, "unknown")] {
        if sessions > 0 {
            parts.push(format!("{what} for {}", counted(sessions, "session")));
        }
    }
    if parts.is_empty() { "Cost: none".to_owned() } else { format!("Cost: {}", parts.join(", ")) }
}

fn shares(page: &mut Page, title: &str, shares: &[Share], size: fn(&Share) -> u64) {
    let row = |share: &Share| Row {
        name: share.name.clone(),
        count: size(share),
        remark: counted(share.sessions, "session"),
    };
    rows(page, title, shares.iter().map(row).collect());
}

fn counts(page: &mut Page, title: &str, counts: &[Count]) {
    let total: u64 = counts.iter().map(|count| count.count).sum();
    let part = |count: u64| percent(count as f64 / total.max(1) as f64);
    let row = |count: &Count| Row { name: count.name.clone(), count: count.count, remark: part(count.count) };
    rows(page, title, counts.iter().map(row).collect());
}

/// Approval requests by rule; a rule in `command_allowlist` is not asked about.
fn approvals(page: &mut Page, all: &Insights) {
    if all.approvals.rules.is_empty() {
        return;
    }
    counts(page, "Approval requests (rules)", &all.approvals.rules);
    let (asked, denied) = (number(all.approvals.asked), number(all.approvals.denied));
    page.paragraph(&format!(
        "{asked} asked, {denied} denied. To stop the requests of a rule, add its name to command_allowlist."
    ));
}

/// The largest rows, and a line for all the others.
fn rows(page: &mut Page, title: &str, mut rows: Vec<Row>) {
    if rows.is_empty() {
        return;
    }
    page.heading(title);
    let rest = rows.split_off(rows.len().min(MOST_ROWS));
    page.bars(&rows);
    if !rest.is_empty() {
        let count = rest.iter().map(|row| row.count).sum();
        page.line(&format!("  and {} more: {}", rest.len(), number(count)));
    }
}

fn activity(page: &mut Page, activity: &Activity) {
    const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    page.heading("Activity (by local time)");
    let row = |(name, &count): (&str, &u64)| Row { name: name.to_owned(), count, remark: String::new() };
    page.bars(&WEEKDAYS.into_iter().zip(&activity.by_weekday).map(row).collect::<Vec<_>>());
    page.line("");
    page.line(&format!("  {}  by hour", columns(&activity.by_hour)));
    page.line("  0     6     12    18");
    let days = &activity.by_day;
    if days.len() > 1 {
        // One column per day, or per as many days as are needed to fit.
        let per_column = days.len().div_ceil(page.width() - 20);
        let sums: Vec<u64> =
            days.chunks(per_column).map(|days| days.iter().map(|(_, count)| count).sum()).collect();
        let each = if per_column == 1 { "day".to_owned() } else { counted(per_column, "day") };
        page.line("");
        page.line(&format!("  {}  by {each}", columns(&sums)));
    }
    if let Some((day, count)) = days.iter().max_by_key(|(_, count)| *count) {
        page.line(&format!("  Busiest day: {day} ({})", number(*count)));
    }
}

fn sessions(page: &mut Page, all: &Insights, style: Style) {
    let Style { dim, off, .. } = style;
    if !all.top_sessions.is_empty() {
        page.heading("Largest sessions (tokens)");
    }
    let shows_ids = page.width() >= 70;
    for session in &all.top_sessions {
        let tokens = format!("  {:>9}  ", number(session.usage.total()));
        let id = match shows_ids {
            true => format!("{dim}{}{off}  ", padded(session.id.as_str(), 24)),
            false => String::new(),
        };
        let taken = if shows_ids { 13 + 26 } else { 13 };
        page.line(&format!("{tokens}{id}{}", one_line(name(session), page.width() - taken)));
    }
    if let Some(longest) = &all.longest {
        page.heading("Longest session");
        let time = duration(longest.active_seconds);
        let messages = counted(longest.messages, "message");
        let width = page.width() - 2;
        page.line(&format!(
            "  {}",
            one_line(&format!("{time} active, {messages}: {}", name(longest)), width)
        ));
    }
}

fn name(session: &SessionUse) -> &str {
    match session.title.as_deref().unwrap_or(&session.preview) {
        "" => session.id.as_str(),
        name => name,
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
