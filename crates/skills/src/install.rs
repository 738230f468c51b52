//! Bringing in a skill of somebody else: check, scan, place in one step, write down.
//!
//! Fetching is the caller's work; what it fetches goes to the [`Quarantine`]. Whenever the program is
//! killed, the skill is there as a whole or not at all, and the next one that installs clears the
//! quarantine.

use super::disk::{Workshop, clear, make_dir};
use super::files::{chosen_folder, folder_parcel};
use super::lock_file::{self, InstalledSkill, LockFile};
use super::parcel::{MAX_PACKED, Parcel, choose};
use super::verdict::{Judged, Trust, judge, objection};
use super::{SkillError, SkillSource, audit, front, skills_dir, unpack};
use rustix::fs::FlockOperation;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How to install.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// Which of several skills, by its folder.
    pub path: Option<String>,
    pub category: Option<String>,
    /// Lets caution pass, and replaces a skill that was changed by hand.
    pub force: bool,
    /// Whether a skill of the same name and source is replaced.
    pub replaces: bool,
    /// For the record.
    pub now: String,
}

/// A source and what came from it.
#[derive(Debug, Clone)]
pub enum Brought {
    /// It can be read from here.
    Here(SkillSource),
    /// Fetched to the quarantine: a folder of it, or an archive.
    Fetched { source: SkillSource, path: PathBuf },
}

/// What was installed.
#[derive(Debug, Clone)]
pub struct Installed {
    pub name: String,
    pub dir: PathBuf,
    pub judged: Judged,
    pub files: usize,
    /// Whether it was there already, the same in every byte.
    pub is_same: bool,
}

/// A place for what is being fetched. One process installs at a time.
#[derive(Debug)]
pub struct Quarantine {
    home: PathBuf,
    dir: PathBuf,
    _lock: File,
}

impl Quarantine {
    /// Opens it, empty.
    pub fn open(home: &Path) -> Result<Self, SkillError> {
        let dir = skills_dir(home).join(".hub").join("quarantine");
        make_dir(&dir)?;
        let lock_path = dir.with_file_name("install.lock");
        let lock = File::create(&lock_path).map_err(SkillError::io("open", &lock_path))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let why = "another process is installing a skill; try again when it is done";
            return Err(SkillError::Refused(why.to_owned()));
        }
        clear(&dir)?;
        make_dir(&dir)?;
        Ok(Self { home: home.to_owned(), dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Checks what was brought and puts it into the home. Nothing changes when it fails.
    pub fn install(&self, brought: &Brought, options: &InstallOptions) -> Result<Installed, SkillError> {
        let (source, parcel) = read(brought, options.path.as_deref())?;
        let head = parcel.text("SKILL.md").ok_or_else(|| refused("SKILL.md is not UTF-8 text"))?;
        let front = front::parse(head).map_err(|why| refused(&format!("SKILL.md is no skill: {why}")))?;
        let judged = judge(&parcel.files);
        let trust = source.trust();
        if let Some(next) = objection(trust, judged.verdict, options.force) {
            return Err(SkillError::Refused(format!(
                "the scan of `{}` says {}{}; {next}",
                front.name,
                judged.verdict.as_str(),
                told(&judged)
            )));
        }
        self.place(&front.name, source, &parcel, judged, trust, options)
    }

    fn place(
        &self,
        name: &str,
        source: &SkillSource,
        parcel: &Parcel,
        judged: Judged,
        trust: Trust,
        options: &InstallOptions,
    ) -> Result<Installed, SkillError> {
        let workshop = Workshop::enter(&self.home)?;
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
            scan_verdict: judged.verdict.as_str().to_owned(),
            content_hash: parcel.hash(),
            install_path,
            files: parcel.files.iter().map(|file| file.path.clone()).collect(),
            installed_at: earlier.map_or_else(|| options.now.clone(), |earlier| earlier.installed_at.clone()),
            updated_at: options.now.clone(),
            others: earlier.map(|earlier| earlier.others.clone()).unwrap_or_default(),
        };
        if let Some(path) = &options.path {
            entry.others.insert("path".to_owned(), path.as_str().into());
        }
        let dir = lock_file::folder(&self.home, &entry)
            .ok_or_else(|| refused("the recorded place of the skill is not below the skills folder"))?;
        let is_same = folder_parcel(&dir).is_ok_and(|there| there.hash() == entry.content_hash);
        if !is_same {
            self.refuse_to_overwrite(name, &dir, earlier, options)?;
            workshop.place(&parcel.files, &dir, options.replaces)?;
        }
        let what = format!("install {name} from {} ({})", entry.identifier, entry.scan_verdict);
        lock.installed.insert(name.to_owned(), entry);
        lock.save(&self.home)?;
        audit::note(workshop.root(), &options.now, &what)?;
        Ok(Installed { name: name.to_owned(), dir, judged, files: parcel.files.len(), is_same })
    }

    /// A skill that somebody wrote or changed here stays, unless it is to go.
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
            return taken_at(&there, "`hermes skills update` fetches it again");
        }
        if !dir.exists() {
            return Ok(());
        }
        let Some(earlier) = earlier.filter(|_| options.replaces) else {
            return taken("remove or rename that one first");
        };
        let is_as_installed = folder_parcel(dir).is_ok_and(|there| there.hash() == earlier.content_hash);
        if is_as_installed || options.force {
            return Ok(());
        }
        taken("it was changed here; --force replaces it")
    }
}

/// Takes a skill that came from elsewhere, or was written here, out of the home.
pub(super) fn remove(home: &Path, name: &str, dir: &Path, why: &str, now: &str) -> Result<(), SkillError> {
    let workshop = Workshop::enter(home)?;
    let mut lock = LockFile::load(home)?;
    workshop.take_away(dir)?;
    if lock.installed.remove(name).is_some() {
        lock.save(home)?;
    }
    audit::note(workshop.root(), now, &format!("remove {name}{why}"))
}

fn read<'a>(brought: &'a Brought, wanted: Option<&str>) -> Result<(&'a SkillSource, Parcel), SkillError> {
    let (source, path) = match brought {
        Brought::Here(source @ (SkillSource::Folder(path) | SkillSource::Archive(path))) => (source, path),
        Brought::Fetched { source, path } => (source, path),
        Brought::Here(SkillSource::Url(_) | SkillSource::Git(_)) => {
            return Err(refused("it was not fetched"));
        }
    };
    if path.is_dir() {
        return Ok((source, folder_parcel(&chosen_folder(path, wanted)?)?));
    }
    let parcel = unpack(&packed(path)?)?;
    let folder = choose(parcel.files.iter().map(|file| file.path.as_str()), wanted)?;
    Ok((source, parcel.only(&folder)))
}

fn packed(path: &Path) -> Result<Vec<u8>, SkillError> {
    let file = File::open(path).map_err(SkillError::io("read", path))?;
    let mut bytes = Vec::new();
    file.take(MAX_PACKED as u64 + 1).read_to_end(&mut bytes).map_err(SkillError::io("read", path))?;
    Ok(bytes)
}

/// A category, which may have several parts.
pub(super) fn checked_category(category: &str) -> Result<String, SkillError> {
    let parts: Vec<&str> = category.trim_matches('/').split('/').collect();
    for part in &parts {
        front::check_name(part).map_err(|_| {
            refused(&format!(
                "`{category}` is no name for a category: small letters, digits, dashes, `/` between parts"
            ))
        })?;
    }
    Ok(parts.join("/"))
}

/// The worst findings, in a few words.
fn told(judged: &Judged) -> String {
    let worst = judged.concerns.iter().filter(|concern| concern.verdict == judged.verdict);
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
