//! The skills of a home, of other folders, and those that come with Hermes, as one list.

use super::bundled;
use super::cache::{self, Snapshot};
use super::discovery::{Discovery, Folder};
use super::error::SkillError;
use super::front_matter::FrontMatter;
use hermes_guard::FenceKey;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The category of skills without one.
const GENERAL: &str = "general";
/// A file with this name in the home hides all bundled skills.
const OPT_OUT: &str = ".no-bundled-skills";

/// The origin of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The skills folder of the home.
    Home,
    /// One of `skills.external_dirs`, which are read-only.
    External,
    /// Bundled with the program.
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
    pub front_matter: FrontMatter,
    pub category: String,
    pub origin: Origin,
    /// The folder; `None` for a bundled skill.
    pub dir: Option<PathBuf>,
}

impl Skill {
    pub fn name(&self) -> &str {
        &self.front_matter.name
    }
}

/// A folder with an unusable `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenSkill {
    /// Name of the folder.
    pub name: String,
    pub path: PathBuf,
    pub reason: String,
}

/// All skills at the time of discovery.
#[derive(Debug, Clone, Default)]
pub struct SkillShelf {
    pub(super) home: PathBuf,
    /// Sorted by category and name.
    pub(super) skills: Vec<Skill>,
    pub(super) broken: Vec<BrokenSkill>,
    /// Descriptions of categories.
    pub(super) about: BTreeMap<String, String>,
}

impl SkillShelf {
    /// Discovers the skills of a home and of other folders. Of two skills with one name, the home's
    /// takes precedence, then the other folders', then the bundled one.
    pub fn open(home: &Path, external_dirs: &[PathBuf]) -> Self {
        Self::discover(home, external_dirs, None)
    }

    /// Like [`open`](Self::open), with a cache. The key of the home verifies that Hermes wrote the cache;
    /// it is requested only if there is one.
    pub fn open_cached(home: &Path, external_dirs: &[PathBuf], key: &dyn Fn() -> FenceKey) -> Self {
        Self::discover(home, external_dirs, Some(key))
    }

    fn discover(home: &Path, external_dirs: &[PathBuf], key: Option<&dyn Fn() -> FenceKey>) -> Self {
        let mut roots = vec![(skills_dir(home), Origin::Home)];
        roots.extend(external_dirs.iter().map(|dir| (dir.clone(), Origin::External)));
        let mut kept = key.map(|key| Snapshot::load(home, key)).unwrap_or_default();
        let now = cache::now();
        let mut discovery = Discovery::new(kept.taken, now);
        let mut shelf = Self { home: home.to_owned(), ..Self::default() };
        let mut taken = TakenNames::default();
        let mut seen = BTreeMap::new();
        for (root, origin) in roots {
            let key = root.to_string_lossy().into_owned();
            if let Some(folder) = discovery.at(&root, kept.roots.remove(&key)) {
                shelf.add(&folder, &Place { path: root, category: String::new(), origin }, &mut taken);
                seen.insert(key, folder);
            }
        }
        if !home.join(OPT_OUT).exists() {
            shelf.add_bundled(&mut taken);
        }
        let has_some = seen.values().any(|folder| !folder.below.is_empty());
        if let Some(key) = key.filter(|_| discovery.is_cache_stale && has_some || !kept.roots.is_empty()) {
            Snapshot::new(now, seen).save(home, &key());
        }
        shelf.skills.sort_by(|a, b| (&a.category, a.name()).cmp(&(&b.category, b.name())));
        shelf.broken.sort_by(|a, b| a.path.cmp(&b.path));
        shelf
    }

    /// Returns all skills, sorted by category and name.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Returns unusable skills, sorted by path.
    pub fn broken(&self) -> &[BrokenSkill] {
        &self.broken
    }

    /// Returns the description of a category, or an empty text.
    pub fn about(&self, category: &str) -> &str {
        self.about.get(category).map_or("", String::as_str)
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Finds a skill by name; dashes and underscores are equal, as in a slash command.
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

    /// Returns the name that contains the wanted one, or shares the longest prefix with it.
    fn nearest(&self, wanted: &str) -> Option<String> {
        let shared = |name: &str| wanted.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        let names = || self.skills.iter().map(Skill::name);
        let containing = names().find(|name| wanted.len() > 2 && slug(name).contains(wanted));
        let best = containing.or_else(|| names().max_by_key(|name| shared(&slug(name))));
        best.filter(|name| containing.is_some() || shared(&slug(name)) >= 3).map(str::to_owned)
    }

    fn add(&mut self, folder: &Folder, place: &Place, taken: &mut TakenNames) {
        let Place { path, category, origin } = place;
        if let Some(about) = folder.about.as_ref().and_then(|kept| kept.value.as_ref().ok())
            && !about.is_empty()
        {
            self.about.entry(category.clone()).or_insert_with(|| about.clone());
        }
        if let Some(skill) = &folder.skill {
            // The category is the folder above the skill's own.
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
        read: &Result<FrontMatter, String>,
        path: &Path,
        category: &str,
        origin: Origin,
        taken: &mut TakenNames,
    ) {
        let refused = match read {
            Err(reason) => reason.clone(),
            Ok(front_matter) => match taken.take(&front_matter.name, origin, path) {
                Ok(()) => {
                    let (front_matter, category, dir) =
                        (front_matter.clone(), category.to_owned(), Some(path.to_owned()));
                    return self.skills.push(Skill { front_matter, category, origin, dir });
                }
                // A skill of the home may replace one of another origin.
                Err(NameOwner { origin: earlier, .. }) if earlier != origin => return,
                Err(NameOwner { path, .. }) => {
                    format!(
                        "the name `{}` is already used by {}; choose another name",
                        front_matter.name,
                        path.display()
                    )
                }
            },
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.broken.push(BrokenSkill { name, path: path.to_owned(), reason: refused });
    }

    fn add_bundled(&mut self, taken: &mut TakenNames) {
        for (category, about) in bundled::CATEGORIES {
            self.about.entry((*category).to_owned()).or_insert_with(|| (*about).to_owned());
        }
        for bundled in bundled::all() {
            if taken.take(&bundled.front_matter.name, Origin::Bundled, Path::new("")).is_ok() {
                self.skills.push(bundled);
            }
        }
    }
}

/// A folder during discovery, with the category it stands for.
struct Place {
    path: PathBuf,
    category: String,
    origin: Origin,
}

/// Names in use, with their owners.
#[derive(Default)]
struct TakenNames(HashMap<String, NameOwner>);

#[derive(Clone)]
struct NameOwner {
    origin: Origin,
    path: PathBuf,
}

impl TakenNames {
    fn take(&mut self, name: &str, origin: Origin, path: &Path) -> Result<(), NameOwner> {
        if let Some(earlier) = self.0.get(name) {
            return Err(earlier.clone());
        }
        self.0.insert(name.to_owned(), NameOwner { origin, path: path.to_owned() });
        Ok(())
    }
}

/// Returns the skills folder of a home.
pub fn skills_dir(home: &Path) -> PathBuf {
    home.join("skills")
}

/// Returns the form of a name that is typed after a slash.
pub fn slug(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(kept).collect()
}

/// Returns a folder name that is safe in a prompt.
fn plain(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
    name.chars().take(64).map(|c| if kept(c) { c } else { '_' }).collect()
}

/// Returns a list of names as a set.
pub(super) fn set(names: &[String]) -> HashSet<&str> {
    names.iter().map(String::as_str).collect()
}

#[cfg(test)]
#[path = "shelf_tests.rs"]
mod tests;
