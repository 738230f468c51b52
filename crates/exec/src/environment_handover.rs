//! Keeps secrets of the environment out of reach of other processes.
//!
//! The initial environment of a process is readable in `/proc/PID/environ`, even after a variable was unset. A
//! process with secrets in its environment therefore restarts itself without them ([`restart`]) and passes them
//! in an in-memory file ([`receive`]). The process id does not change.

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The variable with the file descriptor, in the environment of the second start.
pub const HANDED_OVER: &str = "HERMES_ENVIRONMENT_FD";
const FILE: &str = "hermes-environment";

/// An environment variable.
pub type Variable = (OsString, OsString);

/// Makes memory and environment of this process unreadable for other processes of the user: no tracing, no core
/// dump.
pub fn close_to_others() {
    // Best effort: some systems do not support it.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Restarts this program in this process with the same arguments, `visible` as its environment and `hidden` in
/// the file. Returns only on failure.
pub fn restart(visible: impl IntoIterator<Item = Variable>, hidden: &[Variable]) -> std::io::Error {
    let file = match write(hidden) {
        Ok(file) => file,
        Err(error) => return error,
    };
    if !is_ours(file.as_raw_fd()) {
        return std::io::Error::other("/proc is not there");
    }
    let mut args = std::env::args_os();
    let mut command = Command::new(own_program());
    if let Some(name) = args.next() {
        command.arg0(name);
    }
    command.args(args).env_clear().envs(visible).env(HANDED_OVER, file.as_raw_fd().to_string());
    command.exec()
}

/// Returns the variables from the first start, if this is the second one. Must be called once, first, and
/// before other threads exist.
pub fn receive() -> Option<Vec<Variable>> {
    let number: i32 = std::env::var(HANDED_OVER).ok()?.parse().ok().filter(|number| *number > 2)?;
    if !is_ours(number) {
        return None;
    }
    // SAFETY: the descriptor is open, as its link shows, and was opened for nothing but this by the first
    // start; nothing else in this process knows of it.
    #[expect(unsafe_code, reason = "an inherited descriptor has no owner yet")]
    let owned = unsafe { OwnedFd::from_raw_fd(number) };
    let mut bytes = Vec::new();
    let mut file = File::from(owned);
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).ok()?;
    Some(parsed(&bytes))
}

/// Returns true if a descriptor is the handover file: the number in the environment alone proves nothing.
fn is_ours(number: i32) -> bool {
    let named = std::fs::read_link(format!("/proc/self/fd/{number}"));
    named.is_ok_and(|name| name.as_os_str().as_bytes().starts_with(format!("/memfd:{FILE}").as_bytes()))
}

/// The path of this program, so that the process keeps its name; `/proc/self/exe` if the file was replaced.
fn own_program() -> PathBuf {
    let path = std::env::current_exe().ok().filter(|path| path.is_file());
    path.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

/// Writes the file; the descriptor is deliberately inherited across exec.
fn write(variables: &[Variable]) -> std::io::Result<File> {
    let mut file = File::from(memfd_create(FILE, MemfdFlags::empty())?);
    file.write_all(&encoded(variables))?;
    Ok(file)
}

/// Joins with NUL, which occurs in neither names nor values.
fn encoded(variables: &[Variable]) -> Vec<u8> {
    let parts = variables.iter().flat_map(|(name, value)| [name.as_bytes(), b"\0", value.as_bytes(), b"\0"]);
    parts.collect::<Vec<_>>().concat()
}

fn parsed(bytes: &[u8]) -> Vec<Variable> {
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    parts.chunks_exact(2).map(|pair| (text(pair[0]), text(pair[1]))).collect()
}

/// Returns true for the variable of the handover.
pub fn is_handover(name: &OsStr) -> bool {
    name == HANDED_OVER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_survive_the_handover() {
        let odd = OsString::from_vec(vec![b'a', 0xff, b'\n']);
        let all: Vec<Variable> =
            vec![("A_KEY".into(), "x=y".into()), ("EMPTY".into(), "".into()), ("ODD".into(), odd)];
        assert_eq!(parsed(&encoded(&all)), all);
        assert_eq!(parsed(&encoded(&[])), []);
    }
}
