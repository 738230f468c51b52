//! Programs that run another program: the table of their options, and the command inside.

mod input;
mod privilege;
mod runners;

use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Spec, parse_until};
use crate::output::Output;
use crate::rules::files::Via;
use crate::walk::{Call, Walker};

pub(crate) use input::substitute;

/// A wrapper whose options and operands are followed by the command.
struct Wrapper {
    name: &'static str,
    letters: &'static str,
    long: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    letters: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, letters, long, operands }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("builtin", "", &[], 0),
    wrapper("exec", "a", &[], 0),
    wrapper("noglob", "", &[], 0),
    wrapper("nocorrect", "", &[], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("nice", "n", &["--adjustment"], 0),
    wrapper("ionice", "cnpPu", &["--class", "--classdata"], 0),
    wrapper("chrt", "TPD", &["--sched-runtime", "--sched-period", "--sched-deadline"], 1),
    wrapper("taskset", "", &[], 1),
    wrapper("timeout", "sk", &["--signal", "--kill-after"], 1),
    wrapper("gtimeout", "sk", &["--signal", "--kill-after"], 1),
    wrapper("time", "fo", &["--format", "--output"], 0),
    wrapper("stdbuf", "ioe", &["--input", "--output", "--error"], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("strace", "oepsuEaIOPXbSU", &["--output", "--trace", "--string-limit"], 0),
    wrapper("ltrace", "oepsuaAFlnwx", &["--output"], 0),
    wrapper("valgrind", "", &[], 0),
    wrapper("unbuffer", "", &[], 0),
    wrapper("rlwrap", "abcdefghilmpqstwzAHNOPS", &[], 0),
    wrapper("catchsegv", "", &[], 0),
    wrapper("fakeroot", "lsibu", &["--lib", "--faked"], 0),
    wrapper("xvfb-run", "efnpsw", &["--server-args", "--server-num"], 0),
    wrapper("caffeinate", "tw", &[], 0),
    wrapper(
        "numactl",
        "imCNpP",
        &["--interleave", "--membind", "--cpunodebind", "--physcpubind", "--preferred"],
        0,
    ),
    wrapper("setarch", "", &[], 1),
    wrapper("linux32", "", &[], 0),
    wrapper("linux64", "", &[], 0),
    wrapper("cpulimit", "lpec", &["--limit", "--pid", "--exe"], 0),
    wrapper("prlimit", "p", &["--pid"], 0),
    wrapper("dbus-run-session", "", &["--config-file", "--dbus-daemon"], 0),
    wrapper("faketime", "f", &[], 1),
    wrapper("torsocks", "", &[], 0),
    wrapper("torify", "", &[], 0),
    wrapper("proxychains", "f", &[], 0),
    wrapper("proxychains4", "f", &[], 0),
    wrapper("ccache", "", &[], 0),
    wrapper("choom", "np", &["--adjust"], 0),
    wrapper("eatmydata", "", &[], 0),
    wrapper("perf", "eoCpFtcG", &["--event", "--output", "--repeat"], 1),
    wrapper("entr", "", &[], 0),
    wrapper("ts-node-dev", "", &[], 0),
    wrapper("dotenv", "ef", &["--file"], 0),
    wrapper("busybox", "", &[], 0),
    wrapper("toybox", "", &[], 0),
    wrapper("coreutils", "", &[], 0),
    wrapper("ssh-agent", "aEt", &[], 0),
    wrapper("dbus-launch", "", &[], 0),
    wrapper("winpty", "", &[], 0),
    wrapper("ld.so", "", &["--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath"], 0),
    wrapper("wsl", "du", &["--distribution", "--user", "--cd"], 0),
];

/// Judges the command inside a wrapper; `None` if the program is not one.
pub(crate) fn unwrap(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let output = match call.name {
        "command" => command(walker, call)?,
        "env" | "genv" => env(walker, call)?,
        "sudo" | "doas" | "pkexec" | "su" | "runuser" | "sudoedit" | "gosu" | "su-exec" | "sg"
        | "setpriv" | "runas" | "gksudo" | "kdesudo" | "please" | "run0" => privilege::judge(walker, call)?,
        "unshare" | "nsenter" | "chroot" | "capsh" | "bwrap" | "firejail" | "proot" | "systemd-nspawn"
        | "schroot" | "arch-chroot" | "runcon" | "cgexec" | "start-stop-daemon" | "daemonize"
        | "machinectl" | "ip-netns" | "qemu-x86_64" | "systemd-inhibit" => unconfined(walker, call)?,
        "systemd-run" => unconfined(walker, call)?,
        "xargs" | "gxargs" => input::xargs(walker, call)?,
        "parallel" => input::parallel(walker, call)?,
        "watch" | "hyperfine" | "script" | "flock" | "tmux" | "screen" | "at" | "batch" | "nix-shell"
        | "nix" | "expect" | "zmx" | "concurrently" | "nodemon" | "chronic" | "ifne" | "sem" | "pee"
        | "byobu" | "watchexec" | "inotifywait-exec" | "dtach" | "abduco" => runners::texts(walker, call)?,
        "poetry" | "pipenv" | "uv" | "bundle" | "conda" | "mamba" | "micromamba" | "hatch" | "rye"
        | "pdm" | "mise" | "direnv" | "rustup" | "pnpm" | "yarn" | "npm" | "npx" | "bunx" | "bun"
        | "rbenv" | "pyenv" | "asdf" | "aws-vault" | "op" | "doppler" | "infisical" | "pipx" | "uvx"
        | "cargo" | "go" | "devbox" | "flox" | "corepack" | "pixi" | "cross" => {
            return runners::subcommands(walker, call);
        }
        name => match WRAPPERS.iter().find(|wrapper| wrapper.name == without_version(name)) {
            Some(wrapper) => plain(walker, call, wrapper)?,
            None => return Ok(None),
        },
    };
    Ok(Some(output))
}

/// The dynamic loader has many names: `ld-linux-x86-64.so.2`, `ld-musl-aarch64.so.1`.
fn without_version(name: &str) -> &str {
    let is_loader = name.starts_with("ld-") && name.contains(".so");
    if is_loader { "ld.so" } else { name }
}

fn plain(walker: &mut Walker<'_>, call: &Call<'_>, wrapper: &Wrapper) -> Result<Output, Unreadable> {
    let spec = Spec { letters: wrapper.letters, long: wrapper.long };
    let (parsed, rest) = inner(call.arguments, spec, wrapper.operands);
    for file in parsed.values(&["-o", "--output"]) {
        if matches!(wrapper.name, "time" | "strace" | "ltrace" | "perf") {
            if file.text.starts_with(['|', '!']) {
                walker.payload(file.text.trim_start_matches(['|', '!']), Output::Unknown)?;
            } else {
                walker.write(file, Via::Other);
            }
        }
    }
    if matches!(wrapper.name, "strace" | "ltrace" | "prlimit") && parsed.has(&["-p", "--pid"]) {
        walker.ask(
            EffectKind::Process,
            None,
            keys::SIGNAL,
            format!("{} attaches to another process", wrapper.name),
        );
    }
    walker.call(rest, call.stdin)
}

/// Options, and the fields after the operands of the wrapper.
fn inner(arguments: &[Field], spec: Spec, operands: usize) -> (crate::options::Parsed<'_>, &[Field]) {
    let (parsed, mut index) = parse_until(arguments, spec, operands);
    // With no operand to read, the first word that is not an option begins the command.
    if operands > 0 && arguments.get(index).is_some_and(|field| field.text == "--") {
        index += 1;
    }
    (parsed, arguments.get(index..).unwrap_or_default())
}

fn command(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let (parsed, rest) = inner(call.arguments, Spec::default(), 0);
    if parsed.has(&["-v", "-V"]) {
        return Ok(Output::Harmless);
    }
    walker.call(rest, call.stdin)
}

fn env(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let spec = Spec { letters: "uCSaP", long: &["--unset", "--chdir", "--split-string", "--argv0"] };
    // What follows `-S` is appended to the words that it splits, options included.
    let is_split = |field: &Field| {
        field.text.starts_with("--split")
            || !field.text.starts_with("--") && field.text.starts_with('-') && field.text.contains('S')
    };
    let before_program =
        call.arguments.iter().take_while(|field| field.text.starts_with('-') || is_assignment(&field.text));
    let split = before_program.enumerate().find(|(_, field)| is_split(field)).map(|(index, _)| index);
    let length = split.map_or(call.arguments.len(), |index| {
        let is_separate = call
            .arguments
            .get(index)
            .is_some_and(|field| field.text.ends_with('S') || field.text == "--split-string");
        (index + 1 + usize::from(is_separate)).min(call.arguments.len())
    });
    let (options, appended) = call.arguments.split_at(length);
    let (parsed, rest) = inner(options, spec, 0);
    let mark = walker.mark();
    for directory in parsed.values(&["-C", "--chdir"]) {
        walker.call(&[Field::literal("cd"), directory.clone()], &Output::Nothing)?;
    }
    let mut fields = Vec::new();
    for text in parsed.values(&["-S", "--split-string"]) {
        match crate::simple_words(&text.text) {
            Some(words) => fields.extend(words.into_iter().map(Field::literal)),
            None => {
                walker.payload(&text.text.clone(), call.stdin.clone())?;
                walker.ask(
                    EffectKind::Execute,
                    None,
                    keys::UNKNOWN_PAYLOAD,
                    "runs the text that env -S splits",
                );
            }
        }
    }
    fields.extend(rest.iter().chain(appended).cloned());
    let command = skip_assignments(walker, &fields);
    let output = if command.is_empty() { Ok(Output::Unknown) } else { walker.call(command, call.stdin) };
    walker.leave_subshell(mark);
    output
}

/// Judges `NAME=value` before a command.
fn skip_assignments<'a>(walker: &mut Walker<'_>, fields: &'a [Field]) -> &'a [Field] {
    let count = fields.iter().take_while(|field| is_assignment(&field.text)).count();
    let (assignments, command) = fields.split_at(count);
    let program = command.first().map(|field| field.text.clone()).unwrap_or_default();
    for field in assignments {
        if let Some((name, value)) = field.text.split_once('=') {
            walker.judge_assignment(name, &[Field::literal(value)], Some(&program));
        }
    }
    command
}

fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Wrappers that leave the sandbox or need rights of root.
fn unconfined(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let reason = format!("`{}` runs a command outside of the sandbox", call.name);
    walker.ask_with(EffectKind::Privilege, Some(call.name), keys::PRIVILEGE, reason, Grant::Unconfined);
    any_suffix(walker, call.arguments, call.stdin)
}

/// Judges every place where the command may begin, for programs whose options are too many to list.
pub(crate) fn any_suffix(
    walker: &mut Walker<'_>,
    arguments: &[Field],
    stdin: &Output,
) -> Result<Output, Unreadable> {
    let starts = arguments.iter().enumerate().filter(|(_, field)| !field.text.starts_with('-')).take(12);
    let starts: Vec<usize> = starts.map(|(index, _)| index).collect();
    for index in starts {
        let rest = arguments.get(index..).unwrap_or_default();
        // A value of an option is not a program that is unknown.
        if rest.first().is_some_and(Field::is_literal) {
            walker.call(rest, stdin)?;
        }
    }
    if let Some(at) = arguments.iter().position(|field| field.text == "-c" || field.text == "--command")
        && let Some(text) = arguments.get(at + 1)
    {
        walker.payload(&text.text.clone(), stdin.clone())?;
    }
    Ok(Output::Unknown)
}
