//! `hermes prompt scan`: scans files before an agent reads them.

use crate::exit::Exit;
use clap::{Args, ValueEnum};
use hermes_runtime::{ScanFinding, ScanScope, scan_text};
use hermes_terminal::{print, term};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes prompt scan AGENTS.md README.md
  git ls-files -z '*.md' | xargs -0 hermes prompt scan --scope all")]
pub(crate) struct ScanArgs {
    /// Files to scan; `-` is standard input
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,
    /// Set of rules; each includes the ones before it
    #[arg(long, value_enum, default_value = "context")]
    scope: ScopeName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    /// Rules for any text
    All,
    /// Also false roles and remote control: for files that address the agent
    Context,
    /// Also credentials, addresses and setting changes: for memory and skills
    Strict,
}

impl From<ScopeName> for ScanScope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::All => Self::All,
            ScopeName::Context => Self::Context,
            ScopeName::Strict => Self::Strict,
        }
    }
}

/// One file and its findings.
struct Scanned<'a> {
    file: &'a Path,
    outcome: Result<Vec<ScanFinding>, String>,
}

pub(super) fn run(args: &ScanArgs, is_json: bool) -> Exit {
    let mut all = Vec::new();
    for file in &args.files {
        let outcome = read(file).map(|text| scan_text(&text, args.scope.into()));
        let scanned = Scanned { file, outcome };
        if !is_json {
            show(&scanned);
        }
        all.push(scanned);
    }
    if is_json {
        print::json(&as_json(&all));
    }
    exit(&all)
}

fn read(file: &Path) -> Result<String, String> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(file)
    };
    let bytes = bytes.map_err(|error| error.to_string())?;
    // Guessing another encoding could hide text that an agent would read.
    String::from_utf8(bytes)
        .map_err(|_| "not UTF-8 text; convert it first, for instance with iconv".to_owned())
}

fn show(scanned: &Scanned<'_>) {
    let name = one_line(&scanned.file.to_string_lossy());
    match &scanned.outcome {
        Err(error) => print::notice(&format!("{name}: {}", error)),
        Ok(findings) => {
            for ScanFinding { id, line, excerpt, .. } in findings {
                term::print_line(&format!("{name}:{line}: {id}: {}", term::revealed(excerpt)));
            }
        }
    }
}

/// The name of a file on one line: it may contain line breaks.
fn one_line(name: &str) -> String {
    term::revealed(name).replace('\n', "\\n").replace('\t', "\\t")
}

fn as_json(all: &[Scanned<'_>]) -> Value {
    let (mut findings, mut unreadable) = (Vec::new(), Vec::new());
    for Scanned { file, outcome } in all {
        let file = file.to_string_lossy();
        match outcome {
            Err(error) => unreadable.push(json!({ "file": file, "error": error })),
            Ok(found) => findings.extend(found.iter().map(|ScanFinding { id, at, line, excerpt }| {
                json!({ "file": file, "line": line, "start": at.start, "end": at.end, "id": id, "excerpt": excerpt })
            })),
        }
    }
    json!({ "findings": findings, "unreadable": unreadable })
}

fn exit(all: &[Scanned<'_>]) -> Exit {
    let is_clean = |scanned: &Scanned<'_>| scanned.outcome.as_ref().is_ok_and(Vec::is_empty);
    match all {
        all if all.iter().any(|scanned| scanned.outcome.is_err()) => Exit::Usage,
        all if all.iter().all(is_clean) => Exit::Answered,
        _ => Exit::FailedTurn,
    }
}
