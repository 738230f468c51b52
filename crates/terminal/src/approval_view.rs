//! The text of approval requests, and the meaning of the answers.

use crate::term::{Style, revealed};
use crate::wrap::wrapped;
use hermes_tools::{Approval, ApprovalRequest, BatchApproval, Scope};

/// Rows of a request besides the command: heading, effects and the line for the answer.
const OTHER_ROWS: usize = 9;
/// Fewest rows of a command that are shown, at its beginning and at its end.
const FEWEST: usize = 4;

/// A call as a request shows it.
pub(crate) struct Asked<'a> {
    pub(crate) what: &'a str,
    pub(crate) cwd: &'a str,
    pub(crate) effects: &'a [String],
}

/// The request for one call on a screen of `columns` and `rows`. The beginning and the end of a long command are
/// always on it.
pub(crate) fn request(asked: &Asked<'_>, style: Style, columns: usize, rows: usize) -> String {
    let Style { bold, dim, off, .. } = style;
    let what = revealed(asked.what);
    let lines = what.lines().count();
    let size = if lines > 1 { format!(" ({lines} lines)") } else { String::new() };
    let heading = format!("Approval needed{size}, in {}:", revealed(asked.cwd).replace('\n', " "));
    let mut out: Vec<String> =
        wrapped(&heading, columns.saturating_sub(3)).iter().map(|row| format!("  {dim}{row}{off}")).collect();
    let rows_of_command = wrapped(&what, columns.saturating_sub(6));
    let room = rows.saturating_sub(OTHER_ROWS + asked.effects.len()).max(FEWEST * 2);
    out.extend(shortened(rows_of_command, room).into_iter().map(|row| match row {
        Row::Text(text) => format!("    {bold}{text}{off}"),
        Row::Hidden(count) => format!("    {dim}… {count} more rows; v shows all of it{off}"),
    }));
    for effect in asked.effects {
        let effect = revealed(effect).replace('\n', " ");
        for (place, line) in wrapped(&effect, columns.saturating_sub(6)).into_iter().enumerate() {
            out.push(format!("  {} {line}", if place == 0 { "•" } else { " " }));
        }
    }
    out.join("\n")
}

/// The request for several calls.
pub(crate) fn batch(calls: &[Asked<'_>], style: Style, columns: usize) -> String {
    let Style { bold, dim, off, .. } = style;
    let mut out = vec![format!("  Approval needed for {} calls:", calls.len())];
    for (place, call) in calls.iter().enumerate() {
        let what = revealed(call.what);
        let lines = what.lines().count();
        let first = what.lines().next().unwrap_or_default();
        let more =
            if lines > 1 { format!(" {dim}(and {} more lines){off}", lines - 1) } else { String::new() };
        for (row, text) in wrapped(first, columns.saturating_sub(8)).into_iter().enumerate() {
            let number = if row == 0 { format!("{:>4}. ", place + 1) } else { "      ".to_owned() };
            out.push(format!("{number}{bold}{text}{off}"));
        }
        if let Some(last) = out.last_mut() {
            last.push_str(&more);
        }
        let effects = revealed(&call.effects.join("; "));
        out.extend(
            wrapped(&effects, columns.saturating_sub(8))
                .into_iter()
                .map(|line| format!("      {dim}{line}{off}")),
        );
    }
    out.join("\n")
}

enum Row {
    Text(String),
    Hidden(usize),
}

/// The first and the last rows, if there are more than fit.
fn shortened(rows: Vec<String>, room: usize) -> Vec<Row> {
    if rows.len() <= room {
        return rows.into_iter().map(Row::Text).collect();
    }
    let head = room / 2;
    let tail = room - head - 1;
    let hidden = rows.len() - head - tail;
    let last = rows.len() - tail;
    let mut out: Vec<Row> = Vec::new();
    for (place, row) in rows.into_iter().enumerate() {
        match place {
            place if place < head || place >= last => out.push(Row::Text(row)),
            place if place == head => out.push(Row::Hidden(hidden)),
            _ => {}
        }
    }
    out
}

/// The whole command, for `v`.
pub(crate) fn whole(what: &str) -> String {
    let what = revealed(what);
    let numbered = what.lines().enumerate().map(|(place, line)| format!("  {:>4} {line}", place + 1));
    numbered.collect::<Vec<_>>().join("\n")
}

/// The answers that a request offers, on rows of at most `columns`.
pub(crate) fn options(request: &ApprovalRequest, columns: usize) -> String {
    let mut all = vec!["o once".to_owned()];
    if request.offers(Scope::Session) {
        all.push("s session".to_owned());
    }
    if request.offers(Scope::Always) {
        all.push("a always".to_owned());
    }
    all.extend(["d deny", "r deny with reason", "v view", "? help"].map(str::to_owned));
    let advice = request.advice.as_ref().map(|advice| format!("  Review: {}\n", revealed(advice)));
    format!("{}{}", advice.unwrap_or_default(), option_rows(&all, columns))
}

/// The answers on rows of at most `columns`; an answer is not broken.
fn option_rows<T: AsRef<str>>(options: &[T], columns: usize) -> String {
    let whole: Vec<String> = options.iter().map(|option| option.as_ref().replace(' ', "\u{a0}")).collect();
    let rows = wrapped(&whole.join(" · "), columns.saturating_sub(3));
    format!("  {}", rows.join("\n  ").replace('\u{a0}', " "))
}

/// The meaning of each answer to a request, on rows of at most `columns`.
pub(crate) fn help(request: &ApprovalRequest, columns: usize) -> String {
    let mut lines = vec!["  o  run it once: this command, in this directory".to_owned()];
    let covered = |scope: &Option<String>| scope.as_ref().map(|covered| revealed(covered));
    lines.extend(covered(&request.coverage.session).map(|covered| format!("  s  allow {covered}")));
    lines.extend(
        covered(&request.coverage.always).map(|covered| format!("  a  allow {covered} (command_allowlist)")),
    );
    lines.push("  d  do not run it".to_owned());
    lines.push("  r  do not run it, and give the model a reason".to_owned());
    lines.push("  v  show the whole command".to_owned());
    lines.push("  Ctrl-C stops the turn".to_owned());
    let rows = lines.iter().flat_map(|line| hanging(line, columns));
    rows.collect::<Vec<_>>().join("\n")
}

/// A line of help, broken behind its key.
fn hanging(line: &str, columns: usize) -> Vec<String> {
    let rows = wrapped(line.trim_start(), columns.saturating_sub(6).max(10));
    let first = rows.first().map(|row| format!("  {row}")).into_iter();
    first.chain(rows.iter().skip(1).map(|row| format!("     {row}"))).collect()
}

/// The answers to a request about several calls, on rows of at most `columns`.
pub(crate) fn batch_options(columns: usize) -> String {
    option_rows(
        &["a all, once", "e each by itself", "d deny all", "r deny all with reason", "? help"],
        columns,
    )
}

pub(crate) const BATCH_HELP: &str = "  a  run all of them once
  e  ask for each of them
  d  run none of them
  r  run none of them, and give the model a reason
  1  show the whole first call, 2 the second, and so on";

/// An answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Answer(Approval),
    AskReason,
    View,
    /// Also for input that is not an answer: it never denies and never approves.
    Help,
}

/// Reads an answer. A scope that is not offered is not an answer.
pub(crate) fn reply(line: &str, request: &ApprovalRequest) -> Reply {
    let allowed = |scope| match request.offers(scope) {
        true => Reply::Answer(Approval::Allowed(scope)),
        false => Reply::Help,
    };
    match line.trim().to_ascii_lowercase().as_str() {
        "o" | "once" | "y" | "yes" => allowed(Scope::Once),
        "s" | "session" => allowed(Scope::Session),
        "a" | "always" => allowed(Scope::Always),
        "d" | "deny" | "n" | "no" => Reply::Answer(Approval::DENIED),
        "r" | "reason" => Reply::AskReason,
        "v" | "view" => Reply::View,
        _ => Reply::Help,
    }
}

/// An answer to a request about several calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BatchReply {
    Answer(BatchApproval),
    AskReason,
    /// The place of the call to show.
    View(usize),
    Help,
}

/// Reads an answer to a request about `count` calls.
pub(crate) fn batch_reply(line: &str, count: usize) -> BatchReply {
    match line.trim().to_ascii_lowercase().as_str() {
        "a" | "all" => BatchReply::Answer(BatchApproval::AllOnce),
        "e" | "each" => BatchReply::Answer(BatchApproval::OneByOne),
        "d" | "deny" | "n" | "no" => BatchReply::Answer(BatchApproval::Each(Approval::DENIED)),
        "r" | "reason" => BatchReply::AskReason,
        other => match other.parse::<usize>() {
            Ok(number) if (1..=count).contains(&number) => BatchReply::View(number - 1),
            _ => BatchReply::Help,
        },
    }
}

#[cfg(test)]
#[path = "approval_view_tests.rs"]
mod tests;
