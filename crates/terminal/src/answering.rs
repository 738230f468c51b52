//! Answers the approvals and questions of a session at this terminal.

use hermes_runtime::{Answer, Observer, PendingQuestion, QuestionKind, SessionEvent, SessionHandle};
use hermes_tools::{AskUser, Clarified};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

/// Takes the right to answer and asks `ask`, until the result is dropped or the session is closed.
pub fn answer_with(session: &SessionHandle, ask: Arc<dyn AskUser>) -> AbortOnDropHandle<()> {
    let (_, observer) = session.subscribe();
    observer.skip_text();
    observer.keep_all();
    observer.take_answering();
    AbortOnDropHandle::new(tokio::spawn(serve(observer, ask)))
}

async fn serve(mut observer: Observer, ask: Arc<dyn AskUser>) {
    while let Some(event) = observer.next().await {
        if let SessionEvent::Asked(question) = event {
            let answer = answer(&ask, &question);
            tokio::pin!(answer);
            let answered = loop {
                tokio::select! {
                    answer = &mut answer => break Some(answer),
                    event = observer.next() => match event {
                        // The turn no longer waits for it.
                        Some(SessionEvent::QuestionClosed { id }) if id == question.id => break None,
                        Some(_) => {}
                        None => return,
                    },
                }
            };
            if let Some(answer) = answered {
                observer.answer(question.id, answer);
            }
        }
    }
}

/// The user's answer.
async fn answer(ask: &Arc<dyn AskUser>, question: &PendingQuestion) -> Answer {
    match &question.kind {
        QuestionKind::Approval(request) => Answer::Approval(ask.approve(request).await),
        QuestionKind::Batch(requests) => Answer::Batch(ask.approve_batch(requests).await),
        QuestionKind::Clarify(question) => match ask.clarify(question).await {
            Clarified::Answered(text) => Answer::Text(text),
            Clarified::NoUser => Answer::Unavailable,
        },
    }
}
