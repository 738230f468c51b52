//! The dependencies among our own crates.
//!
//! The table here is the one in `docs/architecture.md`; both are compared with each other and
//! with what the manifests really say, so the page stays true.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Every crate of the workspace and the ones it may use outside of its tests.
const MAY_DEPEND_ON: [(&str, &[&str]); 40] = [
    ("conversation", &[]),
    ("guard", &[]),
    ("gate", &[]),
    ("documents", &[]),
    ("edits", &[]),
    ("images", &[]),
    ("sandbox", &["gate"]),
    ("exec", &["sandbox"]),
    ("far-files", &["exec"]),
    ("places", &["exec"]),
    ("wire", &["conversation"]),
    ("context", &["conversation"]),
    ("store", &["conversation", "guard"]),
    ("skills", &["conversation", "guard"]),
    ("prompt", &["conversation", "guard", "images", "wire"]),
    ("providers", &["conversation", "guard", "wire"]),
    ("scripted", &["conversation", "wire"]),
    (
        "tools",
        &[
            "conversation",
            "documents",
            "edits",
            "exec",
            "far-files",
            "gate",
            "guard",
            "images",
            "sandbox",
            "skills",
            "store",
        ],
    ),
    ("agent", &["context", "conversation", "prompt", "tools", "wire"]),
    ("config", &["agent", "conversation", "guard", "prompt", "providers", "wire"]),
    ("clouds", &["config", "models", "providers", "wire"]),
    ("telemetry", &["guard"]),
    ("plugins", &["config", "context", "conversation", "exec", "guard", "sandbox", "tools"]),
    (
        "recording",
        &[
            "agent",
            "context",
            "conversation",
            "exec",
            "guard",
            "plugins",
            "prompt",
            "providers",
            "store",
            "tools",
            "wire",
        ],
    ),
    ("memory", &["agent", "config", "conversation", "guard", "store", "tools", "wire"]),
    ("models", &["agent", "config", "conversation", "guard", "providers", "wire"]),
    ("processes", &["conversation", "exec", "guard", "store", "tools"]),
    (
        "delegation",
        &["agent", "config", "conversation", "guard", "models", "processes", "providers", "store", "tools"],
    ),
    ("attachments", &["conversation", "exec", "guard", "images", "tools"]),
    ("checkpoints", &["conversation", "exec", "tools"]),
    ("toolsets", &["config", "memory", "models", "plugins", "tools", "vision", "web"]),
    ("web", &["config", "conversation", "documents", "guard", "providers", "tools", "wire"]),
    ("vision", &["agent", "config", "conversation", "images", "models", "providers", "tools", "wire"]),
    ("skill-sources", &["config", "exec", "models", "providers", "skills"]),
    ("observers", &["agent", "conversation", "tools"]),
    (
        "runtime",
        &[
            "agent",
            "attachments",
            "checkpoints",
            "clouds",
            "config",
            "context",
            "conversation",
            "delegation",
            "exec",
            "gate",
            "guard",
            "memory",
            "models",
            "observers",
            "places",
            "plugins",
            "processes",
            "prompt",
            "providers",
            "recording",
            "sandbox",
            "scripted",
            "skill-sources",
            "skills",
            "store",
            "telemetry",
            "tools",
            "toolsets",
            "vision",
            "web",
            "wire",
        ],
    ),
    ("terminal", &["conversation", "runtime", "store", "tools"]),
    (
        "cli",
        &[
            "checkpoints",
            "clouds",
            "config",
            "conversation",
            "memory",
            "plugins",
            "recording",
            "runtime",
            "scripted",
            "skills",
            "store",
            "telemetry",
            "terminal",
            "tools",
            "toolsets",
        ],
    ),
    ("testkit", &["conversation", "scripted", "wire"]),
    (
        "xtask",
        &[
            "cli",
            "config",
            "context",
            "conversation",
            "runtime",
            "scripted",
            "skills",
            "store",
            "testkit",
            "tools",
            "wire",
        ],
    ),
];

type Table = BTreeMap<String, BTreeSet<String>>;

#[test]
fn manifests_match_the_table() {
    let allowed = table();
    let used = used(&metadata());
    let names = |table: &Table| table.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&used), names(&allowed), "every crate has a row, and every row a crate");
    for (name, used) in &used {
        let extra: Vec<_> = used.difference(&allowed[name]).collect();
        assert!(extra.is_empty(), "`{name}` must not depend on {extra:?}");
    }
}

#[test]
fn architecture_page_shows_the_same_table() {
    let page = workspace().join("docs/architecture.md");
    let page = std::fs::read_to_string(&page).unwrap();
    assert_eq!(documented(&page), table());
}

#[test]
fn test_doubles_are_dev_dependencies() {
    let users = used(&metadata()).into_iter().filter(|(_, used)| used.contains("testkit"));
    assert!(users.map(|(name, _)| name).all(|name| name == "xtask"));
}

fn table() -> Table {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    MAY_DEPEND_ON.iter().map(|(name, others)| ((*name).to_owned(), owned(others))).collect()
}

/// The ordinary dependencies among our own crates, by short names.
fn used(metadata: &Value) -> Table {
    let packages = metadata["packages"].as_array().unwrap();
    let is_ours = |dependency: &&Value| dependency["path"].is_string() && dependency["kind"].is_null();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter().filter(is_ours);
            (short_name(package), dependencies.map(short_name).collect())
        })
        .collect()
}

fn short_name(named: &Value) -> String {
    let name = named["name"].as_str().unwrap();
    name.strip_prefix("hermes-").unwrap_or(name).to_owned()
}

/// The rows below the heading `| crate | may depend on |`: names stand in backticks.
fn documented(page: &str) -> Table {
    let rows = page.lines().skip_while(|line| *line != "| crate | may depend on |").skip(2);
    rows.take_while(|line| line.starts_with('|')).map(row).collect()
}

fn row(line: &str) -> (String, BTreeSet<String>) {
    let mut cells = line.trim_matches('|').split('|');
    let mut names = || -> Vec<String> {
        let cell = cells.next().unwrap_or_else(|| panic!("a cell is missing in {line}"));
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let (of, others) = (names(), names());
    assert_eq!(of.len(), 1, "one crate per row: {line}");
    (of.concat(), others.into_iter().collect())
}

/// Cargo's metadata of our own packages; this needs no registry and so no network.
pub(crate) fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--no-deps"])
        .current_dir(workspace())
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    serde_json::from_slice(&asked.stdout).unwrap()
}

pub(crate) fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
