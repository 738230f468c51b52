//! `hermes sessions import`.

use super::files;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_store::{ImportError, ImportProblem, Imported, MAX_IMPORT, SessionDb};
use hermes_terminal::print;
use hermes_terminal::term::{self, printable};
use hermes_terminal::text::counted;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};

pub(super) async fn run(store: &SessionDb, file: &str, common: &Common) -> Result<Exit, Failure> {
    let text = read(file)?;
    let imported = store.import(&text).await.map_err(failure)?;
    if common.json {
        print::json(&imported_json(&imported));
    } else {
        print(&imported);
    }
    let is_whole = files::after_import(store, file, &imported, common).await?;
    Ok(if imported.problems.is_empty() && is_whole { Exit::Answered } else { Exit::FailedTurn })
}

/// Reads at most one byte beyond the limit.
fn read(file: &str) -> Result<String, Failure> {
    let limit = u64::try_from(MAX_IMPORT).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let outcome = if file == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    outcome.map_err(|error| Failure::usage(format!("{file} could not be read: {error}")))?;
    if bytes.len() > MAX_IMPORT {
        let most = MAX_IMPORT >> 20;
        return Err(Failure::usage(format!("{file} has more than {most} MiB; split it by lines")));
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{file} is not UTF-8 text")))
}

fn failure(error: ImportError) -> Failure {
    match error {
        ImportError::Store(error) => error.into(),
        ImportError::TooMuch { .. } | ImportError::NotAnArray { .. } => Failure::usage(error.to_string()),
    }
}

fn imported_json(imported: &Imported) -> Value {
    let problem = |problem: &ImportProblem| json!({ "line": problem.line, "text": problem.text });
    let problems: Vec<Value> = imported.problems.iter().map(problem).collect();
    json!({ "imported": imported.sessions, "messages": imported.messages, "skipped": imported.skipped,
        "problems": problems })
}

fn print(imported: &Imported) {
    let count = |list: &[_]| u64::try_from(list.len()).unwrap_or_default();
    term::print_line(&format!(
        "Imported {} with {}; {} already stored",
        counted(count(&imported.sessions), "session"),
        counted(imported.messages, "message"),
        imported.skipped.len()
    ));
    for problem in &imported.problems {
        print::notice(&format!("line {}: {}", problem.line, printable(&problem.text)));
    }
}
