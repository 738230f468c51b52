//! The tables of system places: configuration, devices and process files.

/// Belong to the system; file tools never write there.
pub(crate) const SYSTEM: [&str; 19] = [
    "/etc",
    "/boot",
    "/dev",
    "/proc",
    "/sys",
    "/efi",
    "/usr/lib/systemd",
    "/usr/local/lib/systemd",
    "/lib/systemd",
    "/usr/share/dbus-1",
    "/usr/share/polkit-1",
    "/var/lib/dpkg",
    "/var/spool/cron",
    "/var/spool/at",
    "/var/run",
    "/run",
    "/private/etc",
    "/Library/LaunchDaemons",
    "/Library/LaunchAgents",
];

/// Directories whose recursive deletion is never run.
pub(crate) const DIRECTORIES: [&str; 56] = [
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/efi",
    "/nix",
    "/snap",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share",
    "/usr/include",
    "/usr/local",
    "/usr/src",
    "/usr/local/bin",
    "/usr/local/lib",
    "/var/lib",
    "/var/log",
    "/var/spool",
    "/var/db",
    "/var/mail",
    "/boot/efi",
    "/boot/grub",
    "/lib/modules",
    "/lib/systemd",
    "/usr/lib/systemd",
    "/etc/systemd",
    "/etc/ssh",
    "/etc/pam.d",
    "/Users",
    "/System",
    "/Library",
    "/Applications",
    "/Volumes",
    "/private",
    "/private/etc",
    "/private/var",
    "/mnt",
];

/// Names of block devices begin with these.
pub(crate) const BLOCK_DEVICES: [&str; 20] = [
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "md", "loop", "sr", "zd",
    "nbd", "ram", "zram", "block/", "bcache", "pmem",
];

/// Devices that may be written.
pub(crate) const HARMLESS_DEVICES: [&str; 9] =
    ["null", "zero", "full", "stdin", "stdout", "stderr", "tty", "fd", "pts"];

/// Never end, or speak for another process.
pub(crate) const DEVICES: [&str; 9] = [
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/fd",
];

/// Look like regular files and wait for events, or are all of memory.
pub(crate) const BLOCKING: [&str; 7] = [
    "/proc/kmsg",
    "/proc/kcore",
    "/proc/acpi/event",
    "/proc/sysrq-trigger",
    "/proc/vmcore",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
];

/// Files below `/proc/<pid>` that show or reach into a process.
pub(crate) const PROCESS: [&str; 12] = [
    "fd",
    "environ",
    "mem",
    "maps",
    "smaps",
    "numa_maps",
    "map_files",
    "pagemap",
    "cmdline",
    "auxv",
    "syscall",
    "stack",
];
