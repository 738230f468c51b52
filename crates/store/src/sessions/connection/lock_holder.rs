//! Finds out which process keeps a database locked, from the kernel's own list of locks.
//!
//! Only looks: neither the database nor its neighbours are opened for it. Where there is no such
//! list, nobody is named.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The byte of `-shm` that SQLite locks to write.
const WAL_WRITE: u64 = 120;
/// The bytes of the main file that SQLite locks to write where there is no `-shm`, or to have the
/// file alone.
const MAIN: std::ops::RangeInclusive<u64> = 0x4000_0000..=0x4000_01ff;

/// The kernel's list of locks; `None` where it has none.
pub(crate) fn locks() -> Option<String> {
    std::fs::read_to_string("/proc/locks").ok()
}

/// Whoever has the lock file of a queue.
pub(crate) fn of_queue(locks: &str, queue: &Path) -> Option<u32> {
    let file = Id::of(queue)?;
    find(locks, file, |lock| lock.kind == "FLOCK")
}

/// Whoever writes to a database, or has it alone.
pub(crate) fn of_database(locks: &str, database: &Path) -> Option<u32> {
    let mut index = database.as_os_str().to_owned();
    index.push("-shm");
    let writes = |lock: &Lock<'_>| lock.kind != "FLOCK" && lock.is_exclusive;
    let writer = Id::of(Path::new(&index))
        .and_then(|file| find(locks, file, |lock| writes(lock) && lock.covers(WAL_WRITE, WAL_WRITE)));
    writer.or_else(|| {
        let file = Id::of(database)?;
        find(locks, file, |lock| writes(lock) && lock.covers(*MAIN.start(), *MAIN.end()))
    })
}

/// A file as the kernel lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Id {
    major: u32,
    minor: u32,
    inode: u64,
}

impl Id {
    fn of(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        let (major, minor) = numbers(file.dev());
        Some(Self { major, minor, inode: file.ino() })
    }
}

#[cfg(target_os = "linux")]
fn numbers(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// Elsewhere there is no list to look in.
#[cfg(not(target_os = "linux"))]
fn numbers(_device: u64) -> (u32, u32) {
    (0, 0)
}

/// One line of the list.
#[derive(Debug, PartialEq, Eq)]
struct Lock<'a> {
    kind: &'a str,
    is_exclusive: bool,
    pid: u32,
    file: Id,
    first: u64,
    /// The last byte, the end of the file being as far as it gets.
    last: u64,
}

impl Lock<'_> {
    fn covers(&self, first: u64, last: u64) -> bool {
        self.first <= last && first <= self.last
    }
}

/// The holder of the first such lock. Some filesystems (btrfs) show another device here than they
/// tell about the file, so a file with the same number must do where no device fits.
fn find(locks: &str, file: Id, is_it: impl Fn(&Lock<'_>) -> bool) -> Option<u32> {
    let held: Vec<_> =
        locks.lines().filter_map(parse).filter(|lock| lock.file.inode == file.inode && is_it(lock)).collect();
    let exact = held.iter().find(|lock| lock.file == file);
    exact.or_else(|| held.first()).map(|lock| lock.pid)
}

/// Reads `7: POSIX  ADVISORY  WRITE 4242 fe:00:123 120 120`. Those who only wait have an arrow
/// after the number and are nobody's holder; a lock without a process has the id -1 or 0.
fn parse(line: &str) -> Option<Lock<'_>> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let kind = words.next().filter(|kind| *kind != "->")?;
    let is_exclusive = words.nth(1)? == "WRITE";
    let pid = words.next()?.parse().ok().filter(|pid| *pid != 0)?;
    let mut file = words.next()?.splitn(3, ':');
    let major = u32::from_str_radix(file.next()?, 16).ok()?;
    let minor = u32::from_str_radix(file.next()?, 16).ok()?;
    let inode = file.next()?.parse().ok()?;
    let first = words.next()?.parse().ok()?;
    let last = match words.next()? {
        "EOF" => u64::MAX,
        last => last.parse().ok()?,
    };
    Some(Lock { kind, is_exclusive, pid, file: Id { major, minor, inode }, first, last })
}

#[cfg(test)]
#[path = "lock_holder_tests.rs"]
mod tests;
