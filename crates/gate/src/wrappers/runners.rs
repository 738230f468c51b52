//! Programs that take a command as text, and subcommands that run a program.

use super::{any_suffix, inner};
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Spec, parse};
use crate::output::Output;
use crate::rules::files::Via;
use crate::walk::{Call, Walker};

/// Programs that give text to a shell.
pub(super) fn texts(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    match call.name {
        "watch" => {
            let (parsed, rest) =
                inner(call.arguments, Spec { letters: "nq", long: &["--interval", "--equexit"] }, 0);
            if !parsed.has(&["-x", "--exec"]) {
                walker.payload(&joined(rest), Output::Nothing)?;
            }
            walker.call(rest, call.stdin)?;
        }
        "script" => {
            let parsed = parse(
                call.arguments,
                Spec { letters: "cIOBTEmo", long: &["--command", "--log-out", "--log-in", "--log-io"] },
            );
            let texts: Vec<Field> = parsed.values(&["-c", "--command"]).cloned().collect();
            for text in &texts {
                walker.payload(&text.text, Output::Nothing)?;
            }
            let files: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
            if let Some(file) = files.first() {
                walker.write(file, Via::Other);
            }
            any_suffix(walker, files.get(1..).unwrap_or_default(), call.stdin)?;
        }
        "flock" => {
            let spec = Spec { letters: "wE", long: &["--wait", "--timeout", "--conflict-exit-code"] };
            let (parsed, rest) = inner(call.arguments, spec, 1);
            for file in parsed.operands {
                walker.write(file, Via::Other);
            }
            match rest {
                [flag, text, ..] if matches!(flag.text.as_str(), "-c" | "--command") => {
                    walker.payload(&text.text, call.stdin.clone())?;
                }
                _ => {
                    walker.call(rest, call.stdin)?;
                }
            }
        }
        "at" | "batch" => {
            let parsed = parse(call.arguments, Spec { letters: "fqt", long: &[] });
            if parsed.has(&["-l", "-V"]) {
                return Ok(Output::Unknown);
            }
            walker.ask(EffectKind::Policy, None, keys::SCHEDULE, "schedules commands to run later");
            if let Output::Text(text) = call.stdin {
                walker.payload(&text.clone(), Output::Nothing)?;
            }
        }
        "tmux" | "screen" | "byobu" => multiplexer(walker, call)?,
        "expect" => {
            walker.ask(EffectKind::Execute, None, keys::SCRIPT_CODE, "runs an expect script");
            any_suffix(walker, call.arguments, call.stdin)?;
        }
        "hyperfine" | "concurrently" | "sem" | "pee" => {
            for field in call.arguments.iter().filter(|field| !field.text.starts_with('-')) {
                walker.payload(&field.text, Output::Nothing)?;
            }
        }
        "nix-shell" | "nix" | "nodemon" | "watchexec" => {
            for flag in ["--run", "--command", "-c", "--exec", "-x"] {
                if let Some(at) = call.arguments.iter().position(|field| field.text == flag) {
                    let rest = call.arguments.get(at + 1..).unwrap_or_default();
                    if let Some(text) = rest.first() {
                        walker.payload(&text.text, Output::Nothing)?;
                    }
                    walker.call(rest, call.stdin)?;
                }
            }
            if call.name == "watchexec" {
                any_suffix(walker, call.arguments, call.stdin)?;
            }
        }
        _ => {
            any_suffix(walker, call.arguments, call.stdin)?;
        }
    }
    Ok(Output::Unknown)
}

/// `tmux` and `screen`: commands as operands or as keys that are typed.
fn multiplexer(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
    let parsed = parse(call.arguments, Spec { letters: "LSfctsnexyF", long: &[] });
    let is_tmux = call.name == "tmux";
    let mut operands: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
    if is_tmux && !operands.is_empty() {
        let verb = operands.remove(0);
        let reads = [
            "ls",
            "list-sessions",
            "list-windows",
            "list-panes",
            "capture-pane",
            "has-session",
            "has",
            "attach",
            "a",
            "display-message",
            "info",
            "show-options",
            "detach",
            "select-window",
            "select-pane",
            "rename-window",
            "resize-pane",
            "kill-session",
            "kill-window",
            "kill-pane",
            "lsw",
            "lsp",
        ];
        if reads.contains(&verb.text.as_str()) {
            return Ok(());
        }
        if verb.text == "kill-server" {
            walker.ask(EffectKind::Process, None, keys::SIGNAL, "ends all tmux sessions");
            return Ok(());
        }
        if matches!(verb.text.as_str(), "send-keys" | "send") {
            operands.retain(|field| {
                !matches!(field.text.as_str(), "Enter" | "C-m" | "C-c" | "C-d" | "Space" | "q")
            });
        }
    }
    if operands.is_empty() {
        return Ok(());
    }
    walker.payload(&joined(&operands), Output::Nothing)?;
    // Keys that are typed into a window.
    for text in operands.iter().filter(|field| field.text.contains(' ')) {
        walker.payload(&text.text.replace("\\n", "\n"), Output::Nothing)?;
    }
    any_suffix(walker, &operands, &Output::Nothing)?;
    Ok(())
}

/// A subcommand that is followed by a program.
struct Runner {
    name: &'static str,
    verb: &'static str,
    letters: &'static str,
    long: &'static [&'static str],
    operands: usize,
}

const fn runner(
    name: &'static str,
    verb: &'static str,
    letters: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Runner {
    Runner { name, verb, letters, long, operands }
}

const RUNNERS: &[Runner] = &[
    runner("poetry", "run", "CP", &["--directory", "--project"], 0),
    runner("pipenv", "run", "", &[], 0),
    runner(
        "uv",
        "run",
        "p",
        &["--python", "--with", "--extra", "--group", "--directory", "--project", "--env-file", "--package"],
        0,
    ),
    runner("bundle", "exec", "", &["--gemfile"], 0),
    runner("conda", "run", "np", &["--name", "--prefix", "--cwd"], 0),
    runner("mamba", "run", "np", &["--name", "--prefix", "--cwd"], 0),
    runner("micromamba", "run", "np", &["--name", "--prefix", "--cwd"], 0),
    runner("hatch", "run", "", &[], 0),
    runner("rye", "run", "", &[], 0),
    runner("pdm", "run", "p", &["--project"], 0),
    runner("pixi", "run", "e", &["--environment"], 0),
    runner("mise", "exec", "C", &["--cd"], 0),
    runner("mise", "x", "C", &["--cd"], 0),
    runner("direnv", "exec", "", &[], 1),
    runner("rustup", "run", "", &[], 1),
    runner("pnpm", "exec", "CF", &["--dir", "--filter"], 0),
    runner("pnpm", "dlx", "", &["--package"], 0),
    runner("yarn", "exec", "", &[], 0),
    runner("yarn", "dlx", "p", &["--package"], 0),
    runner("npm", "exec", "wp", &["--workspace", "--package", "--prefix"], 0),
    runner("npm", "x", "wp", &["--workspace", "--package", "--prefix"], 0),
    runner("bun", "x", "", &[], 0),
    runner("rbenv", "exec", "", &[], 0),
    runner("pyenv", "exec", "", &[], 0),
    runner("asdf", "exec", "", &[], 0),
    runner("aws-vault", "exec", "", &[], 1),
    runner("op", "run", "", &["--env-file"], 0),
    runner("doppler", "run", "cp", &["--config", "--project"], 0),
    runner("infisical", "run", "", &["--env"], 0),
    runner("devbox", "run", "c", &["--config"], 0),
    runner("pipx", "run", "", &["--spec"], 0),
];

/// Judges a runner; `None` for other subcommands, which rules judge.
pub(super) fn subcommands(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    if matches!(call.name, "npx" | "bunx" | "uvx") {
        let spec = Spec { letters: "pc", long: &["--package", "--call", "--with", "--from", "--python"] };
        let (parsed, rest) = inner(call.arguments, spec, 0);
        let texts: Vec<Field> = parsed.values(&["-c", "--call"]).cloned().collect();
        for text in texts {
            walker.payload(&text.text, Output::Nothing)?;
        }
        return walker.call(rest, call.stdin).map(Some);
    }
    let Some((verb, rest)) = call.arguments.split_first() else { return Ok(None) };
    let Some(found) = RUNNERS.iter().find(|runner| runner.name == call.name && runner.verb == verb.text)
    else {
        return Ok(None);
    };
    let spec = Spec { letters: found.letters, long: found.long };
    let (parsed, rest) = inner(rest, spec, found.operands);
    let texts: Vec<Field> = parsed.values(&["--call"]).cloned().collect();
    for text in texts {
        walker.payload(&text.text, Output::Nothing)?;
    }
    walker.call(rest, call.stdin).map(Some)
}

fn joined(fields: &[Field]) -> String {
    let texts: Vec<&str> = fields.iter().map(|field| field.text.as_str()).collect();
    texts.join(" ")
}
