//! Effects on files: writing, reading and deleting a path.

use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::paths::{Target, is_everything, may_match};
use crate::protected::{
    ReadClass, WriteClass, holds_credentials, may_be_credential, read_class, system::DIRECTORIES, write_class,
};
use crate::walk::Walker;
use std::path::{Path, PathBuf};

/// The way in which a file is written, which decides the approval key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Redirection,
    Tee,
    Copy,
    /// In place: `sed -i`, `sed --in-place`, `perl -i`.
    Edit(Edit),
    Disk,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    Short,
    Long,
    Perl,
}

impl Walker<'_> {
    pub(crate) fn write(&mut self, field: &Field, via: Via) {
        if field.process().is_some() || field.text.is_empty() || !self.may_look_up(field) {
            return;
        }
        let target = self.resolve(field);
        let Some(path) = target.path().map(Path::to_path_buf) else {
            self.changes_files = true;
            let reason = format!("writes to `{}`, which is only known when the command runs", field.shown());
            self.ask(EffectKind::Write, None, keys::UNKNOWN_PATH, reason);
            return;
        };
        // A name below a known directory is judged as one that no table lists.
        let judged = if matches!(target, Target::Below(_)) { path.join("_") } else { path };
        self.write_path(&judged, via);
    }

    pub(crate) fn write_path(&mut self, path: &Path, via: Via) {
        let shown = path.display().to_string();
        let class = write_class(path, self.scene);
        self.changes_files |= class != WriteClass::HarmlessDevice;
        let is_env = class == WriteClass::ProjectEnvironment
            || class == WriteClass::Inside && path.file_name().is_some_and(|name| name == "config.yaml");
        let (kind, rule, reason) = match class {
            WriteClass::HarmlessDevice | WriteClass::Temporary => return,
            WriteClass::BlockDevice => {
                let rule = if via == Via::Disk { keys::DD_DEVICE } else { keys::REDIRECT_DEVICE };
                self.deny(EffectKind::Write, Some(&shown), rule, format!("overwrites the disk {shown}"));
                return;
            }
            WriteClass::PowerSwitch => {
                let reason = "restarts or stops the machine through /proc/sysrq-trigger";
                self.deny(EffectKind::Power, Some(&shown), keys::SHUTDOWN, reason);
                return;
            }
            WriteClass::Inside if !is_env => return,
            WriteClass::Outside if is_shell_temporary(path) => return,
            WriteClass::Inside | WriteClass::ProjectEnvironment => {
                (EffectKind::Policy, env_key(via), format!("writes the project settings {shown}"))
            }
            WriteClass::System => {
                (EffectKind::Policy, system_key(via), format!("writes the system file {shown}"))
            }
            WriteClass::Credential | WriteClass::Startup => (
                EffectKind::Policy,
                sensitive_key(via),
                format!("writes {shown}, which other programs run or trust"),
            ),
            WriteClass::Program => (
                EffectKind::Policy,
                keys::STARTUP_FILE,
                format!("writes the program {shown} in a PATH directory"),
            ),
            WriteClass::Hermes => {
                (EffectKind::Policy, hermes_key(via), format!("writes {shown}, a file of Hermes"))
            }
            WriteClass::GitSettings | WriteClass::GitInternal => {
                let reason = format!("writes {shown}, which git obeys or runs");
                self.ask_with(
                    EffectKind::Policy,
                    Some(&shown),
                    keys::GIT_SETTINGS,
                    reason,
                    Grant::GitSettings,
                );
                return;
            }
            WriteClass::RunByOthers => (
                EffectKind::Policy,
                keys::RUN_BY_OTHERS,
                format!("writes {shown}, which other programs run or obey"),
            ),
            WriteClass::OtherHome | WriteClass::Outside => (
                EffectKind::Write,
                keys::WRITE_OUTSIDE,
                format!("writes {shown}, which is outside of the project"),
            ),
        };
        self.ask_with(kind, Some(&shown), rule, reason, Grant::Write(granted(path)));
    }

    /// Judges reading a file, or a directory with everything in it.
    pub(crate) fn read(&mut self, field: &Field) {
        if field.process().is_some() || !self.may_look_up(field) {
            return;
        }
        let target = self.resolve(field);
        let names_process =
            ["/environ", "/mem", "/maps", "/cmdline", "/auxv"].iter().any(|end| field.text.ends_with(end));
        if field.text.starts_with("/proc/") && !field.is_known() && names_process {
            return self.secret(Path::new("/proc"));
        }
        let Some(path) = target.path().map(Path::to_path_buf) else { return };
        let class = read_class(&path, self.scene);
        let is_process = class == ReadClass::Process && path.starts_with("/proc");
        let is_secret =
            matches!(class, ReadClass::Credential | ReadClass::Environment | ReadClass::Store) || is_process;
        let may_be = matches!(target, Target::Pattern(_)) && may_be_credential(&path, self.scene);
        let is_hermes = path == self.scene.hermes_home;
        if is_secret || may_be || is_hermes || self.is_process_pattern(&path, &target) {
            self.secret(&path);
        } else if class == ReadClass::OtherHome {
            let shown = path.display().to_string();
            let reason = format!("reads {shown} in another user's home directory");
            self.ask_with(EffectKind::ReadSecret, Some(&shown), keys::READ_SECRET, reason, Grant::Read(path));
        }
    }

    /// Counts a look into the tables. Beyond the limit the command asks, whatever the path is.
    fn may_look_up(&mut self, field: &Field) -> bool {
        let was_allowed = self.spent.lookup(0);
        let is_allowed = was_allowed && self.spent.lookup(if field.is_pattern { 16 } else { 1 });
        if was_allowed && !is_allowed {
            self.unreadable(crate::limits::Unreadable::TooManyWords);
        }
        is_allowed
    }

    fn is_process_pattern(&self, path: &Path, target: &Target) -> bool {
        matches!(target, Target::Pattern(_) | Target::Below(_))
            && path.starts_with("/proc")
            && path.iter().any(|part| part == "environ" || part == "mem" || part == "fd")
    }

    /// Judges a program that reads a directory with all that is in it.
    pub(crate) fn read_tree(&mut self, field: &Field) {
        self.read(field);
        let Target::Path(path) = self.resolve(field) else { return };
        if holds_credentials(&path, self.scene) && !path.starts_with(&self.scene.project) {
            self.secret(&path);
        }
    }

    pub(crate) fn secret(&mut self, path: &Path) {
        let shown = path.display().to_string();
        let reason = format!("reads {shown}, which holds keys or credentials");
        let grant = Grant::Read(granted(path));
        self.ask_with(EffectKind::ReadSecret, Some(&shown), keys::READ_SECRET, reason, grant);
    }

    /// Judges deleting a file without its directory.
    pub(crate) fn delete(&mut self, field: &Field) {
        self.changes_files = true;
        if !self.may_look_up(field) {
            return;
        }
        let target = self.resolve(field);
        let Some(path) = target.path().map(Path::to_path_buf) else {
            let reason = format!("deletes `{}`, which is only known when the command runs", field.shown());
            self.ask(EffectKind::Delete, None, keys::UNKNOWN_PATH, reason);
            return;
        };
        let shown = path.display().to_string();
        let judged = if matches!(target, Target::Below(_)) { path.join("_") } else { path.clone() };
        match write_class(&judged, self.scene) {
            WriteClass::Inside | WriteClass::Temporary | WriteClass::HarmlessDevice => {
                if is_everything(&path) && matches!(target, Target::Pattern(_)) && !self.is_temporary(&path) {
                    let reason = format!("deletes all files of {}", path.parent().unwrap_or(&path).display());
                    self.ask(EffectKind::Delete, Some(&shown), keys::DELETE_MANY, reason);
                }
            }
            WriteClass::Outside if is_shell_temporary(&path) => {}
            WriteClass::GitInternal if path.extension().is_some_and(|extension| extension == "lock") => {}
            class => {
                let rule =
                    if field.text.starts_with('/') { keys::DELETE_IN_ROOT } else { keys::DELETE_OUTSIDE };
                let grant = match class {
                    WriteClass::GitInternal | WriteClass::GitSettings => Grant::GitSettings,
                    _ => Grant::Write(granted(&path)),
                };
                self.ask_with(EffectKind::Delete, Some(&shown), rule, format!("deletes {shown}"), grant);
            }
        }
    }

    /// Judges deleting a directory with everything in it. `rule` is the key that is asked with.
    pub(crate) fn delete_tree(&mut self, field: &Field, rule: &'static str) {
        self.changes_files = true;
        let target = self.resolve(field);
        if let Some(key) = self.catastrophe(&target) {
            let shown = target.path().map(|path| path.display().to_string()).unwrap_or_default();
            self.deny(
                EffectKind::Delete,
                Some(&shown),
                key,
                format!("deletes {shown} with everything in it"),
            );
            return;
        }
        let Some(path) = target.path().map(Path::to_path_buf) else {
            let reason =
                format!("deletes `{}` recursively, which is only known when the command runs", field.shown());
            self.ask(EffectKind::Delete, None, rule, reason);
            return;
        };
        let is_literal = matches!(target, Target::Path(_));
        if is_literal && (self.is_temporary(&path) || self.is_build_output(&path, field)) {
            return;
        }
        let shown = path.display().to_string();
        let reason = format!("deletes {shown} with everything in it");
        match write_class(&path, self.scene) {
            WriteClass::Inside | WriteClass::Temporary => {
                self.ask(EffectKind::Delete, Some(&shown), rule, reason)
            }
            WriteClass::GitInternal | WriteClass::GitSettings => {
                self.ask_with(EffectKind::Delete, Some(&shown), rule, reason, Grant::GitSettings);
            }
            _ => self.ask_with(EffectKind::Delete, Some(&shown), rule, reason, Grant::Write(granted(&path))),
        }
    }

    /// The hardline rule that a recursive deletion of this target breaks.
    fn catastrophe(&self, target: &Target) -> Option<&'static str> {
        let (path, is_pattern) = match target {
            Target::Path(path) => (path, false),
            Target::Pattern(path) => (path, true),
            Target::Below(_) | Target::Unknown => return None,
        };
        let everything_of = (is_pattern && is_everything(path)).then(|| path.parent()).flatten();
        let is_named = |directory: &Path| {
            path == directory || everything_of == Some(directory) || is_pattern && may_match(path, directory)
        };
        if path == Path::new("/") || everything_of == Some(Path::new("/")) {
            return Some(keys::DELETE_ROOT);
        }
        if self.homes(path, everything_of).iter().any(|home| is_named(home)) {
            return Some(keys::DELETE_HOME);
        }
        DIRECTORIES.iter().any(|directory| is_named(Path::new(directory))).then_some(keys::DELETE_SYSTEM)
    }

    /// Home directories: the user's, root's, and that of any user whom the path names.
    fn homes(&self, path: &Path, parent: Option<&Path>) -> Vec<PathBuf> {
        let mut homes: Vec<PathBuf> = self.scene.user_home.iter().cloned().collect();
        homes.push("/root".into());
        for candidate in [Some(path), parent].into_iter().flatten() {
            let is_home = candidate
                .parent()
                .is_some_and(|parent| parent == Path::new("/home") || parent == Path::new("/Users"));
            if is_home && candidate.file_name().is_some_and(|name| name != "linuxbrew") {
                homes.push(candidate.to_path_buf());
            }
        }
        homes
    }

    /// Returns true inside of a temporary directory of the session, but not for that directory itself.
    pub(crate) fn is_temporary(&self, path: &Path) -> bool {
        self.scene.temporary.iter().any(|directory| {
            !directory.as_os_str().is_empty()
                && path != directory
                && path.starts_with(directory)
                && !is_everything(path)
        })
    }

    /// Returns true for directories that a build makes again, named by a relative path inside the project.
    fn is_build_output(&self, path: &Path, field: &Field) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_inside = path.starts_with(&self.scene.project) && path != self.scene.project;
        is_inside
            && !field.text.starts_with('/')
            && (BUILD_OUTPUTS.contains(&name) || name.ends_with(".egg-info"))
    }
}

/// Names of directories that tools make again.
const BUILD_OUTPUTS: [&str; 26] = [
    "target",
    "node_modules",
    "build",
    "dist",
    "out",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".venv",
    "venv",
    "coverage",
    "htmlcov",
    ".nyc_output",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".vite",
    ".cache",
    ".eggs",
    ".gradle",
    "_build",
];

/// Directories for temporary files that commands may use freely; the sandbox gives each session its own.
fn is_shell_temporary(path: &Path) -> bool {
    ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"]
        .iter()
        .any(|root| path.starts_with(root) && path != Path::new(root))
}

fn system_key(via: Via) -> &'static str {
    match via {
        Via::Redirection => keys::SYSTEM_REDIRECT,
        Via::Tee => keys::SYSTEM_TEE,
        Via::Copy => keys::SYSTEM_COPY,
        Via::Edit(Edit::Long) => keys::SYSTEM_EDIT_LONG,
        Via::Edit(_) => keys::SYSTEM_EDIT,
        Via::Disk | Via::Other => keys::SYSTEM_CONFIG,
    }
}

fn sensitive_key(via: Via) -> &'static str {
    match via {
        Via::Redirection => keys::SYSTEM_REDIRECT,
        Via::Tee => keys::SYSTEM_TEE,
        Via::Copy => keys::SENSITIVE_COPY,
        Via::Edit(Edit::Short) => keys::SENSITIVE_EDIT,
        Via::Edit(Edit::Long) => keys::SENSITIVE_EDIT_LONG,
        Via::Edit(Edit::Perl) => keys::SENSITIVE_EDIT_PERL,
        Via::Disk | Via::Other => keys::STARTUP_FILE,
    }
}

fn hermes_key(via: Via) -> &'static str {
    match via {
        Via::Redirection => keys::SYSTEM_REDIRECT,
        Via::Tee => keys::SYSTEM_TEE,
        Via::Edit(Edit::Short) => keys::HERMES_EDIT,
        Via::Edit(Edit::Long) => keys::HERMES_EDIT_LONG,
        Via::Edit(Edit::Perl) => keys::HERMES_EDIT_PERL,
        Via::Copy => keys::SENSITIVE_COPY,
        Via::Disk | Via::Other => keys::HERMES_FILE,
    }
}

fn env_key(via: Via) -> &'static str {
    match via {
        Via::Redirection => keys::ENV_REDIRECT,
        Via::Tee => keys::ENV_TEE,
        _ => keys::ENV_COPY,
    }
}

/// The path to open for an approved command: up to the first pattern.
fn granted(path: &Path) -> PathBuf {
    let is_plain = |part: &&std::ffi::OsStr| !part.to_string_lossy().contains(['*', '?', '[']);
    path.iter().take_while(is_plain).collect()
}
