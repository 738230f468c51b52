//! A hello-world program, the minimum cost of a Rust program.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Its output.
pub(super) const GREETING: &str = "hello, world";

/// A compiled program. Dropping it deletes it.
pub(super) struct Hello(TempDir);

impl Hello {
    pub(super) fn build() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("hello.rs");
        fs::write(&source, format!("fn main() {{ println!(\"{GREETING}\"); }}\n"))?;
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Command::new(compiler)
            .args(["-O", "-C", "strip=symbols", "--edition=2024", "-o"])
            .args([folder.path().join("hello"), source])
            .status()
            .context("rustc could not be started")?;
        ensure!(built.success(), "the hello-world program could not be built");
        Ok(Self(folder))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("hello")
    }
}
