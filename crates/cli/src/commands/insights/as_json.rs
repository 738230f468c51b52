//! Insights as a value for programs.

use super::report::Shown;
use crate::json_events;
use hermes_conversation::Usage;
use hermes_store::{Count, SessionUse, Share};
use serde_json::{Map, Value, json};

/// All numbers, including those that do not fit on the page.
pub(super) fn value(shown: &Shown<'_>) -> Value {
    let (all, stretch) = (shown.insights, shown.stretch);
    let activity = stretch.activity(&all.quarters);
    let by_day: Map<String, Value> =
        activity.by_day.iter().map(|(day, count)| (day.to_string(), json!(count))).collect();
    json!({
        "days": stretch.days(), "first_day": stretch.first.to_string(), "last_day": stretch.last.to_string(),
        "source": shown.source,
        "overview": {
            "sessions": all.sessions,
            "messages": {
                "total": all.messages.total(), "user": all.messages.user,
                "assistant": all.messages.assistant, "tool": all.messages.tool, "other": all.messages.other,
            },
            "tool_calls": all.tool_calls, "api_calls": all.api_calls, "tokens": tokens(&all.usage),
            "cache_hit_rate": all.cache_hit_rate(), "active_seconds": all.active_seconds,
            "cost": {
                "estimated_usd": all.cost.estimated_usd, "actual_usd": all.cost.actual_usd,
                "included_sessions": all.cost.included_sessions,
                "unknown_sessions": all.cost.unknown_sessions,
            },
        },
        "models": all.models.iter().map(|model| share("model", model)).collect::<Value>(),
        "sources": all.sources.iter().map(|source| share("source", source)).collect::<Value>(),
        "tools": counts("tool", &all.tools),
        "turn_exit_reasons": counts("reason", &all.turn_exits),
        "approvals": { "asked": all.approvals.asked, "denied": all.approvals.denied,
            "rules": counts("rule", &all.approvals.rules) },
        "session_end_reasons": counts("reason", &all.session_ends),
        "activity": {
            "by_weekday_from_monday": activity.by_weekday, "by_hour": activity.by_hour, "by_day": by_day,
        },
        "top_sessions": all.top_sessions.iter().map(session).collect::<Value>(),
        "longest_session": all.longest.as_ref().map(session),
    })
}

fn tokens(usage: &Usage) -> Value {
    json_events::tokens(usage)
}

/// Messages do not know their model, so a model has no number of them.
fn share(what: &str, share: &Share) -> Value {
    let mut value = json!({ what: share.name, "sessions": share.sessions, "api_calls": share.api_calls,
            "tokens": tokens(&share.usage) });
    if what != "model" {
        value["messages"] = json!(share.messages);
    }
    value
}

fn counts(what: &str, counts: &[Count]) -> Value {
    counts.iter().map(|count| json!({ what: count.name, "count": count.count })).collect()
}

fn session(session: &SessionUse) -> Value {
    json!({
        "id": session.id, "title": session.title, "preview": session.preview, "source": session.source,
        "started_at": session.started_at, "messages": session.messages, "api_calls": session.api_calls,
        "tokens": tokens(&session.usage), "active_seconds": session.active_seconds,
    })
}
