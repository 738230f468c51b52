//! The shell programs that run at the far end, written as plain functions.
//!
//! The far end runs `bash -c BOOT`, which reads its program from standard input up to a NUL. The program runs the
//! command in a second bash with a mark in its environment. When that one ends, or when the connection is lost, every
//! process with the mark is ended. A second connection can do the same ([`ending`]).

use crate::quoted;
use hermes_exec::{Command, Exchange, Input, ShellReport};
use std::path::Path;

/// Reads a program from standard input and runs it. No single quotes, because ssh has it quoted once more, and for a
/// shell that may not be bash.
pub(crate) const BOOT: &str = r#"IFS= read -r -d "" p; eval "$p""#;
/// The variable by which the processes of a command are found.
pub(crate) const MARK: &str = "HERMES_COMMAND";
/// The file with the time of the last command, by which an idle container ends.
pub(crate) const USED: &str = "/tmp/.hermes-used";

/// `found` lists the processes with the mark, `sweep` ends them: TERM, and KILL after two seconds.
fn functions(mark: &str) -> String {
    format!(
        r#"found() {{
  f=
  for d in /proc/[0-9]*; do
    v=(); mapfile -d '' -t v <"$d/environ" || continue
    case " ${{v[*]}} " in *" {MARK}={mark} "*) f="$f ${{d#/proc/}}" ;; esac
  done
}}
nap() {{ sleep 0.05 || sleep 1; }}
sweep() {{
  found; [ -n "$f" ] || return 0
  kill -TERM $f
  for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    nap; found; [ -n "$f" ] || return 0
  done
  for n in 1 2 3 4 5 6 7 8 9 10; do
    kill -KILL $f; nap; found; [ -n "$f" ] || return 0
  done
}}
"#
    )
}

/// The program that ends everything with the mark.
pub(crate) fn ending(mark: &str) -> String {
    format!("exec >/dev/null 2>&1 </dev/null\nIFS=$' \\t\\n'\n{}sweep\nexit 0\n", functions(mark))
}

/// The program that runs a script on files. The lines with the mark enclose its output; what is outside of them is
/// from client programs.
pub(crate) fn exchange(exchange: &Exchange, mark: &str, trace: Trace) -> String {
    let mut text = String::from(
        "exec 2>/dev/null\nunset -v BASH_ENV ENV\n\
         while IFS=' ' read -r a b c; do unset -f \"$c\"; done < <(declare -F)\nIFS=$' \\t\\n'\n\
         export PATH=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH\"\n",
    );
    text += &functions(mark);
    text += &used(trace);
    text += &format!("printf '\\n%s B\\n' {mark}\nused\n");
    // A script with input notices the loss of the connection by itself.
    if exchange.input.is_empty() {
        text += LIFELINE;
    }
    let (script, arguments) = (quoted(&exchange.script), &exchange.arguments);
    text += &format!("{MARK}={mark} \"$BASH\" -c {script} bash {arguments}\n");
    text + &format!("[ -z \"$w\" ] || kill -KILL \"$w\"\nprintf '\\n%s E\\n' {mark}\n")
}

/// The function that notes the time of a command.
fn used(trace: Trace) -> String {
    match trace {
        Trace::None => "used() { :; }\n".to_owned(),
        Trace::Time => format!("used() {{ printf '%(%s)T' -1 >{USED}; }} 2>/dev/null\n"),
    }
}

/// The traces that commands leave at the far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trace {
    None,
    /// The time of the last command, for the program that ends an idle container.
    Time,
}

/// The program that runs a command.
pub(crate) fn program(command: &Command, input: Input, mark: &str, trace: Trace) -> String {
    let report = command.report.as_ref().filter(|report| report.cwd || report.exports.is_some());
    let is_terminal = matches!(input, Input::Terminal(_));
    let mut text = match (report.is_some(), is_terminal) {
        (_, true) => String::from("exec 3>/dev/null\n"),
        (true, false) => String::from("exec 3>&2 2>/dev/null\n"),
        (false, false) => String::from("exec 3>/dev/null 2>/dev/null\n"),
    };
    text += &functions(mark);
    text += &format!("say() {{ printf '\\n%s %s\\n' {mark} \"$1\" >&3; }}\n");
    text += &used(trace);
    text += PROFILE;
    text += "say S\nused\n";
    text += &variables(command, is_terminal);
    text += &enter(&command.cwd, report.is_some_and(|report| report.cwd));
    if input == Input::Closed {
        text += LIFELINE;
    }
    text += &run(command, input, report, mark);
    text += "[ -z \"$w\" ] || kill -KILL \"$w\"\nsweep\nused\nsay E\nexit $c\n";
    text
}

/// Reads the profiles of the user, as a login shell does, without its input and output.
const PROFILE: &str = r#"{
  [ ! -r /etc/profile ] || . /etc/profile
  for d in ~/.bash_profile ~/.bash_login ~/.profile; do [ ! -r "$d" ] || { . "$d"; break; }; done
} </dev/null >/dev/null 2>&1 3>&-
set +eu
IFS=$' \t\n'
"#;

/// Ends the command when the connection is lost.
const LIFELINE: &str = r#"exec 4<&0 </dev/null
( IFS= read -r -d '' p <&4; sweep ) >/dev/null 2>&1 3>&- &
w=$!
exec 4<&-
"#;

/// Sets the variables of the command. With a terminal, the program is an argument, which everyone can read; then the
/// environment is passed another way.
fn variables(command: &Command, is_terminal: bool) -> String {
    let mut env = if is_terminal { Vec::new() } else { command.env.clone() };
    command.changes.apply_to(&mut env);
    let set = env.iter().filter(|(name, _)| is_name(name));
    let set = set.map(|(name, value)| format!("export {name}={}\n", quoted(value)));
    let unset =
        command.changes.unset.iter().filter(|name| is_name(name)).map(|name| format!("unset -v {name}\n"));
    set.chain(unset).collect()
}

/// Enters the directory. If it is the tracked one, the nearest directory above it will do.
fn enter(cwd: &Path, climbs: bool) -> String {
    let text = cwd.to_string_lossy();
    let dir = match text.strip_prefix('~') {
        Some("") => "\"$HOME\"".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("\"$HOME\"{}", quoted(rest)),
        _ => quoted(&text),
    };
    let missing = "printf 'hermes: %s is not a directory at the far end; give another workdir\\n' \"$d\"";
    match climbs {
        false => format!("d={dir}\ncd -- \"$d\" || {{ {missing}; say E; exit 126; }}\n"),
        true => format!(
            "d={dir}\nuntil cd -- \"${{d:-/}}\"; do case $d in */*) d=${{d%/*}} ;; *) d= ;; esac; done\n\
             [ \"$d\" = {dir} ] || printf '[%s no longer exists; the command runs in %s]\\n' {dir} \"${{d:-/}}\"\n"
        ),
    }
}

/// Runs the command in a bash with the mark.
fn run(command: &Command, input: Input, report: Option<&ShellReport>, mark: &str) -> String {
    // As many lines before the command as on this machine, so that its messages have the same line numbers.
    let mut inner = ":\n:\n".to_owned();
    if let Some(report) = report {
        let before = format!("{{ command printf \"\\n%s B\\n\" {mark}; export -p; }} 2>/dev/null >&3");
        let trap = quoted(&format!("{{ {}; }} 2>/dev/null >&3", state(report, mark)));
        inner = format!(":\n{before}\ntrap {trap} EXIT\n");
    }
    inner += "eval \"shift; $1\"\n";
    let streams = match input {
        Input::Closed | Input::Pipe => "2>&1",
        Input::Terminal(_) => "3>&-",
    };
    format!(
        "{MARK}={mark} \"$BASH\" -c {} bash {} {streams}\nc=$?\n",
        quoted(&inner),
        quoted(&command.script)
    )
}

/// Prints the directory and the variables. Builtins only.
fn state(report: &ShellReport, mark: &str) -> String {
    let mut text = format!("command printf \"\\n%s A\\n\" {mark}; pwd -P || :; ");
    let withheld = report.exports.iter().flatten().filter(|name| is_name(name));
    text.extend(withheld.map(|name| format!("command unset -v {name}; ")));
    text + "command printf \"\\\\0\"; export -p"
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

#[cfg(test)]
#[path = "far_script_tests.rs"]
mod tests;
