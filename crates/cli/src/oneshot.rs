//! One question, one answer, and out.

use crate::args::Common;
use crate::ask::TerminalAsk;
use crate::editor::Editor;
use crate::exit::{self, Exit, Failure};
use crate::json_events::{self, About};
use crate::keyboard::Keyboard;
use crate::page::{Beside, Page};
use crate::prompt_text::{Manner, Prompt};
use crate::screen::Screen;
use crate::term::{self, Style};
use crate::{answering, launch, signals, usage_file};
use hermes_conversation::{CallEnding, TurnEvent};
use hermes_runtime::{
    Endpoint, Observer, Parting, Runtime, RuntimeError, Session, SessionEvent, SessionHandle, TurnReport,
};
use hermes_tools::{AskUser, Nobody};
use std::io::IsTerminal;
use std::sync::Arc;
use tokio::sync::Notify;

/// Answers a prompt and says how it went.
pub(crate) async fn run(runtime: &Runtime, common: &Common, prompt: Prompt) -> Result<Exit, Failure> {
    let person = Person::present(runtime, prompt.manner)?;
    let opened = launch::session(runtime, common, runtime.default_opening(), person.ask.clone()).await;
    let mut session = match opened {
        Ok(session) => session,
        Err(failure) => return Err(give_up(common, &About::nothing(), failure)),
    };
    announce(&mut session, &prompt);
    let endpoint = session.endpoint().clone();
    let handle = SessionHandle::spawn(session);
    let answering = person.ask.is_present().then(|| answering::answer_with(&handle, person.ask.clone()));
    // Beside the turn, which is woken for every token and should not look at the screen as well.
    let screen = screen_for(runtime, person.question_shown);
    let observer = handle.subscribe().1;
    observer.keep_all();
    let shown = tokio::spawn(show(observer, prompt.manner, screen));
    let watch = signals::watch_session(&handle);
    let report = handle.run(submission(&prompt)).await;
    if report.is_err() {
        // Ends the task that shows events: no turn was started whose end it could wait for.
        handle.close(Parting::Left).await;
    }
    drop(watch);
    let seen = shown.await.unwrap_or_default();
    let report = report.and_then(|report| report.ok_or(RuntimeError::SessionClosed));
    let result = conclude(common, prompt.manner, (&handle, &endpoint), report, seen);
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

/// Whoever can be asked before a command runs.
struct Person {
    ask: Arc<dyn AskUser>,
    question_shown: Option<Arc<Notify>>,
}

impl Person {
    /// Somebody who sees the answer in a terminal and can type there; otherwise nobody.
    fn present(runtime: &Runtime, manner: Manner) -> std::io::Result<Self> {
        let is_there =
            manner == Manner::Human && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if !is_there {
            return Ok(Self { ask: Arc::new(Nobody), question_shown: None });
        }
        let question_shown = Arc::new(Notify::new());
        let editor = Editor::start(runtime.home().history_file())?;
        let keyboard = Keyboard::new(editor.clone());
        let ask = TerminalAsk { editor, keyboard, question_shown: question_shown.clone() };
        Ok(Self { ask: Arc::new(ask), question_shown: Some(question_shown) })
    }
}

fn announce(session: &mut Session, prompt: &Prompt) {
    let notices = session.take_notices();
    match prompt.manner {
        Manner::Human | Manner::Quiet | Manner::Bare => {
            for notice in notices {
                term::complain(&format!("hermes: {}", term::printable(&notice)));
            }
        }
        Manner::Json => {
            let endpoint = session.endpoint();
            let id = session.id().as_str();
            let first = json_events::session(id, &endpoint.model, endpoint.provider, session.is_resumed());
            term::print_line(&first.to_string());
            for notice in notices {
                term::print_line(&json_events::event(&TurnEvent::Status(notice)).to_string());
            }
        }
    }
}

/// What was noticed while the turn ran.
#[derive(Default)]
struct Seen {
    /// A command was not run because nobody could be asked.
    nobody_to_ask: bool,
}

fn screen_for(runtime: &Runtime, question_shown: Option<Arc<Notify>>) -> Screen {
    let shows_reasoning = *runtime.config().settings.display.show_reasoning.or_default();
    let screen = Screen::new(Style::for_stream(&std::io::stdout()), shows_reasoning);
    match question_shown {
        Some(shown) => screen.with_questions(shown),
        None => screen,
    }
}

/// Waits for the start of the turn, printing notices. Returns `false` if there is none.
async fn turn_begins(observer: &mut Observer) -> bool {
    loop {
        match observer.next().await {
            Some(SessionEvent::TurnStarted { .. }) => return true,
            Some(SessionEvent::Notice(text)) => complain_about(&text),
            Some(SessionEvent::Closed) | None => return false,
            Some(_) => {}
        }
    }
}

fn complain_about(notice: &str) {
    term::complain(&format!("hermes: {}", term::printable(notice)));
}

/// Shows the events of one turn.
async fn show(mut observer: Observer, manner: Manner, screen: Screen) -> Seen {
    let mut seen = Seen::default();
    if manner == Manner::Human {
        if !turn_begins(&mut observer).await {
            return seen;
        }
        let mut page = Page::new(screen, Beside::nothing());
        page.show(&mut observer).await;
        page.finish().await;
        return seen;
    }
    if manner != Manner::Json {
        observer.skip_text();
    }
    let mut is_read = manner == Manner::Json;
    while let Some(event) = observer.next().await {
        match event {
            SessionEvent::Turn(event) => {
                if let TurnEvent::ToolFinished { ending, .. } = &event {
                    seen.nobody_to_ask |= *ending == CallEnding::NoApprover;
                }
                is_read = is_read && term::print_line(&json_events::event(&event).to_string());
            }
            SessionEvent::Notice(text) => complain_about(&text),
            SessionEvent::TurnEnded { .. } | SessionEvent::TurnFailed { .. } => break,
            _ => {}
        }
    }
    seen
}

fn conclude(
    common: &Common,
    manner: Manner,
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
    let report = report.map_err(|error| give_up(common, &about, error.into()))?;
    let about = about.answered_by(report.stand_in.as_ref());
    match manner {
        Manner::Json => {
            let line = json_events::result(&report, &about, &snapshot.messages).to_string();
            if !term::print_line(&line) {
                term::note_lost_answer();
            }
        }
        Manner::Human => {
            complain(&report, &seen, &snapshot.provider);
            term::complain(&format!("\nContinue with:  hermes --resume {}", snapshot.session));
        }
        Manner::Quiet | Manner::Bare => {
            print_answer(&report);
            complain(&report, &seen, &snapshot.provider);
            if manner == Manner::Quiet {
                term::complain(&format!("\nsession_id: {}", snapshot.session));
            }
        }
    }
    // Last, so that a report that cannot be written costs nobody the answer.
    usage_file::write(common, Some(&report), &about, None)?;
    Ok(exit::of_turn(&report))
}

/// The answer alone. Control characters are escaped, also for programs; those that want every byte
/// have `--json`.
pub(crate) fn print_answer(report: &TurnReport) {
    let Some(text) = &report.final_response else { return };
    let text = text.strip_suffix('\n').unwrap_or(text);
    let is_printed = match std::io::stdout().is_terminal() {
        true => term::print_line(&term::printable(text)),
        // Nothing in an answer is a style of ours, and line ends stay as they are.
        false => term::print_line(&term::escaped(text, false)),
    };
    if !is_printed {
        term::note_lost_answer();
    }
}

/// The end of a run in which no turn could be held; programs get their last line all the same.
pub(crate) fn give_up(common: &Common, about: &About<'_>, failure: Failure) -> Failure {
    if common.json {
        term::print_line(&json_events::no_result(about, &failure.line).to_string());
    }
    match usage_file::write(common, None, about, Some(&failure.line)) {
        Ok(()) => failure,
        Err(second) => Failure { line: format!("{}; also, {}", failure.line, second.line), ..failure },
    }
}

fn complain(report: &TurnReport, seen: &Seen, provider: &str) {
    if let Some(error) = &report.error {
        term::complain(&format!("hermes: {}", explain(report, error, provider)));
    } else if report.interrupted {
        term::complain("hermes: stopped; everything so far is saved");
    }
    if seen.nobody_to_ask {
        term::complain(
            "hermes: a command was not run because nobody could be asked; use --yolo, or \
             `hermes config set approvals.mode off`",
        );
    }
}

/// The failure, what is safe, and the next step, in one line. `provider` is that of the session.
pub(crate) fn explain(report: &TurnReport, error: &str, provider: &str) -> String {
    use hermes_runtime::FaultClass::*;
    let asked = report.stand_in.as_ref().map_or(provider, |last| &last.provider);
    let listing = format!(
        "`hermes model list {asked}` lists its models; choose one with `hermes config set model.default NAME`"
    );
    let next = match report.fault {
        Some(Unreachable) => {
            "check the address with `hermes config explain model.base_url` and that the server runs"
        }
        Some(Auth) => "check the key with `hermes doctor`",
        Some(ModelNotFound) => listing.as_str(),
        Some(Budget) => "`hermes budget` shows what was spent",
        Some(Billing) => "the account needs credit, or choose another provider",
        Some(
            RateLimited | UpstreamRateLimited | Overloaded | Server | Timeout | StreamCut | Garbled | Unknown,
        ) => "the provider did not recover; try again later with --continue",
        Some(Certificate) => {
            "the server's certificate is not trusted here; check the address, the clock and the CA certificates"
        }
        Some(ContextOverflow | PayloadTooLarge | LongContextTier | LongContextBeta) => {
            "the conversation is too long for this model; start a new one"
        }
        Some(ContentPolicy) => "the provider refused; rephrase the request",
        Some(ProviderPolicy) => {
            "the provider's account settings allow no endpoint for this model; change them, or the model"
        }
        Some(ImageTooLarge) => "an image is too large for this model; send a smaller one in a new session",
        Some(
            StreamingUnsupported | ThinkingSignature | EncryptedContent | ToolImages | SchemaKeywords
            | Format,
        ) => "the provider refused the request as it is; try another model",
        None if report.store_failed => {
            return format!("{}; see `hermes doctor`", term::printable(error));
        }
        None => return term::printable(error).into_owned(),
    };
    // Of several models that failed, the advice is about the last one.
    let error = match &report.stand_in {
        Some(last) => format!("no model answered; {}/{} said: {error}", last.provider, last.model),
        None => error.to_owned(),
    };
    format!("{}; your message is saved; {next}", term::printable(&error))
}
