//! Puts calls that need approval to the user, and turns the answers into verdicts.

use crate::Ports;
use hermes_conversation::{AskedCall, CallEnding, Decided, IntentId, TurnEvent};
use hermes_tools::{
    Approval, ApprovalRequest, BatchApproval, DecidedBy, Prepared, Review, Scope, Verdict, denied_text,
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An answered request.
pub(crate) struct Answered {
    decision: &'static str,
    by: DecidedBy,
    scope: Option<Scope>,
    rules: Vec<String>,
    pub(crate) ending: CallEnding,
}

impl Answered {
    /// The decision for the record.
    pub(crate) fn record(self, intent: IntentId) -> Decided {
        Decided {
            intent,
            decision: self.decision,
            by: self.by.as_str(),
            scope: self.scope.map(Scope::as_str),
            rules: self.rules,
            was_asked: true,
        }
    }
}

/// Asks about one call whose verdict is [`Verdict::Ask`], unless `given` already answers exactly this request. If the
/// user cancels the turn, nothing else runs.
pub(crate) async fn ask(
    call: &mut Prepared,
    given: Option<(ApprovalRequest, Approval)>,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Answered {
    let rules: Vec<String> = call.rules().into_iter().map(str::to_owned).collect();
    let Verdict::Ask(request) = &mut call.verdict else {
        unreachable!("the caller checks for a request");
    };
    let answer = match given {
        Some((asked, answer)) if asked == *request => answer,
        _ => match review(request, ports, cancel).await {
            Some(by) => {
                call.allow_confined(by);
                announce(call, "approved", by, None, &rules, ports).await;
                return Answered {
                    decision: "approved",
                    by,
                    scope: None,
                    rules,
                    ending: CallEnding::Answered,
                };
            }
            None => put(request, ports, cancel).await,
        },
    };
    let (decision, scope) = match &answer {
        Approval::Allowed(scope) => {
            let entries = call.approve(*scope, &ports.tool_context);
            if let Err(why) = ports.tool_context.save_rules(&entries) {
                let text = format!("the approval holds for this session only: {why}");
                ports.events.send(TurnEvent::Status(text)).await;
            }
            ("approved", Some(*scope))
        }
        Approval::Stopped => {
            cancel.cancel();
            call.verdict = refused(&answer);
            ("cancelled", None)
        }
        Approval::Denied { .. } | Approval::TimedOut | Approval::NoUser => {
            call.verdict = refused(&answer);
            ("denied", None)
        }
    };
    announce(call, decision, DecidedBy::User, scope, &rules, ports).await;
    Answered { decision, by: DecidedBy::User, scope, rules, ending: ending(&answer) }
}

fn refused(answer: &Approval) -> Verdict {
    Verdict::Refuse { text: denied_text(answer), decision: "denied" }
}

/// Lets a model or a setting decide before the user is asked.
async fn review(
    request: &mut ApprovalRequest,
    ports: &Ports,
    cancel: &CancellationToken,
) -> Option<DecidedBy> {
    match cancel.run_until_cancelled(ports.ask.review(request)).await?? {
        Review::Allow(by) => Some(by),
        Review::Advise(advice) => {
            // After an advice against it, only this one call can be approved.
            request.coverage = hermes_tools::Coverage::default();
            request.advice = Some(advice);
            None
        }
    }
}

/// Shows a request and waits for the answer, up to the limit of the settings.
async fn put(request: &ApprovalRequest, ports: &Ports, cancel: &CancellationToken) -> Approval {
    ports
        .events
        .send(TurnEvent::ApprovalAsked {
            id: request.call_id.clone(),
            what: request.what.clone(),
            cwd: request.cwd.display().to_string(),
            effects: request.effects.clone(),
            rules: request.rules.clone(),
        })
        .await;
    let answer =
        cancel.run_until_cancelled(within(ports, ports.ask.approve(request), Approval::TimedOut)).await;
    match answer.unwrap_or(Approval::Stopped) {
        // A front end that offers more than the request does is answered with less.
        Approval::Allowed(scope) if !request.offers(scope) => Approval::ONCE,
        answer => answer,
    }
}

/// Asks about several calls of one reply. `None` if each is asked about by itself.
pub(crate) async fn ask_together(
    requests: &[ApprovalRequest],
    ports: &Ports,
    cancel: &CancellationToken,
) -> Option<Approval> {
    if requests.len() < 2 || !ports.ask.is_present() {
        return None;
    }
    let calls = requests.iter().map(|request| AskedCall {
        id: request.call_id.clone(),
        what: request.what.clone(),
        cwd: request.cwd.display().to_string(),
        effects: request.effects.clone(),
    });
    ports.events.send(TurnEvent::BatchAsked { calls: calls.collect() }).await;
    let asking = within(ports, ports.ask.approve_batch(requests), BatchApproval::Each(Approval::TimedOut));
    match cancel.run_until_cancelled(asking).await? {
        BatchApproval::AllOnce => Some(Approval::ONCE),
        BatchApproval::OneByOne => None,
        BatchApproval::Each(answer) => Some(answer),
    }
}

/// Waits for an answer up to `approvals.timeout`. Silence is not consent.
async fn within<T>(ports: &Ports, answer: impl Future<Output = T>, late: T) -> T {
    match ports.tool_context.settings().approvals.timeout {
        // Without a user, the answer comes at once.
        seconds if seconds > 0 && ports.ask.is_present() => {
            match tokio::time::timeout(Duration::from_secs(seconds), answer).await {
                Ok(answer) => answer,
                Err(_) => {
                    let text = format!("no answer within {seconds} s (approvals.timeout): not run");
                    ports.events.send(TurnEvent::Status(text)).await;
                    late
                }
            }
        }
        _ => answer.await,
    }
}

/// The calls that rules have decided about without a request. Harmless ones are not among them.
pub(crate) async fn decided_by_rules<'a>(
    calls: impl Iterator<Item = (IntentId, &'a Prepared)>,
    ports: &Ports,
) -> Vec<Decided> {
    let mut all = Vec::new();
    for (intent, call) in calls {
        let rules: Vec<String> = call.rules().into_iter().map(str::to_owned).collect();
        let by = call.decided_by();
        if matches!(call.verdict, Verdict::Ask(_)) || by == DecidedBy::Harmless {
            continue;
        }
        let decision = call.verdict.decision();
        announce(call, decision, by, None, &rules, ports).await;
        all.push(Decided { intent, decision, by: by.as_str(), scope: None, rules, was_asked: false });
    }
    all
}

async fn announce(
    call: &Prepared,
    decision: &'static str,
    by: DecidedBy,
    scope: Option<Scope>,
    rules: &[String],
    ports: &Ports,
) {
    let (id, by, rules) = (call.call.id.clone(), by.as_str(), rules.to_vec());
    ports
        .events
        .send(TurnEvent::CallDecided { id, decision, by, scope: scope.map(Scope::as_str), rules })
        .await;
}

/// The ending of a call that the user was asked about.
fn ending(answer: &Approval) -> CallEnding {
    match answer {
        Approval::Allowed(_) => CallEnding::Answered,
        Approval::Denied { .. } | Approval::TimedOut | Approval::Stopped => CallEnding::NotAllowed,
        Approval::NoUser => CallEnding::NoApprover,
    }
}
