//! Skill bundles: several skills under one slash command, from `skill-bundles/<slug>.yaml` of the home.

use super::discovery::read_text;
use super::slug;
use serde::Deserialize;
use std::path::Path;

const MAX_BYTES: u64 = 64 * 1024;

/// Several skills that one slash command loads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Bundle {
    /// The name of its file.
    #[serde(skip)]
    pub slug: String,
    pub name: String,
    pub description: String,
    pub skills: Vec<String>,
    /// Instruction placed before the user's request.
    pub instruction: String,
}

/// Returns the bundles of a home, sorted by slug, and a message for each invalid file.
pub fn bundles(home: &Path) -> (Vec<Bundle>, Vec<String>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let Ok(entries) = std::fs::read_dir(home.join("skill-bundles")) else {
        return (found, problems);
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_yaml = path.extension().is_some_and(|kind| kind == "yaml" || kind == "yml");
        let (true, Some(stem)) = (is_yaml, path.file_stem().and_then(|stem| stem.to_str())) else {
            continue;
        };
        match read(&path) {
            Ok(bundle) => {
                let name = if bundle.name.is_empty() { stem.to_owned() } else { bundle.name.clone() };
                found.push(Bundle { slug: slug(stem), name, ..bundle });
            }
            Err(why) => problems.push(format!("invalid skill bundle {}: {why}", path.display())),
        }
    }
    found.sort_by(|a, b| a.slug.cmp(&b.slug));
    problems.sort();
    (found, problems)
}

fn read(path: &Path) -> Result<Bundle, String> {
    let bundle: Bundle = serde_saphyr::from_str(&read_text(path, MAX_BYTES)?)
        .map_err(|error| error.to_string().lines().next().unwrap_or("unreadable").to_owned())?;
    if bundle.skills.is_empty() { Err("`skills` is empty".to_owned()) } else { Ok(bundle) }
}
