//! Follows the system calls of a program and of all that it starts.

use crate::trace_calls::{Call, Paths, call};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::io::{Error, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;
const ENTRY: u8 = 1;
const EXIT: u8 = 2;
/// The longest path.
const LONGEST: usize = 4096;

/// A system call that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) call: &'static Call,
    pub(crate) error: i32,
    /// The paths, or the address as text.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) arguments: [u64; 6],
}

impl Failed {
    /// Returns true if the call was certainly a change: by its nature, or because a file was opened for writing.
    pub(crate) fn is_change(&self) -> bool {
        let flags = match self.call.number {
            libc::SYS_openat => self.arguments[2],
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => self.arguments[1],
            _ => 0,
        };
        let changes = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
        self.call.is_change || flags & u64::from(changes.unsigned_abs()) != 0
    }
}

/// Asks to be traced by the parent. Makes one system call.
pub(crate) fn trace_me() -> Result<()> {
    request(libc::PTRACE_TRACEME, 0, 0, 0).map(drop)
}

/// Follows the program until it exits, and returns its wait status. Must run in the thread that started it.
pub(crate) fn follow(program: Pid, on_failure: &mut dyn FnMut(Failed)) -> Result<i32> {
    let program = program.as_raw_nonzero().get();
    let mut entries: BTreeMap<i32, Option<(u64, [u64; 6])>> = BTreeMap::new();
    loop {
        let (process, status) = next()?;
        if !libc::WIFSTOPPED(status) {
            entries.remove(&process);
            if process == program {
                return Ok(status);
            }
            continue;
        }
        let is_new = !entries.contains_key(&process);
        let entry = entries.entry(process).or_default();
        let signal = libc::WSTOPSIG(status);
        let mut deliver = 0;
        if process == program && is_new {
            request(libc::PTRACE_SETOPTIONS, process, 0, OPTIONS.unsigned_abs().into())?;
        } else if signal == libc::SIGTRAP | 0x80 {
            if let Some(failed) = stopped_in_call(process, entry) {
                on_failure(failed);
            }
        } else if status >> 16 == 0 && !(is_new && signal == libc::SIGSTOP) {
            deliver = u64::from(signal.unsigned_abs());
        }
        // A process that has just been killed cannot go on, and its end comes next.
        let _ = request(libc::PTRACE_SYSCALL, process, 0, deliver);
    }
}

/// The next stop or end of a traced process. Children of other threads are not touched.
fn next() -> Result<(i32, i32)> {
    let mut status = 0;
    loop {
        // SAFETY: the call fills the local value.
        #[expect(unsafe_code, reason = "no safe interface waits for traced processes of this thread only")]
        let process = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if process > 0 {
            return Ok((process, status));
        }
        let error = Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

fn stopped_in_call(process: i32, entry: &mut Option<(u64, [u64; 6])>) -> Option<Failed> {
    let mut info = MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
    let size = size_of::<libc::ptrace_syscall_info>() as u64;
    let kind = i64::from(libc::PTRACE_GET_SYSCALL_INFO);
    request(u32::try_from(kind).unwrap_or(0), process, size, info.as_mut_ptr() as u64).ok()?;
    // SAFETY: the value was zeroed, and the kernel filled it according to its first field.
    #[expect(unsafe_code, reason = "the fields are in a union")]
    let (op, number, arguments, result) = unsafe {
        let info = info.assume_init();
        (info.op, info.u.entry.nr, info.u.entry.args, info.u.exit.sval)
    };
    match op {
        ENTRY => {
            *entry = Some((number, arguments));
            None
        }
        EXIT => {
            let (number, arguments) = entry.take()?;
            let error = i32::try_from(result.checked_neg()?).ok()?;
            let call =
                matches!(error, libc::EACCES | libc::EPERM | libc::EROFS | libc::ENOSYS | libc::ENOENT)
                    .then(|| call(number))??;
            let first = read_path(process, call.paths, &arguments);
            let second = read_path(process, call.second, &arguments);
            Some(Failed { call, error, paths: first.into_iter().chain(second).collect(), arguments })
        }
        _ => None,
    }
}

fn read_path(process: i32, paths: Paths, arguments: &[u64; 6]) -> Option<PathBuf> {
    let (directory, path) = match paths {
        Paths::None => return None,
        Paths::Address(at) => return address(process, arguments[at], arguments[at + 1]),
        Paths::At(at) => (None, at),
        Paths::In(directory, at) => (Some(arguments[directory]), at),
    };
    let text = read_text(process, arguments[path])?;
    let path = PathBuf::from(text);
    if let Ok(rest) = path.strip_prefix("/proc/self") {
        return Some(Path::new("/proc").join(process.to_string()).join(rest));
    }
    if path.is_absolute() {
        return Some(path);
    }
    // Descriptors are `int`; the upper half of the register is arbitrary.
    let directory = directory.map(|number| number as u32 as i32);
    let link = match directory.filter(|number| *number != libc::AT_FDCWD) {
        Some(number) => format!("/proc/{process}/fd/{number}"),
        None => format!("/proc/{process}/cwd"),
    };
    Some(std::fs::read_link(link).ok()?.join(path))
}

/// The address of a socket: a path, or host and port.
fn address(process: i32, at: u64, length: u64) -> Option<PathBuf> {
    let length = usize::try_from(length).ok().filter(|length| (2..=128).contains(length))?;
    let bytes = read(process, at, length);
    let family = u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]);
    let port = |bytes: &[u8]| Some(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    match i32::from(family) {
        libc::AF_UNIX => {
            let name = bytes.get(2..)?;
            match name.first()? {
                0 => Some(PathBuf::from(format!("@{}", String::from_utf8_lossy(&name[1..])))),
                _ => Some(PathBuf::from(text_of(name))),
            }
        }
        libc::AF_INET => {
            let host: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some(PathBuf::from(format!("{}:{}", std::net::Ipv4Addr::from(host), port(&bytes)?)))
        }
        libc::AF_INET6 => {
            let host: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some(PathBuf::from(format!("[{}]:{}", std::net::Ipv6Addr::from(host), port(&bytes)?)))
        }
        _ => None,
    }
}

fn read_text(process: i32, at: u64) -> Option<String> {
    if at == 0 {
        return None;
    }
    // Not across a page that may be missing.
    let to_page_end = 4096 - usize::try_from(at % 4096).ok()?;
    let mut bytes = read(process, at, to_page_end.min(LONGEST));
    if !bytes.contains(&0) && bytes.len() == to_page_end {
        bytes.extend(read(process, at + to_page_end as u64, LONGEST - to_page_end.min(LONGEST)));
    }
    Some(text_of(&bytes))
}

fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Reads memory of a traced process, as much as there is.
fn read(process: i32, at: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let count = {
        let mut local = [IoSliceMut::new(&mut bytes)];
        let remote = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: length };
        // SAFETY: the kernel writes into the local slice only, and the remote address is not ours.
        #[expect(unsafe_code, reason = "memory of another process has no safe interface")]
        unsafe {
            libc::process_vm_readv(process, local.as_mut_ptr().cast(), 1, &raw const remote, 1, 0)
        }
    };
    bytes.truncate(usize::try_from(count).unwrap_or(0));
    bytes
}

fn request(kind: u32, process: i32, address: u64, data: u64) -> Result<i64> {
    // SAFETY: the address and data belong to the request: numbers, or a value that the caller owns.
    #[expect(unsafe_code, reason = "ptrace has no safe interface")]
    let returned = unsafe { libc::ptrace(kind, process, address, data) };
    if returned < 0 { Err(Error::last_os_error()) } else { Ok(returned) }
}
