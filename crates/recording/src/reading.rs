//! A recording, read from its file.

use super::error::RecordingError;
use super::line::{Header, Line, VERSION};
use std::path::Path;

/// The lines of a recording.
#[derive(Debug)]
pub struct Recording {
    pub(crate) lines: Vec<Line>,
    /// The file ends in the middle of a line: its writer was killed, or the disk was full.
    pub(crate) is_torn: bool,
}

impl Recording {
    /// Reads a file. A last line without an end is left out: that is how a killed program leaves it.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let bytes =
            std::fs::read(path).map_err(|source| RecordingError::Read { path: path.to_owned(), source })?;
        let wrong = |line: usize, why: String| RecordingError::Line { path: path.to_owned(), line, why };
        let mut rest = bytes.as_slice();
        let (mut lines, mut number, mut is_torn) = (Vec::new(), 0, false);
        while !rest.is_empty() {
            number += 1;
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                if number == 1 {
                    header(rest).map_err(|why| wrong(1, why))?;
                }
                is_torn = true;
                break;
            };
            let (text, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if number == 1 {
                header(text).map_err(|why| wrong(1, why))?;
                continue;
            }
            let line = serde_json::from_slice::<Line>(text);
            lines.push(
                line.map_err(|error| wrong(number, format!("this is not a line of a recording: {error}")))?,
            );
        }
        if number == 0 {
            return Err(wrong(1, "there is nothing in this file".to_owned()));
        }
        Ok(Self { lines, is_torn })
    }
}

fn header(text: &[u8]) -> Result<(), String> {
    let Ok(header) = serde_json::from_slice::<Header>(text) else {
        return Err("this is not a recording; `hermes --record FILE` makes one".to_owned());
    };
    match header.hermes_recording {
        VERSION => Ok(()),
        other => Err(format!(
            "version {other} of recordings, made by hermes {}; this build reads version {VERSION}",
            header.program
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Recording, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        std::fs::write(&path, text).unwrap();
        let named = path.display().to_string();
        Recording::read(&path).map_err(|error| error.to_string().replace(&named, "r"))
    }

    const HEAD: &str = "{\"hermes_recording\":2,\"program\":\"x\"}\n";
    const STOP: &str = "{\"at\":15,\"what\":\"stop\"}\n";

    #[test]
    fn truncated_file_is_read_up_to_the_cut() {
        for (text, lines, is_torn) in [
            (format!("{HEAD}{STOP}{STOP}"), 2, false),
            (format!("{HEAD}{STOP}{}", &STOP[..9]), 1, true),
            (HEAD.to_owned(), 0, false),
        ] {
            let read = read(&text).unwrap();
            assert_eq!((read.lines.len(), read.is_torn), (lines, is_torn), "{text}");
        }
    }

    #[test]
    fn invalid_line_is_reported_with_its_number() {
        for (text, want) in [
            ("", "r, line 1: there is nothing in this file"),
            ("mine", "r, line 1: this is not a recording; `hermes --record FILE` makes one"),
            ("{}\n", "r, line 1: this is not a recording; `hermes --record FILE` makes one"),
            (
                "{\"hermes_recording\":9,\"program\":\"8.1\"}\n",
                "r, line 1: version 9 of recordings, made by hermes 8.1; this build reads version 2",
            ),
            (&format!("{HEAD}{STOP}oops\n{STOP}"), "r, line 3: this is not a line of a recording: "),
            (
                &format!("{HEAD}{{\"at\":1,\"what\":\"dance\"}}\n"),
                "r, line 2: this is not a line of a recording: ",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(want), "{error}");
        }
    }
}
