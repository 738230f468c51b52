//! Walking a tree and collecting what matches, within bounds.
//!
//! Hidden and ignored files are left out as ripgrep does, files that must not be read always.
//! Everything is counted; only the wanted page is kept.

use crate::protect::{self, Places};
use crate::text::head;
use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Characters shown of a line.
const LINE: usize = 500;

/// A pattern and the place to search.
pub(crate) struct Query {
    pub(crate) root: PathBuf,
    pub(crate) pattern: String,
    pub(crate) file_glob: Option<String>,
    pub(crate) context: usize,
    /// A file with a longer line, in bytes, is skipped: the searcher holds whole lines in memory.
    pub(crate) longest_line: usize,
    pub(crate) places: Places,
}

/// A line of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) path: PathBuf,
    pub(crate) number: u64,
    pub(crate) text: String,
    /// It surrounds a match and is none itself.
    pub(crate) around: bool,
}

/// The matches of a search in contents.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// The lines of matches `offset` to `offset + limit`, with what surrounds them.
    pub(crate) lines: Vec<Line>,
    pub(crate) total: usize,
    /// Matching lines per file, in path order.
    pub(crate) counts: Vec<(PathBuf, usize)>,
    /// Files that could not be searched to their end.
    pub(crate) skipped: usize,
    pub(crate) stopped: bool,
}

/// The range of matches that is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice {
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

/// Lines that match the query's regular expression.
pub(crate) fn contents(query: &Query, slice: Slice, stop: &dyn Fn() -> bool) -> Result<Matches, String> {
    let matcher = matcher(&query.pattern)?;
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(query.longest_line))
        .line_number(true)
        .before_context(query.context)
        .after_context(query.context)
        .build();
    let mut matches = Matches::default();
    for path in files(query)? {
        let before = matches.total;
        let sink = Collect { path: &path, slice, stop, before, matches: &mut matches };
        // A file that cannot be read, or has too long a line, is passed over.
        if searcher.search_path(&matcher, &path, sink).is_err() {
            matches.skipped += 1;
        }
        let hits = matches.total - before;
        if hits > 0 {
            matches.counts.push((path, hits));
        }
        if stop() {
            matches.stopped = true;
            break;
        }
    }
    Ok(matches)
}

/// The matcher of a regular expression.
pub(crate) fn matcher(pattern: &str) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .build(pattern)
        .map_err(|error| format!("the pattern is not a valid regular expression: {error}"))
}

/// Files whose name matches the query's glob, newest first.
pub(crate) fn names(query: &Query, stop: &dyn Fn() -> bool) -> Result<(Vec<PathBuf>, bool), String> {
    let wanted = name_matcher(&query.pattern)?;
    let mut found: Vec<(Option<SystemTime>, PathBuf)> = Vec::new();
    for path in files(query)? {
        if stop() {
            return Ok((newest_first(found), true));
        }
        let relative = path.strip_prefix(&query.root).unwrap_or(&path);
        let name = path.file_name().map(Path::new).unwrap_or(relative);
        if wanted.is_match(name) || wanted.is_match(relative) {
            let modified = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
            found.push((modified, path));
        }
    }
    Ok((newest_first(found), false))
}

pub(crate) fn newest_first(mut found: Vec<(Option<SystemTime>, PathBuf)>) -> Vec<PathBuf> {
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.into_iter().map(|(_, path)| path).collect()
}

/// A pattern without wildcards means any name that contains it.
pub(crate) fn name_matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern =
        if pattern.contains(['*', '?', '[', '{']) { pattern.to_owned() } else { format!("*{pattern}*") };
    let glob = GlobBuilder::new(&pattern).literal_separator(false).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("the pattern is not a valid glob: {error}"))
}

/// The files below the root that may be looked at, in path order.
fn files(query: &Query) -> Result<impl Iterator<Item = PathBuf> + '_, String> {
    let mut walk = WalkBuilder::new(&query.root);
    walk.sort_by_file_path(Ord::cmp).follow_links(false);
    if let Some(glob) = &query.file_glob {
        walk.overrides(overrides(&query.root, glob)?);
    }
    let files = walk
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(|path| protect::unreadable(path, &query.places).is_none())
        .filter(|path| !is_another_name(path, &query.places));
    Ok(files)
}

/// The files below `root` that a glob leaves.
pub(crate) fn overrides(root: &Path, glob: &str) -> Result<Override, String> {
    let overrides = OverrideBuilder::new(root).add(glob).and_then(|builder| builder.build());
    overrides.map_err(|error| format!("`file_glob` is not a valid glob: {error}"))
}

/// The text of a line as it is shown.
pub(crate) fn shown(bytes: &[u8]) -> String {
    // Four bytes hold any character, so of a giant line only the beginning is decoded.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE * 4)]);
    head(text.trim_end_matches(['\n', '\r']), LINE).to_owned()
}

/// Returns true for a hard link to a file of Hermes that is not shown.
fn is_another_name(path: &Path, places: &Places) -> bool {
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.nlink() > 1 && protect::is_hidden_file(&metadata, places))
}

struct Collect<'a> {
    path: &'a Path,
    slice: Slice,
    stop: &'a dyn Fn() -> bool,
    /// Matches before this file.
    before: usize,
    matches: &'a mut Matches,
}

impl Collect<'_> {
    fn keep(&mut self, number: Option<u64>, bytes: &[u8], around: bool) {
        self.matches.lines.push(Line {
            path: self.path.to_owned(),
            number: number.unwrap_or_default(),
            text: shown(bytes),
            around,
        });
    }

    fn is_open(&self, index: usize) -> bool {
        index >= self.slice.offset && index - self.slice.offset < self.slice.limit
    }
}

impl Sink for Collect<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.is_open(self.matches.total) {
            self.keep(found.line_number(), found.bytes(), false);
        }
        self.matches.total += 1;
        Ok(!(self.matches.total.is_multiple_of(1000) && (self.stop)()))
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, Self::Error> {
        // What surrounds a match belongs to the one before it, or else to the one to come.
        let last = self.matches.total.checked_sub(1).filter(|last| *last >= self.before);
        if last.is_some_and(|last| self.is_open(last)) || self.is_open(self.matches.total) {
            self.keep(line.line_number(), line.bytes(), true);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_giant_line_is_skipped_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("giant.txt"), "x".repeat(5000) + "needle\n").unwrap();
        std::fs::write(dir.path().join("plain.txt"), "a needle\n").unwrap();
        let query = Query {
            root: dir.path().to_owned(),
            pattern: "needle".to_owned(),
            file_glob: None,
            context: 0,
            longest_line: 1000,
            places: Places::default(),
        };
        let matches = contents(&query, Slice { offset: 0, limit: 9 }, &|| false).unwrap();
        assert_eq!((matches.total, matches.skipped), (1, 1));
        let roomy = Query { longest_line: 10_000, ..query };
        let matches = contents(&roomy, Slice { offset: 0, limit: 9 }, &|| false).unwrap();
        assert_eq!((matches.total, matches.skipped), (2, 0));
        assert_eq!(matches.lines[0].text, "x".repeat(LINE));
    }
}
