//! The chat: a conversation in this terminal, line by line.

mod busy_input;
mod command_replies;
mod turn;

use crate::editor::{Editor, Remember, Typed};
use crate::keyboard::Keyboard;
use crate::status_line::status_line;
use crate::term::{self, Style};
use crate::terminal::{self, Terminal};
use crate::text::counted;
use crate::{answering, key_reader, signals};
use hermes_conversation::{MailMode, Message, SessionId};
use hermes_runtime::busy::mode_text;
use hermes_runtime::commands::{self, CommandReply, Effect};
use hermes_runtime::{
    Observer, Opening, Parting, Runtime, RuntimeError, Session, SessionEvent, SessionHandle,
};
use hermes_store::Include;
use hermes_tools::AskUser;
use std::io::stdout;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

/// The next step of the chat.
enum Flow {
    Stay,
    Leave,
}

struct Chat {
    runtime: Runtime,
    session: SessionHandle,
    observer: Observer,
    /// Answers approvals and questions of the session.
    answering: AbortOnDropHandle<()>,
    /// The label of the session's provider.
    provider: String,
    /// A line that was entered late has started a turn which is not shown yet.
    has_late_turn: bool,
    editor: Editor,
    ask: Arc<dyn AskUser>,
    /// Notified by the screen when a question to the user is on it.
    question_shown: Arc<Notify>,
    keyboard: Keyboard,
    /// Input that was typed during a turn and not entered.
    draft: String,
    /// The mode of lines that are entered while a turn runs.
    busy_mode: MailMode,
    style: Style,
    shows_reasoning: bool,
    /// Set if the user wants the status line.
    shows_status: bool,
    /// Set if a turn ended since the status line was last shown.
    has_new_turn: bool,
    opened: Instant,
}

/// Runs the chat in `session` until the user leaves, and closes the session.
pub async fn run(runtime: &Runtime, terminal: Terminal, session: Session) -> Result<(), RuntimeError> {
    let display = &runtime.config().settings.display;
    let shows_reasoning = display.show_reasoning.value()?;
    let busy_mode = display.busy_input_mode.value()?;
    let busy_mode = MailMode::parse(busy_mode.as_str()).unwrap_or(MailMode::Interrupt);
    let (session, opened) = start(session);
    let Terminal { editor, keyboard, ask, question_shown } = terminal;
    let (observer, answering) = (observe(&session), answering::answer_with(&session, ask.clone()));
    let mut chat = Chat {
        runtime: runtime.clone(),
        session,
        observer,
        answering,
        provider: opened.provider.clone(),
        has_late_turn: false,
        editor,
        ask,
        question_shown,
        keyboard,
        draft: String::new(),
        busy_mode,
        style: Style::for_stream(&stdout()),
        shows_reasoning,
        shows_status: true,
        has_new_turn: false,
        opened: Instant::now(),
    };
    chat.print_header(opened).await;
    let ended = chat.converse().await;
    key_reader::restore();
    ended?;
    chat.print_resume_hint().await;
    chat.session.close(Parting::Left).await;
    Ok(())
}

impl Chat {
    async fn print_header(&mut self, opened: Opened) {
        let Style { bold, dim, off, .. } = self.style;
        term::print_line(&format!(
            "{bold}Hermes{off} {dim}{} at {}  ·  /help, Ctrl-D leaves{off}",
            term::printable(&opened.model),
            opened.origin
        ));
        for line in [&opened.caching, &opened.sandbox] {
            term::print_line(&format!("{dim}  {}{off}", term::printable(line)));
        }
        for notice in opened.notices {
            term::print_line(&format!("{dim}  {}{off}", term::printable(&notice)));
        }
        if opened.is_resumed {
            self.print_last_messages().await;
        }
    }

    /// Shows the last messages of a resumed session.
    async fn print_last_messages(&self) {
        let Style { dim, off, .. } = self.style;
        let snapshot = self.session.subscribe().0;
        let spoken = |message: &&Arc<Message>| match message.as_ref() {
            Message::User(_) => true,
            Message::Assistant(message) => !message.text.trim().is_empty(),
            Message::Tool(_) => false,
        };
        let title = snapshot.title.map(|title| format!(" “{}”", term::printable(&title))).unwrap_or_default();
        term::print_line(&format!(
            "{dim}  Resuming {}{title}, {}{off}",
            snapshot.session,
            counted(snapshot.messages.len(), "message")
        ));
        let last: Vec<_> = snapshot.messages.iter().rev().filter(spoken).take(4).collect();
        let unfinished = self.unfinished_reply(&snapshot.session).await;
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
    async fn unfinished_reply(&self, id: &SessionId) -> Option<String> {
        let store = self.runtime.store().ok()?;
        let (closed_by, text) = store.partial_replies(id).await.ok()?.pop()?;
        let newest = store.messages(id, Include::Originals).await.ok()?.pop()?;
        (newest.id == closed_by && !text.trim().is_empty()).then_some(text)
    }

    async fn converse(&mut self) -> Result<(), RuntimeError> {
        let mut warned = false;
        if let Flow::Leave = self.submit_queued().await {
            return Ok(());
        }
        loop {
            self.show_status().await?;
            // Part of the prompt: a user who reads it can press the key at once.
            let prompt = if warned { "  (Ctrl-C again, or Ctrl-D, leaves)\n\n❯ " } else { "\n❯ " };
            let typed = tokio::select! {
                typed = self.typed(prompt) => typed,
                () = signals::leave_asked() => return Ok(()),
            };
            let Some(typed) = typed else {
                if let Flow::Leave = self.submit_queued().await {
                    return Ok(());
                }
                continue;
            };
            match typed {
                Typed::End => return Ok(()),
                Typed::Interrupt if warned => return Ok(()),
                Typed::Interrupt => warned = true,
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

    /// The next input; `None` if a notice came first, for which a turn can be started.
    async fn typed(&mut self, prompt: &str) -> Option<Typed> {
        let begun = std::mem::take(&mut self.draft);
        let expects_notices = self.session.inspect(|session| session.expects_notices()).await;
        // One may have come since the last turn.
        while let Some(event) = self.observer.try_next() {
            if let SessionEvent::NoticeWaiting = event {
                self.draft = begun;
                return None;
            }
        }
        if !begun.is_empty() || !expects_notices.unwrap_or(false) {
            return Some(self.editor.read_from(prompt, begun, Remember::Yes).await);
        }
        let mut key = self.editor.await_key(prompt);
        loop {
            tokio::select! {
                biased;
                rest = key.pressed() => {
                    let reading = self.editor.read(&rest, Remember::Yes);
                    return Some(announcing(reading, &mut self.observer, &self.editor).await);
                }
                event = self.observer.next() => match event {
                    Some(SessionEvent::NoticeWaiting) => {
                        key.stop().await;
                        return None;
                    }
                    Some(_) => {}
                    // The session is closed; the next line says why.
                    None => std::future::pending().await,
                },
            }
        }
    }

    async fn line(&mut self, line: &str) -> Result<Flow, RuntimeError> {
        if let Some(notice) = self.session.inspect(Session::take_background_notice).await? {
            self.note(&notice);
        }
        if !commands::is_for_command(line) {
            return Ok(self.submit(line).await);
        }
        if let Some(progress) = commands::progress(line) {
            self.note(progress);
        }
        let watch = signals::watch_session(&self.session);
        let reply = self.session.command(line).await;
        drop(watch);
        self.note_statuses();
        match reply {
            Ok(CommandReply::Effect(effect)) => self.act(effect).await,
            Ok(reply) => {
                for line in command_replies::lines(&reply, self.style) {
                    term::print_line(&line);
                }
                Ok(Flow::Stay)
            }
            Err(error) => {
                self.print_error(&error.explained());
                Ok(Flow::Stay)
            }
        }
    }

    /// Shows the status lines of a command.
    fn note_statuses(&mut self) {
        while let Some(event) = self.observer.try_next() {
            if let SessionEvent::Turn(hermes_conversation::TurnEvent::Status(line)) = event {
                self.note(&line);
            }
        }
    }

    async fn act(&mut self, effect: Effect) -> Result<Flow, RuntimeError> {
        match effect {
            Effect::Quit => return Ok(Flow::Leave),
            Effect::Submit(text) | Effect::Queue { text, .. } => return Ok(self.submit(&text).await),
            Effect::ShowBusyMode => self.note(&mode_text(self.busy_mode)),
            Effect::SetBusyMode(mode) => {
                self.busy_mode = mode;
                self.note(&mode_text(mode));
            }
            Effect::ToggleStatusBar => {
                self.shows_status = !self.shows_status;
                self.note(if self.shows_status { "status line on" } else { "status line off" });
            }
            Effect::NewSession { title } => self.start_new(title).await,
            Effect::Resume(id) => {
                if self.resume(&id).await {
                    return Ok(self.submit_queued().await);
                }
            }
        }
        Ok(Flow::Stay)
    }

    async fn start_new(&mut self, title: Option<String>) {
        match self.runtime.open_session(opening(&self.runtime), self.ask.clone()) {
            Ok(session) => {
                self.replace(session, Parting::NewSession).await;
                if let Some(title) = title
                    && let Err(error) = self.session.command(&format!("/title {title}")).await
                {
                    self.print_error(&error.explained());
                }
                self.note("started a new session");
            }
            Err(error) => self.print_error(&error.explained()),
        }
    }

    /// Resumes another session; returns `false` if that failed.
    async fn resume(&mut self, id: &SessionId) -> bool {
        match terminal::resume(&self.runtime, id.as_str(), &opening(&self.runtime), self.ask.clone(), true)
            .await
        {
            Ok(session) => {
                self.replace(session, Parting::ResumedOther).await;
                self.print_last_messages().await;
                true
            }
            Err(error) => {
                self.print_error(&error.explained());
                false
            }
        }
    }

    async fn replace(&mut self, session: Session, parting: Parting) {
        let (session, opened) = start(session);
        let former = std::mem::replace(&mut self.session, session);
        self.observer = observe(&self.session);
        self.answering = answering::answer_with(&self.session, self.ask.clone());
        self.provider = opened.provider;
        former.close(parting).await;
        for notice in opened.notices {
            self.note(&notice);
        }
    }

    /// Shows the status line, once after each turn.
    async fn show_status(&mut self) -> Result<(), RuntimeError> {
        if std::mem::take(&mut self.has_new_turn) && self.shows_status {
            let (status, open) =
                (self.session.inspect(|session| session.status()).await?, self.opened.elapsed());
            let width = term::columns(&stdout());
            term::print_line(&format!("\n{}", status_line(&status, open, width, self.style)));
        }
        Ok(())
    }

    async fn print_resume_hint(&self) {
        if self.session.inspect(|session| session.is_stored()).await.unwrap_or(false) {
            let Style { dim, off, .. } = self.style;
            term::print_line(&format!("\n{dim}Continue with:  hermes --resume {}{off}", self.session.id()));
        }
    }

    fn note(&self, text: &str) {
        let Style { dim, off, .. } = self.style;
        term::print_line(&format!("{dim}  {}{off}", term::printable(text)));
    }

    fn print_error(&self, text: &str) {
        let Style { red, off, .. } = self.style;
        term::print_line(&format!("{red}  {}{off}", term::printable(text)));
    }
}

/// Waits for a line, and says above it that a notice has come.
async fn announcing(reading: impl Future<Output = Typed>, observer: &mut Observer, editor: &Editor) -> Typed {
    tokio::pin!(reading);
    loop {
        tokio::select! {
            biased;
            typed = &mut reading => return typed,
            event = observer.next() => match event {
                Some(SessionEvent::NoticeWaiting) => {
                    editor.announce("  a background process has a message; it is sent with your next prompt");
                }
                Some(_) => {}
                None => return reading.await,
            },
        }
    }
}

/// The opening of a chat's sessions: they get titles, and memory is reviewed in the background.
pub fn opening(runtime: &Runtime) -> Opening {
    Opening { works_in_background: true, ..runtime.default_opening() }
}

/// Observes a session without dropping events: all of them are shown.
fn observe(session: &SessionHandle) -> Observer {
    let (_, observer) = session.subscribe();
    observer.keep_all();
    observer
}

/// Facts about a session that was just opened.
struct Opened {
    model: String,
    origin: String,
    provider: String,
    caching: String,
    /// One line about the confinement of commands.
    sandbox: String,
    notices: Vec<String>,
    is_resumed: bool,
}

/// Starts the task of a session that was opened.
fn start(mut session: Session) -> (SessionHandle, Opened) {
    let notices = session.take_notices();
    let endpoint = session.endpoint();
    let opened = Opened {
        model: endpoint.model.clone(),
        origin: endpoint.origin().to_string(),
        provider: endpoint.label(),
        caching: session.caching_note(),
        sandbox: session.sandbox_summary(),
        notices,
        is_resumed: session.is_resumed(),
    };
    (SessionHandle::spawn(session), opened)
}
