//! Tables of paths with a meaning of their own: services, caches, devices. Credentials are in the table of the gate.

/// Unreadable parts of the system beside its credentials: data and sockets of services.
pub(crate) const SERVICES: &[&str] = &[
    "/etc/kubernetes",
    "/etc/rancher",
    "/run/user",
    "/run/credentials",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/lib/sss/db",
    "/var/lib/sss/secrets",
    "/var/lib/sss/pipes/private",
    "/var/lib/lxd",
    "/var/snap/lxd",
    "/var/lib/incus",
    "/var/lib/libvirt",
    "/var/lib/mysql",
    "/var/lib/postgresql",
    "/var/lib/systemd/credential.secret",
    "/var/spool/cron",
    "/var/spool/mail",
    "/var/mail",
];

/// Directories of homes; all but the user's own are unreadable.
pub(crate) const HOMES: [&str; 2] = ["/home", "/root"];

/// Below a user's home directory, writable: caches of languages and package managers. None is in `PATH`.
pub(crate) const CACHES: &[&str] = &[
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    ".npm/_cacache",
    ".npm/_logs",
    ".npm/_locks",
    ".npm/_update-notifier-last-checked",
    ".node-gyp",
    ".yarn/berry",
    ".local/share/pnpm/store",
    ".bun/install/cache",
    ".deno",
    "go/pkg",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/notifications",
    ".gradle/.tmp",
    ".m2/repository",
    ".ivy2/cache",
    ".ivy2/local",
    ".sbt/boot",
    ".nuget/packages",
    ".local/share/NuGet",
    ".composer/cache",
    ".bundle/cache",
    ".hex/packages",
    ".cabal/packages",
    ".stack/pantry",
    ".julia/compiled",
    ".pub-cache/hosted",
    ".conan2/p",
    ".ccache",
    ".terraform.d/plugin-cache",
];

/// Parts of `/run` that programs need: settings of name resolution, programs of NixOS.
pub(crate) const RUN_VISIBLE: &[&str] = &[
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
    "/run/wrappers",
    "/run/opengl-driver",
    "/run/utmp",
];
/// Parts of `/run` with services that resolve names, for commands with a network. Names can carry secrets out.
pub(crate) const RUN_RESOLVERS: &[&str] = &["/run/systemd/resolve", "/run/nscd"];

/// The devices of a command.
pub(crate) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
