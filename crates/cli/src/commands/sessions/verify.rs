//! `hermes sessions verify`.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_store::{Finding, Verification, verify};
use hermes_terminal::print::{self, Column, Table};
use hermes_terminal::term;
use hermes_terminal::text::counted;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) async fn run(file: PathBuf, common: &Common) -> Result<Exit, Failure> {
    let examined = tokio::task::spawn_blocking(move || verify(&file)).await;
    let seen = examined.map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    if common.json {
        print::json(&verification_json(&seen));
    } else {
        print(&seen);
    }
    Ok(if seen.findings.is_empty() { Exit::Answered } else { Exit::FailedTurn })
}

fn verification_json(seen: &Verification) -> Value {
    let finding = |finding: &Finding| json!({ "check": finding.check.as_str(), "session_id": finding.session, "text": finding.text });
    let findings: Vec<Value> = seen.findings.iter().map(finding).collect();
    json!({ "ok": seen.findings.is_empty(), "sessions": seen.sessions, "messages": seen.messages,
        "outbox": seen.outbox, "findings": findings })
}

const COLUMNS: &[Column] =
    &[Column::left("Check", 9), Column::left("Session", 0), Column::left("Problem", 0)];

fn print(seen: &Verification) {
    let table = Table::new(COLUMNS);
    let row = |finding: &Finding| {
        let session = finding.session.as_ref().map_or("-", |id| id.as_str());
        table.row(&[finding.check.as_str(), session, &finding.text])
    };
    if !print::lines(seen.findings.iter().map(row)) {
        return;
    }
    let verdict = match seen.findings.len() {
        0 => "no problems found".to_owned(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    term::print_line(&format!(
        "{}, {}, {} waiting to be indexed: {verdict}",
        counted(seen.sessions, "session"),
        counted(seen.messages, "message"),
        seen.outbox
    ));
}
