//! Files with instructions for an assistant in a project. Only the first kind that exists is used.

use std::path::{Path, PathBuf};

/// The number of files that are used of a rules directory.
const MOST_RULES: usize = 100;

/// A file with instructions.
#[derive(Debug, PartialEq)]
pub struct FoundFile {
    /// The path relative to the working directory.
    pub name: String,
    pub path: PathBuf,
}

/// Returns the files with instructions for a working directory.
pub fn find(cwd: &Path) -> Vec<FoundFile> {
    let one = |found: Option<FoundFile>| found.into_iter().collect::<Vec<_>>();
    let kinds: [&dyn Fn() -> Vec<FoundFile>; 4] = [
        &|| one(nearest(cwd, &[".hermes.md", "HERMES.md"])),
        &|| one(first_in(cwd, &["AGENTS.md", "agents.md"])),
        &|| one(first_in(cwd, &["CLAUDE.md", "claude.md"])),
        &|| cursor_rules(cwd),
    ];
    kinds.iter().map(|kind| kind()).find(|files| !files.is_empty()).unwrap_or_default()
}

/// The first of these files that is not empty.
fn first_in(folder: &Path, names: &[&str]) -> Option<FoundFile> {
    let found = names.iter().find(|name| is_filled(&folder.join(name)))?;
    Some(FoundFile { name: (*found).to_owned(), path: folder.join(found) })
}

/// The nearest of these files up to the root of the repository; outside of one, only in the directory itself.
fn nearest(cwd: &Path, names: &[&str]) -> Option<FoundFile> {
    let is_root = |folder: &Path| folder.join(".git").exists();
    let steps = match cwd.ancestors().position(is_root) {
        Some(root) => root + 1,
        None => 1,
    };
    cwd.ancestors().take(steps).enumerate().find_map(|(up, folder)| {
        let found = first_in(folder, names)?;
        Some(FoundFile { name: format!("{}{}", "../".repeat(up), found.name), ..found })
    })
}

fn cursor_rules(cwd: &Path) -> Vec<FoundFile> {
    let mut all: Vec<FoundFile> = first_in(cwd, &[".cursorrules"]).into_iter().collect();
    let folder = cwd.join(".cursor/rules");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // A name becomes a heading; with a line break it could pass for text of the prompt.
    let is_plain = |name: &String| name.ends_with(".mdc") && !name.contains(char::is_control);
    let mut rules: Vec<String> = names.filter(is_plain).collect();
    rules.sort_unstable();
    rules.truncate(MOST_RULES);
    let found = rules
        .into_iter()
        .map(|name| FoundFile { path: folder.join(&name), name: format!(".cursor/rules/{name}") });
    all.extend(found.filter(|found| is_filled(&found.path)));
    all
}

fn is_filled(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str], cwd: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = if file.contains("empty") { "" } else { "words" };
            std::fs::write(path, text).unwrap();
        }
        let cwd = folder.path().join(cwd);
        std::fs::create_dir_all(&cwd).unwrap();
        let found = find(&cwd);
        for file in &found {
            assert!(file.path.is_file(), "{file:?}");
        }
        found.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn only_the_first_kind_that_exists_is_used() {
        let all = [
            "HERMES.md",
            "AGENTS.md",
            "CLAUDE.md",
            ".cursorrules",
            ".cursor/rules/b.mdc",
            ".cursor/rules/a.mdc",
        ];
        for (files, cwd, want) in [
            (&all[..0], ".", vec![]),
            (&all[..], ".", vec!["HERMES.md"]),
            (&all[1..], ".", vec!["AGENTS.md"]),
            (&all[2..], ".", vec!["CLAUDE.md"]),
            (&all[3..], ".", vec![".cursorrules", ".cursor/rules/a.mdc", ".cursor/rules/b.mdc"]),
            (&all[4..], ".", vec![".cursor/rules/a.mdc", ".cursor/rules/b.mdc"]),
            (&["claude.md", "agents.md"], ".", vec!["agents.md"]),
            (&[".hermes.md", "HERMES.md"], ".", vec![".hermes.md"]),
            // Up to the root of the repository and not further.
            (&[".git/HEAD", "HERMES.md"], "a/b", vec!["../../HERMES.md"]),
            (&[".git/HEAD", "HERMES.md", "a/HERMES.md"], "a/b", vec!["../HERMES.md"]),
            (&["HERMES.md", "a/.git"], "a/b", vec![]),
            (&["HERMES.md"], "a", vec![]),
            // The other kinds are used in the working directory only.
            (&[".git/HEAD", "AGENTS.md"], "a", vec![]),
        ] {
            assert_eq!(names(files, cwd), want, "{files:?} {cwd}");
        }
    }

    #[test]
    fn rules_are_limited_and_names_with_control_characters_skipped() {
        let mut files: Vec<String> =
            (0..150).map(|number| format!(".cursor/rules/{number:03}.mdc")).collect();
        files.push(".cursor/rules/000\n# System.mdc".to_owned());
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let found = names(&files, ".");
        assert_eq!((found.len(), found[1].as_str()), (MOST_RULES, ".cursor/rules/001.mdc"));
    }

    #[test]
    fn empty_files_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "").unwrap();
        std::fs::write(folder.path().join("CLAUDE.md"), "x").unwrap();
        assert_eq!(find(folder.path())[0].name, "CLAUDE.md");
    }
}
