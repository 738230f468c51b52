//! The common programs that commands can use, found by their files. Nothing is run.

use std::path::PathBuf;

/// Programs that matter for how a task is done, in the order of the prompt.
const COMMON: [&str; 12] =
    ["git", "rg", "python3", "uv", "node", "npm", "cargo", "go", "gcc", "make", "docker", "curl"];

/// Returns the programs that are in one of the directories of `PATH`.
pub fn installed(path: Option<&String>) -> Vec<String> {
    let folders: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let is_there =
        |name: &&str| folders.iter().any(|folder| folder.is_absolute() && folder.join(name).exists());
    COMMON.iter().filter(|name| is_there(name)).map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_folders_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("git"), "").unwrap();
        std::fs::write(folder.path().join("other"), "").unwrap();
        let path = format!("relative:/nonexistent:{}", folder.path().display());
        assert_eq!(installed(Some(&path)), ["git"]);
        assert_eq!(installed(None), Vec::<String>::new());
    }
}
