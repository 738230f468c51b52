//! Namespaces that are built once and entered by each command.
//!
//! A short-lived process creates them and carries out the mounts. Afterwards descriptors keep them alive, so that a
//! command needs a few system calls to enter them instead of a hundred mounts of its own.

use crate::error::SandboxError;
use crate::mounts::{Copies, Plan, carry_out};
use crate::sys;
use std::ffi::c_int;
use std::fs::File;
use std::io::{Error, ErrorKind, PipeReader, PipeWriter, Read, Result, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

/// The port of the proxy in a network namespace, where it is always free.
pub(crate) const PROXY_PORT: u16 = 3128;

/// The network of the namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkNamespace {
    /// That of this process.
    Shared,
    /// Loopback only.
    Loopback,
    /// Loopback with a listening socket, which is returned.
    WithProxy,
}

/// Open namespaces.
#[derive(Debug)]
pub(crate) struct Namespaces {
    user: OwnedFd,
    mount: OwnedFd,
    ipc: OwnedFd,
    network: Option<OwnedFd>,
}

impl Namespaces {
    /// Enters them. The working directory becomes `/`. Makes system calls only.
    pub(crate) fn enter(&self) -> Result<()> {
        // The first one gives the capabilities that the others need.
        sys::setns(self.user.as_fd(), libc::CLONE_NEWUSER)?;
        sys::setns(self.ipc.as_fd(), libc::CLONE_NEWIPC)?;
        if let Some(network) = &self.network {
            sys::setns(network.as_fd(), libc::CLONE_NEWNET)?;
        }
        sys::setns(self.mount.as_fd(), libc::CLONE_NEWNS)
    }
}

/// Built namespaces, with the value that was made while their first process lived.
pub(crate) struct Built<T> {
    pub(crate) namespaces: Namespaces,
    pub(crate) listener: Option<OwnedFd>,
    pub(crate) value: T,
}

/// The report of the process: failed step and error, or no error and a descriptor.
const REPORT: usize = 12;

/// Creates namespaces and carries out `plan`. `look` gets the directory that is `/` inside.
pub(crate) fn build<T>(
    plan: &Plan,
    network: NetworkNamespace,
    look: impl FnOnce(&Path) -> Result<T>,
) -> std::result::Result<Built<T>, SandboxError> {
    let io = || SandboxError::io("create namespaces");
    let (from_child, to_parent) = std::io::pipe().map_err(io())?;
    let (from_parent, to_child) = std::io::pipe().map_err(io())?;
    let mut kinds = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
    if network != NetworkNamespace::Shared {
        kinds |= libc::CLONE_NEWNET;
    }
    let mut copies = Copies::new();
    let process = sys::fork_into(kinds).map_err(io())?;
    if process == 0 {
        drop(from_child);
        drop(to_child);
        let code = first_process(plan, network, &mut copies, from_parent, to_parent);
        sys::exit_now(code);
    }
    drop(from_parent);
    drop(to_parent);
    let child = Child { process, from: from_child, to: Some(to_child) };
    child.finish(network, look)
}

/// The life of the process that builds. Makes system calls only.
fn first_process(
    plan: &Plan,
    network: NetworkNamespace,
    copies: &mut Copies,
    mut from_parent: PipeReader,
    mut to_parent: PipeWriter,
) -> c_int {
    let mut byte = [0];
    let is_ready = sys::open_to_owner().is_ok()
        && to_parent.write_all(&byte).is_ok()
        && from_parent.read_exact(&mut byte).is_ok();
    if !is_ready {
        return 1;
    }
    let done = work(plan, network, copies);
    let (step, error, socket) = match &done {
        Ok(socket) => (0, 0, socket.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
        Err((step, error)) => (*step, error.raw_os_error().unwrap_or(libc::EINVAL), -1),
    };
    let mut report = [0; REPORT];
    report[..4].copy_from_slice(&u32::try_from(step).unwrap_or(u32::MAX).to_ne_bytes());
    report[4..8].copy_from_slice(&error.to_ne_bytes());
    report[8..].copy_from_slice(&socket.to_ne_bytes());
    if to_parent.write_all(&report).is_err() {
        return 1;
    }
    // The parent opens the namespaces, then closes its end.
    let _ = from_parent.read(&mut byte);
    0
}

/// Makes the network and the mounts. Makes system calls only.
fn work(
    plan: &Plan,
    network: NetworkNamespace,
    copies: &mut Copies,
) -> std::result::Result<Option<OwnedFd>, (usize, Error)> {
    let in_network = |error| (0, error);
    let mut socket = None;
    if network != NetworkNamespace::Shared {
        sys::start_loopback().map_err(in_network)?;
    }
    if network == NetworkNamespace::WithProxy {
        socket = Some(sys::listen_on_loopback(PROXY_PORT).map_err(in_network)?);
    }
    carry_out(plan, copies)?;
    Ok(socket)
}

/// The process that builds, seen from outside. It ends when the value is dropped.
struct Child {
    process: c_int,
    from: PipeReader,
    to: Option<PipeWriter>,
}

impl Child {
    fn finish<T>(
        mut self,
        network: NetworkNamespace,
        look: impl FnOnce(&Path) -> Result<T>,
    ) -> std::result::Result<Built<T>, SandboxError> {
        self.from.read_exact(&mut [0]).map_err(SandboxError::io("create namespaces"))?;
        map_users(self.process).map_err(SandboxError::io("map users into a namespace"))?;
        let mut report = [0; REPORT];
        let exchanged = self.tell().and_then(|()| self.from.read_exact(&mut report));
        exchanged.map_err(SandboxError::io("build a mount namespace"))?;
        let socket = judged(&report).map_err(SandboxError::io("build a mount namespace"))?;
        let listener = socket.map(|number| sys::take_descriptor(self.process, number)).transpose();
        let listener = listener.map_err(SandboxError::io("take the socket of the proxy"))?;
        let open = |name| self.open(name).map_err(SandboxError::io("open a namespace"));
        let namespaces = Namespaces {
            user: open("user")?,
            mount: open("mnt")?,
            ipc: open("ipc")?,
            network: (network != NetworkNamespace::Shared).then(|| open("net")).transpose()?,
        };
        let value = look(&self.path("root")).map_err(SandboxError::io("make the rules"))?;
        Ok(Built { namespaces, listener, value })
    }

    /// Lets the process go on.
    fn tell(&mut self) -> Result<()> {
        self.to.as_mut().map_or(Err(ErrorKind::BrokenPipe.into()), |to| to.write_all(&[0]))
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.process))
    }

    fn open(&self, name: &str) -> Result<OwnedFd> {
        Ok(File::open(self.path("ns").join(name))?.into())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.to.take());
        let _ = sys::wait_for(self.process);
    }
}

/// Reads a report: the number of a descriptor, if there is one.
fn judged(report: &[u8; REPORT]) -> Result<Option<RawFd>> {
    let number = |from: usize| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&report[from..from + 4]);
        i32::from_ne_bytes(bytes)
    };
    match number(4) {
        0 => Ok(Some(number(8)).filter(|socket| *socket >= 0)),
        error => {
            let error = Error::from_raw_os_error(error);
            Err(Error::new(error.kind(), format!("{error} (step {})", number(0))))
        }
    }
}

/// Maps each user and group to itself: all that this process knows if it may, else its own.
fn map_users(process: c_int) -> Result<()> {
    let write = |name: &str, text: &str| std::fs::write(format!("/proc/{process}/{name}"), text);
    let all = |name: &str| -> Result<String> {
        let own = std::fs::read_to_string(format!("/proc/self/{name}"))?;
        let lines = own.lines().filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (inside, _, count) = (fields.next()?, fields.next()?, fields.next()?);
            Some(format!("{inside} {inside} {count}\n"))
        });
        Ok(lines.collect())
    };
    if write("uid_map", &all("uid_map")?).is_ok() {
        return write("gid_map", &all("gid_map")?);
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    write("setgroups", "deny")?;
    write("uid_map", &format!("{user} {user} 1\n"))?;
    write("gid_map", &format!("{group} {group} 1\n"))
}
