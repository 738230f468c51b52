//! System calls whose denial is reported, and their paths.

use libc::c_long;

/// The arguments of a call that name a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paths {
    None,
    /// The argument with the path.
    At(usize),
    /// The arguments with a directory and a path below it.
    In(usize, usize),
    /// The argument with the address of a socket.
    Address(usize),
}

/// A system call that the sandbox may deny.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: c_long,
    pub(crate) name: &'static str,
    pub(crate) paths: Paths,
    /// The second path of a call with two.
    pub(crate) second: Paths,
    pub(crate) is_change: bool,
}

const fn change(number: c_long, name: &'static str, paths: Paths) -> Call {
    Call { number, name, paths, second: Paths::None, is_change: true }
}

const fn use_of(number: c_long, name: &'static str, paths: Paths) -> Call {
    Call { number, name, paths, second: Paths::None, is_change: false }
}

const fn two(number: c_long, name: &'static str, first: Paths, second: Paths) -> Call {
    Call { number, name, paths: first, second, is_change: true }
}

use Paths::{Address, At, In, None as NoPath};

const ALL: &[Call] = &[
    use_of(libc::SYS_openat, "open", In(0, 1)),
    use_of(libc::SYS_openat2, "open", In(0, 1)),
    use_of(libc::SYS_execve, "execute", At(0)),
    use_of(libc::SYS_execveat, "execute", In(0, 1)),
    change(libc::SYS_mkdirat, "make directory", In(0, 1)),
    change(libc::SYS_mknodat, "make file", In(0, 1)),
    change(libc::SYS_unlinkat, "remove", In(0, 1)),
    change(libc::SYS_symlinkat, "link", In(1, 2)),
    two(libc::SYS_linkat, "link", In(0, 1), In(2, 3)),
    two(libc::SYS_renameat2, "rename", In(0, 1), In(2, 3)),
    change(libc::SYS_truncate, "truncate", At(0)),
    change(libc::SYS_fchmodat, "change mode", In(0, 1)),
    change(libc::SYS_fchownat, "change owner", In(0, 1)),
    change(libc::SYS_utimensat, "change times", In(0, 1)),
    change(libc::SYS_setxattr, "change attribute", At(0)),
    change(libc::SYS_removexattr, "change attribute", At(0)),
    use_of(libc::SYS_connect, "connect", Address(1)),
    use_of(libc::SYS_bind, "bind", Address(1)),
    use_of(libc::SYS_sendto, "send", Address(4)),
    use_of(libc::SYS_socket, "socket", NoPath),
    use_of(libc::SYS_kill, "signal", NoPath),
    use_of(libc::SYS_tgkill, "signal", NoPath),
    use_of(libc::SYS_ptrace, "ptrace", NoPath),
    use_of(libc::SYS_process_vm_readv, "process_vm_readv", NoPath),
    use_of(libc::SYS_mount, "mount", At(1)),
    use_of(libc::SYS_umount2, "umount", At(0)),
    use_of(libc::SYS_unshare, "unshare", NoPath),
    use_of(libc::SYS_clone, "clone into namespaces", NoPath),
    use_of(libc::SYS_setns, "setns", NoPath),
    use_of(libc::SYS_chroot, "chroot", At(0)),
    use_of(libc::SYS_bpf, "bpf", NoPath),
    use_of(libc::SYS_perf_event_open, "perf_event_open", NoPath),
    use_of(libc::SYS_io_uring_setup, "io_uring_setup", NoPath),
    use_of(libc::SYS_keyctl, "keyctl", NoPath),
    use_of(libc::SYS_add_key, "add_key", NoPath),
    use_of(libc::SYS_userfaultfd, "userfaultfd", NoPath),
    use_of(libc::SYS_ioctl, "ioctl", NoPath),
    use_of(libc::SYS_prlimit64, "prlimit of another process", NoPath),
    use_of(libc::SYS_setuid, "setuid", NoPath),
    use_of(libc::SYS_setgroups, "setgroups", NoPath),
    #[cfg(target_arch = "x86_64")]
    use_of(libc::SYS_open, "open", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_creat, "create", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_mkdir, "make directory", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_rmdir, "remove", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_unlink, "remove", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_symlink, "link", At(1)),
    #[cfg(target_arch = "x86_64")]
    two(libc::SYS_link, "link", At(0), At(1)),
    #[cfg(target_arch = "x86_64")]
    two(libc::SYS_rename, "rename", At(0), At(1)),
    #[cfg(target_arch = "x86_64")]
    two(libc::SYS_renameat, "rename", In(0, 1), In(2, 3)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_chmod, "change mode", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_chown, "change owner", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_lchown, "change owner", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_mknod, "make file", At(0)),
    #[cfg(target_arch = "x86_64")]
    change(libc::SYS_utime, "change times", At(0)),
];

/// The description of a call, if its denial is reported.
pub(crate) fn call(number: u64) -> Option<&'static Call> {
    ALL.iter().find(|call| u64::try_from(call.number).is_ok_and(|known| known == number))
}
