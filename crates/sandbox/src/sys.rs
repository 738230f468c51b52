//! System calls that have no safe wrapper. None of them allocates or takes a lock.
//!
//! Most of them run in a child between clone and exec, or in the process that builds a mount namespace.

use std::ffi::{CStr, c_int, c_long, c_uint, c_ulong};
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Makes a system call and turns -1 into an error.
macro_rules! call {
    ($number:expr $(, $argument:expr)* $(,)?) => {{
        // SAFETY: pointers among the arguments come from references that outlive the call, and the kernel
        // writes through none of them unless the wrapper says so.
        #[expect(unsafe_code, reason = "the system call has no safe interface")]
        let returned = unsafe { libc::syscall($number $(, $argument)*) };
        if returned < 0 { Err(Error::last_os_error()) } else { Ok(returned) }
    }};
}

/// Takes ownership of a descriptor that the kernel has just returned.
fn owned(number: c_long) -> OwnedFd {
    let number = RawFd::try_from(number).unwrap_or(-1);
    // SAFETY: the kernel returned this descriptor to us and to nothing else.
    #[expect(unsafe_code, reason = "a new descriptor has no owner yet")]
    unsafe {
        OwnedFd::from_raw_fd(number)
    }
}

/// `struct landlock_ruleset_attr`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RulesetAttributes {
    pub(crate) handled_access_fs: u64,
    pub(crate) handled_access_net: u64,
    pub(crate) scoped: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent: RawFd,
}

/// The version of Landlock that the kernel offers.
pub(crate) fn landlock_abi() -> Result<u32> {
    const VERSION: c_ulong = 1;
    let none = std::ptr::null::<u8>();
    let version = call!(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION)?;
    Ok(u32::try_from(version).unwrap_or(0))
}

pub(crate) fn landlock_create_ruleset(attributes: &RulesetAttributes, size: usize) -> Result<OwnedFd> {
    let made = call!(libc::SYS_landlock_create_ruleset, std::ptr::from_ref(attributes), size, 0_u64)?;
    Ok(owned(made))
}

pub(crate) fn landlock_add_path(
    ruleset: BorrowedFd<'_>,
    parent: BorrowedFd<'_>,
    allowed_access: u64,
) -> Result<()> {
    const PATH_BENEATH: c_int = 1;
    let rule = PathBeneath { allowed_access, parent: parent.as_raw_fd() };
    let number = libc::SYS_landlock_add_rule;
    call!(number, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0_u64).map(drop)
}

pub(crate) fn landlock_restrict_self(ruleset: BorrowedFd<'_>) -> Result<()> {
    call!(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u64).map(drop)
}

pub(crate) fn no_new_privileges() -> Result<()> {
    call!(libc::SYS_prctl, libc::PR_SET_NO_NEW_PRIVS, 1_u64, 0_u64, 0_u64, 0_u64).map(drop)
}

/// Installs a filter for this thread.
pub(crate) fn seccomp_filter(filter: &[libc::sock_filter]) -> Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).unwrap_or(u16::MAX),
        filter: filter.as_ptr().cast_mut(),
    };
    call!(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u64, &raw const program).map(drop)
}

/// Asks for a filter without instructions: the kernel refuses it with EFAULT or EINVAL if it has filters.
pub(crate) fn seccomp_probe() -> Result<()> {
    let none = std::ptr::null::<u8>();
    match call!(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u64, none) {
        Err(error) if error.raw_os_error() != Some(libc::EFAULT) => Err(error),
        _ => Ok(()),
    }
}

/// Enters the namespace behind a descriptor.
pub(crate) fn setns(namespace: BorrowedFd<'_>, kind: c_int) -> Result<()> {
    call!(libc::SYS_setns, namespace.as_raw_fd(), kind).map(drop)
}

/// Marks all descriptors from `first` on as close-on-exec.
pub(crate) fn close_on_exec_from(first: c_uint) -> Result<()> {
    const CLOEXEC: c_uint = 4;
    call!(libc::SYS_close_range, first, c_uint::MAX, CLOEXEC).map(drop)
}

/// Removes a capability from the bounding set.
pub(crate) fn drop_bounding(capability: u32) -> Result<()> {
    let capability = c_ulong::from(capability);
    call!(libc::SYS_prctl, libc::PR_CAPBSET_DROP, capability, 0_u64, 0_u64, 0_u64).map(drop)
}

/// Removes all ambient capabilities.
pub(crate) fn clear_ambient() -> Result<()> {
    const CLEAR_ALL: c_ulong = 4;
    call!(libc::SYS_prctl, libc::PR_CAP_AMBIENT, CLEAR_ALL, 0_u64, 0_u64, 0_u64).map(drop)
}

/// `struct __user_cap_data_struct`, twice.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct CapabilityWord {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

/// The permitted capabilities of this process.
pub(crate) fn permitted_capabilities() -> Result<u64> {
    let header = [CAPABILITY_VERSION_3, 0];
    let mut words = [CapabilityWord::default(); 2];
    call!(libc::SYS_capget, header.as_ptr(), words.as_mut_ptr())?;
    Ok(u64::from(words[0].permitted) | u64::from(words[1].permitted) << 32)
}

/// Sets effective and permitted capabilities to `keep`.
pub(crate) fn set_capabilities(keep: u64) -> Result<()> {
    let header = [CAPABILITY_VERSION_3, 0];
    let word = |bits: u64| {
        let bits = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0);
        CapabilityWord { effective: bits, permitted: bits, inheritable: 0 }
    };
    let words = [word(keep), word(keep >> 32)];
    call!(libc::SYS_capset, header.as_ptr(), words.as_ptr()).map(drop)
}

pub(crate) fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: c_ulong, data: &CStr) -> Result<()> {
    let number = libc::SYS_mount;
    call!(number, source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data.as_ptr()).map(drop)
}

/// Copies the mounts at a path into a descriptor. The path is not followed if it is a link: a command may have put
/// one there.
pub(crate) fn open_tree_clone(path: &CStr) -> Result<OwnedFd> {
    const CLONE: c_uint = 1;
    let flags = CLONE
        | libc::O_CLOEXEC.unsigned_abs()
        | libc::AT_RECURSIVE.unsigned_abs()
        | libc::AT_SYMLINK_NOFOLLOW.unsigned_abs();
    call!(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags).map(owned)
}

/// Attaches a copy of mounts at a path.
pub(crate) fn move_mount(from: BorrowedFd<'_>, target: &CStr) -> Result<()> {
    const FROM_EMPTY_PATH: c_uint = 4;
    let (number, empty) = (libc::SYS_move_mount, c"".as_ptr());
    call!(number, from.as_raw_fd(), empty, libc::AT_FDCWD, target.as_ptr(), FROM_EMPTY_PATH).map(drop)
}

/// `struct mount_attr`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

const READ_ONLY: u64 = 1;

/// Makes the mounts at `path` read-only, with those below if `recursive`. An empty path is `from` itself.
pub(crate) fn make_read_only(from: Option<BorrowedFd<'_>>, path: &CStr, recursive: bool) -> Result<()> {
    let attributes = MountAttributes { set: READ_ONLY, clear: 0, propagation: 0, userns: 0 };
    let mut flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    if from.is_some() {
        flags |= libc::AT_EMPTY_PATH;
    }
    let directory = from.map_or(libc::AT_FDCWD, |from| from.as_raw_fd());
    let size = size_of::<MountAttributes>();
    call!(libc::SYS_mount_setattr, directory, path.as_ptr(), flags, &raw const attributes, size).map(drop)
}

pub(crate) fn mkdir(path: &CStr, mode: u32) -> Result<()> {
    call!(libc::SYS_mkdirat, libc::AT_FDCWD, path.as_ptr(), mode).map(drop)
}

pub(crate) fn symlink(target: &CStr, path: &CStr) -> Result<()> {
    call!(libc::SYS_symlinkat, target.as_ptr(), libc::AT_FDCWD, path.as_ptr()).map(drop)
}

/// Creates an empty file.
pub(crate) fn create_file(path: &CStr, mode: u32) -> Result<()> {
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    call!(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, mode).map(|number| drop(owned(number)))
}

/// Creates a process with a copy of this memory, in new namespaces. It sends no signal when it ends, so that only
/// [`wait_for`] collects it. Returns 0 in the new process, which must make system calls only.
pub(crate) fn fork_into(namespaces: c_int) -> Result<c_int> {
    let none = std::ptr::null::<u8>();
    let flags = c_ulong::from(namespaces.unsigned_abs());
    let made = call!(libc::SYS_clone, flags, none, none, none, none)?;
    Ok(c_int::try_from(made).unwrap_or(-1))
}

/// Collects a process of [`fork_into`].
pub(crate) fn wait_for(process: c_int) -> Result<()> {
    let none = std::ptr::null::<u8>();
    loop {
        match call!(libc::SYS_wait4, process, none, libc::__WALL, none) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            waited => return waited.map(drop),
        }
    }
}

/// Ends this process at once.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: ends the process without running any code of it.
    #[expect(unsafe_code, reason = "no destructor may run in a copy of a process")]
    unsafe {
        libc::_exit(code)
    }
}

/// Lets the owner of this process open its files in `/proc`, and ends it with its parent.
pub(crate) fn open_to_owner() -> Result<()> {
    call!(libc::SYS_prctl, libc::PR_SET_DUMPABLE, 1_u64, 0_u64, 0_u64, 0_u64)?;
    call!(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0_u64, 0_u64, 0_u64).map(drop)
}

/// Starts the loopback interface of this network namespace.
pub(crate) fn start_loopback() -> Result<()> {
    let socket =
        call!(libc::SYS_socket, libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0).map(owned)?;
    // `struct ifreq`: a name of 16 bytes, then the flags.
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    let flags = u16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(1);
    request[16..18].copy_from_slice(&flags.to_ne_bytes());
    call!(libc::SYS_ioctl, socket.as_raw_fd(), libc::SIOCSIFFLAGS, request.as_ptr()).map(drop)
}

/// Listens on a port of the loopback address.
pub(crate) fn listen_on_loopback(port: u16) -> Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    let socket = call!(libc::SYS_socket, libc::AF_INET, kind, 0).map(owned)?;
    let address = libc::sockaddr_in {
        sin_family: 2,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([127, 0, 0, 1]) },
        sin_zero: [0; 8],
    };
    let size = size_of::<libc::sockaddr_in>();
    call!(libc::SYS_bind, socket.as_raw_fd(), &raw const address, size)?;
    call!(libc::SYS_listen, socket.as_raw_fd(), 64)?;
    Ok(socket)
}

/// Ends both directions of a socket, which wakes a thread that waits for it.
pub(crate) fn shut_down(socket: BorrowedFd<'_>) -> Result<()> {
    call!(libc::SYS_shutdown, socket.as_raw_fd(), libc::SHUT_RDWR).map(drop)
}

/// Copies a descriptor of another process.
pub(crate) fn take_descriptor(process: c_int, number: RawFd) -> Result<OwnedFd> {
    let handle = call!(libc::SYS_pidfd_open, process, 0).map(owned)?;
    call!(libc::SYS_pidfd_getfd, handle.as_raw_fd(), number, 0).map(owned)
}
