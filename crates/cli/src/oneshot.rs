//! One question, one answer, and out.

use crate::args::Common;
use crate::exit::{self, Exit, Failure};
use crate::json_events::{self, About};
use crate::prompt_text::{Manner, Prompt};
use crate::screen::{self, Screen};
use crate::term::{self, Style};
use crate::{launch, signals};
use hermes_conversation::{EventStream, Message, TurnEvent, events};
use hermes_runtime::{Runtime, RuntimeError, SessionHandle, TurnReport};
use hermes_tools::Nobody;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Answers a prompt and says how it went.
pub(crate) async fn run(runtime: &Runtime, common: &Common, prompt: Prompt) -> Result<Exit, Failure> {
    let mut session = match launch::session(runtime, common, Arc::new(Nobody)).await {
        Ok(session) => session,
        Err(failure) => {
            report_usage(common, None, &no_session(runtime), Some(&failure.line))?;
            return Err(failure);
        }
    };
    announce(&mut session, &prompt);
    let cancel = CancellationToken::new();
    let (sink, stream) = events();
    let shown = show(stream, prompt.manner, runtime);
    let turn = session.submit(message(&prompt.text), &cancel, sink);
    let outcome = tokio::select! {
        outcome = async { tokio::join!(turn, shown) } => outcome,
        () = signals::watch(cancel.clone(), Arc::new(Notify::new())) => unreachable!("the watch never ends"),
    };
    let (report, seen) = outcome;
    let result = conclude(common, prompt.manner, &session, report, seen);
    session.close().await;
    result
}

fn message(text: &str) -> hermes_runtime::UserInput {
    match Message::user(text) {
        Message::User(message) => message,
        Message::Assistant(_) | Message::Tool(_) => unreachable!("a user's message is one"),
    }
}

fn announce(session: &mut SessionHandle<'_>, prompt: &Prompt) {
    let notices = session.take_notices();
    match prompt.manner {
        Manner::Human => notices.iter().for_each(|notice| eprintln!("hermes: {notice}")),
        Manner::Json => {
            let endpoint = session.endpoint();
            let line = json_events::session(
                session.id().as_str(),
                &endpoint.model,
                endpoint.provider,
                session.is_resumed(),
            );
            term::print_line(&line.to_string());
        }
        Manner::Quiet | Manner::Bare => {}
    }
}

/// What was noticed while the turn ran.
#[derive(Default)]
struct Seen {
    /// A command was not run because nobody could be asked.
    nobody_to_ask: bool,
}

async fn show(mut stream: EventStream, manner: Manner, runtime: &Runtime) -> Seen {
    match manner {
        Manner::Human => {
            let shows_reasoning = runtime.config().boolean("display.show_reasoning").unwrap_or(true);
            let style = Style::for_stream(&std::io::stdout());
            screen::show(stream, Screen::new(style, shows_reasoning)).await;
            Seen::default()
        }
        Manner::Json => {
            let mut listening = true;
            while let Some(event) = stream.next().await {
                if let Some(line) = json_events::event(&event).filter(|_| listening) {
                    listening = term::print_line(&line.to_string());
                }
            }
            Seen::default()
        }
        Manner::Quiet | Manner::Bare => {
            let mut seen = Seen::default();
            while let Some(event) = stream.next().await {
                if let TurnEvent::ToolFinished { result, failed: true, .. } = &event {
                    seen.nobody_to_ask |= result.contains("nobody is present");
                }
            }
            seen
        }
    }
}

fn conclude(
    common: &Common,
    manner: Manner,
    session: &SessionHandle<'_>,
    report: Result<TurnReport, RuntimeError>,
    seen: Seen,
) -> Result<Exit, Failure> {
    let about = about(session);
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            let failure = Failure::from(error);
            report_usage(common, None, &about, Some(&failure.line))?;
            return Err(failure);
        }
    };
    report_usage(common, Some(&report), &about, None)?;
    match manner {
        Manner::Json => {
            term::print_line(&json_events::result(&report, &about).to_string());
        }
        Manner::Human => human_end(session, &report),
        Manner::Quiet | Manner::Bare => {
            if let Some(text) = &report.final_response {
                term::print_line(text.strip_suffix('\n').unwrap_or(text));
            }
            complain(&report, seen);
            if manner == Manner::Quiet {
                eprintln!("\nsession_id: {}", session.id());
            }
        }
    }
    Ok(exit::of_turn(&report))
}

fn complain(report: &TurnReport, seen: Seen) {
    if let Some(error) = &report.error {
        eprintln!("hermes: {}", explain(report, error));
    } else if report.interrupted {
        eprintln!("hermes: stopped; what was said is saved");
    }
    if seen.nobody_to_ask {
        eprintln!(
            "hermes: a command was not run because nobody could be asked; use --yolo, or \
             `hermes config set approvals.mode off`"
        );
    }
}

/// The failure, what is safe, and the next step, in one line.
pub(crate) fn explain(report: &TurnReport, error: &str) -> String {
    use hermes_runtime::FaultClass::*;
    let next = match report.fault {
        Some(Unreachable) => {
            "check the address with `hermes config explain model.base_url` and that the server runs"
        }
        Some(Auth) => "check the key with `hermes doctor`",
        Some(ModelNotFound) => "choose a model that the provider has: `hermes config set model.default NAME`",
        Some(Billing) => "the account needs credit, or choose another provider",
        Some(RateLimited | Overloaded | Server | Timeout | StreamCut | Garbled | Unknown) => {
            "the provider did not recover; try again later with --continue"
        }
        Some(ContextOverflow | PayloadTooLarge) => {
            "the conversation is too long for this model; start a new one"
        }
        Some(ContentPolicy) => "the provider refused; rephrase the request",
        Some(StreamingUnsupported | Format) => "the provider refused the request as it is; try another model",
        None if report.store_failed => return format!("{error}; see `hermes doctor`"),
        None => return term::printable(error).into_owned(),
    };
    format!("{}; your message is saved; {next}", term::printable(error))
}

fn human_end(session: &SessionHandle<'_>, report: &TurnReport) {
    if let Some(error) = &report.error {
        eprintln!("hermes: {}", explain(report, error));
    }
    eprintln!("\nContinue with:  hermes --resume {}", session.id());
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

/// What is known when no session could be opened.
fn no_session(_: &Runtime) -> About<'static> {
    About { session_id: "", model: "", provider: "", base_url: "" }
}

fn report_usage(
    common: &Common,
    report: Option<&TurnReport>,
    about: &About<'_>,
    failure: Option<&str>,
) -> Result<(), Failure> {
    let Some(path) = &common.usage_file else {
        return Ok(());
    };
    let value = json_events::usage_file(report, about, failure);
    let text = serde_json::to_string_pretty(&value).unwrap_or_default() + "\n";
    let written = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, text));
    written.map_err(|error| {
        Failure::new(
            Exit::Permission,
            format!("the usage file {} could not be written: {error}", path.display()),
        )
    })
}
