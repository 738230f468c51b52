//! Assignments of variables that make programs load code.

use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::paths::Target;
use crate::walk::{Call, Walker};

/// Variables that name code, programs or places of programs.
const LOADING: &[&str] = &[
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_DEBUG_OUTPUT",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "PS1",
    "PATH",
    "SHELLOPTS",
    "BASHOPTS",
    "PYTHONSTARTUP",
    "PYTHONPATH",
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
    "RUBYLIB",
    "NODE_OPTIONS",
    "NODE_PATH",
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
    "CLASSPATH",
    "MAKEFLAGS",
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
    "BASH_FUNC_",
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
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "http_proxy",
    "https_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "all_proxy",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "R_PROFILE_USER",
    "JULIA_LOAD_PATH",
    "DOTNET_STARTUP_HOOKS",
    "CORECLR_PROFILER",
    "ELECTRON_RUN_AS_NODE",
    "ANSIBLE_CONFIG",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "BAT_CONFIG_PATH",
    "FZF_DEFAULT_COMMAND",
    "ZSH",
    "ASAN_OPTIONS",
    "PKG_CONFIG",
];

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let _ = walker;
    // `printenv` prints the environment, in which there are no secrets of Hermes.
    Ok(matches!(call.name, "printenv").then_some(Output::Unknown))
}

impl Walker<'_> {
    /// Judges an assignment, for all commands that follow or for one `program`.
    pub(crate) fn judge_assignment(&mut self, name: &str, values: &[Field], program: Option<&str>) {
        // Splitting at letters or slashes makes commands that a reader does not see.
        let splits_words = |field: &Field| {
            field.text.contains(|character: char| character.is_alphanumeric() || "/-.".contains(character))
        };
        if name == "IFS" && program.is_none() && values.iter().any(splits_words) {
            self.ask(
                EffectKind::Execute,
                Some(name),
                keys::LOADS_CODE,
                "changes how the shell splits text into arguments",
            );
        }
        let is_loading = LOADING.contains(&name)
            || name.starts_with("DYLD_")
            || name.starts_with("BASH_FUNC_")
            || name.starts_with("GIT_CONFIG")
            || name.starts_with("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER"))
            || name.starts_with("npm_config_")
            || name.starts_with("LD_")
            || is_git_program(name)
            || matches!(
                name,
                "CC" | "CXX" | "LD" | "AR" | "AS" | "CPP" | "FC" | "RUSTC" | "HOSTCC" | "PYTHON" | "NODE"
            );
        if !is_loading || values.iter().all(|value| self.is_harmless_value(name, value)) {
            return;
        }
        let shown = values.first().map(Field::shown).unwrap_or_default();
        let reason = format!("sets {name}, which makes programs load or run other code: {shown}");
        self.ask(EffectKind::Execute, Some(name), keys::LOADS_CODE, reason);
    }

    fn is_harmless_value(&self, name: &str, value: &Field) -> bool {
        let text = value.text.as_str();
        match name {
            "PAGER" | "MANPAGER" | "GIT_PAGER" | "SYSTEMD_PAGER" => {
                matches!(text, "cat" | "less" | "more" | "" | "less -R")
            }
            "EDITOR" | "VISUAL" | "GIT_EDITOR" | "GIT_SEQUENCE_EDITOR" => matches!(
                text,
                "true" | ":" | "cat" | "vim" | "vi" | "nano" | "ed" | "" | "/bin/true" | "code --wait"
            ),
            "PYTHONPATH" | "NODE_PATH" | "RUBYLIB" | "PERL5LIB" => {
                let inside = |part: &str| {
                    part.is_empty()
                        || matches!(self.resolve(&Field::literal(part)), Target::Path(path) if path.starts_with(&self.scene.project))
                };
                // A path that was set before is kept.
                text.split(':').all(|part| part == "\0" || inside(part))
            }
            "PYTHONWARNINGS" => matches!(text, "ignore" | "default" | "error" | "always" | "once" | "module"),
            "PYTHONBREAKPOINT" => text == "0",
            "NODE_OPTIONS" => text.split_whitespace().all(|option| {
                [
                    "--max-old-space-size",
                    "--max_old_space_size",
                    "--enable-source-maps",
                    "--no-warnings",
                    "--trace-warnings",
                    "--openssl-legacy-provider",
                    "--experimental-vm-modules",
                    "--trace-deprecation",
                    "--no-deprecation",
                ]
                .iter()
                .any(|known| option.starts_with(known))
            }),
            "MAKEFLAGS" => text.split_whitespace().all(|option| {
                option.starts_with("-j")
                    || option.starts_with("--jobs")
                    || option.bytes().all(|byte| byte.is_ascii_digit())
            }),
            "PS1" | "PS4" => !text.contains("$(") && !text.contains(['`', '\u{1}']),
            "RUSTC_WRAPPER" | "RUSTC_WORKSPACE_WRAPPER" => {
                matches!(text, "" | "sccache" | "clippy-driver" | "ccache")
            }
            "SHELL" => matches!(text, "/bin/sh" | "/bin/bash" | "/usr/bin/bash" | "/bin/zsh" | "bash" | "sh"),
            "GIT_SSH_COMMAND" => {
                text.starts_with("ssh ")
                    && !text.to_ascii_lowercase().contains("command=")
                    && !text.contains([';', '|', '&', '`', '$'])
            }
            "ASAN_OPTIONS" => !text.contains("path"),
            "CARGO_HOME" | "RUSTUP_HOME" | "GEM_HOME" | "HOME" | "XDG_CONFIG_HOME" => {
                matches!(self.resolve(value), Target::Path(path) if self.is_temporary(&path))
                    || value.text.is_empty() && name != "HOME"
            }
            "CC" | "CXX" | "LD" | "AR" | "AS" | "CPP" | "FC" | "RUSTC" | "HOSTCC" | "PYTHON" | "NODE" => {
                // A name is found through PATH; a path is known only inside of the project and the system.
                let inside = |path: &std::path::Path| {
                    path.starts_with(&self.scene.project) || path.starts_with("/usr")
                };
                !text.contains('/') || matches!(self.resolve(value), Target::Path(path) if inside(&path))
            }
            "http_proxy" | "https_proxy" | "HTTP_PROXY" | "HTTPS_PROXY" | "ALL_PROXY" | "all_proxy" => {
                text.is_empty()
            }
            "TMUX" => text.is_empty(),
            _ => false,
        }
    }
}

/// Variables of git that name programs or places of settings.
fn is_git_program(name: &str) -> bool {
    const NAMES: [&str; 18] = [
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
    NAMES.contains(&name)
}
