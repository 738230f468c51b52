//! Finds the program under test, and builds it by default.

use crate::flags::Flags;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program of `--hermes`, or a fresh release build.
pub(crate) fn find(flags: &mut Flags) -> Result<PathBuf> {
    match flags.value::<PathBuf>("--hermes")? {
        Some(path) => path.canonicalize().with_context(|| format!("there is no {}", path.display())),
        None => build(),
    }
}

/// The cargo that runs this program, if any.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn build() -> Result<PathBuf> {
    let built = cargo()
        .args(["build", "--release", "--package", "hermes-cli"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cargo could not be started")?;
    ensure!(built.status.success(), "hermes could not be built");
    executable(&String::from_utf8_lossy(&built.stdout)).context("cargo built no program named hermes")
}

/// The path of the program, from cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter(|message| message["target"]["name"] == "hermes");
    programs.find_map(|message| Some(message["executable"].as_str()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_path_is_read_from_cargo_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"hermes_wire"},"executable":null}
not json
{"reason":"compiler-artifact","target":{"name":"hermes"},"executable":"/t/release/hermes"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages), Some("/t/release/hermes".into()));
        assert_eq!(executable(""), None);
    }
}
