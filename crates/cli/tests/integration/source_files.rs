//! Every source file is compiled, every crate has one integration-test binary, and unit tests live where
//! `CONTRIBUTING.md` says.
//!
//! A file that no `mod` line names is silently left out by the compiler: its tests would never run.

mod modules;

use crate::layering::{metadata, workspace};
use modules::{Sources, misplaced, unreached};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[test]
fn mod_lines_reach_every_file() {
    let forgotten = |package: &Package| unreached(&package.sources, &package.roots);
    let forgotten: Vec<PathBuf> = packages().iter().flat_map(forgotten).collect();
    assert_eq!(forgotten, Vec::<PathBuf>::new(), "no `mod` line reaches these files");
}

#[test]
fn crates_have_one_integration_test_binary() {
    for package in packages() {
        let others: Vec<_> = package.tests.iter().filter(|name| *name != "integration").collect();
        assert!(others.is_empty(), "{}: make {others:?} modules of tests/integration", package.name);
    }
}

#[test]
fn unit_tests_are_inline_or_in_a_sibling_file() {
    let mut faults = Vec::new();
    for package in packages() {
        let ours = package.sources.iter().filter(|(path, _)| path.iter().any(|part| part == "src"));
        faults.extend(ours.flat_map(|(path, text)| misplaced(path, text)));
    }
    assert_eq!(faults, Vec::<String>::new(), "see \"Where tests live\" in CONTRIBUTING.md");
}

/// A package of the workspace, with paths relative to the workspace.
struct Package {
    name: String,
    /// The names of its integration-test binaries.
    tests: Vec<String>,
    /// The file that each target is compiled from.
    roots: Vec<PathBuf>,
    sources: Sources,
}

fn packages() -> Vec<Package> {
    let workspace = workspace().canonicalize().unwrap();
    let metadata = metadata();
    metadata["packages"].as_array().unwrap().iter().map(|package| read(package, &workspace)).collect()
}

fn read(package: &Value, workspace: &Path) -> Package {
    let below = |path: &Value| {
        let path = Path::new(path.as_str().unwrap()).canonicalize().unwrap();
        path.strip_prefix(workspace).unwrap().to_owned()
    };
    let manifest = below(&package["manifest_path"]);
    let folder = workspace.join(manifest.parent().unwrap());
    let targets = package["targets"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut sources = Sources::new();
    for folder in ["src", "tests"].map(|name| folder.join(name)) {
        collect(&folder, workspace, &mut sources);
    }
    Package {
        name: text(&package["name"]),
        tests: targets
            .iter()
            .filter(|target| target["kind"][0] == "test")
            .map(|t| text(&t["name"]))
            .collect(),
        roots: targets.iter().map(|target| below(&target["src_path"])).collect(),
        sources,
    }
}

/// Adds the Rust files below a folder, if there is one.
fn collect(folder: &Path, workspace: &Path, sources: &mut Sources) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, workspace, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            sources.insert(path.strip_prefix(workspace).unwrap().to_owned(), text);
        }
    }
}

fn sources(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect()
}

#[test]
fn planted_file_is_found() {
    let files = [
        ("src/lib.rs", "pub mod a;\n#[cfg(feature = \"x\")]\npub(crate) mod b;\n"),
        ("src/a.rs", "mod inner;\n#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\n"),
        ("src/a_tests.rs", ""),
        ("src/a/inner.rs", ""),
        ("src/b/mod.rs", "mod deep;\n"),
        ("src/b/deep.rs", ""),
        ("tests/integration/main.rs", "mod c;\n"),
        ("tests/integration/c.rs", "// mod d;\n"),
    ];
    let roots = ["src/lib.rs", "tests/integration/main.rs"].map(PathBuf::from);
    assert_eq!(unreached(&sources(&files), &roots), Vec::<PathBuf>::new());
    for planted in
        ["src/c.rs", "src/a/tests.rs", "src/inner_tests.rs", "tests/integration/c/d.rs", "tests/e.rs"]
    {
        let with = sources(&[files.as_slice(), &[(planted, "")]].concat());
        assert_eq!(unreached(&with, &roots), [Path::new(planted)], "{planted}");
    }
}

#[test]
fn misplaced_unit_tests_are_found() {
    let inline =
        |lines: usize| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    // a line\n".repeat(lines));
    for right in [
        inline(100).as_str(),
        "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\n",
        "#[cfg(test)]\n#[path = \"a_random_tests.rs\"]\nmod random_tests;\n",
        "#[cfg(test)]\nmod testing;\n",
        "mod tests_of_others;\n",
    ] {
        assert_eq!(misplaced(Path::new("src/a.rs"), right), Vec::<String>::new(), "{right}");
    }
    for wrong in [
        inline(101).as_str(),
        "#[cfg(test)]\nmod tests;\n",
        "#[cfg(test)]\nmod other {\n}\n",
        "#[cfg(test)]\n#[path = \"a/tests.rs\"]\nmod tests;\n",
        "#[cfg(test)]\n#[path = \"a/a_tests.rs\"]\nmod tests;\n",
        "#[cfg(test)]\n#[path = \"a_random_tests.rs\"]\nmod random;\n",
        "#[cfg(all(test, unix))]\nmod tests;\n",
    ] {
        assert_eq!(misplaced(Path::new("src/a.rs"), wrong).len(), 1, "{wrong}");
    }
}
