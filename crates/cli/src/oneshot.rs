//! One question, one answer, and out.

use crate::args::Common;
use crate::ask::TerminalAsk;
use crate::editor::Editor;
use crate::exit::{self, Exit, Failure};
use crate::json_events::{self, About};
use crate::keyboard::Keyboard;
use crate::page::{self, Beside};
use crate::prompt_text::{Manner, Prompt};
use crate::screen::Screen;
use crate::term::{self, Style};
use crate::{launch, signals, usage_file};
use hermes_conversation::{CallEnding, EventStream, TurnEvent, events};
use hermes_runtime::{Input, Parting, Runtime, RuntimeError, SessionHandle, TurnReport, message_with_images};
use hermes_tools::{AskUser, Nobody};
use std::io::IsTerminal;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The prompt with what it refers to; what cannot go along is told.
async fn referring(session: &SessionHandle<'_>, text: &str) -> Result<String, RuntimeError> {
    let referred = session.referring(text).await?;
    for warning in &referred.warnings {
        term::complain(&format!("hermes: {}", term::printable(warning)));
    }
    Ok(referred.text)
}

/// Answers a prompt and says how it went.
pub(crate) async fn run(runtime: &Runtime, common: &Common, prompt: Prompt) -> Result<Exit, Failure> {
    let person = Person::present(runtime, prompt.manner)?;
    let mut session = match launch::session(runtime, common, person.ask.clone()).await {
        Ok(session) => session,
        Err(failure) => return Err(give_up(common, &About::nothing(), failure)),
    };
    announce(&mut session, &prompt);
    let cancel = CancellationToken::new();
    let (sink, stream) = events();
    // Beside the turn, which is woken for every token and should not look at the screen as well.
    let screen = screen_for(runtime, person.question_shown);
    let shown = tokio::spawn(show(stream, prompt.manner, screen));
    let watch = signals::watch(cancel.clone());
    let report = match session.waiting().await {
        // What was said to the session and never delivered comes first: it was said before.
        Ok(waiting) => {
            let text = match prompt.is_typed {
                true => referring(&session, &prompt.text).await,
                false => Ok(prompt.text.clone()),
            };
            match text {
                Ok(text) => {
                    let message = message_with_images(&text, &prompt.images);
                    session.submit(Input::after_mail(waiting, message), &cancel, sink).await
                }
                Err(error) => Err(error),
            }
        }
        Err(error) => Err(error),
    };
    drop(watch);
    let seen = shown.await.unwrap_or_default();
    let result = conclude(common, prompt.manner, &session, report, seen);
    session.close(Parting::Left).await;
    result
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

fn announce(session: &mut SessionHandle<'_>, prompt: &Prompt) {
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
    let shows_reasoning = runtime.config().boolean("display.show_reasoning").unwrap_or(true);
    let screen = Screen::new(Style::for_stream(&std::io::stdout()), shows_reasoning);
    match question_shown {
        Some(shown) => screen.with_questions(shown),
        None => screen,
    }
}

async fn show(mut stream: EventStream, manner: Manner, screen: Screen) -> Seen {
    let mut seen = Seen::default();
    if manner == Manner::Human {
        page::show(stream, screen, Beside::nothing()).await;
        return seen;
    }
    if manner != Manner::Json {
        stream.skip_text();
    }
    let mut is_read = manner == Manner::Json;
    while let Some(event) = stream.next().await {
        if let TurnEvent::ToolFinished { ending, .. } = &event {
            seen.nobody_to_ask |= *ending == CallEnding::NoApprover;
        }
        is_read = is_read && term::print_line(&json_events::event(&event).to_string());
    }
    seen
}

fn conclude(
    common: &Common,
    manner: Manner,
    session: &SessionHandle<'_>,
    report: Result<TurnReport, RuntimeError>,
    seen: Seen,
) -> Result<Exit, Failure> {
    let about = about(session);
    let report = report.map_err(|error| give_up(common, &about, error.into()))?;
    let about = about.answered_by(report.stand_in.as_ref());
    match manner {
        Manner::Json => {
            let line = json_events::result(&report, &about, session.history()).to_string();
            if !term::print_line(&line) {
                term::note_lost_answer();
            }
        }
        Manner::Human => {
            complain(&report, &seen, &session.endpoint().label());
            term::complain(&format!("\nContinue with:  hermes --resume {}", session.id()));
        }
        Manner::Quiet | Manner::Bare => {
            print_answer(&report);
            complain(&report, &seen, &session.endpoint().label());
            if manner == Manner::Quiet {
                term::complain(&format!("\nsession_id: {}", session.id()));
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

fn about<'a>(session: &'a SessionHandle<'_>) -> About<'a> {
    let endpoint = session.endpoint();
    About {
        session_id: session.id().as_str(),
        model: &endpoint.model,
        provider: endpoint.provider,
        base_url: endpoint.base_url.as_str(),
    }
}
