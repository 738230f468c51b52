//! Reading a file, a page at a time.

use super::blocking::{FILE_PATIENCE, Stop, look};
use super::document;
use super::page::{self, Found, Window};
use super::regular;
use crate::facts::text;
use crate::far::FarFiles;
use crate::far::access::Access;
use crate::limits;
use crate::protect::Places;
use crate::reads::{Advice, Page, Version};
use crate::text::head;
use crate::{
    Action, CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, protect,
    untrusted,
};
use hermes_conversation::{CallDigest, CallTitle, ToolFacts, ToolKind};
use hermes_edits::fuzzy::alike;
use hermes_gate::assess_read;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Read a text file in pages. Each line comes as NUMBER|text. Long files continue at
/// next_offset. Reads .ipynb, .docx, .xlsx and .pdf as text.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReadFileArgs {
    /// Path, absolute or relative to the working directory; ~ works.
    path: PathBuf,
    /// First line, counting from 1.
    #[serde(default = "first_line")]
    #[schemars(range(min = 1))]
    offset: usize,
    /// Number of lines, at most 2000.
    #[serde(default = "page_length")]
    #[schemars(range(min = 1))]
    limit: usize,
}

fn first_line() -> usize {
    1
}

fn page_length() -> usize {
    500
}

pub(crate) struct ReadFile;

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const TOOLSET: Toolset = Toolset::File;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Read,
        reads_only: true,
        title: Some(|arguments| CallTitle::new("📖", "read", text(arguments, "path"))),
        digest: CallDigest::of(&["path", "offset"]),
        rank: 1,
        ..ToolFacts::DEFAULT
    };
    type Args = ReadFileArgs;

    fn refusal(&self, args: &ReadFileArgs, cx: &ToolContext) -> Option<Refusal> {
        cx.unreadable(&cx.resolve_to_read(&args.path, &cx.cwd())).map(Refusal::Denied)
    }

    fn action(&self, args: &ReadFileArgs, cx: &ToolContext) -> Option<Action> {
        let cwd = cx.cwd();
        let path = cx.resolve_to_read(&args.path, &cwd);
        let text = format!("read {}", path.display());
        let (judged, scene) = cx.judged(path, &cwd);
        let assessment = assess_read(&judged, &scene);
        Some(Action { kind: cx.access_kind(), text, cwd, environment: Arc::default(), assessment })
    }

    fn concurrency(&self, args: &ReadFileArgs, cx: &ToolContext) -> Concurrency {
        Concurrency::Reads(vec![cx.resolve_to_read(&args.path, &cx.cwd())])
    }

    async fn run(
        &self,
        args: ReadFileArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let stop = Stop::new(scope, FILE_PATIENCE);
        let Subject { path, key, version, far } = Subject::find(&args.path, cx, scope, &stop).await?;
        let wanted = Page { path: key, offset: args.offset, limit: args.limit.min(cx.settings().max_lines) };
        // A script has not seen what the model was given.
        let is_script = scope.caller.is_script();
        let advice = if is_script { Advice::Read } else { cx.reads().ask(&wanted, version) };
        match advice {
            Advice::Unchanged => return Ok(unchanged(&path)),
            Advice::Block => return Err(blocked(&path)),
            Advice::Read | Advice::ReadAndWarn => {}
        }
        let window =
            Window { offset: wanted.offset, limit: wanted.limit, line_chars: cx.settings().max_line_length };
        let most = limits::page_limit(scope.result_limit, cx.settings().file_read_max_chars);
        let (version, found) = match far {
            Some(far) => read_far(&far, &path, window, most, scope).await?,
            None => {
                let (place, places) = (path.clone(), cx.places().clone());
                let doing = format!("reading {}", path.display());
                (version, look(doing, stop, move |stop| read(&place, &places, window, stop)).await?)
            }
        };
        let Found::Text { lines, total_lines } = found else {
            let why = document::no_text(&path, cx.vision().is_some());
            let why = why.unwrap_or("is a binary file and cannot be shown as text");
            let text = format!("{} {why} ({} bytes)", path.display(), version.size);
            return Err(ToolError::failed(text));
        };
        let text = numbered(lines, args.offset, most, cx);
        let whole = args.offset == 1 && text.next_offset(total_lines).is_none();
        match is_script {
            true => cx.reads().gave_to_script(wanted.path, version, whole),
            false => cx.reads().gave(wanted, version, whole),
        }
        let kind = document::kind(&path).map(|kind| kind.name);
        Ok(report(text, total_lines, version.size, advice, kind).with_origin(untrusted::origin_of(&path)))
    }
}

/// The file of a call.
struct Subject<'a> {
    path: PathBuf,
    /// Its name in the log of reads.
    key: PathBuf,
    version: Version,
    /// The files that it is one of, if they are not those of this machine.
    far: Option<FarFiles<'a>>,
}

impl<'a> Subject<'a> {
    /// Finds the file and checks it again: a command in between may have moved a link.
    async fn find(
        path: &Path,
        cx: &'a ToolContext,
        scope: &CallScope,
        stop: &Stop,
    ) -> Result<Self, ToolError> {
        let resolved = cx.resolve_to_read(path, &scope.cwd);
        if let Some(far) = FarFiles::of(cx, &scope.cancel).filter(|_| cx.is_far(&resolved)) {
            return Self::find_far(path, far, scope).await;
        }
        if let Some(why) = protect::unreadable(&resolved, cx.places()) {
            return Err(ToolError::failed(why));
        }
        let place = resolved.clone();
        let doing = format!("reading {}", resolved.display());
        let version = look(doing, stop.clone(), move |_| version_of(&place)).await?;
        Ok(Self { key: resolved.clone(), path: resolved, version, far: None })
    }

    async fn find_far(path: &Path, far: FarFiles<'a>, scope: &CallScope) -> Result<Self, ToolError> {
        let found = far.located(path, Access::Read, scope).await?;
        let path = found.real;
        let Some(facts) = found.facts else {
            let dir = path.parent().unwrap_or(Path::new("/"));
            let names = found.near.iter().map(|name| (name.clone(), dir.join(name)));
            let similar = similar_names(&path, names);
            return Err(missing(&path, similar));
        };
        match facts.other_kind() {
            None => Ok(Self { key: far.key(&path), path, version: Version::from(&facts), far: Some(far) }),
            Some(_) if facts.is_directory() => Err(is_directory(&path)),
            Some(kind) => Err(ToolError::failed(format!("{} is {kind}, not a regular file", path.display()))),
        }
    }
}

/// Reads a page of a file of another place. Documents are converted here.
async fn read_far(
    far: &FarFiles<'_>,
    path: &Path,
    window: Window,
    most: usize,
    scope: &CallScope,
) -> Result<(Version, Found), ToolError> {
    let Some(kind) = document::kind(path) else { return far.text(path, window, most).await };
    let Some((facts, bytes)) = far.fetch(path, document::LARGEST).await? else {
        return Err(missing(path, Vec::new()));
    };
    let (place, doing) = (path.to_owned(), format!("reading {}", path.display()));
    let found = look(doing, Stop::new(scope, FILE_PATIENCE), move |stop| {
        let text = kind.convert(&place, &bytes)?;
        let found = page::read(text.as_bytes(), window, || stop.is_asked());
        found.map_err(|_| stop.error(&format!("reading {}", place.display())))
    });
    Ok((Version::from(&facts), found.await?))
}

fn read(path: &Path, places: &Places, window: Window, stop: &Stop) -> Result<Found, ToolError> {
    let found = match document::kind(path) {
        Some(kind) => page::read(kind.read(path, places)?.as_bytes(), window, || stop.is_asked()),
        None => page::read(regular::open_to_show(path, places)?, window, || stop.is_asked()),
    };
    found.map_err(|error| match error.kind() {
        std::io::ErrorKind::Interrupted => stop.error(&format!("reading {}", path.display())),
        _ => ToolError::io("read", path, &error),
    })
}

fn version_of(path: &Path) -> Result<Version, ToolError> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(path, similar_names(path, neighbours(path))),
        _ => ToolError::io("read", path, &error),
    })?;
    if metadata.is_dir() {
        return Err(is_directory(path));
    }
    regular::check(path, &metadata)?;
    Ok(Version::of(&metadata))
}

fn is_directory(path: &Path) -> ToolError {
    ToolError::failed(format!("{} is a directory; list it with search_files, target files", path.display()))
}

fn missing(path: &Path, similar: Vec<String>) -> ToolError {
    let error = ToolError::failed(format!("{} does not exist", path.display()));
    if similar.is_empty() { error } else { error.with("similar_files", similar) }
}

/// The names and paths beside a file, at most 2000.
fn neighbours(path: &Path) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    let entries = path.parent().map(std::fs::read_dir).into_iter().flatten().flatten().flatten().take(2000);
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.to_owned(), entry.path())))
}

/// Up to five neighbours with a name like the one asked for.
fn similar_names(path: &Path, neighbours: impl Iterator<Item = (String, PathBuf)>) -> Vec<String> {
    let Some(wanted) = path.file_name().and_then(|name| name.to_str()).map(str::to_lowercase) else {
        return Vec::new();
    };
    let mut names: Vec<(f32, PathBuf)> = neighbours
        .filter_map(|(name, path)| {
            let likeness = alike(&name.to_lowercase(), &wanted);
            (likeness >= 0.6).then_some((likeness, path))
        })
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    names.into_iter().take(5).map(|(_, path)| path.display().to_string()).collect()
}

/// Lines as the model sees them.
struct Numbered {
    content: String,
    /// The line after the last one shown.
    next: usize,
    /// True if the size budget and not the page ended it.
    over_budget: bool,
    cut_lines: usize,
}

impl Numbered {
    fn next_offset(&self, total_lines: usize) -> Option<usize> {
        (self.next <= total_lines).then_some(self.next)
    }
}

fn numbered(lines: Vec<String>, offset: usize, most: usize, cx: &ToolContext) -> Numbered {
    let settings = cx.settings();
    let mut text = Numbered { content: String::new(), next: offset, over_budget: false, cut_lines: 0 };
    // Cleaned as one text, because a key may span lines, and before lines are cut or numbered.
    let clean = cx.clean(lines.join("\n"));
    let mut chars = 0;
    for line in clean.split('\n').take(lines.len()) {
        let shown = head(line, settings.max_line_length);
        let mut entry = format!("{}|{shown}", text.next);
        if shown.len() < line.len() {
            entry.push_str(" [line cut]");
            text.cut_lines += 1;
        }
        chars += entry.chars().count() + 1;
        if chars > most && text.next > offset {
            text.over_budget = true;
            break;
        }
        if text.next > offset {
            text.content.push('\n');
        }
        text.content.push_str(&entry);
        text.next += 1;
    }
    // A key that was taken out may have spanned lines; the page still ends where it ends.
    if !text.over_budget {
        text.next = offset + lines.len();
    }
    text
}

fn report(text: Numbered, total_lines: usize, size: u64, advice: Advice, kind: Option<&str>) -> ToolOutput {
    let next = text.next_offset(total_lines);
    let mut value = json!({
        "content": text.content,
        "total_lines": total_lines,
        "file_size": size,
        "truncated": next.is_some() || text.cut_lines > 0,
    });
    if let Some(next) = next {
        value["next_offset"] = next.into();
        value["truncated_by"] = if text.over_budget { "characters" } else { "lines" }.into();
        value["hint"] = format!("Continue with offset={next}.").into();
    }
    if text.content.is_empty() && total_lines > 0 {
        value["hint"] = format!("The file has only {total_lines} lines.").into();
    }
    if let Some(kind) = kind {
        value["converted_from"] = kind.into();
    }
    if advice == Advice::ReadAndWarn {
        value["warning"] = "You have read this page three times in a row; the next time is refused.".into();
    }
    ToolOutput::json(value).paging_itself()
}

fn unchanged(path: &Path) -> ToolOutput {
    ToolOutput::json(json!({
        "status": "unchanged",
        "dedup": true,
        "content_returned": false,
        "message": format!("{} has not changed since you read this page; use the earlier result.", path.display()),
    }))
}

fn blocked(path: &Path) -> ToolError {
    ToolError::failed(format!(
        "This page of {} was read repeatedly and is not shown again. Work with what you have, or read another page.",
        path.display()
    ))
}

#[cfg(test)]
#[path = "read_file_tests.rs"]
mod tests;
