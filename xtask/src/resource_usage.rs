//! CPU and memory usage from the C interface of the system.

use anyhow::{Result, ensure};
use std::io;
use std::time::Duration;

/// The usage of finished children, including processes that they waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildrenUsage {
    pub(crate) cpu: Duration,
    /// In bytes; the largest single process.
    pub(crate) peak_rss: u64,
}

/// The total usage of all finished children of this process.
#[expect(unsafe_code, reason = "neither std nor rustix offers getrusage")]
pub(crate) fn children_usage() -> Result<ChildrenUsage> {
    // SAFETY: `rusage` consists of numbers, for which all zeroes is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live `rusage`, which the call only writes.
    let done = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    ensure!(done == 0, "getrusage failed: {}", io::Error::last_os_error());
    Ok(ChildrenUsage {
        cpu: since(usage.ru_utime) + since(usage.ru_stime),
        peak_rss: usage.ru_maxrss.unsigned_abs() * 1024,
    })
}

/// The CPU time of a running process so far, including ended threads, without children.
#[expect(unsafe_code, reason = "neither std nor rustix reads another process's CPU clock")]
pub(crate) fn process_cpu(process: u32) -> Result<Duration> {
    let process = libc::pid_t::try_from(process)?;
    let mut clock: libc::clockid_t = 0;
    // SAFETY: the pointer is to a live clock id, which the call only writes.
    let found = unsafe { libc::clock_getcpuclockid(process, &raw mut clock) };
    ensure!(found == 0, "process {process} has no CPU clock: {}", io::Error::from_raw_os_error(found));
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live `timespec`, which the call only writes.
    let read = unsafe { libc::clock_gettime(clock, &raw mut time) };
    ensure!(read == 0, "reading a CPU clock failed: {}", io::Error::last_os_error());
    Ok(Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_nanos(time.tv_nsec.unsigned_abs()))
}

fn since(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_usage_includes_a_finished_child() {
        let status = std::process::Command::new("true").status().unwrap();
        assert!(status.success());
        let usage = children_usage().unwrap();
        assert!(usage.cpu > Duration::ZERO && usage.peak_rss > 0, "{usage:?}");
        assert!(process_cpu(std::process::id()).unwrap() > Duration::ZERO);
    }
}
