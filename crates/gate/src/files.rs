//! Assessment of the accesses of file tools.
//!
//! Paths are absolute and have links resolved. Unlike commands, file tools are refused what a user would have to change
//! by hand: start-up files, credentials, settings of other programs, Hermes' own files.

use crate::assessment::{Assessment, Effect, EffectKind, Finding, Grant, Verdict};
use crate::keys;
use crate::protected::credentials::{CREDENTIALS, Place, READABLE};
use crate::protected::{ReadClass, WriteClass, read_class, startup, system::DIRECTORIES, write_class};
use crate::scene::Scene;
use std::path::{Path, PathBuf};

/// Judges writing a file.
pub fn assess_write(path: &Path, scene: &Scene) -> Assessment {
    changed(path, scene, EffectKind::Write)
}

/// Judges writing this content to a file: attributes with filters make git run programs.
pub fn assess_write_content(path: &Path, content: &[u8], scene: &Scene) -> Assessment {
    let mut assessment = assess_write(path, scene);
    let is_attributes = path.file_name().is_some_and(|name| name == ".gitattributes");
    let text = String::from_utf8_lossy(content);
    if is_attributes && ["filter=", "diff=", "merge="].iter().any(|setting| text.contains(setting)) {
        let reason = format!("writes {}, whose filters make git run programs", path.display());
        assessment.findings.push(finding(
            path,
            EffectKind::Policy,
            Verdict::Ask,
            keys::GIT_SETTINGS,
            reason,
            Vec::new(),
        ));
    }
    assessment
}

/// Judges deleting a file or an empty directory.
pub fn assess_delete(path: &Path, scene: &Scene) -> Assessment {
    let is_home = scene.user_home.as_deref() == Some(path) || path == Path::new("/root");
    if is_home || DIRECTORIES.iter().any(|directory| Path::new(directory) == path) || path == scene.project {
        let reason = format!("{} is not deleted", path.display());
        let verdict = if path == scene.project && !is_home { Verdict::Ask } else { Verdict::Deny };
        return only(finding(path, EffectKind::Delete, verdict, keys::DELETE_SYSTEM, reason, Vec::new()));
    }
    changed(path, scene, EffectKind::Delete)
}

/// Judges reading a file.
pub fn assess_read(path: &Path, scene: &Scene) -> Assessment {
    let shown = path.display();
    let (verdict, reason) = match read_class(path, scene) {
        ReadClass::Plain => return Assessment::default(),
        ReadClass::Process => {
            (Verdict::Deny, format!("{shown} is a device or process file and cannot be read as text"))
        }
        ReadClass::Store => (Verdict::Deny, format!("{shown} is Hermes' own session store and is not shown")),
        ReadClass::Credential | ReadClass::Environment => (
            Verdict::Deny,
            format!("{shown} holds credentials and is not shown; ask the user if you need something from it"),
        ),
        ReadClass::OtherHome => (Verdict::Ask, format!("{shown} is in another user's home directory")),
    };
    let grants = if verdict == Verdict::Ask { vec![Grant::Read(path.to_path_buf())] } else { Vec::new() };
    only(finding(path, EffectKind::ReadSecret, verdict, keys::READ_SECRET, reason, grants))
}

/// The places in a home directory that hold credentials.
pub fn credential_files(home: &Path) -> impl Iterator<Item = PathBuf> {
    CREDENTIALS.iter().filter_map(move |place| match place {
        Place::Home(name) | Place::Anywhere(name) => Some(home.join(name)),
        Place::At(_) => None,
    })
}

/// The files in those places that hold no keys and may be read.
pub fn readable_credential_files(home: &Path) -> impl Iterator<Item = PathBuf> {
    READABLE.iter().map(move |name| home.join(name))
}

/// The credentials of the system.
pub fn system_credential_files() -> impl Iterator<Item = &'static Path> {
    CREDENTIALS.iter().filter_map(|place| match place {
        Place::At(path) => Some(Path::new(path)),
        Place::Home(_) | Place::Anywhere(_) => None,
    })
}

/// The places in a home directory that other programs run or obey.
pub fn startup_files(home: &Path) -> impl Iterator<Item = PathBuf> {
    startup::HOME.iter().chain(&startup::HOME_PROGRAMS).map(move |name| home.join(name))
}

/// The directory that an approved write outside of the project opens: that of the file, so that the next file beside it
/// needs no other answer. It is never the user's home directory or one that others share.
fn area<'a>(path: &'a Path, scene: &Scene) -> &'a Path {
    let is_own = |dir: &&Path| {
        let holds_home = scene.user_home.as_deref().is_some_and(|home| home.starts_with(dir));
        dir.components().count() > 2 && !holds_home
    };
    path.parent().filter(is_own).unwrap_or(path)
}

fn changed(path: &Path, scene: &Scene, kind: EffectKind) -> Assessment {
    let shown = path.display();
    let outside_key = if kind == EffectKind::Delete { keys::DELETE_OUTSIDE } else { keys::WRITE_OUTSIDE };
    let (verdict, rule, reason) = match write_class(path, scene) {
        WriteClass::Inside | WriteClass::Temporary => return Assessment::default(),
        WriteClass::System
        | WriteClass::HarmlessDevice
        | WriteClass::BlockDevice
        | WriteClass::PowerSwitch => {
            (Verdict::Deny, keys::SYSTEM_CONFIG, format!("{shown} belongs to the system and is not written"))
        }
        WriteClass::Hermes => (
            Verdict::Deny,
            keys::HERMES_FILE,
            format!("{shown} belongs to Hermes itself; only the user changes it"),
        ),
        WriteClass::Credential => (
            Verdict::Deny,
            keys::STARTUP_FILE,
            format!("{shown} is a place for keys or services and is not written"),
        ),
        WriteClass::Startup | WriteClass::Program => (
            Verdict::Deny,
            keys::STARTUP_FILE,
            format!(
                "{shown} is run or read by other programs without asking and is not written; ask the user to change it"
            ),
        ),
        WriteClass::OtherHome => (
            Verdict::Deny,
            outside_key,
            format!("{shown} is in another user's home directory and is not written"),
        ),
        WriteClass::GitSettings | WriteClass::GitInternal => {
            (Verdict::Ask, keys::GIT_SETTINGS, format!("{shown} belongs to git, which obeys or runs it"))
        }
        WriteClass::RunByOthers => {
            (Verdict::Ask, keys::RUN_BY_OTHERS, format!("{shown} is run or obeyed by other programs"))
        }
        WriteClass::ProjectEnvironment => {
            (Verdict::Ask, keys::ENV_COPY, format!("{shown} holds the environment of the project"))
        }
        WriteClass::Outside => (Verdict::Ask, outside_key, format!("{shown} is outside of the project")),
    };
    let grant = match rule {
        keys::GIT_SETTINGS => Grant::GitSettings,
        keys::WRITE_OUTSIDE => Grant::Write(area(path, scene).to_path_buf()),
        _ => Grant::Write(path.to_path_buf()),
    };
    let grants = if verdict == Verdict::Ask { vec![grant] } else { Vec::new() };
    only(finding(path, kind, verdict, rule, reason, grants))
}

fn finding(
    path: &Path,
    kind: EffectKind,
    verdict: Verdict,
    rule: &'static str,
    reason: String,
    grants: Vec<Grant>,
) -> Finding {
    let effect = Effect { kind, target: Some(path.display().to_string()) };
    Finding { effect, verdict, rule: rule.into(), reason, grants }
}

fn only(finding: Finding) -> Assessment {
    Assessment { findings: vec![finding], ..Assessment::default() }
}
