//! Searching, with `rg` there, else with `grep` and `find`.
//!
//! The programs there know no rules about what may be shown: the caller leaves it out.

use crate::ere::{Extended, extended};
use crate::files::{FarError, FarFiles, MOST_FACTS, Work, bytes};
use crate::reply::time_of;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes of a result; what is beyond them is not searched for.
const MOST: usize = 8 << 20;
/// The script ends searches by itself before, and returns what they found.
const PATIENCE: Duration = Duration::from_secs(60);

/// A pattern and the real path to search.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    pub root: &'a Path,
    /// A regular expression that is valid for `rg`, or a glob for names.
    pub pattern: &'a str,
    pub glob: Option<&'a str>,
    /// Lines around each match.
    pub context: usize,
}

/// The result of a search.
#[derive(Debug)]
pub struct Searched<T> {
    pub found: Vec<T>,
    pub has_rg: bool,
    /// There are files that say what to ignore, and they were not obeyed.
    pub ignores_less: bool,
    /// It was ended early.
    pub stopped: bool,
}

/// The lines that are wanted of the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    All,
    /// Their count per file, as the number of one hit.
    Counts,
}

/// A file and the time of its last change.
pub type NamedFile = (Option<SystemTime>, PathBuf);

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub path: PathBuf,
    pub number: u64,
    pub text: Vec<u8>,
    /// It surrounds a match and is none itself.
    pub around: bool,
}

/// The output of the programs.
struct Raw {
    data: Vec<u8>,
    has_rg: bool,
    stopped: bool,
    ignores_less: bool,
    /// The directory from which paths are printed.
    base: PathBuf,
}

impl Raw {
    fn with<T>(self, found: Vec<T>) -> Searched<T> {
        let Self { has_rg, stopped, ignores_less, .. } = self;
        Searched { found, has_rg, ignores_less, stopped }
    }
}

impl FarFiles<'_> {
    /// Lines that match the regular expression, in no order of files. Without `rg`, the glob is not applied.
    pub async fn contents(&self, search: Search<'_>, lines: Lines) -> Result<Searched<Hit>, FarError> {
        let what = if lines == Lines::All { "lines" } else { "counts" };
        let translated = extended(search.pattern);
        let raw = self.search(search, what, translated.as_ref(), "*").await?;
        let hits = match raw.has_rg {
            true => rg_lines(&raw.data, &raw.base),
            false => grep_lines(&raw.data, search.root),
        };
        Ok(raw.with(hits))
    }

    /// Files of which some have names that match the glob; those without one may be missing.
    pub async fn names(&self, search: Search<'_>) -> Result<Searched<NamedFile>, FarError> {
        let filter = name_filter(search.pattern);
        let raw = self.search(search, "names", Err(&String::new()), &filter).await?;
        let files = entries(&raw.data, &raw.base);
        Ok(raw.with(files))
    }

    async fn search(
        &self,
        search: Search<'_>,
        what: &str,
        extended: Result<&Extended, &String>,
        paths: &str,
    ) -> Result<Raw, FarError> {
        let (context, most) = (search.context.to_string(), MOST.to_string());
        let ignores_case = match extended {
            Ok(found) if found.ignores_case => "i",
            Ok(_) => "",
            Err(_) => "-",
        };
        let arguments = vec![
            bytes(search.root),
            what.as_bytes(),
            search.pattern.as_bytes(),
            extended.map_or("", |found| found.pattern.as_str()).as_bytes(),
            ignores_case.as_bytes(),
            context.as_bytes(),
            search.glob.unwrap_or_default().as_bytes(),
            paths.as_bytes(),
            most.as_bytes(),
        ];
        let doing = format!("searching {}", search.root.display());
        let mut work = Work::new(include_str!("search.sh"), arguments, doing);
        (work.timeout, work.most_output) = (PATIENCE, MOST_FACTS + MOST * 2);
        let reply = self.reply(&work).await?;
        match (reply.status(), extended) {
            ("ok", _) => {}
            ("pattern", Err(syntax)) => return Err(self.not_expressible(syntax)),
            ("pattern", Ok(_)) => return Err(self.not_expressible(search.pattern)),
            _ => return Err(FarError::new(format!("{} was moved meanwhile", search.root.display()))),
        }
        let data = reply.bytes("data").ok_or_else(|| self.garbled(search.root))?;
        let is_directory = reply.word("base").is_some();
        Ok(Raw {
            stopped: data.len() >= MOST || reply.word("over").is_some(),
            has_rg: reply.word("program") == Some("rg"),
            ignores_less: reply.word("ignored").is_some(),
            base: if is_directory { search.root.to_owned() } else { parent(search.root).to_owned() },
            data,
        })
    }

    fn not_expressible(&self, syntax: &str) -> FarError {
        FarError::new(format!(
            "there is no rg at {}, and grep -E has no `{syntax}`: write the pattern without it, or search with a \
             command",
            self.label
        ))
    }
}

/// A pattern of `find -path` that all paths match which the glob may match.
fn name_filter(pattern: &str) -> String {
    let is_simple = |sign: char| sign.is_alphanumeric() || " ._-*?".contains(sign);
    match pattern.chars().all(is_simple) && !pattern.contains("**") {
        true if pattern.contains(['*', '?']) => format!("*{pattern}"),
        true => format!("*{pattern}*"),
        false => "*".to_owned(),
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// The beginning of every printed path.
const START: &[u8] = b"./";

/// The path that was printed below `base`.
fn path_of(base: &Path, bytes: &[u8]) -> PathBuf {
    let printed = bytes.strip_prefix(START).unwrap_or(bytes);
    base.join(PathBuf::from(OsString::from_vec(printed.to_vec())))
}

/// The files of `TIME|PATH` lines. A line that is neither continues a name with a newline.
fn entries(data: &[u8], base: &Path) -> Vec<(Option<SystemTime>, PathBuf)> {
    let mut found: Vec<(Option<SystemTime>, Vec<u8>)> = Vec::new();
    let start = [b"|", START].concat();
    for line in data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let time = line.iter().position(|byte| *byte == b'|');
        match (time, found.last_mut()) {
            (Some(at), _) if line[at..].starts_with(&start) => {
                let time = std::str::from_utf8(&line[..at]).ok().and_then(time_of);
                found.push((time, line[at + 1..].to_vec()));
            }
            (_, Some((_, path))) => {
                path.push(b'\n');
                path.extend_from_slice(line);
            }
            (_, None) => {}
        }
    }
    found.into_iter().map(|(time, path)| (time, path_of(base, &path))).collect()
}

/// `12:text`, `12-text` or `12`.
fn hit(path: &Path, line: &[u8]) -> Option<Hit> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&line[..digits]).ok()?.parse().ok()?;
    let (around, text) = match line.get(digits) {
        Some(b':') => (false, &line[digits + 1..]),
        Some(b'-') => (true, &line[digits + 1..]),
        None => (false, &[][..]),
        Some(_) => return None,
    };
    Some(Hit { path: path.to_owned(), number, text: text.to_owned(), around })
}

/// The hits of `PATH NUL NUMBER:TEXT` lines.
fn rg_lines(data: &[u8], base: &Path) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        if line.starts_with(START) {
            name.clear();
        }
        match line.iter().position(|byte| *byte == 0) {
            Some(at) => {
                name.extend_from_slice(&line[..at]);
                hits.extend(hit(&path_of(base, &name), &line[at + 1..]));
                name.clear();
            }
            // Gaps between matches, or the beginning of a name with a newline.
            None if line == b"--" || line.is_empty() => {}
            None => {
                name.extend_from_slice(line);
                name.push(b'\n');
            }
        }
    }
    hits
}

/// The hits of lines below `FPATH` lines.
fn grep_lines(data: &[u8], root: &Path) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut path = PathBuf::new();
    for line in data.split(|byte| *byte == b'\n') {
        match line.split_first() {
            // A root that is a file has no name there.
            Some((b'F', b"")) => path = root.to_owned(),
            Some((b'F', name)) => path = path_of(root, name),
            Some(_) => hits.extend(hit(&path, line)),
            None => {}
        }
    }
    hits
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
