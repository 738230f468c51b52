//! Environment variables by their power over the programs that get them.

/// The power of an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableClass {
    /// Programs read its value as data.
    Plain,
    /// Says where programs, libraries, settings or servers are found, or names one of them: `PATH`, `CARGO_HOME`, `CC`.
    Finds,
    /// Makes programs run code that no command names, or changes how a shell reads a command: `LD_PRELOAD`, `BASH_ENV`,
    /// `GIT_SSH_COMMAND`, `HOME`.
    Runs,
}

/// Variables that name code, or files with settings that name code.
const RUNS: &[&str] = &[
    "PROMPT_COMMAND",
    "PS4",
    "PS1",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONUSERBASE",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "NODE_OPTIONS",
    "LESSOPEN",
    "LESSCLOSE",
    "MANPAGER",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "BROWSER",
    "SHELL",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "HOME",
    "XDG_CONFIG_HOME",
    "HERMES_HOME",
    "HERMES_YOLO_MODE",
    "HERMES_EXEC_ASK",
    "ZDOTDIR",
    "INPUTRC",
    "TERMINFO",
    "FPATH",
    "CDPATH",
    "GLOBIGNORE",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "GTK_MODULES",
    "QT_PLUGIN_PATH",
    "GCONV_PATH",
    "MALLOC_TRACE",
    "RES_OPTIONS",
    "HOSTALIASES",
    "LOCPATH",
    "NLSPATH",
    "TMUX",
    "VIMINIT",
    "EXINIT",
    "GVIMINIT",
    "EMACSLOADPATH",
    "PSQLRC",
    "PGSYSCONFDIR",
    "MYSQL_HOME",
    "CURL_HOME",
    "WGETRC",
    "NPM_CONFIG_USERCONFIG",
    "NPM_CONFIG_SCRIPT_SHELL",
    "PIP_CONFIG_FILE",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "R_PROFILE_USER",
    "DOTNET_STARTUP_HOOKS",
    "CORECLR_PROFILER",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "BAT_CONFIG_PATH",
    "FZF_DEFAULT_COMMAND",
    "ZSH",
    // Variables of git that name programs or places of settings.
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_ASKPASS",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ALLOW_PROTOCOL",
    "GIT_SSL_NO_VERIFY",
    "GIT_DIFF_OPTS",
    "GIT_ATTR_SOURCE",
];

/// Beginnings of such names.
const RUNS_PREFIXES: [&str; 4] = ["LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG"];

/// Variables of shells. An assignment in a command is followed by the gate or harmless there; in the environment of a
/// later command, that command would be read in another way.
const SHELL_STATE: &[&str] = &[
    "IFS",
    "POSIXLY_CORRECT",
    "EXECIGNORE",
    "FIGNORE",
    "GLOBSORT",
    "FUNCNEST",
    "TIMEFORMAT",
    "OPTERR",
    "OPTIND",
    "PS0",
    "PS2",
    "PS3",
];

/// Beginnings of such names.
const SHELL_STATE_PREFIXES: [&str; 2] = ["BASH_", "HERMES_"];

/// Variables that name programs, or places of programs, settings and servers.
const FINDS: &[&str] = &[
    "PATH",
    "PYTHONPATH",
    "RUBYLIB",
    "NODE_PATH",
    "CLASSPATH",
    "MAKEFLAGS",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_GEMFILE",
    "KUBECONFIG",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "AWS_CONFIG_FILE",
    "http_proxy",
    "https_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "all_proxy",
    "JULIA_LOAD_PATH",
    "ELECTRON_RUN_AS_NODE",
    "ANSIBLE_CONFIG",
    "ASAN_OPTIONS",
    "PKG_CONFIG",
    "CC",
    "CXX",
    "LD",
    "AR",
    "AS",
    "CPP",
    "FC",
    "RUSTC",
    "HOSTCC",
    "PYTHON",
    "NODE",
];

/// The power of a variable in the environment of a command.
pub fn variable_class(name: &str) -> VariableClass {
    let is_shell_state =
        SHELL_STATE.contains(&name) || SHELL_STATE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if is_shell_state || runs_code(name) {
        VariableClass::Runs
    } else if finds_code(name) {
        VariableClass::Finds
    } else {
        VariableClass::Plain
    }
}

/// Returns true if an assignment of the variable makes programs load or run other code.
pub(crate) fn loads_code(name: &str) -> bool {
    name == "BASH_ENV" || runs_code(name) || finds_code(name)
}

fn runs_code(name: &str) -> bool {
    RUNS.contains(&name)
        || RUNS_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name == "npm_config_script_shell"
}

fn finds_code(name: &str) -> bool {
    FINDS.contains(&name)
        || name.starts_with("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER"))
        || name.starts_with("npm_config_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_classified_by_their_power() {
        use VariableClass::{Finds, Plain, Runs};
        for (name, want) in [
            ("LD_PRELOAD", Runs),
            ("LD_LIBRARY_PATH", Runs),
            ("DYLD_INSERT_LIBRARIES", Runs),
            ("BASH_ENV", Runs),
            ("BASH_FUNC_ls%%", Runs),
            ("ENV", Runs),
            ("IFS", Runs),
            ("POSIXLY_CORRECT", Runs),
            ("HOME", Runs),
            ("GIT_SSH_COMMAND", Runs),
            ("GIT_CONFIG_COUNT", Runs),
            ("GIT_AUTHOR_NAME", Plain),
            ("HERMES_HOME", Runs),
            ("HERMES_ANYTHING", Runs),
            ("npm_config_script_shell", Runs),
            ("npm_config_registry", Finds),
            ("CARGO_TARGET_X86_64_RUNNER", Finds),
            ("CARGO_TARGET_DIR", Plain),
            ("PATH", Finds),
            ("CARGO_HOME", Finds),
            ("CC", Finds),
            ("LD", Finds),
            ("VIRTUAL_ENV", Plain),
            ("TMPDIR", Plain),
            ("FOO", Plain),
        ] {
            assert_eq!(variable_class(name), want, "{name}");
        }
    }
}
