//! The environment of child processes.
//!
//! An allow list: unknown keys, loader variables (`LD_*`, `BASH_ENV`, `PYTHON*`, `NODE_OPTIONS`, `GIT_*`) and sockets of
//! agents stay out by default. Names that sound like secrets stay out even if a prefix allows them. The user can name
//! exceptions.

const NAMES: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "SHELL",
    "TMPDIR",
    "TMP",
    "TEMP",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_ROOT",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];
/// Parts of names of secrets.
const SECRETS: [&str; 11] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "CREDS",
    "AUTH",
    "DSN",
    "WEBHOOK",
    "BEARER",
];

/// The variables of `parent` that a child gets: allowed names, and those in `passthrough`.
pub fn child_env(
    parent: impl Iterator<Item = (String, String)>,
    passthrough: &[String],
) -> Vec<(String, String)> {
    parent.filter(|(name, _)| is_harmless(name) || passthrough.contains(name)).collect()
}

fn is_harmless(name: &str) -> bool {
    let is_listed = NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    is_listed && !SECRETS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_reach_a_child() {
        for (name, passes) in [
            ("PATH", true),
            ("LC_ALL", true),
            ("XDG_RUNTIME_DIR", true),
            ("VIRTUAL_ENV", true),
            ("MY_TOOL_HOME", true),
            ("NAMED_API_KEY", true),
            ("OPENAI_API_KEY", false),
            ("XDG_API_TOKEN", false),
            ("XAUTHORITY", false),
            ("SSH_AUTH_SOCK", false),
            ("DBUS_SESSION_BUS_ADDRESS", false),
            ("DOCKER_HOST", false),
            ("LD_PRELOAD", false),
            ("LD_LIBRARY_PATH", false),
            ("BASH_ENV", false),
            ("ENV", false),
            ("PROMPT_COMMAND", false),
            ("PYTHONPATH", false),
            ("PYTHONSTARTUP", false),
            ("NODE_OPTIONS", false),
            ("GIT_SSH_COMMAND", false),
            ("GIT_CONFIG_COUNT", false),
            ("PERL5OPT", false),
            ("PATHX", false),
        ] {
            let parent = [(name.to_owned(), "v".to_owned())].into_iter();
            let child = child_env(parent, &["MY_TOOL_HOME".to_owned(), "NAMED_API_KEY".to_owned()]);
            assert_eq!(!child.is_empty(), passes, "{name}");
        }
    }
}
