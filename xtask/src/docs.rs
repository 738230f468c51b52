//! Generated parts of the documentation: `cargo xtask docs` rewrites them, `--check` compares them.
//!
//! A generated part stands between `<!-- generated NAME -->` and `<!-- end NAME -->`. A new one is a row in
//! [`BLOCKS`] and the two markers in the document.

mod settings;
mod slash_commands;
mod tools;

use crate::flags::Flags;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A generated part of a document.
struct Block {
    /// The document, relative to the workspace.
    file: &'static str,
    /// The name in the markers.
    name: &'static str,
    text: fn() -> String,
}

/// Every generated part.
const BLOCKS: &[Block] = &[
    Block { file: "docs/configuration.md", name: "settings", text: settings::table },
    Block { file: "docs/commands.md", name: "commands", text: hermes_cli::reference::commands },
    Block { file: "docs/commands.md", name: "slash commands", text: slash_commands::table },
    Block { file: "README.md", name: "exit codes", text: hermes_cli::reference::exit_codes },
    Block { file: "docs/tools.md", name: "tools", text: tools::table },
];

/// Rewrites the generated parts; with `--check`, lists those that differ and fails if there is one.
pub(crate) fn run(mut flags: Flags) -> Result<ExitCode> {
    let only_checks = flags.has("--check");
    flags.finish()?;
    let stale = stale()?;
    for (block, path, text) in &stale {
        if !only_checks {
            fs::write(path, text).with_context(|| format!("cannot write {}", block.file))?;
        }
        let done = if only_checks { "is out of date: run `cargo xtask docs`" } else { "rewritten" };
        crate::say(&format!("{}: generated part `{}` {done}\n", block.file, block.name))?;
    }
    if stale.is_empty() {
        crate::say("generated parts of the documentation are up to date\n")?;
    }
    Ok(if only_checks && !stale.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The parts that differ from their documents, each with the path and the new text of the document.
fn stale() -> Result<Vec<(&'static Block, PathBuf, String)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut stale: Vec<(&Block, PathBuf, String)> = Vec::new();
    for block in BLOCKS {
        let path = root.join(block.file);
        // Another part of the same document may have changed already.
        let changed = stale.iter().rev().find(|(_, changed, _)| *changed == path);
        let before = match changed {
            Some((_, _, text)) => text.clone(),
            None => fs::read_to_string(&path).with_context(|| format!("cannot read {}", block.file))?,
        };
        let after = replaced(&before, block.name, &(block.text)())
            .with_context(|| format!("{} has no markers for `{}`", block.file, block.name))?;
        if after != before {
            stale.push((block, path, after));
        }
    }
    Ok(stale)
}

/// `document` with `text` between the markers of `name`; `None` without the markers.
fn replaced(document: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- generated {name} -->\n"), format!("<!-- end {name} -->"));
    let (before, rest) = document.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_parts_are_up_to_date() {
        let stale = stale().unwrap();
        let names: Vec<&str> = stale.iter().map(|(block, _, _)| block.name).collect();
        assert!(names.is_empty(), "run `cargo xtask docs`: {names:?}");
    }

    #[test]
    fn a_generated_part_is_replaced_between_its_markers() {
        let document = "a\n<!-- generated x -->\nold\n<!-- end x -->\nb\n";
        let want = "a\n<!-- generated x -->\n\nnew\n\n<!-- end x -->\nb\n";
        assert_eq!(replaced(document, "x", "new\n").as_deref(), Some(want));
        assert_eq!(replaced(want, "x", "new").as_deref(), Some(want));
        for broken in ["a\n", "<!-- generated x -->\n", "<!-- end x -->"] {
            assert_eq!(replaced(broken, "x", "new"), None, "{broken}");
        }
    }
}
