//! The end of a turn: what is recorded and what is reported.
//!
//! Every turn leaves a history that ends with an assistant's message, so that the next user
//! message can follow it and nothing that was sent has to be rewritten.

use crate::turn::{Outcome, When};
use crate::{Ports, Session, TurnReport, fallback, hooking, mail, texts, watching};
use hermes_conversation::{AssistantMessage, Closing, Message, RecordError};
use tokio_util::sync::CancellationToken;

/// Closes the turn in the record and reports it.
pub(crate) async fn finish(
    session: &mut Session,
    outcome: Outcome,
    api_calls: u32,
    ports: &Ports,
    cancel: &CancellationToken,
) -> TurnReport {
    if matches!(outcome, Outcome::Failed { .. }) {
        ports.route.turn_failed();
    }
    let (message, mut report) = settle(outcome);
    report.api_calls = api_calls;
    report.usage = session.usage;
    report.cost = session.cost;
    report.stand_in = fallback::stand_in(session, ports);
    report.last_prompt_tokens = session.last_prompt_tokens;
    report.last_reasoning = message.as_ref().and_then(thought).or_else(|| last_reasoning(session));
    watching::turn_ended(&report);
    if report.store_failed {
        // What was recorded is not known. The turn stays open, so that recovery finds it and
        // gives every call its result before anything else is said.
        session.turn = None;
        return report;
    }
    report.pending_steer = mail::pending(session, ports).await;
    if let Err(error) = close(session, message, &report.exit_reason, ports).await {
        tracing::error!(%error, "the end of the turn could not be recorded");
        report.store_failed = true;
        report.failed = true;
        report.completed = false;
        report.error = Some(error.to_string());
    }
    add_footer(session, &mut report, ports);
    hooking::closing(session, &report, ports, cancel).await;
    report
}

/// Lists the file edits that failed below the answer. The recorded message stays as the model wrote it.
fn add_footer(session: &Session, report: &mut TurnReport, ports: &Ports) {
    let is_wanted = session.limits.stop_checks.lists_failed_edits;
    if let Some(text) = report.final_response.as_mut().filter(|_| is_wanted)
        && let Some(footer) = session.edits.footer()
    {
        text.push_str(&footer);
        ports.events.text(&footer);
    }
}

fn thought(message: &AssistantMessage) -> Option<String> {
    message.reasoning.text.clone().filter(|text| !text.trim().is_empty())
}

/// The last reasoning of the model in this turn.
fn last_reasoning(session: &Session) -> Option<String> {
    let newest = session.history.messages().iter().rev().map(AsRef::as_ref);
    newest.take_while(|message| !matches!(message, Message::User(_))).find_map(|message| match message {
        Message::Assistant(said) => thought(said),
        _ => None,
    })
}

async fn close(
    session: &mut Session,
    message: Option<AssistantMessage>,
    exit_reason: &str,
    ports: &Ports,
) -> Result<(), RecordError> {
    let Some(turn) = session.turn.take() else {
        return Ok(());
    };
    let spent = session.unrecorded.take();
    let closing = Closing { message: message.clone(), spent, exit_reason: exit_reason.to_owned() };
    ports.transcript.close(&session.lease, turn, closing).await?;
    if let Some(message) = message {
        session.history.push(Message::Assistant(message));
    }
    Ok(())
}

/// The message that ends the history, and the report.
fn settle(outcome: Outcome) -> (Option<AssistantMessage>, TurnReport) {
    let blank = TurnReport {
        final_response: None,
        exit_reason: String::new(),
        completed: false,
        failed: false,
        partial: false,
        interrupted: false,
        error: None,
        fault: None,
        not_compacted: None,
        store_failed: false,
        api_calls: 0,
        usage: Default::default(),
        cost: None,
        last_prompt_tokens: None,
        last_reasoning: None,
        pending_steer: None,
        stand_in: None,
    };
    match outcome {
        Outcome::Answered { text, reply, exit_reason } => (
            Some(reply.message),
            TurnReport { final_response: Some(text), exit_reason, completed: true, ..blank },
        ),
        Outcome::Partial { text, reply, exit_reason, why } => {
            let message = reply.map_or_else(|| closing_line(&why), |reply| reply.message);
            let final_response = (!text.is_empty()).then_some(text);
            let failed = final_response.is_none();
            let error = Some(why);
            (Some(message), TurnReport { final_response, exit_reason, partial: true, failed, error, ..blank })
        }
        Outcome::Failed { fault, exit_reason, not_compacted } => (
            Some(closing_line(texts::FAILED)),
            TurnReport {
                exit_reason,
                failed: true,
                error: Some(fault.detail),
                fault: Some(fault.class),
                not_compacted,
                ..blank
            },
        ),
        Outcome::Interrupted(when) => {
            let exit_reason = match when {
                When::CallingModel => "interrupted_during_api_call",
                When::RunningTools => "interrupted_by_user",
            };
            let message = Some(closing_line(texts::INTERRUPTED));
            (message, TurnReport { exit_reason: exit_reason.to_owned(), interrupted: true, ..blank })
        }
        Outcome::StoreFailed(error) => (
            None,
            TurnReport {
                exit_reason: "local_processing_error(store_failed)".to_owned(),
                failed: true,
                store_failed: true,
                error: Some(error.to_string()),
                ..blank
            },
        ),
    }
}

fn closing_line(text: &str) -> AssistantMessage {
    AssistantMessage { text: text.to_owned(), ..AssistantMessage::default() }
}
