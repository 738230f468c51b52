//! The report of a shell that ran elsewhere: the standard error of the client program, with marked lines.
//!
//! `MARK S` follows the messages of the client, `MARK B` begins the variables before the command, `MARK A` its
//! directory, a NUL and the variables after it, and `MARK E` is the last line of a complete run.

use crate::backend::ShellReport;
use crate::export_syntax;
use crate::exports::Exports;
use crate::report_file::Reported;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The longest path that the kernel takes.
const LONGEST_PATH: usize = 4096;

/// The parts of a complete report.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FarReport<'a> {
    before: &'a [u8],
    cwd: &'a [u8],
    after: &'a [u8],
}

impl<'a> FarReport<'a> {
    /// Finds the parts; `None` if the command did not reach its end.
    pub(crate) fn parse(text: &'a [u8], mark: &str) -> Option<Self> {
        let (_, text) = split(text, mark, 'B')?;
        let (before, text) = split(text, mark, 'A')?;
        let (state, _) = split(text, mark, 'E')?;
        let end = state.iter().position(|&byte| byte == 0)?;
        let cwd = state[..end].strip_suffix(b"\n").unwrap_or(&state[..end]);
        Some(Self { before, cwd, after: &state[end + 1..] })
    }

    /// The state of the shell, as far as it was asked for.
    pub(crate) fn reported(&self, asked: &ShellReport) -> Reported {
        let path = PathBuf::from(OsString::from_vec(self.cwd.to_vec()));
        let is_path = path.is_absolute() && self.cwd.len() <= LONGEST_PATH;
        let exports =
            asked.exports.as_ref().map(|held| Exports::compare(self.after, false, &self.start(), held));
        Reported { cwd: Some(path).filter(|_| is_path && asked.cwd), exports }
    }

    /// The variables before the command.
    fn start(&self) -> Vec<(String, String)> {
        let (mut all, mut rest) = (Vec::new(), self.before);
        while let Ok(Some((declared, after))) = export_syntax::next(rest) {
            rest = after;
            if let Ok(value) = String::from_utf8(declared.value) {
                all.push((declared.name.to_owned(), value));
            }
        }
        all
    }
}

/// Splits at the line `MARK PART`.
fn split<'a>(text: &'a [u8], mark: &str, part: char) -> Option<(&'a [u8], &'a [u8])> {
    let line = format!("\n{mark} {part}\n");
    let at = text.windows(line.len()).position(|window| window == line.as_bytes())?;
    // The line end before the mark belongs to it, but that of a list belongs to the list, too.
    Some((&text[..at], &text[at + line.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: fn() -> ShellReport =
        || ShellReport { file: "/f".into(), cwd: true, exports: Some(vec!["HELD".to_owned()]) };

    #[test]
    fn state_is_read_between_the_marks() {
        let text =
            b"Warning: x\n\nm1 S\n\nm1 B\ndeclare -x A=\"1\"\ndeclare -x GONE=\"2\"\n\nm1 A\n/far dir\n\0\
declare -x A=\"3\"\ndeclare -x HELD=\"4\"\n\nm1 E\n";
        let found = FarReport::parse(text, "m1").unwrap().reported(&ASKED());
        assert_eq!(found.cwd, Some("/far dir".into()));
        let changes = found.exports.unwrap().changes;
        assert_eq!(changes.set.into_iter().collect::<Vec<_>>(), [("A".to_owned(), "3".to_owned())]);
        assert_eq!(changes.unset.into_iter().collect::<Vec<_>>(), ["GONE"]);
    }

    #[test]
    fn incomplete_and_forged_reports_are_not_used() {
        for text in [
            &b""[..],
            b"\nm1 S\n",
            b"\nm1 B\n\nm1 A\n/x\n\0",
            b"\nm1 B\n\nm1 A\n/x\n\nm1 E\n",
            b"\nm2 B\n\nm2 A\n/x\n\0\nm2 E\n",
        ] {
            assert_eq!(FarReport::parse(text, "m1"), None, "{}", String::from_utf8_lossy(text));
        }
        let relative = FarReport::parse(b"\nm1 B\n\nm1 A\nrelative\n\0\nm1 E\n", "m1").unwrap();
        assert_eq!(relative.reported(&ASKED()).cwd, None);
    }
}
