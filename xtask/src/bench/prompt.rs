//! The cost of assembling a large system prompt.

use super::row::{Quantity, Row, Target};
use super::store::{cpu_of, median};
use super::{note, skills, table};
use crate::flags::Flags;
use anyhow::{Result, ensure};
use hermes_runtime::{Home, Launch, Runtime};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SKILLS: usize = 200;
const FILE: usize = 500_000;
const FULL: usize = 31;
const QUICK: usize = 5;

pub(super) fn run(mut flags: Flags) -> Result<()> {
    let rounds = if flags.has("--quick") { QUICK } else { FULL };
    let as_json = flags.has("--json");
    flags.finish()?;
    let (much, little) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for home in [much.path(), little.path()] {
        fs::create_dir(home.join("work"))?;
        let config = "model: {provider: custom, base_url: 'http://127.0.0.1:9/v1', default: m, context_length: 1000000}\n";
        fs::write(home.join("config.yaml"), config)?;
    }
    note(&format!("writing {SKILLS} skills"));
    skills::fill(much.path(), SKILLS)?;
    let line = "- Run `make check` before you commit, and write down why a change was needed.\n";
    fs::write(much.path().join("work/AGENTS.md"), line.repeat(FILE / line.len()))?;
    let opened = |home: &Path| {
        Runtime::open(Launch {
            home: Home::at(home),
            flags: Vec::new(),
            shell: BTreeMap::new(),
            cwd: home.join("work"),
            source: "cli".to_owned(),
            supervisor: None,
        })
    };
    let (much, little) = (opened(much.path())?, opened(little.path())?);
    let shown = |runtime: &Runtime| cpu_of(|| Ok(runtime.prompt_here()?));
    let (first, view) = shown(&much)?;
    let bytes: usize = view.layers.iter().map(|layer| layer.text.len()).sum();
    ensure!(bytes > FILE / 3 && view.notices.len() == 1, "{bytes} bytes, {:?}", view.notices);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        with.push(shown(&much)?.0);
        without.push(shown(&little)?.0);
    }
    let rows = vec![
        Row::new("CPU, a prompt from 200 skills and a file of 500 KB", median(with))
            .beside("built-in text only", median(without))
            .target(Target::Below(Quantity::Millis(10.0)))
            .note(format!(
                "{} KiB; the window of the model takes 240,000 characters of the file",
                bytes / 1024
            )),
        Row::new("CPU, the first time", first).target(Target::Open).note("nothing is cached yet"),
    ];
    crate::say(&if as_json { table::json(&rows) } else { table::text(&rows) })
}
