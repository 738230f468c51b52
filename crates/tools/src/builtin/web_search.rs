//! `web_search`: addresses and short descriptions of pages for a query.

use crate::facts::text;
use crate::{
    CallScope, Concurrency, Origin, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, WebHit,
};
use hermes_conversation::{CallDigest, CallTitle, ToolFacts, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Search the web. Returns titles, addresses and short descriptions.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WebSearchArgs {
    query: String,
    /// Results.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
}

fn usual_limit() -> i64 {
    5
}

/// Characters of a query. Longer ones are no queries, but a way to send data.
const MOST_QUERY: usize = 1_000;

pub(crate) struct WebSearch;

impl Tool for WebSearch {
    const NAME: &'static str = "web_search";
    const TOOLSET: Toolset = Toolset::Web;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Fetch,
        reads_only: true,
        digest: CallDigest::of(&["query"]),
        title: Some(|arguments| CallTitle::new("🌐", "search", text(arguments, "query"))),
        ..ToolFacts::DEFAULT
    };
    type Args = WebSearchArgs;

    fn refusal(&self, args: &WebSearchArgs, cx: &ToolContext) -> Option<Refusal> {
        let query = args.query.trim();
        if query.is_empty() || query.chars().count() > MOST_QUERY {
            return Some(Refusal::Invalid(format!("`query` needs 1 to {MOST_QUERY} characters")));
        }
        (cx.clean(query.to_owned()) != query).then(|| {
            Refusal::Denied("the query contains a key or another secret, which is not sent".to_owned())
        })
    }

    fn concurrency(&self, _: &WebSearchArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Free
    }

    async fn run(
        &self,
        args: WebSearchArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let web = cx.web().ok_or_else(|| ToolError::failed("this session cannot reach the web"))?;
        let limit = usize::try_from(args.limit.clamp(1, 100)).unwrap_or(1);
        let found = scope.cancel.run_until_cancelled(web.search(args.query.trim(), limit)).await;
        let found = found.unwrap_or_else(|| Err("the search was cancelled".to_owned()));
        let found = found.map_err(|why| ToolError::failed(why).with("success", false))?;
        let hits: Vec<Value> = found.iter().take(limit).zip(1..).map(|(hit, nth)| shown(hit, nth)).collect();
        Ok(ToolOutput::json(json!({"success": true, "data": {"web": hits}})).with_origin(Origin::Outside))
    }
}

fn shown(hit: &WebHit, position: usize) -> Value {
    json!({"title": hit.title, "url": hit.url, "description": hit.description, "position": position})
}

#[cfg(test)]
#[path = "web_search_tests.rs"]
mod tests;
