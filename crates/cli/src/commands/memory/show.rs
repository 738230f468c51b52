//! The memory and its history as text or JSON.

use super::failure;
use crate::exit::{Exit, Failure};
use hermes_memory::files::{Applied, Change, ChangeOutcome, MemoryBook, Page, Target};
use hermes_runtime::{PendingChange, ScanScope, scan_text};
use hermes_terminal::print;
use hermes_terminal::term::{self, one_line, printable, revealed};
use hermes_terminal::text::local_time;
use serde_json::{Value, json};

/// Columns of an entry in a list of changes.
const WIDTH: usize = 100;

pub(super) fn entries(book: &MemoryBook, targets: Vec<Target>, is_json: bool) -> Result<Exit, Failure> {
    let mut pages = Vec::new();
    for target in targets {
        pages.push(book.page(target).map_err(failure)?);
    }
    if is_json {
        let files: Vec<Value> = pages.iter().map(|page| page_json(book, page)).collect();
        print::json(&json!({ "files": files }));
        return Ok(Exit::Answered);
    }
    for (at, page) in pages.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        let off = if book.settings().is_enabled(page.target) { "" } else { ", disabled" };
        term::print_line(&format!("{gap}{} [{}{off}]", page.target.file_name(), page.usage()));
        if page.entries.is_empty() {
            term::print_line("  no entries");
        }
        for entry in &page.entries {
            term::print_line(&listed(entry));
        }
    }
    Ok(Exit::Answered)
}

/// An entry, line by line. In one that looks unsafe, hidden characters are visible.
fn listed(entry: &str) -> String {
    let found = unsafe_ids(entry);
    let (text, mark) = match found.is_empty() {
        true => (printable(entry).into_owned(), String::new()),
        false => (revealed(entry), format!("  [looks unsafe: {}; not sent to the model]", found.join(", "))),
    };
    format!("  § {}{mark}", text.replace('\n', "\n    "))
}

fn unsafe_ids(entry: &str) -> Vec<String> {
    let mut ids: Vec<String> =
        scan_text(entry, ScanScope::Strict).into_iter().map(|found| found.id).collect();
    ids.sort();
    ids.dedup();
    ids
}

fn page_json(book: &MemoryBook, page: &Page) -> Value {
    let entries: Vec<Value> =
        page.entries.iter().map(|entry| json!({ "text": entry, "unsafe": unsafe_ids(entry) })).collect();
    json!({ "target": page.target.as_str(), "path": book.path(page.target), "entries": entries, "used": page.used,
        "limit": page.limit, "enabled": book.settings().is_enabled(page.target) })
}

pub(super) fn history(book: &MemoryBook, targets: Vec<Target>, is_json: bool) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    for target in targets {
        all.extend(book.history(target).map_err(failure)?);
    }
    all.sort_by(|a, b| a.at.total_cmp(&b.at));
    if is_json {
        let changes: Vec<Value> = all.iter().map(change_json).collect();
        print::json(&json!({ "changes": changes }));
        return Ok(Exit::Answered);
    }
    if all.is_empty() {
        term::print_line("No changes yet.");
    }
    for change in &all {
        if !term::print_line(&head(change)) {
            break;
        }
        differences(change);
    }
    Ok(Exit::Answered)
}

fn head(change: &Change) -> String {
    let session =
        change.session.as_deref().map_or(String::new(), |id| format!("  session {}", printable(id)));
    let undoes = change.undoes.map_or(String::new(), |id| format!(" of {id}"));
    let outcome = match change.outcome {
        ChangeOutcome::Made => "",
        ChangeOutcome::NotMade => "  (not made: the program was killed before)",
        ChangeOutcome::Unclear => "  (outcome unknown: the program was killed)",
    };
    let (time, origin, action) =
        (local_time(change.at), change.origin.to_string(), printable(&change.action));
    let what = if origin == action { origin } else { format!("{origin}: {action}{undoes}") };
    format!("{:<5} {time}  {what}{session}{outcome}", change.id.to_string())
}

fn differences(change: &Change) {
    for gone in change.removed() {
        term::print_line(&format!("      - {}", one_line(gone, WIDTH)));
    }
    for come in change.added() {
        term::print_line(&format!("      + {}", one_line(come, WIDTH)));
    }
}

fn change_json(change: &Change) -> Value {
    json!({ "id": change.id.to_string(), "target": change.id.target.as_str(), "at": change.at,
        "origin": change.origin.as_str(), "session": change.session, "action": change.action,
        "undoes": change.undoes.map(|id| id.to_string()), "fate": change.outcome.as_str(),
        "before": change.before, "after": change.after })
}

/// Lists pending changes.
pub(super) fn pending(changes: &[PendingChange], json: bool) -> Result<Exit, Failure> {
    if json {
        print::json(&serde_json::json!(changes));
        return Ok(Exit::Answered);
    }
    if changes.is_empty() {
        term::print_line("No pending changes.");
    }
    for change in changes {
        term::print_line(&term::printable(&format!("{}  {}", change.id, change.summary)));
    }
    Ok(Exit::Answered)
}

pub(super) fn changed(applied: &Applied, is_json: bool) {
    if is_json {
        print::json(&applied_json(applied));
        return;
    }
    let page = &applied.page;
    let done = match applied.change {
        Some(change) => format!("saved as change {change}"),
        None => "no change needed".to_owned(),
    };
    term::print_line(&format!("{done}; {} is at {}", page.target.file_name(), page.usage()));
}

pub(super) fn undone(change: &Change, applied: &Applied, is_json: bool) {
    if is_json {
        let mut answer = applied_json(applied);
        answer["undid"] = json!(change.id.to_string());
        print::json(&answer);
        return;
    }
    term::print_line(&format!("undid {}", head(change)));
    differences(change);
    changed(applied, false);
}

fn applied_json(applied: &Applied) -> Value {
    let page = &applied.page;
    json!({ "target": page.target.as_str(), "change": applied.change.map(|id| id.to_string()),
        "entries": page.entries, "used": page.used, "limit": page.limit })
}
