//! The tables behind the rules: what holds credentials, what runs by itself, what belongs to the system.

/// A place that holds credentials. No tool reads or writes it.
pub(super) enum Place {
    /// Below a user's home: a file or a folder.
    Home(&'static str),
    /// A file or folder of this name or these last names, wherever it is.
    Anywhere(&'static str),
    /// An absolute path.
    At(&'static str),
}

use Place::{Anywhere, At, Home};

/// Credentials of programs and services, for reading and for writing.
pub(super) const CREDENTIALS: &[Place] = &[
    // Keys, and what remembers them.
    Home(".ssh"),
    Home(".gnupg"),
    Home(".password-store"),
    Home(".local/share/keyrings"),
    Home(".local/share/python_keyring"),
    Home(".local/share/kwalletd"),
    Home("Library/Keychains"),
    Home(".config/op"),
    Home(".config/sops/age"),
    Home(".config/age"),
    Anywhere("id_rsa"),
    Anywhere("id_dsa"),
    Anywhere("id_ecdsa"),
    Anywhere("id_ecdsa_sk"),
    Anywhere("id_ed25519"),
    Anywhere("id_ed25519_sk"),
    // Clouds and clusters.
    Home(".aws"),
    Home(".azure"),
    Home(".kube"),
    Home(".docker"),
    Home(".dockercfg"),
    Home(".config/containers/auth.json"),
    Home(".config/gcloud"),
    Home(".config/doctl"),
    Home(".oci"),
    Home(".aliyun"),
    Home(".fly"),
    Home(".config/flyctl"),
    Home(".config/netlify"),
    Home(".config/rclone"),
    Home(".config/ngrok"),
    Home(".config/stripe"),
    Home(".boto"),
    Home(".s3cfg"),
    Home(".databrickscfg"),
    Home(".snowsql"),
    Home(".tsh"),
    Home(".terraformrc"),
    Home(".terraform.d/credentials.tfrc.json"),
    Anywhere(".vault-token"),
    // Code hosts and package registries.
    Home(".config/gh"),
    Home(".config/hub"),
    Home(".config/glab-cli"),
    Home(".config/git/credentials"),
    Home(".npmrc"),
    Home(".yarnrc.yml"),
    Home(".pypirc"),
    Home(".gem/credentials"),
    Home(".bundle/config"),
    Home(".composer/auth.json"),
    Home(".config/composer/auth.json"),
    Home(".m2/settings.xml"),
    Home(".m2/settings-security.xml"),
    Home(".gradle/gradle.properties"),
    Home(".nuget/NuGet/NuGet.Config"),
    Anywhere(".cargo/credentials"),
    Anywhere(".cargo/credentials.toml"),
    Anywhere(".git-credentials"),
    // Logins of other programs that ask models.
    Home(".claude/.credentials.json"),
    Home(".claude.json"),
    Home(".codex/auth.json"),
    Home(".gemini/oauth_creds.json"),
    Home(".qwen/oauth_creds.json"),
    Home(".config/github-copilot"),
    Home(".local/share/opencode/auth.json"),
    Home(".cache/huggingface/token"),
    Home(".cache/huggingface/stored_tokens"),
    Home(".huggingface/token"),
    Home(".kaggle/kaggle.json"),
    // Databases and networks.
    Anywhere(".netrc"),
    Anywhere(".pgpass"),
    Anywhere(".my.cnf"),
    Anywhere(".mylogin.cnf"),
    Anywhere(".htpasswd"),
    Home(".smbcredentials"),
    // What was typed, passwords included.
    Home(".bash_history"),
    Home(".zsh_history"),
    Home(".python_history"),
    Home(".psql_history"),
    Home(".mysql_history"),
    Home(".node_repl_history"),
    // Browsers and mail.
    Home(".mozilla"),
    Home(".thunderbird"),
    Home(".config/google-chrome"),
    Home(".config/chromium"),
    Home(".config/BraveSoftware"),
    Home(".config/microsoft-edge"),
    Home("Library/Application Support/Google/Chrome"),
    Home("Library/Application Support/Firefox"),
    Home("Library/Cookies"),
    // The system.
    At("/etc/shadow"),
    At("/etc/shadow-"),
    At("/etc/gshadow"),
    At("/etc/gshadow-"),
    At("/etc/master.passwd"),
    At("/etc/security/opasswd"),
    At("/etc/sudoers"),
    At("/etc/sudoers.d"),
    At("/etc/krb5.keytab"),
    At("/etc/ssl/private"),
    At("/etc/pki/tls/private"),
    At("/etc/letsencrypt/archive"),
    At("/etc/letsencrypt/live"),
    At("/etc/wireguard"),
    At("/etc/NetworkManager/system-connections"),
    At("/etc/wpa_supplicant"),
    At("/etc/ssh/ssh_host_rsa_key"),
    At("/etc/ssh/ssh_host_dsa_key"),
    At("/etc/ssh/ssh_host_ecdsa_key"),
    At("/etc/ssh/ssh_host_ed25519_key"),
    At("/run/secrets"),
    At("/var/run/secrets"),
    At("/private/etc/master.passwd"),
];

/// Those that may be read, though not written: they hold no keys.
pub(super) const READABLE: [&str; 3] = [".ssh/config", ".ssh/known_hosts", ".aws/config"];

/// Beginnings of names in a home directory of Hermes that hold credentials or sessions, including files
/// that a killed writer, an editor or the Python release leaves behind.
pub(super) const OWN_SECRETS: [&str; 17] = [
    ".env",
    "fence.key",
    "auth.json",
    "auth.lock",
    ".auth",
    ".anthropic_oauth",
    "credentials.json",
    "google_token",
    "google_client_secret",
    "honcho.json",
    "mem0.json",
    "webhook_subscriptions",
    "mcp-tokens",
    "pairing",
    "platforms",
    "whatsapp",
    "weixin",
];
/// Beginnings of temporary names: their final name is not known.
pub(super) const OWN_TEMPORARY: [&str; 2] = [".hermes-", ".skills-"];
/// Beginnings of the names of the session database, its logs and its copies, and other places of sessions.
pub(super) const OWN_STORE: [&str; 5] = ["state.db", "sessions", "commands", "backups", "state-snapshots"];
/// Settings hold keys; those of another home are not known and so could not be redacted.
pub(super) const OTHERS_SETTINGS: [&str; 2] = ["config.yaml", "memories"];
/// Writable parts of Hermes' directory: spill and scratch files. The caches beside it are trusted and stay
/// protected.
pub(super) const OWN_WRITABLE: [&str; 1] = ["cache/terminal"];

/// Below a user's home directory: run automatically by shells, desktops, services and git.
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
