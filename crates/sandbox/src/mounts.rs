//! The mounts that show a view, as a list of steps.
//!
//! The list is made in this process and carried out in a new one, which only calls the kernel.

use crate::sys;
use crate::system_paths::DEVICES;
use crate::view::{Level, Place, View};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The empty file that lies over hidden files.
const EMPTY: &str = "/dev/.hidden";

/// One step. The numbers are those of copies.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Makes all mounts independent of those outside, and read-only.
    Seal,
    MakeDirectory(CString),
    MakeFile(CString),
    Link {
        target: CString,
        path: CString,
    },
    /// Attaches a copy.
    Attach {
        copy: usize,
        path: CString,
        read_only: bool,
    },
    /// An empty directory without entries for listing.
    Empty {
        path: CString,
        options: CString,
    },
    Terminals(CString),
    MakeReadOnly(CString),
}

/// The steps for a view, with the paths that are copied before the first one.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) copied: Vec<CString>,
    pub(crate) steps: Vec<Step>,
}

/// The number of copies that fit into a plan, which is carried out without allocation.
pub(crate) const MOST_COPIES: usize = 512;

impl Plan {
    pub(crate) fn new(view: &View) -> Result<Self> {
        let mut plan = Self::default();
        plan.steps.push(Step::Seal);
        let mut emptied = Vec::new();
        let mut made = BTreeSet::new();
        // The empty file must exist before the first hidden file.
        let first = view.entries.get_key_value(Path::new("/dev"));
        let others =
            view.entries.iter().filter(|(path, _)| *path != Path::new("/dev") && *path != Path::new("/"));
        for (path, entry) in first.into_iter().chain(others) {
            let above = view.above(path).map(|(above, entry)| (above, entry.clone()));
            let is_replaced = above.as_ref().is_some_and(|(_, above)| above.replaces_content());
            if is_replaced && entry.level != Level::Hidden {
                plan.make_way(
                    above.as_ref().map_or(Path::new("/"), |(above, _)| above),
                    path,
                    entry,
                    &mut made,
                )?;
            }
            match (&entry.place, entry.level) {
                (Place::Emptied, _) => {
                    plan.empty(path, "mode=0755")?;
                    emptied.push(path);
                    if path == Path::new("/dev") {
                        plan.devices()?;
                    }
                }
                (Place::From(from), _) => plan.attach(from, path, false)?,
                (_, Level::Hidden) if is_replaced => {}
                (_, Level::Hidden) if path.is_dir() => {
                    plan.empty(path, "mode=0111")?;
                    emptied.push(path);
                }
                (_, Level::Hidden) => plan.attach_empty_file(path)?,
                (_, Level::Write) => plan.attach(path, path, false)?,
                (_, Level::Read | Level::Device) => {
                    let is_writable = above.is_some_and(|(_, above)| above.level == Level::Write);
                    if is_replaced || is_writable {
                        plan.attach(path, path, true)?;
                    }
                }
            }
        }
        for path in emptied {
            plan.steps.push(Step::MakeReadOnly(text(path)?));
        }
        if plan.copied.len() > MOST_COPIES {
            return Err(Error::new(ErrorKind::ArgumentListTooLong, "too many paths"));
        }
        Ok(plan)
    }

    fn empty(&mut self, path: &Path, options: &str) -> Result<()> {
        let options = CString::new(format!("{options},size=1m"))?;
        self.steps.push(Step::Empty { path: text(path)?, options });
        Ok(())
    }

    fn attach(&mut self, from: &Path, path: &Path, read_only: bool) -> Result<()> {
        let copy = self.copied.len();
        self.copied.push(text(from)?);
        self.steps.push(Step::Attach { copy, path: text(path)?, read_only });
        Ok(())
    }

    /// The empty file is made by the steps themselves, so it is copied in between.
    fn attach_empty_file(&mut self, path: &Path) -> Result<()> {
        self.steps.push(Step::Attach { copy: usize::MAX, path: text(path)?, read_only: true });
        Ok(())
    }

    /// Fills the empty `/dev`.
    fn devices(&mut self) -> Result<()> {
        self.steps.push(Step::MakeFile(text(Path::new(EMPTY))?));
        for device in DEVICES.iter().map(Path::new).filter(|device| device.exists()) {
            self.steps.push(Step::MakeFile(text(device)?));
            self.attach(device, device, false)?;
        }
        self.steps.push(Step::MakeDirectory(c"/dev/pts".to_owned()));
        self.steps.push(Step::Terminals(c"/dev/pts".to_owned()));
        for (target, path) in [
            (c"/proc/self/fd", c"/dev/fd"),
            (c"/proc/self/fd/0", c"/dev/stdin"),
            (c"/proc/self/fd/1", c"/dev/stdout"),
            (c"/proc/self/fd/2", c"/dev/stderr"),
            (c"pts/ptmx", c"/dev/ptmx"),
        ] {
            self.steps.push(Step::Link { target: target.to_owned(), path: path.to_owned() });
        }
        Ok(())
    }

    /// Creates the directories from a replaced one down to a path.
    fn make_way(
        &mut self,
        above: &Path,
        path: &Path,
        entry: &crate::view::Entry,
        made: &mut BTreeSet<PathBuf>,
    ) -> Result<()> {
        let parents: Vec<&Path> = path.ancestors().skip(1).take_while(|parent| *parent != above).collect();
        for parent in parents.into_iter().rev() {
            if made.insert(parent.to_owned()) {
                self.steps.push(Step::MakeDirectory(text(parent)?));
            }
        }
        let source = if let Place::From(from) = &entry.place { from } else { path };
        self.steps.push(if source.is_dir() {
            Step::MakeDirectory(text(path)?)
        } else {
            Step::MakeFile(text(path)?)
        });
        Ok(())
    }
}

fn text(path: &Path) -> Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Copies of mounts, without allocation.
pub(crate) struct Copies([Option<OwnedFd>; MOST_COPIES]);

impl Copies {
    pub(crate) const fn new() -> Self {
        Self([const { None }; MOST_COPIES])
    }
}

/// Carries out a plan in a mount namespace of its own. On failure returns the step. Makes system calls only.
pub(crate) fn carry_out(plan: &Plan, copies: &mut Copies) -> std::result::Result<(), (usize, Error)> {
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let begun = sys::mount(c"none", c"/", c"", private, c"");
    begun.map_err(|error| (0, error))?;
    for (copy, path) in copies.0.iter_mut().zip(&plan.copied) {
        // A path that has just disappeared needs no mount.
        *copy = sys::open_tree_clone(path).ok();
    }
    for (number, step) in plan.steps.iter().enumerate() {
        take(step, copies).map_err(|error| (number, error))?;
    }
    Ok(())
}

fn take(step: &Step, copies: &Copies) -> Result<()> {
    match step {
        Step::Seal => sys::make_read_only(None, c"/", true),
        Step::MakeDirectory(path) => unless_there(sys::mkdir(path, 0o755)),
        Step::MakeFile(path) => unless_there(sys::create_file(path, 0o444)),
        Step::Link { target, path } => unless_there(sys::symlink(target, path)),
        Step::Empty { path, options } => {
            let flags = libc::MS_NOSUID | libc::MS_NODEV;
            unless_gone(sys::mount(c"tmpfs", path, c"tmpfs", flags, options))
        }
        Step::Terminals(path) => {
            let options = c"newinstance,ptmxmode=0666,mode=0620";
            sys::mount(c"devpts", path, c"devpts", libc::MS_NOSUID | libc::MS_NOEXEC, options)
        }
        Step::MakeReadOnly(path) => unless_gone(sys::make_read_only(None, path, false)),
        Step::Attach { copy: usize::MAX, path, .. } => {
            let empty = sys::open_tree_clone(c"/dev/.hidden")?;
            sys::make_read_only(Some(empty.as_fd()), c"", false)?;
            unless_gone(sys::move_mount(empty.as_fd(), path))
        }
        Step::Attach { copy, path, read_only } => {
            let Some(copy) = copies.0.get(*copy).and_then(Option::as_ref) else { return Ok(()) };
            if *read_only {
                sys::make_read_only(Some(copy.as_fd()), c"", true)?;
            }
            unless_gone(sys::move_mount(copy.as_fd(), path))
        }
    }
}

fn unless_there(made: Result<()>) -> Result<()> {
    made.or_else(|error| if error.raw_os_error() == Some(libc::EEXIST) { Ok(()) } else { Err(error) })
}

/// A path that has just disappeared needs no mount.
fn unless_gone(mounted: Result<()>) -> Result<()> {
    mounted.or_else(|error| if error.raw_os_error() == Some(libc::ENOENT) { Ok(()) } else { Err(error) })
}
