//! Command lines in README and docs, run against a scripted model.
//!
//! Every fenced `sh` block of a page runs as a script, in the order of the page and in one home. The info string
//! of a block may state another exit code than 0 (`sh exit=1`), or `sh no-run` for what needs a terminal, a
//! login or a network; of those blocks the subcommands and flags must exist. A block of cargo commands must be steps
//! of `.ci/run`. `text` blocks are output.

use crate::process::{custom_model, finished};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One fenced block of shell commands.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    line: usize,
    run: Run,
    script: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Expect(i32),
    /// Only looks up the subcommands and flags.
    LookUp,
    /// Steps of the CI.
    Steps,
}

/// The shell blocks of a page. A block that shows commands in another language tag is an error.
fn blocks(page: &str) -> Result<Vec<Block>, String> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let content: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
        let mut words = info.split_whitespace();
        if words.next() == Some("sh") {
            let is_cargo = content.first().is_some_and(|line| line.starts_with("cargo "));
            let run = match words.next() {
                None if is_cargo => Some(Run::Steps),
                tag => run_of(tag),
            };
            let run = run.ok_or(format!("line {}: unknown tag `{info}`", number + 1))?;
            found.push(Block { line: number + 1, run, script: content.join("\n") });
        } else if info.trim() == "text" {
            continue;
        } else if let Some(command) = content.iter().find(|line| line.trim_start().starts_with("$ ")) {
            return Err(format!(
                "line {}: `{command}` is not in a `sh` block, so it is not checked",
                number + 1
            ));
        }
    }
    Ok(found)
}

fn run_of(tag: Option<&str>) -> Option<Run> {
    match tag {
        None => Some(Run::Expect(0)),
        Some("no-run") => Some(Run::LookUp),
        Some(tag) => tag.strip_prefix("exit=")?.parse().ok().map(Run::Expect),
    }
}

/// The binary's folder before the other folders of programs.
fn path() -> std::ffi::OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_hermes")).parent().unwrap().to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&rest))).unwrap()
}

async fn shell(script: &str, home: &Path, cwd: &Path) -> Output {
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", script]).current_dir(cwd).env_clear();
    command.env("PATH", path()).env("HOME", cwd).env("HERMES_HOME", home);
    finished(command).await
}

/// The calls of `hermes` in a script that is not run: subcommands, then flags.
fn calls(script: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let script_lines = script.lines().map(|line| line.split(" #").next().unwrap_or(line));
    let words = script_lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words
        .filter_map(|words| {
            let start = words.iter().position(|word| *word == "hermes")?;
            let call = words[start + 1..].iter().take_while(|word| !matches!(**word, "|" | ">" | "&&" | ";"));
            let call: Vec<&str> = call.copied().collect();
            let is_name = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            let names = call.iter().copied().take_while(|word| is_name(word) && !word.starts_with('-'));
            let flags = call.iter().filter(|word| word.starts_with("--"));
            let flags = flags.map(|flag| flag.split('=').next().unwrap_or(flag)).collect();
            Some((names.take(2).collect(), flags))
        })
        .collect()
}

/// Checks that the subcommands and flags of a script exist, by their help texts.
async fn look_up(script: &str, home: &Path, cwd: &Path) -> Result<(), String> {
    for (names, flags) in calls(script) {
        let whole = shell(&format!("hermes {} --help", names.join(" ")), home, cwd).await;
        let (help, has_subcommands) = match names.as_slice() {
            // The second name is an argument, unless the command has subcommands.
            [first, _] if !whole.status.success() => {
                let help = shell(&format!("hermes {first} --help"), home, cwd).await;
                let has_subcommands = String::from_utf8_lossy(&help.stdout).contains("COMMAND");
                (help, has_subcommands)
            }
            _ => (whole, false),
        };
        if has_subcommands || !help.status.success() {
            return Err(format!("no such command: hermes {}", names.join(" ")));
        }
        let text = String::from_utf8_lossy(&help.stdout).into_owned();
        if let Some(flag) = flags.iter().find(|flag| !text.contains(**flag)) {
            return Err(format!("`hermes {}` has no flag {flag}", names.join(" ")));
        }
    }
    Ok(())
}

/// Checks that commands of cargo are steps of the CI.
fn is_in_ci(script: &str) -> Result<(), String> {
    let ci = root().join(".ci/run");
    let steps = std::fs::read_to_string(ci).map_err(|error| error.to_string())?.replace(" --locked", "");
    let missing =
        script.lines().find(|line| *line != "bash .ci/run" && !steps.contains(&format!("step {line}\n")));
    missing.map_or(Ok(()), |line| Err(format!("`{line}` is not a step of .ci/run")))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

async fn check(page: &Path) -> Result<usize, String> {
    let text = std::fs::read_to_string(page).map_err(|error| error.to_string())?;
    let blocks = blocks(&text)?;
    let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
    let provider = FakeProvider::start().await;
    provider.answer_with(|_| ReplyScript::text("Three files: README.md, Cargo.toml and src."));
    home.write_config(&custom_model(&provider.base_url()));
    for block in &blocks {
        match block.run {
            Run::LookUp => look_up(&block.script, home.path(), folder.path())
                .await
                .map_err(|problem| format!("line {}: {problem}", block.line))?,
            Run::Steps => {
                is_in_ci(&block.script).map_err(|problem| format!("line {}: {problem}", block.line))?
            }
            Run::Expect(code) => {
                let out = shell(&block.script, home.path(), folder.path()).await;
                if out.status.code() != Some(code) {
                    return Err(format!(
                        "line {}: expected exit code {code}, got {}:\n{}\n{}{}",
                        block.line,
                        out.status,
                        block.script,
                        String::from_utf8_lossy(&out.stdout),
                        String::from_utf8_lossy(&out.stderr),
                    ));
                }
            }
        }
    }
    Ok(blocks.len())
}

fn pages() -> Vec<PathBuf> {
    let root = root();
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.extend([root.join("README.md"), root.join("CONTRIBUTING.md")]);
    pages.sort();
    pages
}

#[tokio::test(flavor = "multi_thread")]
async fn command_lines_of_the_documentation_run() {
    let mut count = 0;
    let mut problems = Vec::new();
    for page in pages() {
        match check(&page).await {
            Ok(blocks) => count += blocks,
            Err(problem) => problems.push(format!("{}: {problem}", page.file_name().unwrap().display())),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count > 20, "only {count} blocks found");
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_in_a_page_are_found() {
    let faulty = [
        ("```sh\nhermes sesions list\n```", "expected exit code 0"),
        ("```sh exit=1\nhermes sessions list\n```", "expected exit code 1"),
        ("```sh no-run\nhermes sessions lost --json\n```", "no such command: hermes sessions lost"),
        ("```sh no-run\nhermes sessions list --jsn\n```", "has no flag --jsn"),
        ("```sh\ncargo test\n```", "not a step of .ci/run"),
        ("```sh maybe\nhermes doctor\n```", "unknown tag"),
        ("```console\n$ hermes doctor\n```", "not in a `sh` block"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (text, want) in faulty {
        let page = folder.path().join("page.md");
        std::fs::write(&page, text).unwrap();
        let problem = check(&page).await.unwrap_err();
        assert!(problem.contains(want), "{text}: {problem}");
    }
}
