//! The place of everything in the store. Names and contents are those of the Python release 0.19; only the directory
//! `hermes` is ours.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The prefix of all references.
pub(crate) const REFS: &str = "refs/hermes";

/// Patterns of files that are never saved, in the syntax of `.gitignore`.
pub(crate) const EXCLUDES: [&str; 50] = [
    "node_modules/",
    "dist/",
    "build/",
    "target/",
    "out/",
    ".next/",
    ".nuxt/",
    "__pycache__/",
    "*.pyc",
    "*.pyo",
    ".cache/",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    "coverage/",
    ".coverage",
    ".venv/",
    "venv/",
    "env/",
    ".git/",
    ".hg/",
    ".svn/",
    ".worktrees/",
    "*.so",
    "*.dylib",
    "*.dll",
    "*.o",
    "*.a",
    "*.jar",
    "*.class",
    "*.exe",
    "*.obj",
    "*.mp4",
    "*.mov",
    "*.mkv",
    "*.webm",
    "*.zip",
    "*.tar",
    "*.tar.gz",
    "*.tgz",
    "*.7z",
    "*.rar",
    "*.iso",
    ".env",
    ".env.*",
    ".env.local",
    ".env.*.local",
    ".DS_Store",
    "Thumbs.db",
    "*.log",
];

/// Settings of the store itself. Git is given stricter ones on every call; these serve the Python release.
pub(crate) const CONFIG: &str = "\
[user]
\temail = hermes@local
\tname = Hermes Checkpoint
[commit]
\tgpgsign = false
[tag]
\tgpgSign = false
[gc]
\tauto = 0
";

/// Attributes that have precedence over those of the project: content is saved byte for byte.
pub(crate) const ATTRIBUTES: &str = "* -text !eol -ident -filter !working-tree-encoding !diff !merge\n";

/// The paths below `<home>/checkpoints`.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) base: PathBuf,
}

impl Layout {
    pub(crate) fn store(&self) -> PathBuf {
        self.base.join("store")
    }

    pub(crate) fn exists(&self) -> bool {
        self.store().join("HEAD").is_file()
    }

    pub(crate) fn last_prune(&self) -> PathBuf {
        self.base.join(".last_prune")
    }

    pub(crate) fn projects(&self) -> PathBuf {
        self.store().join("projects")
    }

    pub(crate) fn metadata(&self, key: &str) -> PathBuf {
        self.projects().join(format!("{key}.json"))
    }

    pub(crate) fn index(&self, key: &str) -> PathBuf {
        self.store().join("indexes").join(key)
    }

    pub(crate) fn journal(&self, key: &str) -> PathBuf {
        self.store().join("hermes").join("changes").join(format!("{key}.jsonl"))
    }

    /// The tree of the index of a project, when it was last written.
    pub(crate) fn tree(&self, key: &str) -> PathBuf {
        self.store().join("hermes").join("trees").join(key)
    }

    pub(crate) fn lock(&self, name: &str) -> PathBuf {
        self.store().join("hermes").join("locks").join(name)
    }
}

/// The name of a project in the store: 16 hexadecimal digits of the checksum of its path.
pub(crate) fn key(project: &Path) -> String {
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn reference(key: &str) -> String {
    format!("{REFS}/{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_the_beginning_of_the_checksum_of_the_path() {
        // printf %s /home/me/code | sha256sum
        assert_eq!(key(Path::new("/home/me/code")).len(), 16);
        assert_eq!(key(Path::new("")), "e3b0c44298fc1c14");
    }
}
