//! The cost of 10,000 skills at the start, compared with none.

use super::row::{Quantity, Row, Target};
use super::store::{cpu_of, median};
use super::{note, table};
use crate::flags::Flags;
use anyhow::{Result, ensure};
use hermes_skills::{IndexQuery, SkillShelf};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

const SKILLS: usize = 10_000;
const CATEGORIES: usize = 100;
const FULL: usize = 15;
const QUICK: usize = 3;

pub(super) fn run(mut flags: Flags) -> Result<()> {
    let rounds = if flags.has("--quick") { QUICK } else { FULL };
    let as_json = flags.has("--json");
    flags.finish()?;
    let (many, none) = (tempfile::tempdir()?, tempfile::tempdir()?);
    note(&format!("writing {SKILLS} skills"));
    fill(many.path(), SKILLS)?;
    note("starting");
    let query = IndexQuery { platform: "linux".to_owned(), ..IndexQuery::default() };
    let start = |home: &Path| cpu_of(|| Ok(SkillShelf::open(home, &[]).index(&query)));
    let (bundled, _) = start(none.path())?;
    let (first, index) = start(many.path())?;
    ensure!(index.count >= SKILLS && index.collapsed, "{} skills in the index", index.count);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        with.push(start(many.path())?.0);
        without.push(start(none.path())?.0);
    }
    let rows = vec![
        Row::new("CPU, looking at 10,000 skills and writing the index", median(with))
            .beside("the bundled ones only", median(without))
            .target(Target::Below(Quantity::Millis(100.0)))
            .note("nothing changed since the last look"),
        Row::new("CPU, the first look", first)
            .target(Target::Open)
            .note("every SKILL.md is read and scanned"),
        Row::new("CPU, the first look where there are none", bundled)
            .target(Target::Below(Quantity::Millis(2.0)))
            .note("the ten that come with Hermes are read"),
        Row::new("bytes of the index", Quantity::Bytes(index.text.len() as f64))
            .target(Target::AtMost(Quantity::Bytes(8192.0)))
            .note("10,000 skills in 100 categories"),
    ];
    crate::say(&if as_json { table::json(&rows) } else { table::text(&rows) })
}

/// Skills in categories, with a modification time of an hour ago.
pub(super) fn fill(home: &Path, count: usize) -> Result<()> {
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let root = home.join("skills");
    for at in 0..count {
        let dir = root.join(format!("category-{:03}", at % CATEGORIES)).join(format!("skill-{at:05}"));
        fs::create_dir_all(dir.join("references"))?;
        let text = format!(
            "---\nname: skill-{at:05}\ndescription: Does thing number {at}, for people who want to have such a thing done.\n\
             version: 1.0.0\nmetadata:\n  hermes:\n    tags: [one, two]\n---\n\n# Thing {at}\n\n{}",
            "Do this, then do that, and look at what came of it.\n".repeat(20)
        );
        fs::write(dir.join("SKILL.md"), text)?;
        for path in [dir.join("SKILL.md"), dir] {
            fs::File::open(path)?.set_modified(long_ago)?;
        }
    }
    for at in 0..CATEGORIES.min(count) {
        fs::File::open(root.join(format!("category-{at:03}")))?.set_modified(long_ago)?;
    }
    Ok(fs::File::open(root)?.set_modified(long_ago)?)
}
