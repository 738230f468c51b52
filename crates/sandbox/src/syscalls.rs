//! The system calls that the filter refuses.

use libc::c_long;

/// The error of a refused call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// EPERM.
    NotPermitted,
    /// ENOSYS: programs have another way and take it.
    NotThere,
}

use Denial::{NotPermitted, NotThere};

/// Refused whatever the arguments are.
pub(crate) const DENIED: &[(c_long, Denial)] = &[
    // Other processes.
    (libc::SYS_ptrace, NotPermitted),
    (libc::SYS_process_vm_readv, NotPermitted),
    (libc::SYS_process_vm_writev, NotPermitted),
    (libc::SYS_process_madvise, NotPermitted),
    (libc::SYS_pidfd_getfd, NotPermitted),
    (libc::SYS_kcmp, NotPermitted),
    (libc::SYS_perf_event_open, NotPermitted),
    // Keys of the kernel are not confined by namespaces.
    (libc::SYS_keyctl, NotPermitted),
    (libc::SYS_add_key, NotPermitted),
    (libc::SYS_request_key, NotPermitted),
    // Large parts of the kernel that ordinary programs do without.
    (libc::SYS_bpf, NotPermitted),
    (libc::SYS_userfaultfd, NotPermitted),
    (libc::SYS_io_uring_setup, NotThere),
    (libc::SYS_io_uring_enter, NotThere),
    (libc::SYS_io_uring_register, NotThere),
    (libc::SYS_fanotify_init, NotPermitted),
    (libc::SYS_fanotify_mark, NotPermitted),
    (libc::SYS_quotactl, NotPermitted),
    (libc::SYS_acct, NotPermitted),
    (libc::SYS_syslog, NotPermitted),
    // Mounts and namespaces. The flags of `clone3` are in memory, where a filter cannot see them.
    (libc::SYS_clone3, NotThere),
    (libc::SYS_setns, NotPermitted),
    (libc::SYS_mount, NotPermitted),
    (libc::SYS_umount2, NotPermitted),
    (libc::SYS_pivot_root, NotPermitted),
    (libc::SYS_chroot, NotPermitted),
    (libc::SYS_open_tree, NotPermitted),
    (libc::SYS_move_mount, NotPermitted),
    (libc::SYS_fsopen, NotPermitted),
    (libc::SYS_fsconfig, NotPermitted),
    (libc::SYS_fsmount, NotPermitted),
    (libc::SYS_fspick, NotPermitted),
    (libc::SYS_mount_setattr, NotPermitted),
    (OPEN_TREE_ATTR, NotPermitted),
    // Opens a file without its path.
    (libc::SYS_open_by_handle_at, NotPermitted),
    // The machine.
    (libc::SYS_reboot, NotPermitted),
    (libc::SYS_swapon, NotPermitted),
    (libc::SYS_swapoff, NotPermitted),
    (libc::SYS_sethostname, NotPermitted),
    (libc::SYS_setdomainname, NotPermitted),
    (libc::SYS_settimeofday, NotPermitted),
    (libc::SYS_clock_settime, NotPermitted),
    (libc::SYS_vhangup, NotPermitted),
    (libc::SYS_kexec_load, NotPermitted),
    (libc::SYS_kexec_file_load, NotPermitted),
    (libc::SYS_init_module, NotPermitted),
    (libc::SYS_finit_module, NotPermitted),
    (libc::SYS_delete_module, NotPermitted),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_iopl, NotPermitted),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_ioperm, NotPermitted),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_modify_ldt, NotPermitted),
];

/// `open_tree_attr`, newer than the table of the library.
const OPEN_TREE_ATTR: c_long = 467;

/// Calls with higher numbers are newer than this list, and programs do without them. `listns`.
pub(crate) const LAST_KNOWN: u32 = 470;

/// Put characters into the input of a terminal, or take over the console: TIOCSTI, TIOCLINUX, TIOCCONS.
pub(crate) const TERMINAL_IOCTLS: [u32; 3] = [0x5412, 0x541c, 0x541d];

/// All flags that make namespaces: mount, cgroup, uts, ipc, user, pid, net, time. The last one is part of the exit
/// signal for `clone`, and no signal has that bit.
pub(crate) const NAMESPACES: u32 = 0x0002_0000
    | 0x0200_0000
    | 0x0400_0000
    | 0x0800_0000
    | 0x1000_0000
    | 0x2000_0000
    | 0x4000_0000
    | 0x0000_0080;

/// The ordinary personality, without address randomisation, 32-bit names, and the question for the current one.
pub(crate) const PERSONALITIES: [u32; 4] = [0, 0x0004_0000, 0x0008, 0xffff_ffff];
