//! The one-shot: one prompt and its reply.

use crate::exit::{self, Exit, Failure};
use crate::flags::Common;
use crate::json_events::{self, About};
use crate::prompt_input::{Prompt, ReplyForm};
use crate::{launch, usage_file};
use hermes_conversation::TurnEvent;
use hermes_runtime::{
    Endpoint, Observer, Parting, Runtime, RuntimeError, Session, SessionEvent, SessionHandle, TurnReport,
};
use hermes_terminal::{Terminal, answer_with, explain, print, show_one_turn, signals, term};
use hermes_tools::{AskUser, NoUser};
use std::io::IsTerminal;
use std::sync::Arc;

/// Runs the turn of a prompt and prints its reply.
pub(crate) async fn run(runtime: &Runtime, common: &Common, prompt: Prompt) -> Result<Exit, Failure> {
    let terminal = terminal(runtime, prompt.form)?.map(Arc::new);
    let ask: Arc<dyn AskUser> = match &terminal {
        Some(terminal) => terminal.ask(),
        None => Arc::new(NoUser),
    };
    let opened = launch::session(runtime, common, runtime.default_opening(), ask.clone()).await;
    let mut session = match opened {
        Ok(session) => session,
        Err(failure) => return Err(end_without_turn(common, &About::none(), failure)),
    };
    announce(&mut session, &prompt);
    let endpoint = session.endpoint().clone();
    let handle = SessionHandle::spawn(session);
    let answering = terminal.is_some().then(|| answer_with(&handle, ask));
    let shows_reasoning = *runtime.config().settings.display.show_reasoning.or_default();
    let observer = handle.subscribe().1;
    observer.keep_all();
    // A task of its own: the turn is woken for every token and should not draw as well.
    let denials = (prompt.form == ReplyForm::Human).then(|| handle.subscribe().1);
    let shown = tokio::spawn(show(observer, denials, prompt.form, shows_reasoning, terminal));
    let watch = signals::watch_session(&handle);
    let report = handle.run(submission(&prompt)).await;
    if report.is_err() {
        // Ends the task that shows events: without a turn it would wait forever.
        handle.close(Parting::Left).await;
    }
    drop(watch);
    let seen = shown.await.unwrap_or_default();
    let report = report.and_then(|report| report.ok_or(RuntimeError::SessionClosed));
    let result = conclude(common, prompt.form, (&handle, &endpoint), report, seen);
    drop(answering);
    handle.close(Parting::Left).await;
    result
}

fn submission(prompt: &Prompt) -> hermes_runtime::Prompt {
    hermes_runtime::Prompt {
        images: prompt.images.clone(),
        expands_references: prompt.is_typed,
        ..hermes_runtime::Prompt::typed(prompt.text.clone())
    }
}

/// The terminal of a user who reads the reply in it and can type; `None` for other output, and without a terminal.
fn terminal(runtime: &Runtime, form: ReplyForm) -> std::io::Result<Option<Terminal>> {
    let is_present =
        form == ReplyForm::Human && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    is_present.then(|| Terminal::open(runtime.home().history_file())).transpose()
}

fn announce(session: &mut Session, prompt: &Prompt) {
    let notices = session.take_notices();
    match prompt.form {
        ReplyForm::Human | ReplyForm::Quiet | ReplyForm::Bare => {
            for notice in notices {
                print::notice(&notice);
            }
        }
        ReplyForm::Json => {
            let endpoint = session.endpoint();
            let id = session.id().as_str();
            let first = json_events::session(id, &endpoint.model, endpoint.provider, session.is_resumed());
            print::json(&first);
            for notice in notices {
                print::json(&json_events::event(&TurnEvent::Status(notice)));
            }
        }
    }
}

/// Facts noticed while the turn ran.
#[derive(Default)]
struct Seen {
    /// A command was denied because no one was available to approve it.
    no_approver: bool,
}

/// Shows the events of one turn.
async fn show(
    mut observer: Observer,
    denials: Option<Observer>,
    form: ReplyForm,
    shows_reasoning: bool,
    terminal: Option<Arc<Terminal>>,
) -> Seen {
    if let Some(denials) = denials {
        let showing = show_one_turn(observer, shows_reasoning, terminal.as_deref());
        return tokio::join!(showing, watch_denials(denials)).1;
    }
    let mut seen = Seen::default();
    if form != ReplyForm::Json {
        observer.skip_text();
    }
    let mut is_read = form == ReplyForm::Json;
    while let Some(event) = observer.next().await {
        match event {
            SessionEvent::Turn(event) => {
                seen.no_approver |= event.lacks_approver();
                is_read = is_read && print::json(&json_events::event(&event));
            }
            SessionEvent::Notice(text) => print::notice(&text),
            SessionEvent::TurnEnded { .. } | SessionEvent::TurnFailed { .. } => break,
            _ => {}
        }
    }
    seen
}

/// Watches a turn that is shown elsewhere.
async fn watch_denials(mut observer: Observer) -> Seen {
    observer.skip_text();
    let mut seen = Seen::default();
    while let Some(event) = observer.next().await {
        match event {
            SessionEvent::Turn(event) => seen.no_approver |= event.lacks_approver(),
            SessionEvent::TurnEnded { .. } | SessionEvent::TurnFailed { .. } | SessionEvent::Closed => break,
            _ => {}
        }
    }
    seen
}

fn conclude(
    common: &Common,
    form: ReplyForm,
    (session, endpoint): (&SessionHandle, &Endpoint),
    report: Result<Arc<TurnReport>, RuntimeError>,
    seen: Seen,
) -> Result<Exit, Failure> {
    let snapshot = session.subscribe().0;
    let about = About {
        session_id: snapshot.session.as_str(),
        model: &snapshot.model,
        provider: endpoint.provider,
        base_url: endpoint.base_url.as_str(),
    };
    let report = report.map_err(|error| end_without_turn(common, &about, error.into()))?;
    let about = about.answered_by(report.stand_in.as_ref());
    match form {
        ReplyForm::Json => {
            let line = json_events::result(&report, &about, &snapshot.messages).to_string();
            if !term::print_line(&line) {
                term::note_lost_answer();
            }
            print_denial(&seen);
        }
        ReplyForm::Human => {
            print_error(&report, &seen, &snapshot.provider);
            term::print_error(&format!("\nContinue with:  hermes --resume {}", snapshot.session));
        }
        ReplyForm::Quiet | ReplyForm::Bare => {
            print_answer(&report);
            print_error(&report, &seen, &snapshot.provider);
            if form == ReplyForm::Quiet {
                term::print_error(&format!("\nsession_id: {}", snapshot.session));
            }
        }
    }
    // Last, so that a failure to write the report does not lose the reply.
    usage_file::write(common, Some(&report), &about, None)?;
    Ok(match exit::of_turn(&report) {
        Exit::Answered if seen.no_approver => Exit::Permission,
        exit => exit,
    })
}

/// Prints the reply alone. Control characters are escaped, also for programs; `--json` keeps every byte.
pub(crate) fn print_answer(report: &TurnReport) {
    let Some(text) = &report.final_response else { return };
    let text = text.strip_suffix('\n').unwrap_or(text);
    let is_printed = match std::io::stdout().is_terminal() {
        true => term::print_line(&term::printable(text)),
        // A reply contains no styles of ours, and line ends stay as they are.
        false => term::print_line(&term::escaped(text, false)),
    };
    if !is_printed {
        term::note_lost_answer();
    }
}

/// Ends a run without a turn; programs still get the result event and the report.
pub(crate) fn end_without_turn(common: &Common, about: &About<'_>, failure: Failure) -> Failure {
    if common.json {
        print::json(&json_events::no_result(about, &failure.line));
    }
    match usage_file::write(common, None, about, Some(&failure.line)) {
        Ok(()) => failure,
        Err(second) => Failure { line: format!("{}; also, {}", failure.line, second.line), ..failure },
    }
}

fn print_error(report: &TurnReport, seen: &Seen, provider: &str) {
    if let Some(error) = &report.error {
        print::notice(&explain(report, error, provider));
    } else if report.interrupted {
        print::notice("interrupted; everything so far is saved");
    }
    print_denial(seen);
}

/// Says that a call was denied because of the missing user.
fn print_denial(seen: &Seen) {
    if seen.no_approver {
        print::notice(
            "command denied: no one is available to approve it; run it in a chat, add it to command_allowlist \
             (`hermes approvals check` names the rule), or use --yolo",
        );
    }
}
