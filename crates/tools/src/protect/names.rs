//! The names behind the rules.

/// Files below Hermes' directory that hold credentials, also those that a crash or the Python release
/// leaves behind.
pub(super) const OWN_SECRETS: [&str; 8] = [
    ".env",
    "fence.key",
    "auth.json",
    "auth.json.hermes-new",
    "auth.json.corrupt",
    "credentials.json",
    "mcp-tokens",
    "pairing",
];
/// How the session database, its logs and its copies begin.
pub(super) const OWN_STORE: &str = "state.db";
/// What of Hermes' directory may be written: spill and scratch files live there. The caches beside it are
/// believed and stay out of reach.
pub(super) const OWN_WRITABLE: [&str; 1] = ["cache/terminal"];

/// Below a person's home: holds keys.
pub(super) const KEY_PLACES: [&str; 13] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
];
/// What of those may be read: no keys in there.
pub(super) const KEY_PLACES_READABLE: [&str; 3] = [".ssh/config", ".ssh/known_hosts", ".aws/config"];

/// Below a person's home: run by shells, desktops, services and git on their own.
pub(super) const RUN_BY_ITSELF: [&str; 20] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".xprofile",
    ".xinitrc",
    ".gitconfig",
    ".config/git",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".local/share/systemd",
];

pub(super) const SYSTEM: [&str; 11] = [
    "/etc",
    "/boot",
    "/dev",
    "/proc",
    "/sys",
    "/usr/lib/systemd",
    "/lib/systemd",
    "/var/spool/cron",
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/private/etc",
];

/// Never end, or speak for another process.
pub(super) const DEVICES: [&str; 9] = [
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
pub(super) const BLOCKING: [&str; 7] = [
    "/proc/kmsg",
    "/proc/kcore",
    "/proc/acpi/event",
    "/proc/sysrq-trigger",
    "/proc/vmcore",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
];

/// Files below `/proc/<pid>` that show or reach into a process.
pub(super) const PROCESS: [&str; 12] = [
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
