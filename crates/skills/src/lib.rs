//! Skills: instructions for a kind of task, each in a folder with a `SKILL.md`.
//!
//! [`SkillShelf`] lists all skills: those of the home, of other folders, and those that come with
//! Hermes. [`SkillShelf::index`] renders them for the system prompt. `change` edits skills of the home;
//! `install` adds skills from other sources through a quarantine and a scan.

mod audit_log;
mod bundle;
mod bundled;
mod cache;
mod change;
mod discovery;
mod error;
mod files;
mod front_matter;
mod index;
mod install;
mod invocation;
mod lock_file;
mod package;
mod safety_scan;
mod shelf;
mod source;
mod staging;
mod unpack;

pub use bundle::{Bundle, bundles};
pub use change::{Changed, SkillEdit};
pub use error::SkillError;
pub use files::{LinkedFiles, SkillText};
pub use front_matter::{
    ConfigValue, FrontMatter, MAX_DESCRIPTION, MAX_NAME, MAX_SKILL_CHARS, body as skill_body,
};
pub use index::{DEFAULT_INDEX_BYTES, IndexQuery, SkillIndex};
pub use install::{InstallInput, InstallOptions, Installed, Quarantine};
pub use invocation::{Invocation, invocation, preloaded};
pub use lock_file::{InstallCheck, InstallState, InstalledSkill, LockFile};
pub use package::{MAX_PACKED, PackageError, PackedFile, SkillPackage};
pub use safety_scan::{ScanFinding, ScanReport, Trust, Verdict};
pub use shelf::{BrokenSkill, Origin, Skill, SkillShelf, skills_dir, slug};
pub use source::SkillSource;
pub use unpack::unpack;

use shelf::set;
