//! Installs a skill from another source: check, scan, place in one step, record in the lock file.
//!
//! The caller fetches into the [`Quarantine`]. If the process is killed, the skill is installed as a
//! whole or not at all, and the next installation clears the quarantine.

use super::files::{choose_folder, package_folder};
use super::lock_file::{self, InstalledSkill, LockFile};
use super::package::{MAX_PACKED, SkillPackage, choose};
use super::safety_scan::{ScanReport, Trust, refusal, scan_files};
use super::staging::{StagingArea, clear, make_dir};
use super::{SkillError, SkillSource, audit_log, front_matter, skills_dir, unpack};
use rustix::fs::FlockOperation;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Options of an installation.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// The folder of the skill, if the source has several.
    pub path: Option<String>,
    pub category: Option<String>,
    /// Accepts the verdict caution, and replaces a skill that was changed by hand.
    pub force: bool,
    /// Replaces a skill of the same name and source.
    pub replaces: bool,
    /// The time for lock file and audit log.
    pub now: String,
}

/// A source and the location of its files.
#[derive(Debug, Clone)]
pub enum InstallInput {
    /// A folder or archive on this machine.
    Local(SkillSource),
    /// A folder or archive in the quarantine.
    Fetched { source: SkillSource, path: PathBuf },
}

/// The result of an installation.
#[derive(Debug, Clone)]
pub struct Installed {
    pub name: String,
    pub dir: PathBuf,
    pub scan: ScanReport,
    pub files: usize,
    /// True if the same files were installed before.
    pub is_unchanged: bool,
}

/// A folder for fetched files, with a lock: one process installs at a time.
#[derive(Debug)]
pub struct Quarantine {
    home: PathBuf,
    dir: PathBuf,
    _lock: File,
}

impl Quarantine {
    /// Locks and empties the quarantine.
    pub fn open(home: &Path) -> Result<Self, SkillError> {
        let dir = skills_dir(home).join(".hub").join("quarantine");
        make_dir(&dir)?;
        let lock_path = dir.with_file_name("install.lock");
        let lock = File::create(&lock_path).map_err(SkillError::io("open", &lock_path))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let why = "another process is installing a skill; try again when it has finished";
            return Err(SkillError::Refused(why.to_owned()));
        }
        clear(&dir)?;
        make_dir(&dir)?;
        Ok(Self { home: home.to_owned(), dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Checks and scans the files and moves them into the home. Nothing changes on error.
    pub fn install(&self, input: &InstallInput, options: &InstallOptions) -> Result<Installed, SkillError> {
        let (source, package) = read(input, options.path.as_deref())?;
        let head = package.text("SKILL.md").ok_or_else(|| refused("SKILL.md is not UTF-8 text"))?;
        let front_matter =
            front_matter::parse(head).map_err(|why| refused(&format!("invalid SKILL.md: {why}")))?;
        let report = scan_files(&package.files);
        let trust = source.trust();
        if let Some(next) = refusal(trust, report.verdict, options.force) {
            return Err(SkillError::Refused(format!(
                "`{}` was not installed: scan verdict {}{}; {next}",
                front_matter.name,
                report.verdict.as_str(),
                worst_findings(&report)
            )));
        }
        self.place(&front_matter.name, source, &package, report, trust, options)
    }

    fn place(
        &self,
        name: &str,
        source: &SkillSource,
        package: &SkillPackage,
        report: ScanReport,
        trust: Trust,
        options: &InstallOptions,
    ) -> Result<Installed, SkillError> {
        let staging = StagingArea::lock(&self.home)?;
        let mut lock = LockFile::load(&self.home)?;
        let earlier = lock.installed.get(name);
        let install_path = match (earlier.filter(|_| options.replaces), &options.category) {
            (Some(earlier), _) => earlier.install_path.clone(),
            (None, Some(category)) => format!("{}/{name}", checked_category(category)?),
            (None, None) => name.to_owned(),
        };
        let mut entry = InstalledSkill {
            source: source.kind().to_owned(),
            identifier: source.identifier(),
            trust_level: trust.as_str().to_owned(),
            scan_verdict: report.verdict.as_str().to_owned(),
            content_hash: package.hash(),
            install_path,
            files: package.files.iter().map(|file| file.path.clone()).collect(),
            installed_at: earlier.map_or_else(|| options.now.clone(), |earlier| earlier.installed_at.clone()),
            updated_at: options.now.clone(),
            others: earlier.map(|earlier| earlier.others.clone()).unwrap_or_default(),
        };
        if let Some(path) = &options.path {
            entry.others.insert("path".to_owned(), path.as_str().into());
        }
        let dir = lock_file::folder(&self.home, &entry)
            .ok_or_else(|| refused("the recorded path of the skill is outside the skills folder"))?;
        let is_unchanged = package_folder(&dir).is_ok_and(|there| there.hash() == entry.content_hash);
        if !is_unchanged {
            self.refuse_to_overwrite(name, &dir, earlier, options)?;
            staging.place(&package.files, &dir, options.replaces)?;
        }
        let what = format!("install {name} from {} ({})", entry.identifier, entry.scan_verdict);
        lock.installed.insert(name.to_owned(), entry);
        lock.save(&self.home)?;
        audit_log::append(staging.root(), &options.now, &what)?;
        Ok(Installed { name: name.to_owned(), dir, scan: report, files: package.files.len(), is_unchanged })
    }

    /// Refuses to replace a skill that was written or changed in this home.
    fn refuse_to_overwrite(
        &self,
        name: &str,
        dir: &Path,
        earlier: Option<&InstalledSkill>,
        options: &InstallOptions,
    ) -> Result<(), SkillError> {
        let taken_at =
            |dir: &Path, next| Err(SkillError::Taken { name: name.to_owned(), path: dir.to_owned(), next });
        let taken = |next| taken_at(dir, next);
        let installed = earlier.and_then(|earlier| lock_file::folder(&self.home, earlier));
        if let Some(there) = installed.filter(|there| !options.replaces && there.exists()) {
            return taken_at(&there, "run `hermes skills update` to fetch it again");
        }
        if !dir.exists() {
            return Ok(());
        }
        let Some(earlier) = earlier.filter(|_| options.replaces) else {
            return taken("remove or rename it first");
        };
        let is_as_installed = package_folder(dir).is_ok_and(|there| there.hash() == earlier.content_hash);
        if is_as_installed || options.force {
            return Ok(());
        }
        taken("it was changed locally; use --force to replace it")
    }
}

/// Removes a skill from the home and from the lock file.
pub(super) fn remove(home: &Path, name: &str, dir: &Path, why: &str, now: &str) -> Result<(), SkillError> {
    let staging = StagingArea::lock(home)?;
    let mut lock = LockFile::load(home)?;
    staging.remove_folder(dir)?;
    if lock.installed.remove(name).is_some() {
        lock.save(home)?;
    }
    audit_log::append(staging.root(), now, &format!("remove {name}{why}"))
}

fn read<'a>(
    input: &'a InstallInput,
    wanted: Option<&str>,
) -> Result<(&'a SkillSource, SkillPackage), SkillError> {
    let (source, path) = match input {
        InstallInput::Local(source @ (SkillSource::Folder(path) | SkillSource::Archive(path))) => {
            (source, path)
        }
        InstallInput::Fetched { source, path } => (source, path),
        InstallInput::Local(SkillSource::Url(_) | SkillSource::Git(_)) => {
            return Err(refused("the source was not fetched"));
        }
    };
    if path.is_dir() {
        return Ok((source, package_folder(&choose_folder(path, wanted)?)?));
    }
    let package = unpack(&packed(path)?)?;
    let folder = choose(package.files.iter().map(|file| file.path.as_str()), wanted)?;
    Ok((source, package.only(&folder)))
}

fn packed(path: &Path) -> Result<Vec<u8>, SkillError> {
    let file = File::open(path).map_err(SkillError::io("read", path))?;
    let mut bytes = Vec::new();
    file.take(MAX_PACKED as u64 + 1).read_to_end(&mut bytes).map_err(SkillError::io("read", path))?;
    Ok(bytes)
}

/// Checks a category, which may have several parts.
pub(super) fn checked_category(category: &str) -> Result<String, SkillError> {
    let parts: Vec<&str> = category.trim_matches('/').split('/').collect();
    for part in &parts {
        front_matter::check_name(part).map_err(|_| {
            refused(&format!(
                "invalid category `{category}`: use lower-case letters, digits and dashes, with `/` between parts"
            ))
        })?;
    }
    Ok(parts.join("/"))
}

/// Lists the findings that caused the verdict.
fn worst_findings(report: &ScanReport) -> String {
    let worst = report.concerns.iter().filter(|concern| concern.verdict == report.verdict);
    let lines: Vec<String> = worst
        .take(5)
        .map(|concern| format!("{}:{}: {}: {}", concern.file, concern.line, concern.id, concern.excerpt))
        .collect();
    if lines.is_empty() { String::new() } else { format!(" ({})", lines.join("; ")) }
}

fn refused(why: &str) -> SkillError {
    SkillError::Refused(why.to_owned())
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
