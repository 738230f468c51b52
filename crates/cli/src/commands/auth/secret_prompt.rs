//! Reads a secret without echo.

use crate::exit::{Exit, Failure};
use hermes_terminal::term;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{IsTerminal, Read, stdin};

/// The largest secret that is read.
const MOST: u64 = 64 * 1024;

/// Reads a secret: a line typed without echo at a terminal, else all of standard input.
pub(super) fn secret(question: &str) -> Result<String, Failure> {
    if stdin().is_terminal() {
        return typed(question);
    }
    let mut text = String::new();
    let read = stdin().lock().take(MOST).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("the key on standard input could not be read: {error}")))?;
    Ok(text)
}

fn typed(question: &str) -> Result<String, Failure> {
    let lost = |error| Failure::new(Exit::Internal, format!("the terminal could not be set up: {error}"));
    let before = tcgetattr(stdin()).map_err(lost)?;
    let mut unseen = before.clone();
    // Signals are read as characters: a program that ends here would leave the terminal without echo.
    unseen.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
    tcsetattr(stdin(), OptionalActions::Flush, &unseen).map_err(lost)?;
    let _restore = Restore(before);
    term::complain_inline(question);
    let line = line(stdin().lock().bytes().map_while(Result::ok));
    term::print_error("");
    line.ok_or(Failure { exit: Exit::Interrupted, line: String::new() })
}

/// Restores the terminal on drop.
struct Restore(Termios);

impl Drop for Restore {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

/// One typed line; `None` if the user cancelled.
fn line(bytes: impl Iterator<Item = u8>) -> Option<String> {
    const CTRL_C: u8 = 3;
    const CTRL_D: u8 = 4;
    const CTRL_U: u8 = 21;
    let mut typed = Vec::new();
    for byte in bytes {
        match byte {
            b'\n' | b'\r' => return Some(String::from_utf8_lossy(&typed).into_owned()),
            CTRL_C => return None,
            CTRL_D if typed.is_empty() => return None,
            CTRL_U => typed.clear(),
            8 | 127 => drop(typed.pop()),
            control if control < b' ' => {}
            other => typed.push(other),
        }
    }
    (!typed.is_empty()).then(|| String::from_utf8_lossy(&typed).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_entered_edited_or_cancelled() {
        for (typed, want) in [
            ("key\n", Some("key")),
            ("ky\x7fey\r", Some("key")),
            ("wrong\x15key\n", Some("key")),
            ("k\x1be\x01y\n", Some("key")),
            ("ke\x03y\n", None),
            ("\x04", None),
            ("\n", Some("")),
            ("", None),
        ] {
            assert_eq!(line(typed.bytes()).as_deref(), want, "{typed:?}");
        }
    }
}
