//! Landlock rules for a view.
//!
//! Rights are inherited by everything below a path and cannot be taken away there. A readable directory with hidden
//! parts is therefore listed here, and each other entry gets a rule of its own; entries that appear later have none.

use crate::sys::{self, RulesetAttributes};
use crate::view::{Level, Place, View};
use rustix::fs::{Mode, OFlags, open};
use std::collections::BTreeSet;
use std::io::Result;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_SYM: u64 = 1 << 12;
/// All rights of the first version.
const FIRST: u64 = (1 << 13) - 1;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEVICE: u64 = 1 << 15;
const RESOLVE_UNIX: u64 = 1 << 16;

const TCP: u64 = 0b11;
const SCOPE_ABSTRACT_AND_SIGNALS: u64 = 0b11;

/// The versions of Landlock that brought a part.
pub(crate) const ABI_TRUNCATE: u32 = 3;
pub(crate) const ABI_TCP: u32 = 4;
pub(crate) const ABI_DEVICES: u32 = 5;
pub(crate) const ABI_SCOPES: u32 = 6;
pub(crate) const ABI_UNIX_SOCKETS: u32 = 9;

/// The rights that apply to files; a rule for a file must have no others.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE | RESOLVE_UNIX;

/// A set of rules, and the directories whose entries were listed for it.
pub(crate) struct Rules {
    pub(crate) ruleset: OwnedFd,
    pub(crate) listed: BTreeSet<PathBuf>,
    pub(crate) count: usize,
}

/// The circumstances of a rule set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) abi: u32,
    /// TCP is refused.
    pub(crate) no_tcp: bool,
    /// The directory that the command will see as `/`.
    pub(crate) root: &'a Path,
    /// Mounts hide what the view hides.
    pub(crate) has_mounts: bool,
}

/// Makes the rules of a view.
pub(crate) fn rules(view: &View, setting: Setting<'_>) -> Result<Rules> {
    let handled = handled(setting.abi);
    let attributes = RulesetAttributes {
        handled_access_fs: handled,
        handled_access_net: if setting.no_tcp && setting.abi >= ABI_TCP { TCP } else { 0 },
        scoped: if setting.abi >= ABI_SCOPES { SCOPE_ABSTRACT_AND_SIGNALS } else { 0 },
    };
    let size = match setting.abi {
        ..ABI_TCP => 8,
        ABI_TCP..ABI_SCOPES => 16,
        _ => 24,
    };
    let ruleset = sys::landlock_create_ruleset(&attributes, size)?;
    let mut builder =
        Builder { view, setting, handled, rules: Rules { ruleset, listed: BTreeSet::new(), count: 0 } };
    builder.add(Path::new("/"), Level::Hidden);
    Ok(builder.rules)
}

fn handled(abi: u32) -> u64 {
    let mut all = FIRST;
    for (since, right) in
        [(2, REFER), (ABI_TRUNCATE, TRUNCATE), (ABI_DEVICES, IOCTL_DEVICE), (ABI_UNIX_SOCKETS, RESOLVE_UNIX)]
    {
        if abi >= since {
            all |= right;
        }
    }
    all
}

fn rights(level: Level) -> u64 {
    let read = EXECUTE | READ_FILE | READ_DIR;
    match level {
        Level::Hidden => 0,
        Level::Read => read,
        Level::Device => read | WRITE_FILE | TRUNCATE | IOCTL_DEVICE,
        Level::Write => {
            let make = MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM;
            read | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | make | REFER | TRUNCATE | RESOLVE_UNIX
        }
    }
}

struct Builder<'a> {
    view: &'a View,
    setting: Setting<'a>,
    handled: u64,
    rules: Rules,
}

impl Builder<'_> {
    /// Adds the rules for a path and all below. `inherited` is the level that rules above it give.
    fn add(&mut self, path: &Path, inherited: Level) {
        let level = self.view.level(path);
        let lowest = self.view.below(path).filter(|(_, entry)| self.must_hold(level, &entry.place));
        let lowest = lowest.map(|(_, entry)| entry.level).min().unwrap_or(level);
        if lowest >= level {
            if level > inherited {
                self.rule(path, rights(level));
            }
            let inherited = inherited.max(level);
            let deeper: Vec<PathBuf> = self.tops_below(path);
            for path in deeper {
                self.add(&path, inherited);
            }
            return;
        }
        if level == Level::Hidden {
            for path in self.tops_below(path) {
                self.add(&path, inherited);
            }
            return;
        }
        self.add_entries(path, inherited);
    }

    /// Returns true if a lower level below a path must be held by these rules. Mounts hold those in writable trees,
    /// where a rule for each entry would forbid new ones.
    fn must_hold(&self, level: Level, place: &Place) -> bool {
        *place != Place::Part && !(self.setting.has_mounts && level == Level::Write)
    }

    /// Adds a rule for each entry of a directory.
    fn add_entries(&mut self, path: &Path, inherited: Level) {
        self.rules.listed.insert(path.to_owned());
        if self.setting.has_mounts {
            // Names are no secret here: hidden directories are empty.
            self.rule(path, READ_DIR);
        }
        let entries = std::fs::read_dir(self.inside(path)).into_iter().flatten().flatten();
        for entry in entries {
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.add(&path.join(entry.file_name()), inherited);
            }
        }
    }

    /// The listed paths below a path that have no listed path in between.
    fn tops_below(&self, path: &Path) -> Vec<PathBuf> {
        let is_top = |below: &Path| {
            self.view.above(below).is_none_or(|(above, _)| !above.starts_with(path) || above == path)
        };
        self.view
            .below(path)
            .map(|(below, _)| below)
            .filter(|below| is_top(below))
            .map(Path::to_owned)
            .collect()
    }

    /// Adds a rule; a path that is missing or unreachable gets none, which refuses access.
    fn rule(&mut self, path: &Path, rights: u64) {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(opened) = open(self.inside(path), flags, Mode::empty()) else { return };
        let is_directory = rustix::fs::fstat(&opened)
            .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir());
        let rights = rights & self.handled & if is_directory { u64::MAX } else { OF_FILES };
        if sys::landlock_add_path(self.rules.ruleset.as_fd(), opened.as_fd(), rights).is_ok() {
            self.rules.count += 1;
        }
    }

    fn inside(&self, path: &Path) -> PathBuf {
        self.setting.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}
