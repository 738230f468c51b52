//! Patches over several files: `*** Begin Patch`, operations, `*** End Patch`.
//!
//! [`parse`] reads the text, [`hunks::apply`] changes the text of one file. Neither touches a file.

pub mod hunks;

use crate::head;

/// One operation of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Update { file: String, hunks: Vec<Hunk> },
    Add { file: String, lines: Vec<String> },
    Delete { file: String },
    Move { from: String, to: String },
}

/// A change at one place of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// A line above the place, such as the head of a function.
    pub hint: Option<String>,
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkLine {
    Context(String),
    Removed(String),
    Added(String),
}

/// The reason why a text is not a patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("it has no line `*** Begin Patch`")]
    NoBegin,
    #[error("it has no line `*** End Patch` at its end, so a part of it may be missing")]
    NoEnd,
    #[error("it changes nothing; add at least one operation, such as `*** Update File: path`")]
    Nothing,
    #[error(
        "line {line} (`{text}`) is not understood; operations are `*** Update File: path`, `*** Add File: path`, \
         `*** Delete File: path` and `*** Move File: from -> to`"
    )]
    UnknownLine { line: usize, text: String },
    #[error("line {line} names no file")]
    NoFile { line: usize },
    #[error("line {line}: lines of a new file begin with +")]
    NoPlus { line: usize },
    #[error("the update of {file} changes nothing; mark lines with - and +")]
    NoChange { file: String },
}

/// Characters of a line that an error shows.
const SHOWN: usize = 80;

/// Reads a patch. Text before its first and after its last line is ignored.
pub fn parse(text: &str) -> Result<Vec<Operation>, PatchError> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    if !lines.any(|(_, line)| line.trim() == "*** Begin Patch") {
        return Err(PatchError::NoBegin);
    }
    let mut operations = Vec::new();
    for (number, line) in lines {
        if line.trim_end() == "*** End Patch" {
            return finished(operations);
        }
        match heading(line, number) {
            Some(operation) => operations.push(operation?),
            None => take(operations.last_mut(), line, number)?,
        }
    }
    Err(PatchError::NoEnd)
}

/// The operation that a line starts; `None` for a line of an operation.
fn heading(line: &str, number: usize) -> Option<Result<Operation, PatchError>> {
    let rest = line.strip_prefix("*** ")?;
    let (word, file) = rest.split_once(':')?;
    let file = file.trim().to_owned();
    let operation = match word.trim() {
        "Update File" => Operation::Update { file: file.clone(), hunks: Vec::new() },
        "Add File" => Operation::Add { file: file.clone(), lines: Vec::new() },
        "Delete File" => Operation::Delete { file: file.clone() },
        "Move File" => match file.split_once("->").map(|(from, to)| (from.trim(), to.trim())) {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => {
                Operation::Move { from: from.to_owned(), to: to.to_owned() }
            }
            _ => return Some(Err(PatchError::NoFile { line: number })),
        },
        _ => return None,
    };
    Some(if file.is_empty() { Err(PatchError::NoFile { line: number }) } else { Ok(operation) })
}

/// Adds a line to the operation that it belongs to.
fn take(operation: Option<&mut Operation>, line: &str, number: usize) -> Result<(), PatchError> {
    let unknown = || Err(PatchError::UnknownLine { line: number, text: head(line, SHOWN).to_owned() });
    if line.starts_with("*** ") && line.trim_end() != "*** End of File" {
        return unknown();
    }
    match operation {
        _ if line.trim_end() == "*** End of File" => Ok(()),
        Some(Operation::Update { hunks, .. }) => {
            take_hunk_line(hunks, line);
            Ok(())
        }
        Some(Operation::Add { lines, .. }) => match line.strip_prefix('+') {
            Some(text) => {
                lines.push(text.to_owned());
                Ok(())
            }
            // An empty line between others is one of the file; one at the end is of the patch.
            None if line.trim().is_empty() => {
                lines.push(String::new());
                Ok(())
            }
            None => Err(PatchError::NoPlus { line: number }),
        },
        _ if line.trim().is_empty() => Ok(()),
        Some(Operation::Delete { .. } | Operation::Move { .. }) | None => unknown(),
    }
}

fn take_hunk_line(hunks: &mut Vec<Hunk>, line: &str) {
    if let Some(hint) = line.strip_prefix("@@") {
        let hint = hint.trim().trim_end_matches("@@").trim();
        hunks.push(Hunk { hint: (!hint.is_empty()).then(|| hint.to_owned()), lines: Vec::new() });
        return;
    }
    if line.starts_with("\\ ") {
        return;
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    if let Some(hunk) = hunks.last_mut() {
        hunk.lines.push(match line.split_at_checked(1) {
            Some(("-", text)) => HunkLine::Removed(text.to_owned()),
            Some(("+", text)) => HunkLine::Added(text.to_owned()),
            Some((" ", text)) => HunkLine::Context(text.to_owned()),
            // The blank that marks context is often left out.
            _ => HunkLine::Context(line.to_owned()),
        });
    }
}

fn finished(mut operations: Vec<Operation>) -> Result<Vec<Operation>, PatchError> {
    if operations.is_empty() {
        return Err(PatchError::Nothing);
    }
    for operation in &mut operations {
        if let Operation::Update { file, hunks } = operation {
            for hunk in &mut *hunks {
                // Empty lines at the end separate operations.
                while hunk.lines.last().is_some_and(|line| *line == HunkLine::Context(String::new())) {
                    hunk.lines.pop();
                }
            }
            hunks.retain(|hunk| !hunk.lines.is_empty());
            let is_change = |line: &HunkLine| !matches!(line, HunkLine::Context(_));
            if !hunks.iter().any(|hunk| hunk.lines.iter().any(is_change)) {
                return Err(PatchError::NoChange { file: file.clone() });
            }
        }
    }
    Ok(operations)
}

impl Hunk {
    /// The lines that it adds.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            HunkLine::Added(text) => Some(text.as_str()),
            HunkLine::Context(_) | HunkLine::Removed(_) => None,
        })
    }
}

impl Operation {
    /// The files that the operation names.
    pub fn files(&self) -> Vec<&str> {
        match self {
            Self::Update { file, .. } | Self::Add { file, .. } | Self::Delete { file } => vec![file],
            Self::Move { from, to } => vec![from, to],
        }
    }
}

#[cfg(test)]
#[path = "v4a_tests.rs"]
mod tests;
