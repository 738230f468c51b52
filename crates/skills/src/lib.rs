//! Skills: instructions for a kind of task, each in a folder with a `SKILL.md`.
//!
//! [`SkillShelf`] lists all skills: those of the home, of other folders, and those that come with
//! Hermes. [`SkillShelf::index`] renders them for the system prompt. `change` edits skills of the home;
//! `install` adds skills from other sources through a quarantine and a scan.

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
mod shelf;
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
pub use shelf::{BrokenSkill, Origin, Skill, SkillShelf, skills_dir, slug};
pub use source::SkillSource;
pub use unpack::unpack;
pub use verdict::{Concern, Judged, Trust, Verdict};

use shelf::set;
