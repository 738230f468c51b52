//! Assignments of variables that make programs load code.

use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::paths::Target;
use crate::variables::loads_code;
use crate::walk::{Call, Walker};

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
        let is_for_hermes = program.is_some_and(|program| program.rsplit('/').next() == Some("hermes"));
        if is_for_hermes
            && !matches!(name, "RUST_LOG" | "NO_COLOR" | "TERM" | "LANG" | "LC_ALL" | "TZ" | "COLUMNS")
        {
            let reason = format!("sets {name} for hermes, which may change where it sends its keys");
            self.ask(EffectKind::Policy, Some(name), keys::SELF_APPROVAL, reason);
        }
        if !loads_code(name) || values.iter().all(|value| self.is_harmless_value(name, value)) {
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
