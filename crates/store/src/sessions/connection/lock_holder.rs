//! Finds the process that holds the lock of a database, in the kernel's list of locks.
//!
//! Neither the database nor its log is opened for it. On systems without such a list no holder is found.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The byte of `-shm` that SQLite locks for writing.
const WAL_WRITE: u64 = 120;
/// The bytes of the main file that SQLite locks for writing without `-shm`, or for exclusive access.
const MAIN: std::ops::RangeInclusive<u64> = 0x4000_0000..=0x4000_01ff;

/// Reads the kernel's list of locks; `None` on systems without one.
pub(crate) fn locks() -> Option<String> {
    std::fs::read_to_string("/proc/locks").ok()
}

/// Returns the holder of a queue's lock file.
pub(crate) fn of_queue(locks: &str, queue: &Path) -> Option<u32> {
    let file = FileId::of(queue)?;
    find(locks, file, |lock| lock.kind == "FLOCK")
}

/// Returns the process that writes to a database, or has it exclusively.
pub(crate) fn of_database(locks: &str, database: &Path) -> Option<u32> {
    let mut index = database.as_os_str().to_owned();
    index.push("-shm");
    let writes = |lock: &Lock<'_>| lock.kind != "FLOCK" && lock.is_exclusive;
    let writer = FileId::of(Path::new(&index))
        .and_then(|file| find(locks, file, |lock| writes(lock) && lock.covers(WAL_WRITE, WAL_WRITE)));
    writer.or_else(|| {
        let file = FileId::of(database)?;
        find(locks, file, |lock| writes(lock) && lock.covers(*MAIN.start(), *MAIN.end()))
    })
}

/// A file in the kernel's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    major: u32,
    minor: u32,
    inode: u64,
}

impl FileId {
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

/// Other systems have no such list.
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
    file: FileId,
    first: u64,
    /// The last byte; `u64::MAX` for the end of the file.
    last: u64,
}

impl Lock<'_> {
    fn covers(&self, first: u64, last: u64) -> bool {
        self.first <= last && first <= self.last
    }
}

/// Returns the holder of the first matching lock. Some file systems (btrfs) list another device than `stat`
/// returns, so without an exact match the inode decides.
fn find(locks: &str, file: FileId, matches: impl Fn(&Lock<'_>) -> bool) -> Option<u32> {
    let held: Vec<_> = locks
        .lines()
        .filter_map(parse)
        .filter(|lock| lock.file.inode == file.inode && matches(lock))
        .collect();
    let exact = held.iter().find(|lock| lock.file == file);
    exact.or_else(|| held.first()).map(|lock| lock.pid)
}

/// Parses `7: POSIX  ADVISORY  WRITE 4242 fe:00:123 120 120`. Waiting processes have an arrow after the
/// number and are skipped; a lock without a process has the id -1 or 0.
fn parse(line: &str) -> Option<Lock<'_>> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let kind = fields.next().filter(|kind| *kind != "->")?;
    let is_exclusive = fields.nth(1)? == "WRITE";
    let pid = fields.next()?.parse().ok().filter(|pid| *pid != 0)?;
    let mut file = fields.next()?.splitn(3, ':');
    let major = u32::from_str_radix(file.next()?, 16).ok()?;
    let minor = u32::from_str_radix(file.next()?, 16).ok()?;
    let inode = file.next()?.parse().ok()?;
    let first = fields.next()?.parse().ok()?;
    let last = match fields.next()? {
        "EOF" => u64::MAX,
        last => last.parse().ok()?,
    };
    Some(Lock { kind, is_exclusive, pid, file: FileId { major, minor, inode }, first, last })
}

#[cfg(test)]
#[path = "lock_holder_tests.rs"]
mod tests;
