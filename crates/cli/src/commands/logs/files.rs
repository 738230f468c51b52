//! Reads a log through its rotated files, and follows it across rotations.

use hermes_telemetry::log_files;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A log, read line by line.
pub(super) struct Tail {
    dir: PathBuf,
    /// The files to read, the oldest first. The last one may grow.
    files: VecDeque<Source>,
    /// An incomplete line.
    begun: Vec<u8>,
}

struct Source {
    id: (u64, u64),
    input: BufReader<File>,
}

impl Tail {
    /// Opens all files of the log.
    pub(super) fn open(dir: &Path) -> io::Result<Self> {
        let files = newer_than(dir, None)?;
        Ok(Self { dir: dir.to_owned(), files, begun: Vec::new() })
    }

    /// Returns true if the file does not exist.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Passes on every complete line that was not read yet.
    pub(super) fn read(&mut self, mut each: impl FnMut(&str)) -> io::Result<()> {
        if self.files.is_empty() {
            self.files = newer_than(&self.dir, None)?;
        }
        while let Some(source) = self.files.front() {
            // Before reading: once there is a newer file, this one is complete.
            let newer = match self.files.len() {
                1 => newer_than(&self.dir, Some(source.id))?,
                _ => VecDeque::new(),
            };
            self.files.extend(newer);
            if let Some(source) = self.files.front_mut() {
                lines(source, &mut self.begun, &mut each)?;
            }
            if self.files.len() == 1 {
                return Ok(());
            }
            self.files.pop_front();
        }
        Ok(())
    }
}

/// The files newer than this one, the oldest first. They are opened from the newest on: one that is renamed
/// meanwhile is found twice and never missed.
fn newer_than(dir: &Path, known: Option<(u64, u64)>) -> io::Result<VecDeque<Source>> {
    let mut found: VecDeque<Source> = VecDeque::new();
    for path in log_files(dir).into_iter().rev() {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(named(&path, error)),
        };
        let there = file.metadata()?;
        let id = (there.dev(), there.ino());
        if Some(id) == known {
            break;
        }
        if found.iter().all(|source| source.id != id) {
            found.push_front(Source { id, input: BufReader::new(file) });
        }
    }
    Ok(found)
}

fn lines(source: &mut Source, begun: &mut Vec<u8>, each: &mut impl FnMut(&str)) -> io::Result<()> {
    let at = source.input.stream_position()?;
    if source.input.get_ref().metadata()?.len() < at {
        // The file was truncated.
        source.input.seek(SeekFrom::Start(0))?;
        begun.clear();
    }
    while source.input.read_until(b'\n', begun)? > 0 {
        if begun.pop_if(|last| *last == b'\n').is_none() {
            return Ok(());
        }
        each(&String::from_utf8_lossy(begun));
        begun.clear();
    }
    Ok(())
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("could not read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_telemetry::AGENT_LOG;
    use std::io::Write;

    fn append(dir: &Path, text: &str) {
        let path = dir.join(AGENT_LOG);
        File::options().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn rotate(dir: &Path) {
        for number in (1..4).rev() {
            let _ = std::fs::rename(
                dir.join(format!("agent.log.{number}")),
                dir.join(format!("agent.log.{}", number + 1)),
            );
        }
        std::fs::rename(dir.join(AGENT_LOG), dir.join("agent.log.1")).unwrap();
    }

    fn new_lines(tail: &mut Tail) -> Vec<String> {
        let mut lines = Vec::new();
        tail.read(|line| lines.push(line.to_owned())).unwrap();
        lines
    }

    #[test]
    fn every_line_is_read_once_across_rotations() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let mut tail = Tail::open(dir).unwrap();
        assert!(tail.is_empty() && new_lines(&mut tail).is_empty());
        append(dir, "a\nb");
        assert_eq!(new_lines(&mut tail), ["a"]);
        append(dir, "c\n");
        assert_eq!(new_lines(&mut tail), ["bc"]);
        // Lines before and after a rotation, and two rotations at once.
        append(dir, "d\n");
        rotate(dir);
        assert_eq!(new_lines(&mut tail), ["d"]);
        append(dir, "e\n");
        assert_eq!(new_lines(&mut tail), ["e"]);
        append(dir, "f\n");
        rotate(dir);
        append(dir, "g\n");
        rotate(dir);
        append(dir, "h\n");
        assert_eq!(new_lines(&mut tail), ["f", "g", "h"]);
        assert_eq!(new_lines(&mut tail), Vec::<String>::new());
        assert_eq!(new_lines(&mut Tail::open(dir).unwrap()), ["a", "bc", "d", "e", "f", "g", "h"]);
    }

    #[test]
    fn truncated_file_is_read_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        append(dir.path(), "a long line\n");
        let mut tail = Tail::open(dir.path()).unwrap();
        assert_eq!(new_lines(&mut tail), ["a long line"]);
        File::create(dir.path().join(AGENT_LOG)).unwrap();
        append(dir.path(), "b\n");
        assert_eq!(new_lines(&mut tail), ["b"]);
    }
}
