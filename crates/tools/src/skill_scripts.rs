//! Shell scripts of skills that a command runs.
//!
//! The text of a command says nothing about a script that it runs. A skill comes from elsewhere, so its scripts are
//! judged like commands. Scripts of the project are the user's; the sandbox confines both.

use crate::ToolContext;
use hermes_gate::Assessment;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a script that are judged; a longer one is too long for the gate, too.
const MOST: u64 = 128 * 1024;

/// Adds the findings about shell scripts of skills to those about the command that names them.
pub(crate) fn judge(assessment: &mut Assessment, cwd: &Path, cx: &ToolContext) {
    let skills = cx.places().home.join("skills");
    let named = assessment.commands.iter().flat_map(|command| command.split_whitespace());
    let mut scripts: Vec<PathBuf> = named
        .filter(|word| word.contains('/'))
        .filter_map(|word| cx.resolve(Path::new(word), cwd).canonicalize().ok())
        .filter(|path| path.starts_with(&skills))
        .collect();
    scripts.dedup();
    let scene = cx.scene(cwd);
    for text in scripts.iter().filter_map(|path| shell_script(path)) {
        let found = hermes_gate::assess(&text, &scene);
        assessment.findings.extend(found.findings);
        assessment.commands.extend(found.commands);
    }
}

/// The text of a file, if a shell would run it.
fn shell_script(path: &Path) -> Option<String> {
    let file = std::fs::File::open(path).ok().filter(|_| path.is_file())?;
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let first = text.lines().next().unwrap_or_default();
    let has_shell_name = path.extension().is_some_and(|name| name == "sh" || name == "bash");
    let has_shell_line = first.starts_with("#!") && first.trim_end().ends_with("sh");
    (has_shell_name || has_shell_line).then_some(text)
}
