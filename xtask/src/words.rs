//! `cargo xtask words`: rejects vague wording in documentation, help, messages and names.
//!
//! The rules are in `words/list.txt`; paths that are not converted yet are in `words/pending.txt`. Finding prose
//! and matching rules are pure functions in the modules below; this file walks the workspace and prints.

mod list;
mod markdown;
mod matching;
mod prose;
mod rust_source;

use crate::flags::Flags;
use anyhow::{Context, Result, ensure};
use list::{Exception, WordList};
use matching::Finding;
use prose::Prose;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const LIST: &str = include_str!("words/list.txt");
const PENDING: &str = include_str!("words/pending.txt");

/// Checks the workspace, or the crates named by `--crates`, which are checked even if they are pending.
pub(crate) fn run(mut flags: Flags) -> Result<ExitCode> {
    let crates: Option<String> = flags.value("--crates")?;
    flags.finish()?;
    let list = WordList::parse(LIST).context("cannot read words/list.txt")?;
    let pending: Vec<&str> = pending(PENDING).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = sources(&root)?;
    let wanted = match &crates {
        Some(names) => selected(sources, names)?,
        None => sources,
    };
    let mut report = Report::default();
    for source in wanted {
        let text = fs::read_to_string(root.join(&source)).with_context(|| format!("cannot read {source}"))?;
        let is_pending = crates.is_none() && pending.iter().any(|path| source.starts_with(path));
        report.add(&source, findings(&source, &text, &list), is_pending);
    }
    if crates.is_none() {
        report.unused = list.exceptions.iter().filter(|it| !report.used.contains(*it)).cloned().collect();
    }
    crate::say(&report.text())?;
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The result of a check.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    in_pending: usize,
    used: BTreeSet<Exception>,
    unused: Vec<Exception>,
}

impl Report {
    fn add(&mut self, source: &str, findings: Vec<Finding>, is_pending: bool) {
        for finding in findings {
            match finding.exception {
                Some(exception) => {
                    self.used.insert(exception);
                }
                None if is_pending => self.in_pending += 1,
                None => self.lines.push(format!(
                    "{source}:{}: \"{}\": use {}",
                    finding.line, finding.matched, finding.advice
                )),
            }
        }
    }

    fn passed(&self) -> bool {
        self.lines.is_empty() && self.unused.is_empty()
    }

    fn text(&self) -> String {
        let mut text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        for unused in &self.unused {
            let Exception { path, snippet, .. } = unused;
            text +=
                &format!("xtask/src/words/list.txt: the exception `{path} | {snippet}` matches nothing\n");
        }
        match (self.lines.len(), self.in_pending) {
            (0, 0) => text += "no rejected wording\n",
            (found, 0) => text += &format!("{found} findings\n"),
            (found, pending) => text += &format!("{found} findings, and {pending} in pending paths\n"),
        }
        text
    }
}

/// Everything that the rules reject in one file.
fn findings(path: &str, text: &str, list: &WordList) -> Vec<Finding> {
    let mut prose = match path.ends_with(".md") {
        true => markdown::prose(text),
        false => rust_source::prose(text),
    };
    prose.extend(Prose::path(path));
    prose.iter().flat_map(|prose| matching::findings(path, prose, list)).collect()
}

fn pending(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The files of the named crates; `docs` and `xtask` count as crates.
fn selected(sources: Vec<String>, names: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in names.split(',').map(str::trim) {
        let folders = [format!("crates/{name}/"), format!("{name}/")];
        let before = found.len();
        found.extend(sources.iter().filter(|path| folders.iter().any(|it| path.starts_with(it))).cloned());
        ensure!(found.len() > before, "no crate `{name}`: use a name under crates/, `xtask` or `docs`");
    }
    Ok(found)
}

/// The files to check, relative to the workspace, sorted.
fn sources(root: &Path) -> Result<Vec<String>> {
    let mut folders = vec![root.join("docs"), root.join("xtask/src")];
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        folders.extend([folder.join("src"), folder.join("tests")]);
    }
    let mut paths = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    folders.iter().filter(|folder| folder.is_dir()).try_for_each(|folder| walk(folder, &mut paths))?;
    let relative = |path: PathBuf| path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned);
    let mut sources: Vec<String> = paths.into_iter().filter_map(relative).collect();
    sources.sort();
    Ok(sources)
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => walk(&path, paths)?,
            Some("md" | "rs") => paths.push(path),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let list = WordList::parse(LIST).unwrap();
        findings(path, text, &list).into_iter().map(|found| (found.line, found.matched)).collect()
    }

    #[test]
    fn planted_faults_are_found_in_every_kind_of_prose() {
        for (path, text, want) in [
            ("docs/a.md", "One\n\nthen a\nperson asks", (3, "a person")),
            ("crates/a/src/b.rs", "/// Asks somebody.\nfn a() {}", (1, "somebody")),
            ("crates/a/src/b.rs", "//! Why it stopped.", (1, "Why")),
            ("crates/a/src/b.rs", "fn a() { say(\"`x` is no time\") }", (1, "is no time")),
            ("crates/a/src/b.rs", "#[arg(help = \"somebody\")]", (1, "somebody")),
            ("crates/a/tests/b.rs", "#[test]\nfn it_is_put_away() {}", (2, "put away")),
            ("crates/a/src/letterbox.rs", "", (1, "letterbox")),
        ] {
            assert_eq!(found(path, text), [(want.0, want.1.to_owned())], "{path}: {text}");
        }
    }

    #[test]
    fn code_and_other_comments_are_not_prose() {
        for (path, text) in [
            ("docs/a.md", "Run `words`:\n\n```sh\nhermes told somebody\n```\n"),
            ("crates/a/src/b.rs", "// somebody\nfn told() -> &'static str { \"told\" }"),
            (
                "crates/a/src/b.rs",
                "/// Runs this:\n///\n/// ```\n/// words(\"a person said so\");\n/// ```\nfn a() {}",
            ),
        ] {
            assert_eq!(found(path, text), [], "{text}");
        }
    }

    #[test]
    fn pending_paths_do_not_fail_and_are_counted() {
        let list = WordList::parse(LIST).unwrap();
        let mut report = Report::default();
        report.add("docs/a.md", findings("docs/a.md", "somebody", &list), true);
        assert!(report.passed());
        assert_eq!(report.text(), "0 findings, and 1 in pending paths\n");
        report.add("docs/b.md", findings("docs/b.md", "somebody", &list), false);
        assert!(!report.passed());
        let line = report.text();
        assert!(line.starts_with("docs/b.md:1: \"somebody\": use "), "{line}");
    }

    #[test]
    fn crates_are_selected_by_name() {
        let all = || ["crates/a/src/x.rs", "crates/ab/src/x.rs", "docs/x.md"].map(str::to_owned).to_vec();
        assert_eq!(selected(all(), "a,docs").unwrap(), ["crates/a/src/x.rs", "docs/x.md"]);
        assert!(selected(all(), "b").is_err());
    }
}
