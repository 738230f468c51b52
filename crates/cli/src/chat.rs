//! A conversation in this terminal, line by line.

use crate::args::Common;
use crate::ask::TerminalAsk;
use crate::editor::{Editor, Remember, Typed};
use crate::exit::{Exit, Failure};
use crate::screen::{self, Screen};
use crate::term::{self, Style};
use crate::{json_events, launch, oneshot, signals};
use futures::FutureExt;
use hermes_conversation::{Cost, CostStatus, Message, UserMessage, events};
use hermes_runtime::commands::{self, Action, Line};
use hermes_runtime::{Parting, Runtime, RuntimeError, SessionHandle, TurnReport};
use hermes_tools::AskUser;
use std::io::stdout;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Whether the conversation goes on.
enum Flow {
    Stay,
    Leave,
}

struct Chat<'a> {
    runtime: &'a Runtime,
    session: SessionHandle<'a>,
    editor: Editor,
    ask: Arc<dyn AskUser>,
    /// Rung by the screen when a question to the person is on it.
    question_shown: Arc<Notify>,
    style: Style,
    shows_reasoning: bool,
}

/// Talks until the person leaves.
pub(crate) async fn run(runtime: &Runtime, common: &Common) -> Result<Exit, Failure> {
    let editor = Editor::start(runtime.home().history_file())?;
    let style = Style::for_stream(&stdout());
    let question_shown = Arc::new(Notify::new());
    let ask: Arc<dyn AskUser> =
        Arc::new(TerminalAsk { editor: editor.clone(), question_shown: question_shown.clone() });
    let session = launch::session(runtime, common, ask.clone()).await?;
    let shows_reasoning = runtime.config().boolean("display.show_reasoning").map_err(RuntimeError::from)?;
    let mut chat = Chat { runtime, session, editor, ask, question_shown, style, shows_reasoning };
    chat.greet();
    chat.talk().await?;
    chat.farewell();
    chat.session.close(Parting::Left).await;
    Ok(Exit::Answered)
}

impl<'a> Chat<'a> {
    fn greet(&mut self) {
        let Style { bold, dim, off, .. } = self.style;
        let endpoint = self.session.endpoint();
        let model = term::printable(&endpoint.model);
        term::print_line(&format!(
            "{bold}Hermes{off} {dim}{model} at {}  ·  /help, Ctrl-D leaves{off}",
            endpoint.origin()
        ));
        for notice in self.session.take_notices() {
            term::print_line(&format!("{dim}  {}{off}", term::printable(&notice)));
        }
        if self.session.is_resumed() {
            self.recall();
        }
    }

    /// The end of a continued conversation, so that the person knows where it stands.
    fn recall(&self) {
        let Style { dim, off, .. } = self.style;
        let Some(history) = self.session.history() else {
            return;
        };
        let spoken = |message: &&Arc<Message>| match message.as_ref() {
            Message::User(_) => true,
            Message::Assistant(message) => !message.text.trim().is_empty(),
            Message::Tool(_) => false,
        };
        let title =
            self.session.title().map(|title| format!(" “{}”", term::printable(title))).unwrap_or_default();
        term::print_line(&format!(
            "{dim}  Continuing {}{title}, {} messages{off}",
            self.session.id(),
            history.len()
        ));
        let last: Vec<_> = history.messages().iter().rev().filter(spoken).take(4).collect();
        for message in last.into_iter().rev() {
            let who = if message.role() == "user" { "you" } else { "hermes" };
            term::print_line(&format!("{dim}  {who:>6}: {}{off}", term::one_line(message.text(), 90)));
        }
    }

    async fn talk(&mut self) -> Result<(), Failure> {
        let mut warned = false;
        loop {
            let typed = tokio::select! {
                typed = self.editor.read("\n❯ ", Remember::Yes) => typed,
                () = signals::leave_asked() => return Ok(()),
            };
            match typed {
                Typed::End => return Ok(()),
                Typed::Interrupt if warned => return Ok(()),
                Typed::Interrupt => {
                    warned = true;
                    term::print_line("  (Ctrl-C again, or Ctrl-D, leaves)");
                }
                Typed::Line(line) if line.trim().is_empty() => warned = false,
                Typed::Line(line) => {
                    warned = false;
                    if let Flow::Leave = self.line(&line).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn line(&mut self, line: &str) -> Result<Flow, Failure> {
        self.session.take_up_name();
        match commands::read(line) {
            Line::Words => {
                self.turn(line).await;
                Ok(Flow::Stay)
            }
            Line::Command(action) => self.act(action).await,
            Line::Unknown { name, nearest } => {
                let hint = nearest.map(|nearest| format!("; did you mean /{nearest}?")).unwrap_or_default();
                self.note(&format!("there is no command /{name}{hint} (/help lists them)"));
                Ok(Flow::Stay)
            }
        }
    }

    async fn turn(&mut self, line: &str) {
        let cancel = CancellationToken::new();
        let (sink, stream) = events();
        let screen =
            Screen::new(self.style, self.shows_reasoning).with_questions(self.question_shown.clone());
        // A question that nobody answered in an earlier turn is not this turn's.
        let _ = self.question_shown.notified().now_or_never();
        let input = UserMessage::text(line);
        term::print("\n");
        let watch = signals::watch(cancel.clone());
        let shown = tokio::spawn(screen::show(stream, screen));
        let report = self.session.submit(input, &cancel, sink).await;
        drop(watch);
        let _ = shown.await;
        match report {
            Ok(report) => {
                self.conclude(&report);
                if report.completed {
                    self.session.name_in_background();
                }
            }
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }

    fn conclude(&self, report: &TurnReport) {
        if report.interrupted {
            self.note("stopped; what was said is saved");
        } else if let Some(error) = &report.error {
            self.complain(&oneshot::explain(report, error));
        }
    }

    async fn act(&mut self, action: Action) -> Result<Flow, Failure> {
        match action {
            Action::Quit => return Ok(Flow::Leave),
            Action::Help => {
                term::print_line(&commands::help());
            }
            Action::Stop => self.note("nothing is running"),
            Action::Usage => self.show_usage(),
            Action::Title { title: None } => {
                self.note(self.session.title().unwrap_or("this session has no title"))
            }
            Action::Title { title: Some(title) } => match self.session.set_title(&title).await {
                Ok(title) => self.note(&format!("title: {}", title.as_deref().unwrap_or("none"))),
                Err(error) => self.complain(&Failure::from(error).line),
            },
            Action::New { title } => self.start_new(title).await,
            Action::Resume { which } => self.resume(which.as_deref().unwrap_or("latest")).await,
            Action::Model { name: None } => {
                let endpoint = self.session.endpoint();
                self.note(&format!("{} at {} ({})", endpoint.model, endpoint.origin(), endpoint.provider));
            }
            Action::Model { name: Some(name) } => match self.session.set_model(&name).await {
                Ok(()) => self.note(&format!("{name} answers from now on")),
                Err(error) => self.complain(&Failure::from(error).line),
            },
        }
        Ok(Flow::Stay)
    }

    async fn start_new(&mut self, title: Option<String>) {
        match self.runtime.start(self.ask.clone()) {
            Ok(session) => {
                self.replace(session, Parting::NewSession).await;
                if let Some(title) = title
                    && let Err(error) = self.session.set_title(&title).await
                {
                    self.complain(&Failure::from(error).line);
                }
                self.note("a new session");
            }
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }

    async fn resume(&mut self, which: &str) {
        match launch::resume(self.runtime, which, self.ask.clone(), true).await {
            Ok(session) => {
                self.replace(session, Parting::ResumedOther).await;
                self.recall();
            }
            Err(failure) => self.complain(&failure.line),
        }
    }

    async fn replace(&mut self, session: SessionHandle<'a>, parting: Parting) {
        std::mem::replace(&mut self.session, session).close(parting).await;
    }

    fn show_usage(&self) {
        let usage = json_events::tokens(&self.session.usage());
        let row = |name: &str| usage[name].as_u64().unwrap_or(0);
        self.note(&format!(
            "tokens: {} in ({} from cache), {} out, {} in all",
            row("prompt_tokens"),
            row("cache_read_tokens"),
            row("output_tokens"),
            row("total_tokens")
        ));
        if let Some(cost) = self.session.cost() {
            self.note(&cost_words(&cost));
        }
    }

    fn farewell(&self) {
        if self.session.is_stored() {
            let Style { dim, off, .. } = self.style;
            term::print_line(&format!("\n{dim}Continue with:  hermes --resume {}{off}", self.session.id()));
        }
    }

    fn note(&self, text: &str) {
        let Style { dim, off, .. } = self.style;
        term::print_line(&format!("{dim}  {}{off}", term::printable(text)));
    }

    fn complain(&self, text: &str) {
        let Style { red, off, .. } = self.style;
        term::print_line(&format!("{red}  {}{off}", term::printable(text)));
    }
}

/// What calls cost, in a few words.
fn cost_words(cost: &Cost) -> String {
    let known = cost.known().map(|amount| amount.to_string());
    match (cost.status, known) {
        (CostStatus::Included, _) => "cost: included in the subscription".to_owned(),
        (CostStatus::Actual, Some(amount)) => format!("cost: {amount} since this session was opened"),
        (CostStatus::Estimated, Some(amount)) => {
            format!("cost: about {amount} since this session was opened")
        }
        (_, Some(amount)) => format!("cost: at least {amount}; some calls have no known price"),
        (_, None) => "cost: unknown; `hermes model show` says what is known about the model".to_owned(),
    }
}
