//! Searching in files of a place, with `rg` there, else with `grep` and `find`.
//!
//! What must not be read is left out of the result here: the programs there know no such rules.

use super::ere::{Extended, extended};
use super::reply::time_of;
use super::{FarFiles, MOST_FACTS, Work, bytes};
use crate::builtin::found::{self, Line, Matches, Query, Slice};
use crate::protect;
use crate::{ToolContext, ToolError};
use hermes_gate::Scene;
use ignore::overrides::Override;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes of a result; what is beyond them is not searched for.
const MOST: usize = 8 << 20;
/// The script ends searches by itself before, and returns what they found.
const PATIENCE: Duration = Duration::from_secs(60);

/// The result of a search.
pub(crate) struct Searched<T> {
    pub(crate) found: T,
    /// It was searched without `rg`, so that files may be among the results that are to be ignored.
    pub(crate) ignores_less: bool,
}

/// Which lines are wanted of the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Lines,
    Counts,
}

/// The output of the programs.
struct Raw {
    data: Vec<u8>,
    has_rg: bool,
    stopped: bool,
    /// There are files that say what to ignore, and they were not obeyed.
    ignores_less: bool,
    /// The directory from which paths are printed.
    base: PathBuf,
}

/// The facts by which results are left out.
struct Filter {
    root: PathBuf,
    scene: Scene,
    glob: Option<Override>,
}

impl Filter {
    fn new(query: &Query, cx: &ToolContext, has_rg: bool) -> Result<Self, String> {
        let far = cx.far().ok_or("commands run on this machine")?;
        let (_, scene) = cx.far_judged(&query.root, &cx.cwd(), far);
        // `rg` has applied the glob.
        let glob = query.file_glob.as_ref().filter(|_| !has_rg);
        let glob = glob.map(|glob| found::overrides(&query.root, glob)).transpose()?;
        Ok(Self { root: query.root.clone(), scene, glob })
    }

    fn shows(&self, path: &Path) -> bool {
        let is_wanted = |glob: &Override| {
            let above = path.ancestors().skip(1).take_while(|dir| *dir != self.root);
            !glob.matched(path, false).is_ignore()
                && !above.into_iter().any(|dir| glob.matched(dir, true).is_ignore())
        };
        path.starts_with(&self.root)
            && self.glob.as_ref().is_none_or(is_wanted)
            && protect::denied_read(path, &self.scene).is_none()
    }
}

impl FarFiles<'_> {
    /// Lines that match the query's regular expression.
    pub(crate) async fn contents(
        &self,
        query: &Query,
        slice: Slice,
        wanted: Wanted,
    ) -> Result<Searched<Matches>, ToolError> {
        found::matcher(&query.pattern).map_err(ToolError::failed)?;
        let what = if wanted == Wanted::Lines { "lines" } else { "counts" };
        let translated = extended(&query.pattern);
        let raw = self.search(query, what, translated.as_ref(), "*").await?;
        let filter = Filter::new(query, self.cx, raw.has_rg).map_err(ToolError::failed)?;
        let lines = match (raw.has_rg, wanted) {
            (true, _) => rg_lines(&raw.data, &raw.base),
            (false, _) => grep_lines(&raw.data, &query.root),
        };
        let mut matches = match wanted {
            Wanted::Lines => collected(lines, slice, &filter),
            Wanted::Counts => counted(lines, &filter),
        };
        matches.stopped = raw.stopped;
        Ok(Searched { found: matches, ignores_less: raw.ignores_less })
    }

    /// Files whose name matches the query's glob, newest first, and whether the search was ended early.
    pub(crate) async fn names(&self, query: &Query) -> Result<Searched<(Vec<PathBuf>, bool)>, ToolError> {
        let wanted = found::name_matcher(&query.pattern).map_err(ToolError::failed)?;
        let raw = self.search(query, "names", Err(&String::new()), &name_filter(&query.pattern)).await?;
        let filter = Filter::new(query, self.cx, raw.has_rg).map_err(ToolError::failed)?;
        let matching = entries(&raw.data, &raw.base).into_iter().filter(|(_, path)| {
            let relative = path.strip_prefix(&query.root).unwrap_or(path);
            let name = path.file_name().map(Path::new).unwrap_or(relative);
            filter.shows(path) && (wanted.is_match(name) || wanted.is_match(relative))
        });
        let files = found::newest_first(matching.collect());
        Ok(Searched { found: (files, raw.stopped), ignores_less: raw.ignores_less })
    }

    async fn search(
        &self,
        query: &Query,
        what: &str,
        extended: Result<&Extended, &String>,
        paths: &str,
    ) -> Result<Raw, ToolError> {
        let (context, most) = (query.context.to_string(), MOST.to_string());
        let ignores_case = match extended {
            Ok(found) if found.ignores_case => "i",
            Ok(_) => "",
            Err(_) => "-",
        };
        let arguments = vec![
            bytes(&query.root),
            what.as_bytes(),
            query.pattern.as_bytes(),
            extended.map_or("", |found| found.pattern.as_str()).as_bytes(),
            ignores_case.as_bytes(),
            context.as_bytes(),
            query.file_glob.as_deref().unwrap_or_default().as_bytes(),
            paths.as_bytes(),
            most.as_bytes(),
        ];
        let doing = format!("searching {}", query.root.display());
        let mut work = Work::new(include_str!("search.sh"), arguments, doing);
        (work.timeout, work.most_output) = (PATIENCE, MOST_FACTS + MOST * 2);
        let reply = self.reply(&work).await?;
        match (reply.status(), extended) {
            ("ok", _) => {}
            ("pattern", Err(syntax)) => return Err(self.not_expressible(syntax)),
            ("pattern", Ok(_)) => return Err(self.not_expressible(&query.pattern)),
            _ => return Err(ToolError::failed(format!("{} was moved meanwhile", query.root.display()))),
        }
        let data = reply.bytes("data").ok_or_else(|| self.garbled(&query.root))?;
        let is_directory = reply.word("base").is_some();
        Ok(Raw {
            stopped: data.len() >= MOST || reply.word("over").is_some(),
            has_rg: reply.word("program") == Some("rg"),
            ignores_less: reply.word("ignored").is_some(),
            base: if is_directory { query.root.clone() } else { parent(&query.root).to_owned() },
            data,
        })
    }

    fn not_expressible(&self, syntax: &str) -> ToolError {
        ToolError::failed(format!(
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

/// What every printed path begins with.
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

/// One line of the output of a program: with a count, its text is empty.
struct Hit {
    path: PathBuf,
    number: u64,
    text: Vec<u8>,
    around: bool,
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

/// The hits of each file that is shown, in the order of paths.
fn by_file(hits: Vec<Hit>, filter: &Filter) -> BTreeMap<PathBuf, Vec<Hit>> {
    let mut files: BTreeMap<PathBuf, Vec<Hit>> = BTreeMap::new();
    for hit in hits {
        files.entry(hit.path.clone()).or_default().push(hit);
    }
    files.retain(|path, _| filter.shows(path));
    files
}

fn counted(hits: Vec<Hit>, filter: &Filter) -> Matches {
    let mut matches = Matches::default();
    for (path, hits) in by_file(hits, filter) {
        let count: usize = hits.iter().map(|hit| usize::try_from(hit.number).unwrap_or(usize::MAX)).sum();
        if count > 0 {
            matches.total += count;
            matches.counts.push((path, count));
        }
    }
    matches
}

/// The wanted page of the lines, with what surrounds them, and the counts of all.
fn collected(hits: Vec<Hit>, slice: Slice, filter: &Filter) -> Matches {
    let mut matches = Matches::default();
    let is_open = |index: usize| index >= slice.offset && index - slice.offset < slice.limit;
    for (path, hits) in by_file(hits, filter) {
        let before = matches.total;
        for hit in hits {
            // What surrounds a match belongs to the one before it, or else to the one to come.
            let last = matches.total.checked_sub(1).filter(|last| *last >= before);
            let is_kept = match hit.around {
                true => last.is_some_and(is_open) || is_open(matches.total),
                false => is_open(matches.total),
            };
            if is_kept {
                let text = found::shown(&hit.text);
                matches.lines.push(Line { path: path.clone(), number: hit.number, text, around: hit.around });
            }
            matches.total += usize::from(!hit.around);
        }
        if matches.total > before {
            matches.counts.push((path, matches.total - before));
        }
    }
    matches
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
