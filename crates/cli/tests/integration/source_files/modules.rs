//! `mod` items of source files, the files they name, and the rules for those that hold unit tests.
//!
//! Items are read line by line and only where a line begins with them, as rustfmt writes them. A file that
//! is named in any other way counts as forgotten, so a mistake here fails the test and hides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Source files and their texts.
pub(super) type Sources = BTreeMap<PathBuf, String>;

/// The longest `mod tests { }` inside a source file, in lines.
const LONGEST_INLINE: usize = 100;

/// One `mod` item.
struct Module<'a> {
    name: &'a str,
    /// The file that `#[path = "..."]` names.
    path: Option<&'a str>,
    is_test: bool,
    /// The number of lines between the braces; none where the content is in another file.
    inline: Option<usize>,
}

/// The files that are compiled into no target, given the file that each target begins with.
pub(super) fn unreached(sources: &Sources, roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut reached: BTreeSet<PathBuf> = roots.iter().cloned().collect();
    let mut open: Vec<(PathBuf, bool)> = roots.iter().map(|root| (root.clone(), true)).collect();
    while let Some((file, is_root)) = open.pop() {
        let Some(text) = sources.get(&file) else { continue };
        for module in modules(text).filter(|module| module.inline.is_none()) {
            let named = places(&file, is_root, &module).into_iter().find(|place| sources.contains_key(place));
            if let Some(place) = named.filter(|place| reached.insert(place.clone())) {
                open.push((place, false));
            }
        }
    }
    sources.keys().filter(|file| !reached.contains(*file)).cloned().collect()
}

/// The places where the compiler looks for the content of a module.
fn places(file: &Path, is_root: bool, module: &Module<'_>) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new(""));
    if let Some(path) = module.path {
        return vec![folder.join(path)];
    }
    let inside = match is_root || file.ends_with("mod.rs") {
        true => folder.to_owned(),
        false => file.with_extension(""),
    };
    vec![inside.join(format!("{}.rs", module.name)), inside.join(module.name).join("mod.rs")]
}

/// The test modules of a source file that break the convention, each with what to do.
pub(super) fn misplaced(file: &Path, text: &str) -> Vec<String> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let tests = modules(text).filter(|module| module.is_test);
    let faults = tests.filter_map(|module| fault(&stem, &module));
    faults.map(|fault| format!("{}: {fault}", file.display())).collect()
}

fn fault(stem: &str, module: &Module<'_>) -> Option<String> {
    let name = module.name;
    if let Some(lines) = module.inline {
        return match (name, lines) {
            ("tests", ..=LONGEST_INLINE) => None,
            ("tests", _) => Some(format!("`mod tests` has {lines} lines: move it to {stem}_tests.rs")),
            _ => Some(format!("`mod {name}` holds tests: name it `tests`")),
        };
    }
    let sibling = match (name, name.strip_suffix("_tests")) {
        ("testing", _) if module.path.is_none() => return None,
        ("tests", _) => format!("{stem}_tests.rs"),
        (_, Some(topic)) => format!("{stem}_{topic}_tests.rs"),
        (_, None) => return Some(format!("`mod {name}` holds tests: name it `{name}_tests`")),
    };
    (module.path != Some(sibling.as_str()))
        .then(|| format!("`mod {name}` needs #[path = \"{sibling}\"], and the file beside this one"))
}

fn modules(text: &str) -> impl Iterator<Item = Module<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter_map(move |at| module(&lines, at)).collect::<Vec<_>>().into_iter()
}

/// The item that begins at a line, with the attributes above it.
fn module<'a>(lines: &[&'a str], at: usize) -> Option<Module<'a>> {
    let item = lines[at];
    let item = match item.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ')?.1,
        None => item,
    };
    let item = item.strip_prefix("mod ")?;
    let (name, inline) = match item.strip_suffix(';') {
        Some(name) => (name, None),
        None => {
            (item.strip_suffix(" {")?, Some(lines[at + 1..].iter().take_while(|line| **line != "}").count()))
        }
    };
    let attributes = lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
    let (mut path, mut is_test) = (None, false);
    for attribute in attributes {
        let quoted = attribute.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]"));
        path = path.or(quoted);
        is_test |= attribute.starts_with("#[cfg(test") || attribute.starts_with("#[cfg(all(test");
    }
    Some(Module { name, path, is_test, inline })
}
