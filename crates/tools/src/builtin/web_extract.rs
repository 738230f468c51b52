//! `web_extract`: pages as Markdown. The whole text of a long page goes to a file.

use crate::{
    CallScope, Concurrency, Origin, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, WebPage,
    limits,
};
use hermes_conversation::{CallDigest, CallTitle, ToolFacts, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Get web pages (or PDF) as Markdown. Long ones are cut, with a file for the rest.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WebExtractArgs {
    #[schemars(length(max = 5))]
    urls: Vec<String>,
    /// Characters for each page.
    #[schemars(range(min = 2000))]
    char_limit: Option<i64>,
}

/// Pages of one call.
const MOST_PAGES: usize = 5;
/// Limits of `char_limit`.
const LEAST_CHARS: usize = 2_000;
const MOST_CHARS: usize = 500_000;

pub(crate) struct WebExtract;

impl Tool for WebExtract {
    const NAME: &'static str = "web_extract";
    const TOOLSET: Toolset = Toolset::Web;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Fetch,
        reads_only: true,
        digest: CallDigest::of(&["urls", "url"]),
        title: Some(|arguments| CallTitle::new("📄", "fetch", addresses(arguments))),
        ..ToolFacts::DEFAULT
    };
    type Args = WebExtractArgs;

    fn refusal(&self, args: &WebExtractArgs, cx: &ToolContext) -> Option<Refusal> {
        if args.urls.is_empty() || args.urls.len() > MOST_PAGES {
            return Some(Refusal::Invalid(format!("`urls` needs 1 to {MOST_PAGES} addresses")));
        }
        // One that may be fetched is: the others have their reason in the result.
        let web = cx.web()?;
        let refusals: Option<Vec<String>> = args.urls.iter().map(|url| web.refusal(url)).collect();
        refusals.map(|reasons| Refusal::Denied(reasons.join("; ")))
    }

    fn concurrency(&self, _: &WebExtractArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Free
    }

    async fn run(
        &self,
        args: WebExtractArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let web = cx.web().ok_or_else(|| ToolError::failed("this session cannot reach the web"))?;
        let cancelled = || ToolError::failed("fetching the pages was cancelled");
        let pages = scope.cancel.run_until_cancelled(web.extract(&args.urls)).await.ok_or_else(cancelled)?;
        let asked = args.char_limit.and_then(|limit| usize::try_from(limit).ok());
        let limit = asked.unwrap_or(cx.settings().extract_char_limit).clamp(LEAST_CHARS, MOST_CHARS);
        // Escaped characters and the addresses take their share.
        let room = scope.result_limit * 8 / 10 / pages.len().max(1);
        let failed = pages.iter().all(|page| page.content.is_err());
        let results: Vec<Value> = pages.into_iter().map(|page| shown(page, limit.min(room), cx)).collect();
        Ok(ToolOutput::json(json!({"results": results})).failed_if(failed).with_origin(Origin::Outside))
    }
}

fn shown(page: WebPage, limit: usize, cx: &ToolContext) -> Value {
    match page.content {
        Ok(content) => {
            let content = fitted(&content, limit, |text| match save(text, cx) {
                Ok(path) => format!("the full text is in {path}; read it with read_file (offset, limit)"),
                Err(why) => format!("the full text could not be saved: {why}"),
            });
            json!({"url": page.url, "title": page.title, "content": content})
        }
        Err(error) => json!({"url": page.url, "title": page.title, "content": "", "error": error}),
    }
}

/// Stores the text of a page among the untrusted files of the home directory, without secrets.
fn save(text: &str, cx: &ToolContext) -> Result<String, std::io::Error> {
    let text = cx.clean(text.to_owned());
    let path = limits::save_untrusted(&cx.web_dir(), &text)?;
    Ok(path.display().to_string())
}

/// The text if it fits, else three quarters from its beginning and one from its end, at line breaks where there are
/// some, with a note about the rest.
fn fitted(text: &str, limit: usize, store: impl Fn(&str) -> String) -> String {
    let chars = text.chars().count();
    if chars <= limit {
        return text.to_owned();
    }
    let (head, tail) = (limit * 3 / 4, limit / 4);
    let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let tail_start = text.char_indices().nth(chars - tail).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (text.get(..head_end).unwrap_or(text), text.get(tail_start..).unwrap_or_default());
    let head = head.rfind('\n').filter(|end| *end > head.len() / 2).map_or(head, |end| &head[..end]);
    let tail =
        tail.find('\n').filter(|start| *start < tail.len() / 2).map_or(tail, |start| &tail[start + 1..]);
    let left_out = chars - head.chars().count() - tail.chars().count();
    let note = store(text);
    format!(
        "{head}\n\n[... {left_out} characters left out ...]\n\n{tail}\n\n[The page has {chars} characters; {note}]"
    )
}

fn addresses(arguments: &Value) -> String {
    let urls = arguments["urls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let first = urls.first().and_then(Value::as_str).unwrap_or_default();
    match urls.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} and {} more", count - 1),
    }
}

#[cfg(test)]
#[path = "web_extract_tests.rs"]
mod tests;
