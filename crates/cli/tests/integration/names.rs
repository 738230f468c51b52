//! Names of tools and providers stand where the thing is defined, and nowhere else.
//!
//! A tool states its facts in `tools`, a provider in the catalogue of `providers`. A string literal elsewhere that
//! is exactly such a name is a decision by name, unless the list below says what it is instead.

use hermes_runtime::providers;
use hermes_tools::Registry;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Literals that only look like the name of a tool: end of the file's path, literal, what it is.
const NOT_TOOLS: &[(&str, &str, &str)] = &[
    ("agent/src/stop_checks.rs", "terminal", "a word of answers that only promise something"),
    ("demo/model.rs", "*", "the script of the demo's model, which calls tools"),
    ("cli/src/args.rs", "memory", "a subcommand"),
    ("commands/memory.rs", "memory", "a target: one of the two files of the memory"),
    ("files/target.rs", "memory", "a target: one of the two files of the memory"),
    ("memory/src/pending.rs", "memory", "a folder and a field of stored changes"),
    ("clouds/src/daytona.rs", "memory", "a limit of a sandbox"),
    ("clouds/src/daytona.rs", "process", "a part of addresses of the service"),
    ("home.rs", "terminal", "a folder of the cache"),
    ("toolsets/src/configurable.rs", "*", "toolsets that can be switched"),
    ("skills/src/bundled.rs", "terminal", "a toolset that a bundled skill requires"),
    ("compaction/files.rs", "patch", "an argument that holds a patch, of whatever tool"),
    ("prompt/src/layers.rs", "memory", "the name of a layer"),
    ("otlp/span.rs", "tool_call", "the name of a span"),
    ("responses/tools.rs", "web_search", "the search that xAI runs on its server"),
    ("conversation/src/auxiliary.rs", "web_extract", "an auxiliary task"),
    ("wire/src/text_calls.rs", "tool_call", "markup that models write"),
    ("text_calls/json.rs", "tool_call", "markup that models write"),
];

/// Literals that only look like the id of a provider.
const NOT_PROVIDERS: &[(&str, &str, &str)] = &[
    ("conversation/src/model_names.rs", "*", "families of models"),
    ("model_names/output.rs", "*", "families of models"),
    ("resolve/endpoint.rs", "lmstudio", "a name that users give to a server of their own"),
];

#[test]
fn tools_are_named_in_the_tools_crate_only() {
    let registry = Registry::builtin().with_context_tools().deferring(&["skill_manage"]);
    let names: BTreeSet<String> =
        registry.names().into_iter().chain(registry.waiting()).map(str::to_owned).collect();
    assert!(names.contains("terminal") && names.contains("tool_call") && names.contains("skill_manage"));
    // The gate knows programs, some of which have the name of a tool.
    let is_theirs = |path: &str| path.starts_with("tools/") || path.starts_with("gate/");
    assert_eq!(found(&names, is_theirs, NOT_TOOLS), Vec::<String>::new(), "say it on the tool instead");
}

#[test]
fn providers_are_named_in_the_catalogue_only() {
    let names: BTreeSet<String> = providers().map(|provider| provider.id.to_owned()).collect();
    let is_theirs = |path: &str| path.starts_with("providers/src/catalogue");
    assert_eq!(found(&names, is_theirs, NOT_PROVIDERS), Vec::<String>::new(), "say it on the row instead");
}

#[test]
fn literals_are_read_out_of_code_and_not_out_of_comments_or_tests() {
    let code = r##"
        // "comment"
        let a = "one\"quoted"; let b = r#"raw "two""#; let c = '"'; let d = b"three";
        #[cfg(test)]
        mod tests { const X: &str = "test"; }
    "##;
    assert_eq!(literals(without_tests(code)), ["one\\\"quoted", "raw \"two\"", "three"]);
}

/// Every place outside of `is_theirs` that has one of these names as a literal, and every exception that nothing
/// needs any more.
fn found(
    names: &BTreeSet<String>,
    is_theirs: impl Fn(&str) -> bool,
    exceptions: &[(&str, &str, &str)],
) -> Vec<String> {
    let mut unused: BTreeSet<(&str, &str)> = exceptions.iter().map(|row| (row.0, row.1)).collect();
    let mut places = Vec::new();
    for (path, code) in sources().into_iter().filter(|(path, _)| !is_theirs(path)) {
        for literal in literals(without_tests(&code)).into_iter().filter(|literal| names.contains(literal)) {
            let fits =
                |row: &&(&str, &str, &str)| path.ends_with(row.0) && [literal.as_str(), "*"].contains(&row.1);
            match exceptions.iter().find(fits) {
                Some(row) => {
                    unused.remove(&(row.0, row.1));
                }
                None => places.push(format!("{path}: \"{literal}\"")),
            }
        }
    }
    places
        .extend(unused.into_iter().map(|(path, name)| format!("{path}: \"{name}\" is an exception in vain")));
    places
}

/// The files of code of all crates but those for tests, with their paths below `crates/`.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("testkit"))
        .map(|path| path.join("src"))
        .collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_test = name.ends_with("tests.rs") || name == "tests" || name == "testing.rs";
            if path.is_dir() && !is_test {
                folders.push(path);
            } else if name.ends_with(".rs") && !is_test {
                let shown = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                files.push((shown, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(files.len() > 100, "the sources are not where they were");
    files
}

/// The code before its tests, which stand last in a file.
fn without_tests(code: &str) -> &str {
    let tests = code.match_indices("#[cfg(test)]").find(|(at, mark)| {
        let rest = code[at + mark.len()..].trim_start();
        rest.starts_with("mod ")
            && rest.lines().next().is_some_and(|line| line.trim_end().ends_with(['{', '}']))
    });
    tests.map_or(code, |(at, _)| &code[..at])
}

/// The string literals of some code, as they are written.
fn literals(code: &str) -> Vec<String> {
    let bytes = code.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += code[at..].find('\n').unwrap_or(code.len() - at);
            }
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\\') && bytes.get(at + 3) == Some(&b'\'') => at += 3,
            b'"' => {
                let hashes = bytes[..at].iter().rev().take_while(|byte| **byte == b'#').count();
                let is_raw = at > hashes && bytes[at - hashes - 1] == b'r';
                let end = if is_raw { raw_end(code, at + 1, hashes) } else { plain_end(bytes, at + 1) };
                all.push(code[at + 1..end].to_owned());
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    all
}

fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

fn raw_end(code: &str, at: usize, hashes: usize) -> usize {
    let close = format!("\"{}", "#".repeat(hashes));
    code[at..].find(&close).map_or(code.len(), |end| at + end)
}
