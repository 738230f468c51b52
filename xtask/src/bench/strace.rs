//! Counts and times fsyncs with strace.

use crate::wrapped_command::wrapped;
use anyhow::{Context, Result, ensure};
use std::process::Command;
use std::time::Duration;

/// The fsyncs of a run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fsyncs {
    /// Without those of checkpoints.
    pub(super) count: usize,
    /// The number of checkpoints during the session.
    pub(super) checkpoints: usize,
    /// Those before the first request was written.
    pub(super) before_request: usize,
    pub(super) durations: Vec<Duration>,
}

/// A checkpoint syncs the log, the database, and the header of the new log.
const SYNCS_OF_A_CHECKPOINT: usize = 3;

/// Runs a command and traces it and its children.
pub(super) fn fsyncs(command: &Command) -> Result<Fsyncs> {
    let trace = tempfile::NamedTempFile::new()?;
    let mut watched = Command::new("strace");
    watched
        .args(["-f", "-y", "-T", "-s", "16", "-e", "trace=fsync,fdatasync,write,writev,sendto,sendmsg", "-o"])
        .arg(trace.path());
    let output = wrapped(watched, command).output().context("strace could not be started")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "hermes failed under strace: {errors}");
    let trace = std::fs::read(trace.path())?;
    Ok(read(&String::from_utf8_lossy(&trace)))
}

/// A call that another thread interrupts has two lines; the second says `resumed` and its time.
fn read(trace: &str) -> Fsyncs {
    let mut found = Fsyncs::default();
    let mut asked = false;
    let mut synced = 0;
    for line in trace.lines() {
        asked |= line.contains("\"POST /");
        if line.contains("fsync(") || line.contains("fdatasync(") {
            synced += 1;
            found.before_request += usize::from(!asked);
            found.checkpoints += usize::from(asked && line.contains("state.db>"));
        }
        if line.contains("fsync") || line.contains("fdatasync") {
            found.durations.extend(duration(line));
        }
    }
    found.count = synced - (found.checkpoints * SYNCS_OF_A_CHECKPOINT).min(synced);
    found
}

/// The `<0.000123>` at the end of a line.
fn duration(line: &str) -> Option<Duration> {
    let seconds = line.strip_suffix('>')?.rsplit_once('<')?.1;
    seconds.parse().ok().map(Duration::from_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_calls_count_once() {
        let trace = "\
10 fsync(5) = 0 <0.000100>
11 fdatasync(6 <unfinished ...>
10 write(9, \"x\", 1) = 1 <0.000001>
11 <... fdatasync resumed>) = 0 <0.000200>
10 sendto(9, \"POST /v1/chat/co\"..., 900, 0, NULL, 0) = 900 <0.000030>
10 fdatasync(5</h/state.db-wal>) = 0 <0.000300>
10 fdatasync(5</h/state.db-wal>) = 0 <0.000300>
10 fdatasync(4</h/state.db>) = 0 <0.000300>
10 fdatasync(5</h/state.db-wal>) = 0 <0.000300>
";
        let want = Fsyncs {
            count: 3,
            checkpoints: 1,
            before_request: 2,
            durations: [100, 200, 300, 300, 300, 300].map(Duration::from_micros).to_vec(),
        };
        assert_eq!(read(trace), want);
    }
}
