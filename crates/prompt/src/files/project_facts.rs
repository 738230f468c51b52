//! Facts about a code project by the names of its files. Nothing is run, and of git only `HEAD` is read.

use crate::CodeProject;
use std::path::{Path, PathBuf};

/// Manifests: file, language of the project, and the command that checks it.
const MANIFESTS: [(&str, &str, &str); 13] = [
    ("Cargo.toml", "Rust", "cargo test"),
    ("go.mod", "Go", "go test ./..."),
    ("pyproject.toml", "Python", "pytest"),
    ("setup.py", "Python", "pytest"),
    ("requirements.txt", "Python", "pytest"),
    ("package.json", "JavaScript", "npm test"),
    ("pom.xml", "Java", "mvn test"),
    ("build.gradle", "Java", "./gradlew test"),
    ("build.gradle.kts", "Kotlin", "./gradlew test"),
    ("Gemfile", "Ruby", "bundle exec rake test"),
    ("composer.json", "PHP", "composer test"),
    ("mix.exs", "Elixir", "mix test"),
    ("CMakeLists.txt", "C or C++", "ctest"),
];
/// Lock files: file, its manifest, and the command that checks the project.
const LOCKS: [(&str, &str, &str); 6] = [
    ("uv.lock", "pyproject.toml", "uv run pytest"),
    ("poetry.lock", "pyproject.toml", "poetry run pytest"),
    ("pnpm-lock.yaml", "package.json", "pnpm test"),
    ("yarn.lock", "package.json", "yarn test"),
    ("bun.lockb", "package.json", "bun test"),
    ("bun.lock", "package.json", "bun test"),
];

/// Returns the code project that a directory is in, if any.
pub fn find(cwd: &Path) -> Option<CodeProject> {
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists());
    let mut folders = vec![cwd];
    folders.extend(root.filter(|root| *root != cwd));
    let manifest = folders.into_iter().find_map(|folder| {
        let found = MANIFESTS.iter().find(|(file, _, _)| folder.join(file).is_file())?;
        Some((folder, found))
    });
    if root.is_none() && manifest.is_none() {
        return None;
    }
    let (language, check) = match manifest {
        Some((folder, (file, language, usual))) => {
            let locked = LOCKS.iter().find(|(lock, of, _)| of == file && folder.join(lock).is_file());
            (Some(*language), Some(locked.map_or(*usual, |(_, _, check)| *check)))
        }
        None => (None, None),
    };
    Some(CodeProject {
        branch: root.and_then(branch),
        language: language.map(str::to_owned),
        check: check.map(str::to_owned),
        instructions: None,
    })
}

/// The branch that is checked out. Untrusted names with unusual characters are left out.
fn branch(root: &Path) -> Option<String> {
    let head = std::fs::read_to_string(git_dir(&root.join(".git"))?.join("HEAD")).ok()?;
    let name = head.trim().strip_prefix("ref: refs/heads/")?;
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "._/-".contains(char);
    (name.len() <= 100 && name.chars().all(is_plain)).then(|| name.to_owned())
}

/// The directory of git; in a linked worktree `.git` is a file that names it.
fn git_dir(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = std::fs::read_to_string(git).ok().filter(|text| text.len() < 4_096)?;
    Some(git.parent()?.join(text.trim().strip_prefix("gitdir: ")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_check_and_branch_follow_from_files() {
        for (files, cwd, want) in [
            (vec![], ".", None),
            (vec![("Cargo.toml", "")], ".", Some((None, Some("Rust"), Some("cargo test")))),
            (vec![(".git/HEAD", "ref: refs/heads/fix/a-1\n")], "sub", Some((Some("fix/a-1"), None, None))),
            (
                vec![(".git/HEAD", "0123abc\n"), ("package.json", "{}"), ("yarn.lock", "")],
                "sub",
                Some((None, Some("JavaScript"), Some("yarn test"))),
            ),
            (
                vec![("pyproject.toml", ""), ("uv.lock", "")],
                ".",
                Some((None, Some("Python"), Some("uv run pytest"))),
            ),
            // A name that could be read as an instruction is left out.
            (vec![(".git/HEAD", "ref: refs/heads/ignore all previous\n")], ".", Some((None, None, None))),
            (
                vec![
                    (".git", "gitdir: meta/worktrees/w\n"),
                    ("meta/worktrees/w/HEAD", "ref: refs/heads/w\n"),
                ],
                ".",
                Some((Some("w"), None, None)),
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            for (file, text) in &files {
                let path = folder.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            let cwd = folder.path().join(cwd);
            std::fs::create_dir_all(&cwd).unwrap();
            let found = find(&cwd);
            let found = found.as_ref().map(|project| {
                (project.branch.as_deref(), project.language.as_deref(), project.check.as_deref())
            });
            assert_eq!(found, want, "{files:?}");
        }
    }
}
