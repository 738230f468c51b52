//! The shell script that runs a command behind a gate.

use crate::backend::{ExecError, Input, ShellReport};
use crate::exports::is_name;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The maximum length of a command; the kernel takes 128 KiB as one argument.
pub const LONGEST: usize = 128_000;

/// The exit code of a shell whose gate was never opened.
pub(crate) const NEVER_STARTED: i32 = 125;

/// The script of the shell. It waits for a line on standard input, so that nothing runs before the caller has
/// recorded the process; end of file means that the caller is gone. The command is `$1` and is evaluated, not
/// appended: a syntax error in it cannot affect the lines around it, and the trap still reports the state of
/// the shell.
pub(crate) fn wrapper(report: Option<&ShellReport>, input: Input) -> OsString {
    let mut text = format!("read -r _ || exit {NEVER_STARTED}\n").into_bytes();
    text.extend_from_slice(match input {
        Input::Closed => b"exec </dev/null\n",
        // The command reads what follows the line.
        Input::Pipe => b"",
        Input::Terminal(_) => b"exec <&1\n",
    });
    if let Some(report) = report.filter(|report| report.cwd || report.exports.is_some()) {
        text.extend(b"trap ");
        text.extend(quoted(&commands(report)));
        text.extend(b" EXIT\n");
    }
    // The shift is inside the evaluation, so that the command sees no arguments.
    text.extend(b"eval \"shift; $1\"\n");
    OsString::from_vec(text)
}

/// The commands that report the state of the shell: its directory, a NUL, and its exported variables. Builtins only: a
/// program would cost more than the shell. The group hides them from `set -x`.
fn commands(report: &ShellReport) -> Vec<u8> {
    let mut text = b"{ ".to_vec();
    if report.cwd {
        text.extend(b"pwd -P || :; ");
    }
    if let Some(withheld) = &report.exports {
        for name in withheld.iter().filter(|name| is_name(name)) {
            text.extend(format!("command unset -v {name}; ").into_bytes());
        }
        text.extend(br"printf \\0; export -p; ");
    }
    text.extend(b"} 2>/dev/null >|");
    text.extend(quoted(report.file.as_os_str().as_bytes()));
    text
}

/// Rejects scripts that cannot be passed to a shell as one argument.
pub(crate) fn check(script: &str) -> Result<(), ExecError> {
    if script.len() > LONGEST {
        return Err(ExecError::TooLong { bytes: script.len(), most: LONGEST });
    }
    if script.contains('\0') {
        return Err(ExecError::Nul);
    }
    Ok(())
}

fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &byte in text {
        match byte {
            b'\'' => out.extend(b"'\\''"),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_the_path_survive_both_levels() {
        let text =
            wrapper(Some(&ShellReport { file: "/tmp/it's".into(), cwd: true, exports: None }), Input::Closed);
        let text = text.to_str().unwrap();
        let trap = r"trap '{ pwd -P || :; } 2>/dev/null >|'\''/tmp/it'\''\'\'''\''s'\''' EXIT";
        assert!(text.contains(trap), "{text}");
    }

    #[test]
    fn what_a_shell_cannot_take_is_refused() {
        assert!(check("true").is_ok());
        assert!(matches!(check("a\0b"), Err(ExecError::Nul)));
        assert!(matches!(check(&"x".repeat(LONGEST + 1)), Err(ExecError::TooLong { .. })));
    }
}
