//! The one table of protected paths, for file tools and for commands.
//!
//! Paths are absolute. Callers that can look at the disk resolve links first; a command gate cannot, and the sandbox
//! holds there.

pub(crate) mod credentials;
mod hermes;
pub(crate) mod startup;
pub(crate) mod system;

use crate::scene::Scene;
use credentials::{CREDENTIALS, Place, READABLE};
use hermes::HermesFile;
use std::path::Path;
use system::{BLOCK_DEVICES, BLOCKING, DEVICES, HARMLESS_DEVICES, PROCESS, SYSTEM};

/// The meaning of a path to a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteClass {
    HarmlessDevice,
    BlockDevice,
    /// Writing to it restarts the machine.
    PowerSwitch,
    System,
    Credential,
    /// Start-up files, settings of package managers and other agents.
    Startup,
    /// A program in a directory of `PATH`.
    Program,
    Hermes,
    OtherHome,
    /// Settings, hooks and links between directories of a git repository.
    GitSettings,
    /// Other files in a `.git` directory.
    GitInternal,
    RunByOthers,
    ProjectEnvironment,
    Inside,
    Temporary,
    Outside,
}

pub(crate) fn write_class(path: &Path, scene: &Scene) -> WriteClass {
    if path == Path::new("/proc/sysrq-trigger") {
        return WriteClass::PowerSwitch;
    }
    if let Ok(device) = path.strip_prefix("/dev")
        && !path.starts_with("/dev/shm")
    {
        return device_class(device);
    }
    if let Some(file) = HermesFile::of(path, scene) {
        return if file.is_working_file() { WriteClass::Inside } else { WriteClass::Hermes };
    }
    if starts_with_any(path, &SYSTEM) && !is_runtime_directory(path) {
        return WriteClass::System;
    }
    if is_credential(path, scene) {
        return WriteClass::Credential;
    }
    let is_inside = is_below(path, &scene.project);
    let is_home_file = |names: &[&str]| is_below_a_home(path, scene, names);
    if is_home_file(startup::HOME) {
        return WriteClass::Startup;
    }
    if is_program(path, scene) {
        return if is_inside { WriteClass::RunByOthers } else { WriteClass::Program };
    }
    let is_temporary = scene.temporary.iter().any(|directory| is_below(path, directory));
    if let Some(class) = git_class(path) {
        return class;
    }
    if is_inside || is_temporary {
        return inside_class(path, scene, is_inside);
    }
    if is_other_home(path, scene) { WriteClass::OtherHome } else { WriteClass::Outside }
}

fn device_class(device: &Path) -> WriteClass {
    let text = device.to_string_lossy();
    let first = device.iter().next().and_then(|name| name.to_str()).unwrap_or_default();
    if HARMLESS_DEVICES.contains(&first) {
        WriteClass::HarmlessDevice
    } else if BLOCK_DEVICES.iter().any(|name| text.starts_with(name)) {
        WriteClass::BlockDevice
    } else {
        WriteClass::System
    }
}

fn inside_class(path: &Path, scene: &Scene, is_in_project: bool) -> WriteClass {
    let root = if is_in_project { Some(&scene.project) } else { None };
    let temporary = scene.temporary.iter().find(|directory| is_below(path, directory));
    let inside = root.or(temporary).and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    if is_environment_file(path) {
        return WriteClass::ProjectEnvironment;
    }
    if is_run_by_others(inside) {
        return WriteClass::RunByOthers;
    }
    if is_in_project { WriteClass::Inside } else { WriteClass::Temporary }
}

/// Returns true for names that are run or obeyed at any depth of a project.
fn is_run_by_others(inside: &Path) -> bool {
    let name = inside.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let text = format!("/{}/", inside.display());
    // An entry is a run of whole components.
    let is_listed = |entry: &&str| {
        text.match_indices(entry).any(|(at, _)| {
            let is_start = text.get(..at).is_some_and(|before| before.ends_with('/'));
            is_start && text.get(at + entry.len()..).is_some_and(|after| after.starts_with('/'))
        })
    };
    let is_hook = startup::GIT_HOOKS.contains(&name)
        && inside.parent().is_some_and(|parent| parent.to_string_lossy().contains("hook"));
    name.ends_with(".pth")
        || name.ends_with(".code-workspace")
        || is_hook
        || startup::PROJECT.iter().any(is_listed)
}

/// The class of a path in a git directory, or of a name that makes a directory one.
fn git_class(path: &Path) -> Option<WriteClass> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let name = parts.last().copied().unwrap_or_default();
    let is_setting = |part: &&str| {
        matches!(
            *part,
            "hooks"
                | "config"
                | "config.worktree"
                | "commondir"
                | "gitdir"
                | "modules"
                | "worktrees"
                | "attributes"
                | "alternates"
        )
    };
    if let Some(at) =
        parts.iter().position(|part| *part == ".git" || part.len() > 4 && part.ends_with(".git"))
    {
        let rest = parts.get(at + 1..).unwrap_or_default();
        let is_bare = parts.get(at).is_some_and(|part| *part != ".git");
        return match rest {
            [] if is_bare => None,
            [] => Some(WriteClass::GitSettings),
            [first, ..]
                if is_setting(first)
                    || rest.iter().any(|part| matches!(*part, "attributes" | "alternates")) =>
            {
                Some(WriteClass::GitSettings)
            }
            _ if is_bare => None,
            _ => Some(WriteClass::GitInternal),
        };
    }
    // A directory with these files is a bare repository, which git obeys.
    matches!(name, "HEAD" | "commondir" | "gitdir").then_some(WriteClass::GitSettings)
}

/// Returns true for a program that would be found through `PATH`.
fn is_program(path: &Path, scene: &Scene) -> bool {
    let in_path =
        scene.path_dirs.iter().any(|directory| path.parent() == Some(directory) || path == directory);
    in_path
        || starts_with_any(path, &startup::PROGRAMS)
        || is_below_a_home(path, scene, &startup::HOME_PROGRAMS)
}

fn is_other_home(path: &Path, scene: &Scene) -> bool {
    let is_own = scene.user_home.as_ref().is_some_and(|home| path.starts_with(home));
    let is_home = path.starts_with("/root")
        || ["/home", "/Users"]
            .iter()
            .any(|homes| path.strip_prefix(homes).is_ok_and(|rest| rest.iter().next().is_some()));
    is_home && !is_own
}

fn is_runtime_directory(path: &Path) -> bool {
    // Programs of the user put sockets and locks here; it is not a setting.
    path.starts_with("/run/user")
        && !path.ends_with("systemd")
        && !path.to_string_lossy().contains("/systemd/")
}

/// The meaning of a path to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadClass {
    Plain,
    /// A device or a file of a process.
    Process,
    /// The session store of Hermes.
    Store,
    Credential,
    /// `.env` of a project.
    Environment,
    OtherHome,
}

pub(crate) fn read_class(path: &Path, scene: &Scene) -> ReadClass {
    if starts_with_any(path, &DEVICES) || starts_with_any(path, &BLOCKING) || is_process_file(path) {
        return ReadClass::Process;
    }
    let hermes = HermesFile::of(path, scene);
    if hermes.as_ref().is_some_and(HermesFile::is_store) {
        return ReadClass::Store;
    }
    if hermes.is_some_and(|file| file.holds_credentials()) || is_unreadable_credential(path, scene) {
        return ReadClass::Credential;
    }
    if is_environment_file(path) {
        return ReadClass::Environment;
    }
    let is_project =
        is_below(path, &scene.project) || scene.temporary.iter().any(|directory| is_below(path, directory));
    if !is_project && is_other_home(path, scene) { ReadClass::OtherHome } else { ReadClass::Plain }
}

/// Files of credentials that may not be read: public keys and lists of hosts may.
fn is_unreadable_credential(path: &Path, scene: &Scene) -> bool {
    let is_public = path.extension().is_some_and(|extension| extension == "pub");
    is_credential(path, scene) && !is_public && !is_below_a_home(path, scene, &READABLE)
}

fn is_credential(path: &Path, scene: &Scene) -> bool {
    let text = path.to_string_lossy();
    let parent = path.parent().map(Path::to_string_lossy).unwrap_or_default();
    let homes: Vec<_> = user_homes(path, scene).map(Path::to_string_lossy).collect();
    let ends = |text: &str, name: &str| text.strip_suffix(name).is_some_and(|before| before.ends_with('/'));
    CREDENTIALS.iter().any(|place| match place {
        Place::Home(name) => homes.iter().any(|rest| is_prefix(rest, name)),
        Place::Anywhere(name) => ends(&text, name) || ends(&parent, name),
        Place::At(root) => is_prefix(&text, root),
    })
}

/// Returns true for a directory with files of credentials somewhere in it.
pub(crate) fn holds_credentials(directory: &Path, scene: &Scene) -> bool {
    let home = scene.user_home.as_deref();
    let is_home =
        directory == Path::new("/home") || directory == Path::new("/root") || directory == Path::new("/");
    let is_above = |path: &Path| path != directory && path.starts_with(directory);
    is_home
        || CREDENTIALS.iter().any(|place| match place {
            Place::Home(name) => home.is_some_and(|home| is_above(&home.join(name))),
            Place::At(root) => is_above(Path::new(root)),
            Place::Anywhere(_) => false,
        })
}

/// Returns true if a path with patterns may name a file of credentials.
pub(crate) fn may_be_credential(patterns: &Path, scene: &Scene) -> bool {
    let homes = scene.user_home.iter().cloned().chain(["/root".into()]);
    let homes: Vec<_> = homes.collect();
    CREDENTIALS.iter().any(|place| match place {
        Place::Home(name) => homes.iter().any(|home| crate::paths::may_touch(patterns, &home.join(name))),
        Place::At(root) => crate::paths::may_touch(patterns, Path::new(root)),
        Place::Anywhere(_) => false,
    })
}

/// Returns true below the user's home directory and below any directory that is a home directory by its location: the
/// environment may name another one, and other users' keys are keys too.
fn is_below_a_home(path: &Path, scene: &Scene, names: &[&str]) -> bool {
    user_homes(path, scene).any(|rest| {
        let rest = rest.to_string_lossy();
        names.iter().any(|name| is_prefix(&rest, name))
    })
}

/// The path as seen from each home that it is in.
fn user_homes<'a>(path: &'a Path, scene: &Scene) -> impl Iterator<Item = &'a Path> {
    let own = scene.user_home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    let root = path.strip_prefix("/root").ok();
    let others = ["/home", "/Users"].into_iter().filter_map(move |homes| {
        let mut rest = path.strip_prefix(homes).ok()?.components();
        rest.next()?;
        Some(rest.as_path())
    });
    own.into_iter().chain(root).chain(others)
}

pub(crate) fn starts_with_any(path: &Path, roots: &[&str]) -> bool {
    let text = path.to_string_lossy();
    roots.iter().any(|root| is_prefix(&text, root))
}

/// Returns true if a path is `root` or below it. Comparing text is much faster than comparing components.
fn is_prefix(text: &str, root: &str) -> bool {
    text.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns true inside of a directory; an empty one holds nothing.
fn is_below(path: &Path, directory: &Path) -> bool {
    !directory.as_os_str().is_empty() && path.starts_with(directory)
}

/// `.env` and its variants, but not the examples that are meant to be read.
pub(crate) fn is_environment_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let example = [".example", ".sample", ".template", ".dist", ".defaults"];
    name == ".env" || (name.starts_with(".env.") && !example.iter().any(|end| name.ends_with(end)))
}

fn is_process_file(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else {
        return false;
    };
    let mut parts = rest.iter().skip(1).filter_map(|part| part.to_str());
    let kind = parts.find(|part| *part != "task" && part.parse::<u32>().is_err());
    kind.is_some_and(|kind| PROCESS.contains(&kind))
}

#[cfg(test)]
#[path = "protected_tests.rs"]
mod tests;
