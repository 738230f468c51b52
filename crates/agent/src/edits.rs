//! The file edits of one turn: those that failed, and code that was changed and not checked since.

use hermes_conversation::{RunsIn, ToolFacts};
use serde_json::Value;
use std::path::Path;

/// Extensions of files that can be checked by running something.
const CODE: [&str; 40] = [
    "bash", "c", "cc", "clj", "cpp", "cs", "cxx", "dart", "erl", "ex", "exs", "fs", "go", "h", "hpp", "hs",
    "java", "jl", "js", "jsx", "kt", "lua", "m", "mjs", "ml", "php", "pl", "py", "rb", "rs", "scala", "sh",
    "sql", "svelte", "swift", "ts", "tsx", "vue", "zig", "zsh",
];

/// Files listed in one text.
const LISTED: usize = 10;
/// Characters of a reason in the footer.
const REASON: usize = 200;

/// A finished tool call.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'a> {
    pub facts: ToolFacts,
    pub arguments: &'a str,
    pub result: &'a str,
    pub failed: bool,
    /// It was carried out, with whatever result.
    pub has_run: bool,
    /// It cannot have changed anything, and does not count as a check.
    pub only_reads: bool,
}

/// The edits of a turn.
#[derive(Debug, Default)]
pub struct FileEdits {
    /// Files whose newest edit failed, with the reason.
    failed: Vec<(String, String)>,
    /// Code files that were changed since the last command.
    unchecked: Vec<String>,
}

impl FileEdits {
    /// Takes note of a finished call. A command counts as a check: what it did is for the model to judge.
    pub fn observe(&mut self, call: FinishedCall<'_>) {
        if call.facts.runs_in == RunsIn::Command && call.has_run && !call.only_reads {
            self.unchecked.clear();
        }
        let Some(name) = call.facts.edited_path else { return };
        match path_in(call.arguments, name) {
            Some(path) => self.note(path, &call),
            // A change of several files names them in its result.
            None => changed_in(call.result).into_iter().for_each(|path| self.note(path, &call)),
        }
    }

    fn note(&mut self, path: String, call: &FinishedCall<'_>) {
        self.failed.retain(|(failed, _)| *failed != path);
        if call.failed {
            self.failed.push((path, reason(call.result)));
        } else if is_code(&path) && !self.unchecked.contains(&path) {
            self.unchecked.push(path);
        }
    }

    /// The code files that were changed and not checked, for a sentence; `None` where there are none.
    pub fn unchecked(&self) -> Option<String> {
        (!self.unchecked.is_empty()).then(|| {
            let names = self.unchecked.iter().take(LISTED).map(|path| format!("`{path}`"));
            let more = self.unchecked.len().saturating_sub(LISTED);
            let more = (more > 0).then(|| format!("{more} more"));
            names.chain(more).collect::<Vec<_>>().join(", ")
        })
    }

    /// A footer for the answer that lists the edits that failed; `None` where there are none.
    pub fn footer(&self) -> Option<String> {
        (!self.failed.is_empty()).then(|| {
            let lines =
                self.failed.iter().take(LISTED).map(|(path, reason)| format!("\n- `{path}`: {reason}"));
            let more = self.failed.len().saturating_sub(LISTED);
            let more = (more > 0).then(|| format!("\n- {more} more"));
            format!("\n\n[File edits that failed in this turn:{}]", lines.chain(more).collect::<String>())
        })
    }
}

/// The path in the argument of this name.
fn path_in(arguments: &str, name: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    arguments.get(name)?.as_str().map(str::to_owned)
}

/// The files that a result says were changed or created.
fn changed_in(result: &str) -> Vec<String> {
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    let listed = ["files_modified", "files_created"].into_iter().filter_map(|field| result[field].as_array());
    listed.flatten().filter_map(|path| path.as_str().map(str::to_owned)).collect()
}

fn is_code(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| CODE.contains(&extension.to_ascii_lowercase().as_str()))
}

/// The first line of an error, as far as a footer wants it.
fn reason(result: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(result).ok();
    let error = parsed.as_ref().and_then(|value| value.get("error")?.as_str());
    let line = error.unwrap_or(result).lines().next().unwrap_or_default();
    match line.char_indices().nth(REASON) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit<'a>(arguments: &'a str, failed: bool) -> FinishedCall<'a> {
        let result = if failed { r#"{"error":"old_string was not found\nmore"}"# } else { "{}" };
        let facts = ToolFacts { edited_path: Some("path"), ..ToolFacts::DEFAULT };
        FinishedCall { facts, arguments, result, failed, has_run: true, only_reads: false }
    }

    fn command(has_run: bool, only_reads: bool) -> FinishedCall<'static> {
        let facts = ToolFacts { runs_in: RunsIn::Command, ..ToolFacts::DEFAULT };
        FinishedCall { facts, arguments: "{}", result: "", failed: true, has_run, only_reads }
    }

    fn after(calls: &[FinishedCall<'_>]) -> FileEdits {
        let mut edits = FileEdits::default();
        calls.iter().for_each(|call| edits.observe(*call));
        edits
    }

    const CODE_FILE: &str = r#"{"path":"src/a.rs"}"#;
    const NOTES: &str = r#"{"path":"notes.md"}"#;

    #[test]
    fn the_footer_lists_edits_that_failed_and_were_not_made_later() {
        assert_eq!(after(&[edit(CODE_FILE, true), edit(CODE_FILE, false)]).footer(), None);
        assert_eq!(after(&[edit(CODE_FILE, false)]).footer(), None);
        let footer = after(&[edit(NOTES, true), edit(CODE_FILE, false), edit(NOTES, true)]).footer();
        let want = "\n\n[File edits that failed in this turn:\n- `notes.md`: old_string was not found]";
        assert_eq!(footer.as_deref(), Some(want));
        assert_eq!(after(&[edit("not json", true), command(true, false)]).footer(), None);
    }

    #[test]
    fn a_patch_over_several_files_names_them_in_its_result() {
        let result =
            r#"{"success":true,"files_modified":["/p/a.rs","/p/notes.md"],"files_created":["/p/b.rs"]}"#;
        let call = FinishedCall { result, ..edit(r#"{"mode":"patch"}"#, false) };
        assert_eq!(after(&[call]).unchecked().as_deref(), Some("`/p/a.rs`, `/p/b.rs`"));
    }

    #[test]
    fn changed_code_is_unchecked_until_a_command_has_run() {
        let code = Some("`src/a.rs`".to_owned());
        for (name, calls, want) in [
            ("changed", vec![edit(CODE_FILE, false), edit(CODE_FILE, false)], code.clone()),
            ("not code", vec![edit(NOTES, false)], None),
            ("failed", vec![edit(CODE_FILE, true)], None),
            ("checked", vec![edit(CODE_FILE, false), command(true, false)], None),
            ("only looked at", vec![edit(CODE_FILE, false), command(true, true)], code.clone()),
            ("check denied", vec![edit(CODE_FILE, false), command(false, false)], code.clone()),
            ("changed after the check", vec![command(true, false), edit(CODE_FILE, false)], code),
        ] {
            assert_eq!(after(&calls).unchecked(), want, "{name}");
        }
    }
}
