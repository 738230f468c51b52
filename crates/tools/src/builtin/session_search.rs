//! `session_search`: past sessions, by the terms of a query, by id, or the newest.

use crate::facts::text;
use crate::session_library::{PastHit, PastMessage, PastOrder, PastSession, SessionLibrary};
use crate::{CallScope, Concurrency, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallDigest, CallTitle, Guidance, ToolFacts, ToolKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Look into past sessions. Without arguments: the newest ones. query: sessions that mention it. session_id: that
/// session. session_id and around_message_id: the messages around that one.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SessionSearchArgs {
    /// Terms; "quotes", OR, NOT and word* are understood.
    query: Option<String>,
    /// Sessions, 1 to 10.
    #[serde(default = "usual_limit")]
    limit: i64,
    sort: Option<Sort>,
    session_id: Option<String>,
    around_message_id: Option<i64>,
    /// Messages on each side, 1 to 20.
    #[serde(default = "usual_window")]
    window: i64,
    /// Roles with commas; user,assistant if not given.
    role_filter: Option<String>,
    /// Another profile of this machine.
    profile: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Sort {
    Newest,
    Oldest,
}

fn usual_limit() -> i64 {
    3
}

fn usual_window() -> i64 {
    5
}

/// Messages on each side of a hit.
const AROUND: usize = 5;
/// Messages from the beginning and the end of a found session.
const BOOKEND: usize = 3;
/// Messages from the beginning and the end of a session that is read.
const HEAD: usize = 20;
const TAIL: usize = 10;
/// Characters of one message.
const MOST: usize = 4_000;
const GUIDANCE: &str =
    "When the user refers to something said earlier, look with `session_search` before you ask again.";

pub(crate) struct SessionSearch;

impl Tool for SessionSearch {
    const NAME: &'static str = "session_search";
    const TOOLSET: Toolset = Toolset::SessionSearch;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Search,
        reads_only: true,
        is_housekeeping: true,
        guidance: Some(Guidance::new(GUIDANCE)),
        digest: CallDigest::of(&["query", "session_id"]),
        title: Some(|arguments| {
            let subject = [text(arguments, "query"), text(arguments, "session_id")].join(" ");
            CallTitle::new("🔍", "recall", subject.trim().to_owned())
        }),
        ..ToolFacts::DEFAULT
    };
    const SELDOM: bool = true;
    type Args = SessionSearchArgs;

    fn concurrency(&self, _: &SessionSearchArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Free
    }

    async fn run(
        &self,
        args: SessionSearchArgs,
        cx: &ToolContext,
        _: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let library =
            cx.library().ok_or_else(|| ToolError::failed("past sessions cannot be read in this session"))?;
        if args.profile.as_deref().is_some_and(|profile| !profile.trim().is_empty()) {
            return Err(ToolError::failed(
                "sessions of other profiles cannot be read: profiles are not built in",
            ));
        }
        let found = match (&args.session_id, args.around_message_id, filled(args.query.as_deref())) {
            (Some(id), Some(message), _) => scroll(library, id, message, args.window).await?,
            (Some(id), None, _) => read(library, id).await?,
            (None, Some(_), _) => return Err(ToolError::failed("around_message_id needs a session_id")),
            (None, None, Some(query)) => discover(library, query, &args).await?,
            (None, None, None) => browse(library, limit(&args)).await?,
        };
        Ok(ToolOutput::json(found))
    }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn limit(args: &SessionSearchArgs) -> usize {
    usize::try_from(args.limit.clamp(1, 10)).unwrap_or(1)
}

async fn browse(library: &dyn SessionLibrary, limit: usize) -> Result<Value, ToolError> {
    let sessions = library.recent(limit).await.map_err(ToolError::failed)?;
    let results: Vec<Value> = sessions
        .iter()
        .map(|session| {
            json!({ "session_id": session.id, "title": session.title, "source": session.source,
                "started_at": session.started_at, "last_active": session.last_active,
                "message_count": session.message_count, "preview": session.preview })
        })
        .collect();
    let message = "These are the newest sessions. Give a query to search, or a session_id to read one.";
    Ok(json!({ "success": true, "mode": "browse", "results": results, "count": sessions.len(),
        "message": message }))
}

async fn read(library: &dyn SessionLibrary, id: &str) -> Result<Value, ToolError> {
    let (session, messages) = library.open(id).await.map_err(ToolError::failed)?;
    let is_cut = messages.len() > HEAD + TAIL;
    let shown: Vec<Value> = match is_cut {
        true => messages.iter().take(HEAD).chain(last(&messages, TAIL)).map(|one| shown(one, None)).collect(),
        false => messages.iter().map(|one| shown(one, None)).collect(),
    };
    let mut found = json!({ "success": true, "mode": "read", "session_id": session.id,
        "session_meta": meta(&session), "message_count": messages.len(), "truncated": is_cut, "messages": shown });
    if is_cut {
        let left_out = messages.len() - HEAD - TAIL;
        let hint = format!(
            "{left_out} messages in the middle are left out; give around_message_id with an id to read there."
        );
        found["message"] = json!(hint);
    }
    Ok(found)
}

async fn scroll(
    library: &dyn SessionLibrary,
    id: &str,
    around: i64,
    window: i64,
) -> Result<Value, ToolError> {
    let window = usize::try_from(window.clamp(1, 20)).unwrap_or(1);
    let (session, messages) = library.open(id).await.map_err(ToolError::failed)?;
    let Some(at) = messages.iter().position(|message| message.id == around) else {
        return Err(ToolError::failed(format!("session {} has no message {around}", session.id)));
    };
    let view = View::around(&messages, at, window);
    Ok(json!({ "success": true, "mode": "scroll", "session_id": session.id, "around_message_id": around,
        "session_meta": meta(&session), "window": window, "messages": view.shown(Some(around)),
        "messages_before": view.before, "messages_after": view.after }))
}

async fn discover(
    library: &dyn SessionLibrary,
    query: &str,
    args: &SessionSearchArgs,
) -> Result<Value, ToolError> {
    let roles = filled(args.role_filter.as_deref()).unwrap_or("user,assistant");
    let roles: Vec<String> = roles.split(',').map(|role| role.trim().to_lowercase()).collect();
    let order = match args.sort {
        None => PastOrder::BestFirst,
        Some(Sort::Newest) => PastOrder::NewestFirst,
        Some(Sort::Oldest) => PastOrder::OldestFirst,
    };
    let hits = library.find(query, &roles, order, limit(args)).await.map_err(ToolError::failed)?;
    let mut results = Vec::new();
    for hit in &hits {
        let (_, messages) = library.open(&hit.session.id).await.map_err(ToolError::failed)?;
        results.push(result(hit, &messages));
    }
    let mut found = json!({ "success": true, "mode": "discover", "query": query, "results": results,
        "count": hits.len(), "sessions_searched": hits.len() });
    if hits.is_empty() {
        found["message"] = json!("No past session mentions it.");
    }
    Ok(found)
}

fn result(hit: &PastHit, messages: &[PastMessage]) -> Value {
    let (anchor, role) = match &hit.message {
        Some((id, role)) => (Some(*id), role.as_str()),
        None => (messages.first().map(|message| message.id), "session_title"),
    };
    let at = messages.iter().position(|message| Some(message.id) == anchor).unwrap_or(0);
    let view = View::around(messages, at, AROUND);
    let ends = |some: &[PastMessage]| some.iter().map(|one| shown(one, None)).collect::<Vec<_>>();
    let start = messages.get(..BOOKEND.min(messages.len())).unwrap_or_default();
    json!({ "session_id": hit.session.id, "when": when(hit.session.started_at), "source": hit.session.source,
        "model": hit.session.model, "title": hit.session.title, "matched_role": role,
        "match_message_id": anchor, "snippet": hit.snippet, "bookend_start": ends(start),
        "messages": view.shown(anchor), "bookend_end": ends(last(messages, BOOKEND)),
        "messages_before": view.before, "messages_after": view.after })
}

/// Some messages in a row.
struct View<'a> {
    messages: &'a [PastMessage],
    /// The number of messages before and after them.
    before: usize,
    after: usize,
}

impl<'a> View<'a> {
    fn around(messages: &'a [PastMessage], at: usize, window: usize) -> Self {
        let first = at.saturating_sub(window);
        let end = (at + window + 1).min(messages.len());
        let found = messages.get(first..end).unwrap_or_default();
        Self { messages: found, before: first, after: messages.len() - end }
    }

    fn shown(&self, anchor: Option<i64>) -> Vec<Value> {
        self.messages.iter().map(|message| shown(message, anchor)).collect()
    }
}

fn last(messages: &[PastMessage], count: usize) -> &[PastMessage] {
    messages.get(messages.len().saturating_sub(count)..).unwrap_or_default()
}

fn shown(message: &PastMessage, anchor: Option<i64>) -> Value {
    let mut entry = json!({ "id": message.id, "role": message.role, "content": cut(&message.content),
        "timestamp": message.at });
    if let Some(tool) = &message.tool_name {
        entry["tool_name"] = json!(tool);
    }
    if !message.calls.is_empty() {
        entry["tool_calls"] = json!(message.calls);
    }
    if anchor == Some(message.id) {
        entry["anchor"] = json!(true);
    }
    entry
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => {
            let rest = text.get(end..).unwrap_or_default().chars().count();
            format!("{} [{rest} more characters]", text.get(..end).unwrap_or_default())
        }
    }
}

fn meta(session: &PastSession) -> Value {
    json!({ "when": when(session.started_at), "source": session.source, "model": session.model,
        "title": session.title })
}

/// The time for reading, in UTC.
fn when(seconds: f64) -> String {
    let time = Timestamp::from_second(seconds as i64).ok();
    let time = time.map(|time| time.to_zoned(TimeZone::UTC).strftime("%B %d, %Y at %H:%M UTC").to_string());
    time.unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
#[path = "session_search_tests.rs"]
mod tests;
