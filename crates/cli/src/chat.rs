//! A conversation in this terminal, line by line.

mod context;
mod switching;
mod turn;
mod while_busy;

use crate::args::Common;
use crate::ask::TerminalAsk;
use crate::editor::{Editor, Remember, Typed};
use crate::exit::{Exit, Failure};
use crate::keyboard::Keyboard;
use crate::sessions_command::counted;
use crate::status_line::status_line;
use crate::term::{self, Style};
use crate::{json_events, launch, listening, signals};
use hermes_conversation::{Cost, CostStatus, MailMode, Message};
use hermes_runtime::busy::{self, WhileBusy};
use hermes_runtime::commands::{self, Action, Line};
use hermes_runtime::{Parting, Runtime, RuntimeError, SessionHandle, config};
use hermes_skills::SkillError;
use hermes_store::Include;
use hermes_tools::AskUser;
use std::io::stdout;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;

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
    keyboard: Keyboard,
    /// Typed during a turn and not entered.
    draft: String,
    /// What Enter does while a turn runs.
    busy_mode: MailMode,
    style: Style,
    shows_reasoning: bool,
    /// The status line is wanted.
    shows_status: bool,
    /// A turn has ended since it was last shown.
    has_spoken: bool,
    opened: Instant,
}

/// Talks until the person leaves.
pub(crate) async fn run(runtime: &Runtime, common: &Common) -> Result<Exit, Failure> {
    let editor = Editor::start(runtime.home().history_file())?;
    let style = Style::for_stream(&stdout());
    let question_shown = Arc::new(Notify::new());
    let keyboard = Keyboard::new(editor.clone());
    let ask: Arc<dyn AskUser> = Arc::new(TerminalAsk {
        editor: editor.clone(),
        keyboard: keyboard.clone(),
        question_shown: question_shown.clone(),
    });
    let session = launch::session(runtime, common, ask.clone()).await?;
    let shows_reasoning = runtime.config().boolean("display.show_reasoning").map_err(RuntimeError::from)?;
    let busy_mode = runtime.config().text("display.busy_input_mode").map_err(RuntimeError::from)?;
    let busy_mode = busy_mode.as_deref().and_then(MailMode::parse).unwrap_or(MailMode::Interrupt);
    let mut chat = Chat {
        runtime,
        session,
        editor,
        ask,
        question_shown,
        keyboard,
        draft: String::new(),
        busy_mode,
        style,
        shows_reasoning,
        shows_status: true,
        has_spoken: false,
        opened: Instant::now(),
    };
    chat.greet().await;
    let talked = chat.talk().await;
    listening::restore();
    talked?;
    chat.farewell();
    chat.session.close(Parting::Left).await;
    Ok(Exit::Answered)
}

impl<'a> Chat<'a> {
    async fn greet(&mut self) {
        let Style { bold, dim, off, .. } = self.style;
        let endpoint = self.session.endpoint();
        let model = term::printable(&endpoint.model);
        term::print_line(&format!(
            "{bold}Hermes{off} {dim}{model} at {}  ·  /help, Ctrl-D leaves{off}",
            endpoint.origin()
        ));
        term::print_line(&format!("{dim}  {}{off}", term::printable(&self.session.caching_note())));
        for notice in self.session.take_notices() {
            term::print_line(&format!("{dim}  {}{off}", term::printable(&notice)));
        }
        if self.session.is_resumed() {
            self.recall().await;
        }
    }

    /// Shows the end of a continued conversation.
    async fn recall(&self) {
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
            "{dim}  Continuing {}{title}, {}{off}",
            self.session.id(),
            counted(history.len() as u64, "message")
        ));
        let last: Vec<_> = history.messages().iter().rev().filter(spoken).take(4).collect();
        let unfinished = self.unfinished_reply().await;
        for (left, message) in last.into_iter().enumerate().rev() {
            if let Some(text) = unfinished.as_deref().filter(|_| left == 0) {
                term::print_line(&format!("{dim}  hermes: (interrupted reply, not sent to the model){off}"));
                term::print_line(&term::printable(text.trim_end()));
            }
            let who = if message.role() == "user" { "you" } else { "hermes" };
            term::print_line(&format!("{dim}  {who:>6}: {}{off}", term::one_line(message.text(), 90)));
        }
    }

    /// The text of the reply that the user stopped, if the conversation ends there.
    async fn unfinished_reply(&self) -> Option<String> {
        let (store, id) = (self.runtime.store().ok()?, self.session.id());
        let (closed_by, text) = store.partial_replies(id).await.ok()?.pop()?;
        let newest = store.messages(id, Include::Originals).await.ok()?.pop()?;
        (newest.id == closed_by && !text.trim().is_empty()).then_some(text)
    }

    async fn talk(&mut self) -> Result<(), Failure> {
        let mut warned = false;
        if let Flow::Leave = self.say_what_waits().await {
            return Ok(());
        }
        loop {
            self.show_status();
            let typed = tokio::select! {
                typed = self.editor.go_on("\n❯ ", std::mem::take(&mut self.draft), Remember::Yes) => typed,
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
        if let Some(notice) = self.session.take_review_notice() {
            self.note(&notice);
        }
        let read = commands::read(line);
        if !matches!(read, Line::Command(_))
            && let Some(message) = self.skill_message(line)
        {
            return Ok(match message {
                Ok(message) => self.say(&message).await,
                Err(error) => {
                    self.complain(&error.to_string());
                    Flow::Stay
                }
            });
        }
        match read {
            Line::Words => Ok(self.say(line).await),
            Line::Command(action) => self.act(action).await,
            Line::Unknown { name, nearest } => {
                self.note(&commands::unknown(&name, nearest));
                Ok(Flow::Stay)
            }
        }
    }

    /// What `/NAME words` stands for, if a skill or a bundle has that name.
    fn skill_message(&self, line: &str) -> Option<Result<String, SkillError>> {
        let (name, words) = commands::slash_name(line)?;
        self.runtime.skill_message(self.session.id().as_str(), name, words)
    }

    async fn act(&mut self, action: Action) -> Result<Flow, Failure> {
        match action {
            Action::Quit => return Ok(Flow::Leave),
            Action::Help => {
                term::print_line(&commands::help());
                self.note("/NAME [words] uses a skill; `hermes skills list` names them");
            }
            Action::Stop => self.note("nothing is running"),
            // Nothing runs that could be steered or waited for.
            Action::Queue { text: Some(text) } | Action::Steer { text: Some(text) } => {
                return Ok(self.say(&text).await);
            }
            Action::Queue { text: None } => self.note(&busy::needs_text("queue")),
            Action::Steer { text: None } => self.note(&busy::needs_text("steer")),
            Action::Busy { mode } => match busy::busy(mode.as_deref()) {
                WhileBusy::SetMode(mode) => {
                    self.busy_mode = mode;
                    self.note(&while_busy::mode_words(mode));
                }
                WhileBusy::Refuse(why) => self.note(&why),
                _ => self.note(&while_busy::mode_words(self.busy_mode)),
            },
            Action::Usage => self.show_usage(),
            Action::Compress { focus } => self.compress(focus.as_deref()).await,
            Action::Context => self.show_context(),
            Action::Pin { text } => self.pin(text.as_deref()).await,
            Action::Unpin { number } => self.unpin(number.as_deref()).await,
            Action::Personality { name } => self.personality(name.as_deref()),
            Action::StatusBar => {
                self.shows_status = !self.shows_status;
                self.note(if self.shows_status { "the status line is shown" } else { "no status line" });
            }
            Action::Title { title: None } => {
                self.note(self.session.title().unwrap_or("this session has no title"))
            }
            Action::Title { title: Some(title) } => match self.session.set_title(&title).await {
                Ok(title) => self.note(&format!("title: {}", title.as_deref().unwrap_or("none"))),
                Err(error) => self.complain(&Failure::from(error).line),
            },
            Action::New { title } => self.start_new(title).await,
            Action::Resume { which: None } => self.offer_sessions().await,
            Action::Resume { which: Some(which) } => {
                if self.resume(&which).await {
                    return Ok(self.say_what_waits().await);
                }
            }
            Action::Model { name: None } => {
                let endpoint = self.session.endpoint();
                self.note(&format!("{} at {} ({})", endpoint.model, endpoint.origin(), endpoint.provider));
            }
            Action::Model { name: Some(words) } => self.switch_model(&words).await,
        }
        Ok(Flow::Stay)
    }

    /// Lists personalities, or uses one in this session and in later ones.
    fn personality(&mut self, name: Option<&str>) {
        let Some(name) = name else {
            return match self.session.personalities() {
                Ok(names) => self.note(&format!("personalities: {}, none", names.join(", "))),
                Err(error) => self.complain(&Failure::from(error).line),
            };
        };
        match self.session.set_personality(name) {
            Ok(Ok(found)) => match config::set(self.runtime.home(), "display.personality", found.name()) {
                Ok(_) if found.name().is_empty() => self.note("no personality"),
                Ok(_) => self.note(&format!("personality: {}", found.name())),
                Err(error) => self.complain(&format!("the personality is not saved: {error}")),
            },
            Ok(Err(names)) => {
                self.note(&format!("unknown personality; there are {}, none", names.join(", ")));
            }
            Err(error) => self.complain(&Failure::from(error).line),
        }
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

    /// How the session stands, once after each answer.
    fn show_status(&mut self) {
        if std::mem::take(&mut self.has_spoken) && self.shows_status {
            let (status, open) = (self.session.status(), self.opened.elapsed());
            let width = term::columns(&stdout());
            term::print_line(&format!("\n{}", status_line(&status, open, width, self.style)));
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
