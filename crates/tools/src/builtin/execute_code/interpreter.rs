//! The interpreter of a script.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The language of a script, by its first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Shell,
}

impl Language {
    /// The language of `code`; the error names an interpreter that is not supported.
    pub(super) fn of(code: &str) -> Result<Self, String> {
        let Some(line) = code.strip_prefix("#!") else { return Ok(Self::Python) };
        let mut words = line.lines().next().unwrap_or_default().split_whitespace();
        let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
        let first = name(words.next().unwrap_or_default());
        let program = if first == "env" {
            words.find(|word| !word.starts_with('-')).map(name).unwrap_or_default()
        } else {
            first
        };
        match program.as_str() {
            "sh" | "bash" => Ok(Self::Shell),
            other if other.starts_with("python") => Ok(Self::Python),
            other => Err(other.to_owned()),
        }
    }
}

/// The interpreter of the active virtual environment, or else the first `python3` in `PATH`.
pub(super) fn of_project(env: &[(String, String)]) -> Option<PathBuf> {
    let active = variable(env, "VIRTUAL_ENV").filter(|dir| Path::new(dir).is_absolute());
    let own = active.map(|dir| Path::new(dir).join("bin/python"));
    own.filter(|path| is_program(path)).or_else(|| in_path(env))
}

/// The first `python3` in `PATH` that is not of a virtual environment.
pub(super) fn of_system(env: &[(String, String)]) -> Option<PathBuf> {
    let active = variable(env, "VIRTUAL_ENV").map(Path::new);
    found(env, |dir| active.is_none_or(|active| !dir.starts_with(active)))
}

/// Returns true if scripts can run with this environment. Nothing is started.
pub fn has_python<'a>(env: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
    let env: Vec<_> = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    in_path(&env).is_some()
}

fn in_path(env: &[(String, String)]) -> Option<PathBuf> {
    found(env, |_| true)
}

fn found(env: &[(String, String)], is_wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let dirs = std::env::split_paths(variable(env, "PATH").unwrap_or_default());
    dirs.filter(|dir| dir.is_absolute() && is_wanted(dir))
        .map(|dir| dir.join("python3"))
        .find(|path| is_program(path))
}

fn variable<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
    env.iter().rfind(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_says_the_language() {
        for (code, want) in [
            ("print(1)", Ok(Language::Python)),
            ("", Ok(Language::Python)),
            ("#!/usr/bin/env python3\n", Ok(Language::Python)),
            ("#!/usr/bin/python3.12 -u\n", Ok(Language::Python)),
            ("#!/bin/bash\nls", Ok(Language::Shell)),
            ("#! /bin/sh -e\nls", Ok(Language::Shell)),
            ("#!/usr/bin/env -S bash -e\nls", Ok(Language::Shell)),
            ("#!/usr/bin/perl\n", Err("perl".to_owned())),
            ("#!\n", Err(String::new())),
            ("# !/bin/sh", Ok(Language::Python)),
        ] {
            assert_eq!(Language::of(code), want, "{code:?}");
        }
    }

    #[test]
    fn project_prefers_the_virtual_environment() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let (system, own, own3) = (make("sys/python3"), make("venv/bin/python"), make("venv/bin/python3"));
        let at = |name: &str| dir.path().join(name).display().to_string();
        let path = format!("relative:{}:{}:{}", at("none"), at("venv/bin"), at("sys"));
        let env = |more: &[(&str, String)]| -> Vec<(String, String)> {
            let path = [("PATH", path.clone())];
            path.iter().chain(more).map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
        };
        assert_eq!(of_project(&env(&[])), Some(own3));
        assert_eq!(of_project(&env(&[("VIRTUAL_ENV", at("venv"))])), Some(own));
        assert_eq!(of_project(&env(&[("VIRTUAL_ENV", at("gone"))])), of_project(&env(&[])));
        assert_eq!(of_system(&env(&[("VIRTUAL_ENV", at("venv"))])), Some(system));
        assert_eq!(of_project(&[("PATH".to_owned(), at("none"))]), None);
        assert!(!has_python([("PATH", "/nonexistent")]) && !has_python([]));
    }
}
