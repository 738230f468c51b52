//! Pages of searches in files of a place. What must not be read is left out here.

use super::FarFiles;
use crate::builtin::found::{self, Line, Matches, Query, Slice};
use crate::{ToolContext, ToolError, protect};
use hermes_far_files::{Hit, Lines, Search};
use hermes_gate::Scene;
use ignore::overrides::Override;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The result of a search.
pub(crate) struct Searched<T> {
    pub(crate) found: T,
    /// Files may be among the results that are to be ignored.
    pub(crate) ignores_less: bool,
}

fn search(query: &Query) -> Search<'_> {
    Search {
        root: &query.root,
        pattern: &query.pattern,
        glob: query.file_glob.as_deref(),
        context: query.context,
    }
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
    pub(crate) async fn matches(
        &self,
        query: &Query,
        slice: Slice,
        lines: Lines,
    ) -> Result<Searched<Matches>, ToolError> {
        found::matcher(&query.pattern).map_err(ToolError::failed)?;
        let result = self.contents(search(query), lines).await?;
        let filter = Filter::new(query, self.cx, result.has_rg).map_err(ToolError::failed)?;
        let mut matches = match lines {
            Lines::All => collected(result.found, slice, &filter),
            Lines::Counts => counted(result.found, &filter),
        };
        matches.stopped = result.stopped;
        Ok(Searched { found: matches, ignores_less: result.ignores_less })
    }

    /// Files whose name matches the query's glob, newest first, and whether the search was ended early.
    pub(crate) async fn named(&self, query: &Query) -> Result<Searched<(Vec<PathBuf>, bool)>, ToolError> {
        let wanted = found::name_matcher(&query.pattern).map_err(ToolError::failed)?;
        let result = self.names(search(query)).await?;
        let filter = Filter::new(query, self.cx, result.has_rg).map_err(ToolError::failed)?;
        let matching = result.found.into_iter().filter(|(_, path)| {
            let relative = path.strip_prefix(&query.root).unwrap_or(path);
            let name = path.file_name().map(Path::new).unwrap_or(relative);
            filter.shows(path) && (wanted.is_match(name) || wanted.is_match(relative))
        });
        let files = found::newest_first(matching.collect());
        Ok(Searched { found: (files, result.stopped), ignores_less: result.ignores_less })
    }
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
