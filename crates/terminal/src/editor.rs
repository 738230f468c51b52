//! The line editor, on a thread of its own, because it blocks until a line is entered.
//!
//! The thread is the only one that reads the terminal: lines at a prompt, or single keys while a turn
//! runs. It serves requests in order, so the two never read at the same time.

use crate::completer::SlashCommands;
use crate::key_reader;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{CompletionType, Config, Editor as Rustyline, ExternalPrinter};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tokio::sync::oneshot;

/// The input at a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// The choice whether a line enters the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remember {
    Yes,
    No,
}

/// A callback with the line after each key, and with the entered line.
pub(crate) type Heard = Box<dyn FnMut(&str, Option<String>) + Send>;

enum Request {
    Read {
        prompt: String,
        begun: String,
        remember: Remember,
        answer: oneshot::Sender<Typed>,
    },
    AwaitKey {
        prompt: String,
        stopped: UnixStream,
        pressed: oneshot::Sender<String>,
    },
    Listen {
        draft: String,
        remember: Remember,
        stopped: UnixStream,
        heard: Heard,
        left: oneshot::Sender<String>,
    },
}

/// Prints above the line that is being edited.
type Announcer = Box<dyn ExternalPrinter + Send>;

/// A handle to the editor thread.
#[derive(Clone)]
pub(crate) struct Editor {
    requests: mpsc::Sender<Request>,
    /// `None` until the thread runs, and without a terminal.
    announcer: Arc<Mutex<Option<Announcer>>>,
}

/// A prompt at which no key was pressed yet.
pub(crate) struct AwaitedKey {
    stop: Option<UnixStream>,
    pressed: oneshot::Receiver<String>,
}

impl AwaitedKey {
    /// Waits for a key, which is not read, and returns the prompt to read it at.
    pub(crate) async fn pressed(&mut self) -> String {
        (&mut self.pressed).await.unwrap_or_default()
    }

    /// Removes the prompt.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        let _ = self.pressed.await;
    }
}

/// Reads keys until it is stopped or dropped.
pub(crate) struct Listening {
    stop: UnixStream,
    left: oneshot::Receiver<String>,
}

impl Listening {
    /// Stops, and returns the input that was not entered.
    pub(crate) async fn stop(self) -> String {
        drop(self.stop);
        self.left.await.unwrap_or_default()
    }
}

impl Editor {
    /// Starts the thread. The history is read when it is first needed.
    pub(crate) fn start(history: PathBuf) -> std::io::Result<Self> {
        let (requests, inbox) = mpsc::channel();
        let announcer = Arc::new(Mutex::new(None));
        let printer = announcer.clone();
        let thread = std::thread::Builder::new().name("editor".into());
        thread.spawn(move || serve(&inbox, &history, &printer))?;
        Ok(Self { requests, announcer })
    }

    /// Waits for a line.
    pub(crate) async fn read(&self, prompt: &str, remember: Remember) -> Typed {
        self.read_from(prompt, String::new(), remember).await
    }

    /// Waits for a line that begins with `begun`.
    pub(crate) async fn read_from(&self, prompt: &str, begun: String, remember: Remember) -> Typed {
        let (answer, line) = oneshot::channel();
        let request = Request::Read { prompt: prompt.to_owned(), begun, remember, answer };
        match self.requests.send(request) {
            Ok(()) => line.await.unwrap_or(Typed::End),
            Err(_) => Typed::End,
        }
    }

    /// Shows a prompt and waits for the first key at it.
    pub(crate) fn await_key(&self, prompt: &str) -> AwaitedKey {
        let (pressed, key) = oneshot::channel();
        let Ok((stop, stopped)) = UnixStream::pair() else {
            // The line editor waits for the key.
            let _ = pressed.send(prompt.to_owned());
            return AwaitedKey { stop: None, pressed: key };
        };
        let _ = self.requests.send(Request::AwaitKey { prompt: prompt.to_owned(), stopped, pressed });
        AwaitedKey { stop: Some(stop), pressed: key }
    }

    /// Prints a line above the one that is being edited.
    pub(crate) fn announce(&self, line: &str) {
        let mut announcer = self.announcer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(announcer) = announcer.as_mut() {
            // What cannot be announced is said with the next prompt.
            let _ = announcer.print(format!("{line}\n"));
        }
    }

    /// Reads single keys, starting with `draft`. `None` if the terminal cannot be read.
    pub(crate) fn listen(&self, draft: String, remember: Remember, heard: Heard) -> Option<Listening> {
        let (stop, stopped) = UnixStream::pair().ok()?;
        let (left, typed) = oneshot::channel();
        self.requests.send(Request::Listen { draft, remember, stopped, heard, left }).ok()?;
        Some(Listening { stop, left: typed })
    }
}

fn serve(inbox: &mpsc::Receiver<Request>, history: &Path, announcer: &Mutex<Option<Announcer>>) {
    // Tab goes through the candidates in place: a list would be drawn over, because the prompt begins with a newline.
    let config = Config::builder()
        .bracketed_paste(true)
        .auto_add_history(false)
        .completion_type(CompletionType::Circular)
        .build();
    let Ok(mut editor) = Rustyline::<SlashCommands, MemHistory>::with_history(config, MemHistory::new())
    else {
        return;
    };
    editor.set_helper(Some(SlashCommands));
    *announcer.lock().unwrap_or_else(PoisonError::into_inner) =
        editor.create_external_printer().ok().map(|printer| Box::new(printer) as Announcer);
    let mut lines = Lines { editor, history };
    for entry in crate::history::load(history) {
        let _ = lines.editor.add_history_entry(entry);
    }
    let mut unclaimed = None;
    while let Ok(request) = inbox.recv() {
        match request {
            Request::Read { remember: Remember::Yes, answer, .. } if unclaimed.is_some() => {
                let _ = answer.send(Typed::Line(unclaimed.take().unwrap_or_default()));
            }
            Request::Read { prompt, begun, remember, answer } => {
                // A line entered at a question that was withdrawn meanwhile is kept as input of the
                // conversation.
                if let Err(Typed::Line(line)) = answer.send(lines.read(&prompt, &begun, remember)) {
                    unclaimed = Some(line).filter(|line| !line.trim().is_empty());
                }
            }
            Request::AwaitKey { prompt, stopped, pressed } => {
                let rest = match unclaimed {
                    Some(_) => prompt,
                    None => key_reader::await_key(&prompt, &stopped),
                };
                let _ = pressed.send(rest);
            }
            Request::Listen { draft, remember, stopped, mut heard, left } => {
                let draft = key_reader::listen(draft, &stopped, &mut |draft, line| {
                    if let (Some(line), Remember::Yes) = (&line, remember) {
                        lines.remember(line);
                    }
                    heard(draft.as_str(), line);
                });
                // Fails if the reader was dropped instead of stopped.
                let _ = left.send(draft);
            }
        }
    }
}

struct Lines<'a> {
    editor: Rustyline<SlashCommands, MemHistory>,
    history: &'a Path,
}

impl Lines<'_> {
    fn read(&mut self, prompt: &str, begun: &str, remember: Remember) -> Typed {
        let typed = match self.editor.readline_with_initial(prompt, (begun, "")) {
            Ok(line) => Typed::Line(line),
            Err(ReadlineError::Interrupted) => Typed::Interrupt,
            Err(_) => Typed::End,
        };
        if let (Typed::Line(line), Remember::Yes) = (&typed, remember) {
            self.remember(line);
        }
        typed
    }

    fn remember(&mut self, line: &str) {
        if !line.trim().is_empty() {
            let _ = self.editor.add_history_entry(line);
            crate::history::append(self.history, line);
        }
    }
}
