//! `hermes sessions verify`.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_store::{Finding, Verification, verify};
use hermes_terminal::print;
use hermes_terminal::term::{self, printable};
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

fn print(seen: &Verification) {
    for finding in &seen.findings {
        let session = finding.session.as_ref().map_or("-", |id| id.as_str());
        let line =
            format!("{:<9}  {}  {}", finding.check.as_str(), printable(session), printable(&finding.text));
        if !term::print_line(&line) {
            return;
        }
    }
    let verdict = match seen.findings.len() {
        0 => "everything is whole".to_owned(),
        wrong => format!("{wrong} wrong"),
    };
    term::print_line(&format!(
        "{}, {}, {} waiting to be indexed: {verdict}",
        counted(seen.sessions, "session"),
        counted(seen.messages, "message"),
        seen.outbox
    ));
}
