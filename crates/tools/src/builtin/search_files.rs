//! Searching in files, and for files.

use super::blocking::{Stop, look};
use super::found::{self, Line, Matches, Query, Slice};
use super::regular;
use crate::facts::text;
use crate::far::FarFiles;
use crate::far::search::Searched;
use crate::reads::Advice;
use crate::{
    CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, protect, untrusted,
};
use hermes_conversation::{CallDigest, CallTitle, Outcome, Subject, ToolFacts, ToolKind};
use hermes_far_files::Lines;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Search file contents with a regular expression, or find files by name. Hidden and
/// git-ignored files are skipped.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SearchFilesArgs {
    /// Regular expression for contents; glob such as *.rs for files.
    pattern: String,
    /// content searches inside files; files searches names, newest first.
    #[serde(default)]
    target: Target,
    /// Directory or file to search.
    #[serde(default = "here")]
    path: PathBuf,
    /// Only files matching this glob (content).
    file_glob: Option<String>,
    /// Results per page.
    #[serde(default = "page_length")]
    #[schemars(range(min = 1))]
    limit: usize,
    /// Results to skip.
    #[serde(default)]
    offset: usize,
    /// Matching lines, file names only, or counts per file (content).
    #[serde(default)]
    output_mode: OutputMode,
    /// Lines to show around each match.
    #[serde(default)]
    context: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    #[default]
    Content,
    Files,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Content,
    FilesOnly,
    Count,
}

impl SearchFilesArgs {
    fn slice(&self) -> Slice {
        Slice { offset: self.offset, limit: self.limit.min(MOST_RESULTS) }
    }
}

fn here() -> PathBuf {
    PathBuf::from(".")
}

fn page_length() -> usize {
    50
}

/// The timeout of a search.
const PATIENCE: Duration = Duration::from_secs(60);
/// From this many matches on, they come grouped as text, which is shorter.
const GROUPED: usize = 5;
const MOST_CONTEXT: usize = 50;
const MOST_RESULTS: usize = 2000;
/// Bytes of the longest line that is searched.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

pub(crate) struct SearchFiles;

impl Tool for SearchFiles {
    const NAME: &'static str = "search_files";
    const TOOLSET: Toolset = Toolset::File;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Search,
        reads_only: true,
        title: Some(title),
        digest: CallDigest {
            subject: Subject::Values(&["pattern", "path"]),
            outcome: Outcome::Matches(&["total_count", "matches"]),
        },
        rank: 4,
        ..ToolFacts::DEFAULT
    };
    const ALIASES: &'static [(&'static str, &'static str, &'static str)] =
        &[("target", "grep", "content"), ("target", "find", "files")];
    type Args = SearchFilesArgs;

    fn refusal(&self, args: &SearchFilesArgs, cx: &ToolContext) -> Option<Refusal> {
        unsearchable(&cx.resolve_to_read(&args.path, &cx.cwd()), cx).map(Refusal::Denied)
    }

    fn concurrency(&self, args: &SearchFilesArgs, cx: &ToolContext) -> Concurrency {
        Concurrency::Reads(vec![cx.resolve_to_read(&args.path, &cx.cwd())])
    }

    async fn run(
        &self,
        args: SearchFilesArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let root = cx.resolve_to_read(&args.path, &scope.cwd);
        let far = FarFiles::of(cx, &scope.cancel).filter(|_| cx.is_far(&root));
        let root = match &far {
            Some(far) => far_root(&args.path, far, scope).await?,
            None => here_root(root, cx)?,
        };
        let advice = match scope.caller.is_script() {
            true => Advice::Read,
            false => cx.reads().ask_search(format!("{args:?} {}", root.display())),
        };
        if advice == Advice::Block {
            return Err(ToolError::failed(
                "This search was repeated and is not run again. Change the pattern or the path, or go on with what \
                 you have.",
            ));
        }
        let query = Query {
            root,
            pattern: args.pattern.clone(),
            file_glob: args.file_glob.clone(),
            context: args.context.min(MOST_CONTEXT),
            longest_line: LONGEST_LINE,
            places: cx.places().clone(),
        };
        let cwd = scope.cwd.clone();
        let doing = format!("searching {}", query.root.display());
        let mut value = match far {
            Some(far) => search_far(&args, &query, &far, &cx.far_path(Path::new("."), &cwd)).await?,
            None => {
                let search = move |stop: &Stop| {
                    check_root(&query.root)?;
                    search(&args, &query, &cwd, &|| stop.is_asked()).map_err(ToolError::failed)
                };
                look(doing, Stop::new(scope, PATIENCE), search).await?
            }
        };
        if advice == Advice::ReadAndWarn {
            value["warning"] =
                "You have made this search three times in a row; the next time is refused.".into();
        }
        let origin = untrusted::origin_of_list(&value.to_string());
        Ok(ToolOutput::json(value).with_origin(origin))
    }
}

fn title(arguments: &Value) -> CallTitle {
    let verb = if arguments["target"] == "files" { "find" } else { "grep" };
    CallTitle::new("🔎", verb, text(arguments, "pattern"))
}

/// The reason why `root`, a file, must not be searched. Files below a directory are checked one by one.
fn unsearchable(root: &Path, cx: &ToolContext) -> Option<String> {
    // The kind of a path of another place is not known before the call.
    if cx.is_far(root) || root.is_dir() { None } else { protect::unreadable(root, cx.places()) }
}

/// The root of a search on this machine.
fn here_root(root: PathBuf, cx: &ToolContext) -> Result<PathBuf, ToolError> {
    if !root.exists() {
        return Err(ToolError::failed(format!("{} does not exist", root.display())));
    }
    match protect::unreadable(&root, cx.places()).filter(|_| !root.is_dir()) {
        Some(why) => Err(ToolError::failed(why)),
        None => Ok(root),
    }
}

/// The root of a search at another place.
async fn far_root(path: &Path, far: &FarFiles<'_>, scope: &CallScope) -> Result<PathBuf, ToolError> {
    let found = far.located_to_search(path, scope).await?;
    let shown = found.real.display();
    let Some(facts) = found.facts else {
        return Err(ToolError::failed(format!("{shown} does not exist")));
    };
    match facts.other_kind().filter(|_| !facts.is_directory()) {
        Some(kind) => Err(ToolError::failed(format!("{shown} is {kind}, not a regular file"))),
        None => Ok(found.real),
    }
}

fn check_root(root: &Path) -> Result<(), ToolError> {
    let metadata = std::fs::metadata(root).map_err(|error| ToolError::io("search", root, &error))?;
    if metadata.is_dir() { Ok(()) } else { regular::check(root, &metadata) }
}

fn search(
    args: &SearchFilesArgs,
    query: &Query,
    cwd: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<Value, String> {
    let slice = args.slice();
    let real = cwd.canonicalize();
    let cwd = real.as_deref().unwrap_or(cwd);
    match args.target {
        Target::Files => {
            let (files, stopped) = found::names(query, stop)?;
            Ok(files_page(&files, slice, stopped, cwd))
        }
        Target::Content => {
            // Names and counts need no lines.
            let kept = if args.output_mode == OutputMode::Content { slice.limit } else { 0 };
            let matches = found::contents(query, Slice { limit: kept, ..slice }, stop)?;
            Ok(matches_page(args, query, matches, cwd))
        }
    }
}

/// The same at another place.
async fn search_far(
    args: &SearchFilesArgs,
    query: &Query,
    far: &FarFiles<'_>,
    cwd: &Path,
) -> Result<Value, ToolError> {
    let slice = args.slice();
    let (mut page, ignores_less) = match args.target {
        Target::Files => {
            let Searched { found: (files, stopped), ignores_less } = far.named(query).await?;
            (files_page(&files, slice, stopped, cwd), ignores_less)
        }
        Target::Content => {
            let lines = if args.output_mode == OutputMode::Content { Lines::All } else { Lines::Counts };
            let Searched { found, ignores_less } = far.matches(query, slice, lines).await?;
            (matches_page(args, query, found, cwd), ignores_less)
        }
    };
    if ignores_less {
        page["searched_with"] = "grep and find; ignored files are among the results".into();
    }
    Ok(page)
}

/// The matches in contents as they were asked for.
fn matches_page(args: &SearchFilesArgs, query: &Query, matches: Matches, cwd: &Path) -> Value {
    let (slice, skipped) = (args.slice(), matches.skipped);
    let mut page = match args.output_mode {
        OutputMode::Content => lines_page(matches, slice, query.context > 0, cwd),
        OutputMode::FilesOnly => {
            let files: Vec<PathBuf> = matches.counts.into_iter().map(|(path, _)| path).collect();
            files_page(&files, slice, matches.stopped, cwd)
        }
        OutputMode::Count => counts_page(&matches, slice, cwd),
    };
    if skipped > 0 {
        page["skipped"] = skipped.into();
    }
    if args.pattern.contains("\\n") || args.pattern.contains('\n') {
        page["warning"] =
            "Lines are matched one at a time; a pattern with \\n finds nothing across lines.".into();
    }
    page
}

fn lines_page(matches: Matches, slice: Slice, has_context: bool, cwd: &Path) -> Value {
    let shown = matches.lines.iter().filter(|line| !line.around).count();
    let mut value = paging(matches.total, slice, shown, matches.stopped);
    if shown >= GROUPED || has_context {
        value["matches_format"] = "path, then LINE:text for matches and LINE-text around them".into();
        value["matches_text"] = grouped(&matches.lines, has_context, cwd).into();
    } else {
        value["matches"] = matches
            .lines
            .iter()
            .map(|line| json!({"path": short(&line.path, cwd), "line": line.number, "content": line.text}))
            .collect();
    }
    value
}

/// Matches below the name of their file; with context, gaps are marked.
fn grouped(lines: &[Line], has_context: bool, cwd: &Path) -> String {
    let mut text = String::new();
    let mut before: Option<&Line> = None;
    for line in lines {
        if before.is_none_or(|before| before.path != line.path) {
            if before.is_some() {
                text.push('\n');
            }
            text.push_str(&format!("{}\n", short(&line.path, cwd)));
        } else if has_context && before.is_some_and(|before| before.number + 1 < line.number) {
            text.push_str("--\n");
        }
        let mark = if line.around { '-' } else { ':' };
        text.push_str(&format!("{}{mark}{}\n", line.number, line.text));
        before = Some(line);
    }
    text
}

fn files_page(files: &[PathBuf], slice: Slice, stopped: bool, cwd: &Path) -> Value {
    let page: Vec<String> =
        files.iter().skip(slice.offset).take(slice.limit).map(|path| short(path, cwd)).collect();
    let mut value = paging(files.len(), slice, page.len(), stopped);
    value["files"] = page.into();
    value
}

fn counts_page(matches: &Matches, slice: Slice, cwd: &Path) -> Value {
    let page: serde_json::Map<String, Value> = matches
        .counts
        .iter()
        .skip(slice.offset)
        .take(slice.limit)
        .map(|(path, hits)| (short(path, cwd), (*hits).into()))
        .collect();
    let mut value = paging(matches.counts.len(), slice, page.len(), matches.stopped);
    value["total_count"] = matches.total.into();
    value["total_files"] = matches.counts.len().into();
    value["counts"] = page.into();
    value
}

/// The fields every answer has; `total` counts what is paged.
fn paging(total: usize, slice: Slice, shown: usize, stopped: bool) -> Value {
    let next = slice.offset + shown;
    let more = next < total;
    let mut value = json!({"total_count": total, "truncated": more || stopped});
    if stopped {
        value["limit_reason"] = "the search was ended early; narrow the path or the pattern".into();
    } else if more {
        value["limit_reason"] = "limit".into();
    }
    if more && shown > 0 {
        value["hint"] = format!("More with offset={next}.").into();
    }
    value
}

/// Paths below the working directory, a real path, are shown from there.
fn short(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

#[cfg(test)]
#[path = "search_files_tests.rs"]
mod tests;
