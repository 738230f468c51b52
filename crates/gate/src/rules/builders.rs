//! Programs that run code which files of a project hold: build tools, test runners, package managers.
//!
//! Such files are the user's, as a rule. One that this text has just fetched from the network is not.

use crate::assessment::EffectKind;
use crate::keys;
use crate::output::Output;
use crate::walk::{Call, Prepared, Walker};
use std::path::Path;

const BUILDERS: &[&str] = &[
    "ant",
    "bazel",
    "bun",
    "bundle",
    "cargo",
    "cmake",
    "deno",
    "docker",
    "docker-compose",
    "go",
    "gmake",
    "gradle",
    "gradlew",
    "invoke",
    "just",
    "make",
    "meson",
    "mvn",
    "mvnw",
    "ninja",
    "nox",
    "npm",
    "npx",
    "pnpm",
    "podman",
    "py.test",
    "pytest",
    "rake",
    "sbt",
    "scons",
    "task",
    "tox",
    "ts-node",
    "tsx",
    "yarn",
];

/// Names of files that build tools run or obey.
const NAMES: &[&str] = &[
    "BUILD",
    "CMakeLists.txt",
    "Cargo.toml",
    "Containerfile",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Justfile",
    "Makefile",
    "Rakefile",
    "Taskfile.yml",
    "WORKSPACE",
    "build.xml",
    "justfile",
    "makefile",
    "meson.build",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
];

/// Endings of files with code.
const ENDINGS: &[&str] = &[
    "bzl", "c", "cc", "cjs", "cmake", "cpp", "cts", "go", "gradle", "java", "js", "jsx", "kt", "kts", "mjs",
    "mk", "mts", "pl", "py", "rb", "rs", "scala", "sh", "ts", "tsx",
];

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) {
    if !BUILDERS.contains(&call.name) {
        return;
    }
    for field in call.arguments {
        match walker.process_output(field) {
            Some(Output::Remote) => {
                let reason = format!("runs text from the network with {}", call.name);
                walker.ask(EffectKind::Execute, None, keys::REMOTE_PROCESS, reason);
            }
            Some(_) => unknown(walker, call.name),
            None if field.text.starts_with("/dev/fd/") || field.text.starts_with("/proc/self/fd/") => {
                unknown(walker, call.name);
            }
            None => {}
        }
    }
    let fetched = walker
        .prepared
        .iter()
        .find(|(path, prepared)| *prepared == Prepared::Remote && is_code(path) && is_near(walker, path));
    if let Some((path, _)) = fetched {
        let path = path.display().to_string();
        let reason = format!("{} may run {path}, which was just fetched from the network", call.name);
        walker.ask(EffectKind::Execute, Some(&path), keys::REMOTE_TO_SHELL, reason);
    }
}

fn unknown(walker: &mut Walker<'_>, name: &str) {
    let reason = format!("{name} runs text that another command prints");
    walker.ask(EffectKind::Execute, None, keys::UNKNOWN_PAYLOAD, reason);
}

fn is_code(path: &Path) -> bool {
    let text = |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str().map(str::to_owned));
    text(path.file_name()).is_some_and(|name| NAMES.contains(&name.as_str()))
        || text(path.extension()).is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

fn is_near(walker: &Walker<'_>, path: &Path) -> bool {
    path.starts_with(&walker.scene.project) || walker.cwd.as_ref().is_none_or(|cwd| path.starts_with(cwd))
}
