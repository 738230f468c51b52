//! A timeline as lines of text, for a terminal of any width or for a file.

use super::timeline::{Kind, Row, Timeline, dollars};
use hermes_runtime::clock::local_zone;
use hermes_store::{TraceEnd, TurnTrace};
use hermes_terminal::term::{self, Style};
use hermes_terminal::text::counted;
use jiff::Timestamp;
use unicode_width::UnicodeWidthStr;

/// The style of the drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) width: usize,
    pub(super) style: Style,
    /// ASCII only.
    pub(super) is_plain: bool,
}

impl Look {
    fn fitting(self, text: &str, width: usize) -> String {
        let text = term::fitting(text, width);
        if self.is_plain { text.replace('…', "~") } else { text }
    }
}

/// The columns of a row.
struct Columns {
    label: usize,
    bar: usize,
    note: usize,
}

/// Columns of a duration, `59m 59s`.
const TIME: usize = 7;

pub(super) fn draw(trace: &TurnTrace, timeline: &Timeline, look: Look) -> Vec<String> {
    let Style { bold, dim, off, .. } = look.style;
    let columns = columns(timeline, look.width);
    let mut lines = vec![format!("{bold}{}{off}", look.fitting(&title(trace, timeline), look.width))];
    lines.push(look.fitting(&sums(trace), look.width));
    if let TraceEnd::Closed { exit_reason } = &trace.end {
        lines.push(look.fitting(&format!("ended with {exit_reason}"), look.width));
    }
    lines.push(String::new());
    lines.push(format!("{dim}{}{off}", axis(timeline, &columns)));
    lines.extend(timeline.rows.iter().map(|row| line(row, timeline, &columns, look)));
    match trace.end {
        TraceEnd::Killed => {
            let known =
                seconds(timeline.rows.iter().map(|row| row.to.unwrap_or(row.from)).fold(0.0, f64::max));
            let text = format!("the process was killed; last event at {known}");
            lines.push(format!("{}{}{off}", look.style.red, look.fitting(&text, look.width)));
        }
        TraceEnd::Running => lines.push(format!("{dim}still running{off}")),
        TraceEnd::Closed { .. } => {}
    }
    for text in trace.calls.iter().filter_map(|call| call.partial.as_deref()) {
        lines.push(String::new());
        lines.push(format!("{bold}interrupted reply{off} {dim}(not sent to the model){off}"));
        lines.extend(term::printable(text).lines().map(str::to_owned));
    }
    lines
}

fn title(trace: &TurnTrace, timeline: &Timeline) -> String {
    let TurnTrace { session, number, turns, .. } = trace;
    let end = match &trace.end {
        TraceEnd::Closed { .. } => seconds(timeline.length),
        TraceEnd::Killed => "killed".to_owned(),
        TraceEnd::Running => format!("{} so far", seconds(timeline.length)),
    };
    format!("turn {number} of {turns} of {session}: {end}, started {}", clock(trace.started_at))
}

fn clock(at: f64) -> String {
    let time = Timestamp::from_microsecond((at * 1e6) as i64).unwrap_or_default();
    time.to_zoned(local_zone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn sums(trace: &TurnTrace) -> String {
    let mut parts = vec![counted(trace.calls.len(), "model call"), counted(trace.tools.len(), "tool call")];
    let failed = trace.calls.iter().filter(|call| call.outcome == "failed").count();
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    let used = || trace.calls.iter().filter_map(|call| call.usage);
    let (tokens_in, tokens_out): (u64, u64) =
        (used().map(|usage| usage.prompt()).sum(), used().map(|usage| usage.output).sum());
    if tokens_in + tokens_out > 0 {
        parts.push(format!("{tokens_in} tokens in, {tokens_out} out"));
    }
    let cost: Vec<f64> = trace.calls.iter().filter_map(|call| call.cost_usd).collect();
    if !cost.is_empty() {
        parts.extend(dollars(cost.iter().sum()));
    }
    parts.join(", ")
}

/// The column widths: labels and notes get up to a third of the width each, bars the rest.
fn columns(timeline: &Timeline, width: usize) -> Columns {
    let longest =
        |text: fn(&Row) -> &str| timeline.rows.iter().map(|row| text(row).width()).max().unwrap_or(0);
    let label = longest(|row| &row.label).min((width / 3).max(8));
    let note = longest(|row| &row.note).min(width * 2 / 5);
    let between = 2 + 1 + TIME + 2;
    let bar = width.saturating_sub(label + note + between);
    match bar >= 10 {
        true => Columns { label, bar, note },
        false => Columns { label, bar: 10, note: width.saturating_sub(label + 10 + between) },
    }
}

fn axis(timeline: &Timeline, columns: &Columns) -> String {
    let end = seconds(timeline.length);
    let gap = columns.bar.saturating_sub(1 + end.len());
    format!("{:label$}  0{:gap$}{end}", "", "", label = columns.label)
}

fn line(row: &Row, timeline: &Timeline, columns: &Columns, look: Look) -> String {
    let Style { dim, red, off, .. } = look.style;
    let paint = match row.kind {
        Kind::Failed | Kind::Lost => red,
        Kind::Wait => dim,
        Kind::Model | Kind::Tool => "",
    };
    let off = if paint.is_empty() { "" } else { off };
    let label = padded(&look.fitting(&row.label, columns.label), columns.label);
    let bar = bar(row, timeline.length, columns.bar, look.is_plain);
    let took = row.to.map_or_else(|| "?".to_owned(), |to| seconds(to - row.from));
    let note = look.fitting(&row.note, columns.note);
    format!("{label}  {paint}{bar} {took:>TIME$}{off}  {note}").trim_end().to_owned()
}

fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{:missing$}", "")
}

/// The bar of a row, as wide as the axis. A row with a duration has at least one cell.
fn bar(row: &Row, length: f64, width: usize, is_plain: bool) -> String {
    let cell = |at: f64| ((at / length) * width as f64).floor() as usize;
    let from = cell(row.from).min(width.saturating_sub(1));
    let to = row.to.map_or(width, cell).clamp(from + 1, width.max(from + 1));
    let heard = row.first_byte.map_or(from, |at| cell(at).clamp(from, to));
    let mut out = " ".repeat(from);
    for at in from..to {
        out.push(mark(row.kind, at < heard, is_plain));
    }
    out.push_str(&" ".repeat(width.saturating_sub(to)));
    out
}

fn mark(kind: Kind, is_silent: bool, is_plain: bool) -> char {
    match (kind, is_plain) {
        (Kind::Model | Kind::Failed, false) if is_silent => '▒',
        (Kind::Model | Kind::Failed, true) if is_silent => '-',
        (Kind::Model, false) => '█',
        (Kind::Model, true) => '#',
        (Kind::Tool, false) => '▓',
        (Kind::Tool, true) => '=',
        (Kind::Failed, false) => '█',
        (Kind::Failed, true) => '!',
        (Kind::Wait, false) => '░',
        (Kind::Wait, true) => '.',
        (Kind::Lost, _) => '?',
    }
}

/// A duration in at most [`TIME`] columns.
fn seconds(time: f64) -> String {
    match time {
        time if time < 0.9995 => format!("{:.0} ms", time * 1000.0),
        time if time < 9.995 => format!("{time:.2} s"),
        time if time < 59.95 => format!("{time:.1} s"),
        time => {
            let whole = time.round() as u64;
            match whole {
                0..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
                _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
            }
        }
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
