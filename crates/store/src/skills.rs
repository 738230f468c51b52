//! Skills: instructions for a kind of task, each in a folder with a `SKILL.md`.
//!
//! [`SkillShelf`] is everything there is: the skills of the home, those of other folders, and those
//! that come with Hermes. [`SkillShelf::index`] is what a prompt says about them. Changing skills of
//! the home is `change`'s work, bringing in those of others `install`'s.

mod audit;
mod bundle;
mod bundled;
mod cache;
mod change;
mod disk;
mod error;
mod files;
mod find;
mod front;
mod index;
mod install;
mod invocation;
mod lock_file;
mod parcel;
mod source;
mod unpack;
mod verdict;

pub use bundle::{Bundle, bundles};
pub use change::{Changed, SkillEdit};
pub use error::SkillError;
pub use files::{LinkedFiles, SkillText};
pub use front::{ConfigValue, Front, MAX_DESCRIPTION, MAX_NAME, MAX_SKILL_CHARS, body as skill_body};
pub use index::{DEFAULT_INDEX_BYTES, IndexQuery, SkillIndex};
pub use install::{Brought, InstallOptions, Installed, Quarantine};
pub use invocation::{Invocation, invocation, preloaded};
pub use lock_file::{Checked, InstalledSkill, LockFile, State};
pub use parcel::{MAX_PACKED, PackedFile, Parcel, ParcelError};
pub use source::SkillSource;
pub use unpack::unpack;
pub use verdict::{Concern, Judged, Trust, Verdict};

use cache::Snapshot;
use find::{Folder, Look};
use hermes_guard::FenceKey;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The category of skills that are in none.
const GENERAL: &str = "general";
/// Its presence in the home means that no skill that comes with Hermes is wanted.
const OPT_OUT: &str = ".no-bundled-skills";

/// Where a skill comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The home's own folder.
    Home,
    /// One of `skills.external_dirs`, which are only read.
    External,
    /// The program itself.
    Bundled,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::External => "external",
            Self::Bundled => "bundled",
        }
    }
}

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub front: Front,
    pub category: String,
    pub origin: Origin,
    /// Its folder; one that comes with Hermes has none.
    pub dir: Option<PathBuf>,
}

impl Skill {
    pub fn name(&self) -> &str {
        &self.front.name
    }
}

/// A folder that should hold a skill and does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenSkill {
    /// The name of the folder.
    pub name: String,
    pub path: PathBuf,
    pub reason: String,
}

/// All skills, as they are now.
#[derive(Debug, Clone, Default)]
pub struct SkillShelf {
    home: PathBuf,
    /// By category and name.
    skills: Vec<Skill>,
    broken: Vec<BrokenSkill>,
    /// What is said about categories.
    about: BTreeMap<String, String>,
}

impl SkillShelf {
    /// Looks at the skills of a home and of other folders. Of two with the same name, the home's
    /// counts before others', and any before the one that comes with Hermes.
    pub fn open(home: &Path, external_dirs: &[PathBuf]) -> Self {
        Self::look(home, external_dirs, None)
    }

    /// As [`open`](Self::open), with a cache of what the last look saw. The key of the home tells it from
    /// one that another program wrote; it is asked for when there is a cache.
    pub fn open_cached(home: &Path, external_dirs: &[PathBuf], key: &dyn Fn() -> FenceKey) -> Self {
        Self::look(home, external_dirs, Some(key))
    }

    fn look(home: &Path, external_dirs: &[PathBuf], key: Option<&dyn Fn() -> FenceKey>) -> Self {
        let mut roots = vec![(skills_dir(home), Origin::Home)];
        roots.extend(external_dirs.iter().map(|dir| (dir.clone(), Origin::External)));
        let mut kept = key.map(|key| Snapshot::load(home, key)).unwrap_or_default();
        let now = cache::now();
        let mut look = Look::new(kept.taken, now);
        let mut shelf = Self { home: home.to_owned(), ..Self::default() };
        let mut taken = Taken::default();
        let mut seen = BTreeMap::new();
        for (root, origin) in roots {
            let key = root.to_string_lossy().into_owned();
            if let Some(folder) = look.at(&root, kept.roots.remove(&key)) {
                shelf.add(&folder, &Place { path: root, category: String::new(), origin }, &mut taken);
                seen.insert(key, folder);
            }
        }
        if !home.join(OPT_OUT).exists() {
            shelf.add_bundled(&mut taken);
        }
        let has_some = seen.values().any(|folder| !folder.below.is_empty());
        if let Some(key) = key.filter(|_| look.has_news && has_some || !kept.roots.is_empty()) {
            Snapshot::new(now, seen).save(home, &key());
        }
        shelf.skills.sort_by(|a, b| (&a.category, a.name()).cmp(&(&b.category, b.name())));
        shelf.broken.sort_by(|a, b| a.path.cmp(&b.path));
        shelf
    }

    /// By category and name.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// What could not be read, by path.
    pub fn broken(&self) -> &[BrokenSkill] {
        &self.broken
    }

    /// What is said about a category, or nothing.
    pub fn about(&self, category: &str) -> &str {
        self.about.get(category).map_or("", String::as_str)
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The skill of this name; dashes and underscores are alike, as in a slash command.
    pub fn find(&self, name: &str) -> Result<&Skill, SkillError> {
        let wanted = slug(name);
        let exact = self.skills.iter().find(|skill| skill.name() == name);
        if let Some(skill) = exact.or_else(|| self.skills.iter().find(|skill| slug(skill.name()) == wanted)) {
            return Ok(skill);
        }
        match self.broken.iter().find(|broken| broken.name == name) {
            Some(BrokenSkill { name, path, reason }) => {
                Err(SkillError::Broken { name: name.clone(), path: path.clone(), reason: reason.clone() })
            }
            None => Err(SkillError::Unknown { name: name.to_owned(), near: self.nearest(&wanted) }),
        }
    }

    /// The one whose name begins as this one does, or contains it.
    fn nearest(&self, wanted: &str) -> Option<String> {
        let shared = |name: &str| wanted.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        let names = || self.skills.iter().map(Skill::name);
        let containing = names().find(|name| wanted.len() > 2 && slug(name).contains(wanted));
        let best = containing.or_else(|| names().max_by_key(|name| shared(&slug(name))));
        best.filter(|name| containing.is_some() || shared(&slug(name)) >= 3).map(str::to_owned)
    }

    fn add(&mut self, folder: &Folder, place: &Place, taken: &mut Taken) {
        let Place { path, category, origin } = place;
        if let Some(about) = folder.about.as_ref().and_then(|kept| kept.value.as_ref().ok())
            && !about.is_empty()
        {
            self.about.entry(category.clone()).or_insert_with(|| about.clone());
        }
        if let Some(skill) = &folder.skill {
            // The folder of a skill is no category; the one above it is.
            let above = category.rsplit_once('/').map_or("", |(above, _)| above);
            let category = if above.is_empty() { GENERAL } else { above };
            self.add_skill(&skill.value, path, category, *origin, taken);
        }
        for (name, below) in &folder.below {
            let inner = if category.is_empty() { plain(name) } else { format!("{category}/{}", plain(name)) };
            self.add(below, &Place { path: path.join(name), category: inner, origin: *origin }, taken);
        }
    }

    fn add_skill(
        &mut self,
        read: &Result<Front, String>,
        path: &Path,
        category: &str,
        origin: Origin,
        taken: &mut Taken,
    ) {
        let refused = match read {
            Err(reason) => reason.clone(),
            Ok(front) => match taken.take(&front.name, origin, path) {
                Ok(()) => {
                    let (front, category, dir) = (front.clone(), category.to_owned(), Some(path.to_owned()));
                    return self.skills.push(Skill { front, category, origin, dir });
                }
                // The home may replace a skill of others.
                Err(Earlier { origin: earlier, .. }) if earlier != origin => return,
                Err(Earlier { path, .. }) => {
                    format!("the name `{}` belongs to {}; give it another one", front.name, path.display())
                }
            },
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.broken.push(BrokenSkill { name, path: path.to_owned(), reason: refused });
    }

    fn add_bundled(&mut self, taken: &mut Taken) {
        for (category, about) in bundled::CATEGORIES {
            self.about.entry((*category).to_owned()).or_insert_with(|| (*about).to_owned());
        }
        for bundled in bundled::all() {
            if taken.take(&bundled.front.name, Origin::Bundled, Path::new("")).is_ok() {
                self.skills.push(bundled.clone());
            }
        }
    }
}

/// A folder on the way down.
struct Place {
    path: PathBuf,
    category: String,
    origin: Origin,
}

/// Who has which name.
#[derive(Default)]
struct Taken(HashMap<String, Earlier>);

#[derive(Clone)]
struct Earlier {
    origin: Origin,
    path: PathBuf,
}

impl Taken {
    fn take(&mut self, name: &str, origin: Origin, path: &Path) -> Result<(), Earlier> {
        if let Some(earlier) = self.0.get(name) {
            return Err(earlier.clone());
        }
        self.0.insert(name.to_owned(), Earlier { origin, path: path.to_owned() });
        Ok(())
    }
}

/// The folder of a home's own skills.
pub fn skills_dir(home: &Path) -> PathBuf {
    home.join("skills")
}

/// How a name is typed after a slash.
pub fn slug(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(kept).collect()
}

/// The name of a folder as a prompt may say it.
fn plain(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
    name.chars().take(64).map(|c| if kept(c) { c } else { '_' }).collect()
}

/// Those of `names` that are words of a list, for look-ups.
pub(crate) fn set(names: &[String]) -> HashSet<&str> {
    names.iter().map(String::as_str).collect()
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
