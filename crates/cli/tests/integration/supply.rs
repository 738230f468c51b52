//! The dependency policy: no banned crate, no unknown licence, no second copy of a crate that must be unique, and
//! no source other than the public registry.
//!
//! `deny.toml` states the same policy for people who have cargo-deny; nothing but cargo is needed
//! here.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// A second TLS stack, a second SQLite, build tools beyond a C compiler, and an abandoned parser.
const BANNED: [&str; 8] =
    ["openssl-sys", "native-tls", "aws-lc-sys", "aws-lc-rs", "sqlx", "cmake", "bindgen", "serde_yaml"];

/// Crates of which two versions would be two TLS stacks or two SQLites.
const ONLY_ONCE: [&str; 3] = ["rusqlite", "libsqlite3-sys", "rustls"];

const LICENCES: [&str; 15] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "CC0-1.0",
    "Unlicense",
    "MPL-2.0",
    "CDLA-Permissive-2.0",
    "BSL-1.0",
    "MIT-0",
    "0BSD",
];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[test]
fn lock_file_keeps_the_policy() {
    let packages = packages();
    assert!(packages.len() > 100, "only {} packages were listed", packages.len());
    let problems: Vec<String> = packages.iter().flat_map(problems).chain(doubles(&packages)).collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn licence_expressions_are_parsed() {
    for (expression, want) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("Unlicense/MIT", true),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only AND MIT", false),
        ("MIT AND BSD-3-Clause", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("MIT OR GPL-2.0-only AND ISC", true),
        ("(MIT OR GPL-2.0-only) AND GPL-2.0-only", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", true),
        ("MIT WITH LLVM-exception", false),
        ("GPL-2.0-only WITH Classpath-exception-2.0", false),
        ("LLVM-exception", false),
        ("LGPL-2.1-or-later", false),
        ("MIT OR", false),
        ("(MIT", false),
        ("MIT Apache-2.0", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression), want, "{expression}");
    }
}

fn problems(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    if BANNED.contains(&name) {
        found.push(format!("{name}: banned"));
    }
    match package["license"].as_str() {
        Some(licence) if is_allowed(licence) => {}
        Some(licence) => found.push(format!("{name}: licence {licence} is not on the list")),
        None => found.push(format!("{name}: states no licence")),
    }
    match package["source"].as_str() {
        None | Some(REGISTRY) => {}
        Some(elsewhere) => found.push(format!("{name}: comes from {elsewhere}")),
    }
    found
}

fn doubles(packages: &[Value]) -> impl Iterator<Item = String> {
    ONLY_ONCE.into_iter().filter_map(|name| {
        let versions: BTreeSet<_> = packages
            .iter()
            .filter(|package| package["name"] == name)
            .map(|package| &package["version"])
            .map(Value::to_string)
            .collect();
        (versions.len() != 1).then(|| format!("{name}: {} versions: {versions:?}", versions.len()))
    })
}

/// Every package of the lock file, for every platform.
fn packages() -> Vec<Value> {
    let metadata = metadata(&["--offline"]).or_else(|_| metadata(&[]));
    let Value::Array(packages) = metadata.unwrap_or_else(|error| panic!("{error}"))["packages"].take() else {
        panic!("cargo metadata listed no packages");
    };
    packages
}

/// Packages for other platforms may never have been downloaded: then it takes the network once.
fn metadata(more: &[&str]) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map_err(|error| error.to_string())?;
    if !asked.status.success() {
        return Err(String::from_utf8_lossy(&asked.stderr).into_owned());
    }
    serde_json::from_slice(&asked.stdout).map_err(|error| error.to_string())
}

/// Returns true if a licence expression can be met from the list. One that cannot be parsed is not allowed.
fn is_allowed(expression: &str) -> bool {
    // The old spelling `A/B` means a choice.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words };
    reader.choice() == Some(true) && reader.words.is_empty()
}

/// Reads an expression from the left; `None` when it makes no sense. AND binds closer than OR.
struct Reader<'a> {
    words: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn choice(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.choice()?;
            return self.take(")").then_some(met);
        }
        let licence = self.word()?;
        let whole = match self.take("WITH") {
            true => format!("{licence} WITH {}", self.word()?),
            false => licence.to_owned(),
        };
        Some(LICENCES.contains(&whole.as_str()))
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.first() == Some(&word);
        if is_next {
            self.words = &self.words[1..];
        }
        is_next
    }

    fn word(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        (!["(", ")", "OR", "AND", "WITH"].contains(first)).then_some(*first)
    }
}
