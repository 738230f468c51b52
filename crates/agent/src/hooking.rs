//! Calls hooks on turn events.
//!
//! A hook never fails a turn. A cancelled turn does not wait for hooks either: a hook that is being asked
//! is dropped, and one that is only notified gets a second.

use crate::{Ports, Session, TurnReport};
use hermes_conversation::{
    Content, HookCall, HookEvent, HookPoint, HookVerdict, RecordError, SessionId, ToolCall, ToolStatus,
    TurnEvent, UserMessage,
};
use hermes_tools::Finished;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The time that hooks have after the user cancelled the turn.
const AFTER_STOP: Duration = Duration::from_secs(1);
/// Characters that outside code may add to what the user said.
const MOST_CONTEXT: usize = 20_000;

/// Notifies hooks that a turn begins and appends their text to the user's message: to the text that is sent
/// and stored as sent, not to the one that is displayed.
pub(crate) async fn opening(
    session: &mut Session,
    mut message: UserMessage,
    ports: &Ports,
    cancel: &CancellationToken,
) -> (UserMessage, Result<(), RecordError>) {
    let is_first_turn = session.history.is_empty();
    let id = session.lease.session.clone();
    if is_first_turn && ports.hooks.wants(HookEvent::SessionStart) {
        tell(&id, HookPoint::SessionStarted { model: model(ports) }, ports, cancel).await;
    }
    session.asked = ports.hooks.wants(HookEvent::PostLlmCall).then(|| message.content.as_text().to_owned());
    if !ports.hooks.wants(HookEvent::PreLlmCall) {
        return (message, Ok(()));
    }
    let user_message = message.content.as_text().to_owned();
    let point = HookPoint::BeforeModel { user_message, is_first_turn, model: model(ports) };
    let HookVerdict::Context { text } = ask(&id, point, ports, cancel).await else {
        return (message, Ok(()));
    };
    let Some(sent) = with_context(&message, &text) else {
        let notice = "the text of a hook was ignored: it cannot be added to a message with images";
        ports.events.send(TurnEvent::Status(notice.to_owned())).await;
        return (message, Ok(()));
    };
    let Some(turn) = &session.turn else { return (message, Ok(())) };
    let recorded = ports.transcript.annotate(&session.lease, turn, &sent).await;
    if recorded.is_ok() {
        message.api_content = Some(sent);
    }
    (message, recorded)
}

/// The text to send for `message` with `context` after it. Content parts, such as images, have no such
/// form.
fn with_context(message: &UserMessage, context: &str) -> Option<String> {
    let said = match (&message.api_content, &message.content) {
        (Some(sent), _) => sent,
        (None, Content::Text(text)) => text,
        (None, Content::Parts(_)) => return None,
    };
    Some(match context.char_indices().nth(MOST_CONTEXT) {
        None => format!("{said}\n\n{context}"),
        Some((end, _)) => format!("{said}\n\n{}\n[cut after {MOST_CONTEXT} characters]", &context[..end]),
    })
}

/// The reason for which a hook rejects a call, if any.
pub(crate) async fn before_tool(
    session: &SessionId,
    call: &ToolCall,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Option<String> {
    let ToolCall { id, name, arguments, .. } = call.clone();
    match ask(session, HookPoint::BeforeTool { id, name, arguments }, ports, cancel).await {
        HookVerdict::Block { reason } => Some(reason),
        HookVerdict::Continue | HookVerdict::Context { .. } => None,
    }
}

/// Tells how a call ended.
pub(crate) async fn after_tool(
    session: &SessionId,
    call: &ToolCall,
    ended: &Finished,
    status: ToolStatus,
    ports: &Ports,
    cancel: &CancellationToken,
) {
    if !ports.hooks.wants(HookEvent::PostToolCall) {
        return;
    }
    let ToolCall { id, name, arguments, .. } = call.clone();
    let result = ended.message.content.plain_text().into_owned();
    let point = HookPoint::AfterTool { id, name, arguments, result, status, millis: ended.millis };
    tell(session, point, ports, cancel).await;
}

/// The word for the end of a call. `refused` says how it was decided that a call should not run.
pub(crate) fn status(refused: Option<&str>, failed: bool, is_stopped: bool) -> ToolStatus {
    match refused {
        _ if is_stopped && failed => ToolStatus::Cancelled,
        Some("invalid") => ToolStatus::Error,
        Some(_) => ToolStatus::Blocked,
        None if failed => ToolStatus::Error,
        None => ToolStatus::Ok,
    }
}

/// Notifies hooks of the result of the turn, once it is recorded.
pub(crate) async fn closing(
    session: &mut Session,
    report: &TurnReport,
    ports: &Ports,
    cancel: &CancellationToken,
) {
    let id = session.lease.session.clone();
    if let (Some(user_message), Some(answer)) = (session.asked.take(), &report.final_response) {
        let point = HookPoint::AfterModel { user_message, answer: answer.clone(), model: model(ports) };
        tell(&id, point, ports, cancel).await;
    }
    if ports.hooks.wants(HookEvent::SessionEnd) {
        let TurnReport { completed, interrupted, exit_reason, .. } = report;
        let (completed, interrupted, reason) = (*completed, *interrupted, exit_reason.clone());
        let point = HookPoint::SessionEnded { model: model(ports), completed, interrupted, reason };
        tell(&id, point, ports, cancel).await;
    }
}

fn model(ports: &Ports) -> String {
    ports.route.current().profile().model.to_string()
}

async fn ask(
    session: &SessionId,
    point: HookPoint,
    ports: &Ports,
    cancel: &CancellationToken,
) -> HookVerdict {
    let answered = cancel.run_until_cancelled(fire(session, point, ports)).await;
    answered.unwrap_or(HookVerdict::Continue)
}

async fn tell(session: &SessionId, point: HookPoint, ports: &Ports, cancel: &CancellationToken) {
    let firing = fire(session, point, ports);
    if cancel.is_cancelled() {
        let _ = tokio::time::timeout(AFTER_STOP, firing).await;
    } else {
        cancel.run_until_cancelled(firing).await;
    }
}

async fn fire(session: &SessionId, point: HookPoint, ports: &Ports) -> HookVerdict {
    let call = HookCall { session: session.clone(), cwd: ports.tool_context.cwd(), point };
    ports.hooks.fire(call).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::RawJson;

    #[test]
    fn a_call_ends_in_one_word() {
        for (refused, failed, is_stopped, want) in [
            (None, false, false, ToolStatus::Ok),
            (None, true, false, ToolStatus::Error),
            (None, true, true, ToolStatus::Cancelled),
            // It was done before the stop came.
            (None, false, true, ToolStatus::Ok),
            (Some("denied"), true, false, ToolStatus::Blocked),
            (Some("invalid"), true, false, ToolStatus::Error),
            (Some("asked"), true, true, ToolStatus::Cancelled),
        ] {
            assert_eq!(status(refused, failed, is_stopped), want, "{refused:?} {failed} {is_stopped}");
        }
    }

    #[test]
    fn hook_text_follows_the_message() {
        let plain = UserMessage::text("hi");
        let steered = UserMessage { api_content: Some("[note] hi".into()), ..plain.clone() };
        let parts = Content::Parts(RawJson::of(&serde_json::json!([{"type": "image"}])).unwrap());
        let image = UserMessage { content: parts, api_content: None };
        assert_eq!(with_context(&plain, "it rains").unwrap(), "hi\n\nit rains");
        assert_eq!(with_context(&steered, "it rains").unwrap(), "[note] hi\n\nit rains");
        assert_eq!(with_context(&image, "it rains"), None);
        let long = with_context(&plain, &"ü".repeat(MOST_CONTEXT + 1)).unwrap();
        assert!(long.ends_with("ü\n[cut after 20000 characters]"), "{}", &long[long.len() - 60..]);
    }
}
