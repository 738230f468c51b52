//! The line editor, on a thread of its own, because it blocks while a person thinks.

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor as Rustyline};
use std::path::PathBuf;
use std::sync::mpsc;
use tokio::sync::oneshot;

/// What a person did at a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// Whether a line is worth remembering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remember {
    Yes,
    No,
}

struct Request {
    prompt: String,
    remember: Remember,
    answer: oneshot::Sender<Typed>,
}

/// A handle to the editor thread.
#[derive(Clone)]
pub(crate) struct Editor(mpsc::Sender<Request>);

impl Editor {
    /// Starts the thread. The history is read when it is first needed.
    pub(crate) fn start(history: PathBuf) -> std::io::Result<Self> {
        let (requests, inbox) = mpsc::channel();
        std::thread::Builder::new().name("editor".into()).spawn(move || serve(&inbox, &history))?;
        Ok(Self(requests))
    }

    /// Waits for a line.
    pub(crate) async fn read(&self, prompt: &str, remember: Remember) -> Typed {
        let (answer, line) = oneshot::channel();
        let request = Request { prompt: prompt.to_owned(), remember, answer };
        match self.0.send(request) {
            Ok(()) => line.await.unwrap_or(Typed::End),
            Err(_) => Typed::End,
        }
    }
}

fn serve(inbox: &mpsc::Receiver<Request>, history: &std::path::Path) {
    let config = Config::builder().bracketed_paste(true).auto_add_history(false).build();
    let Ok(mut editor) = Rustyline::<(), MemHistory>::with_history(config, MemHistory::new()) else {
        return;
    };
    for entry in crate::history::load(history) {
        let _ = editor.add_history_entry(entry);
    }
    let mut unclaimed = None;
    while let Ok(request) = inbox.recv() {
        if let (Some(line), Remember::Yes) = (&unclaimed, request.remember) {
            let _ = request.answer.send(Typed::Line(String::clone(line)));
            unclaimed = None;
            continue;
        }
        let typed = match editor.readline(&request.prompt) {
            Ok(line) => Typed::Line(line),
            Err(ReadlineError::Interrupted) => Typed::Interrupt,
            Err(_) => Typed::End,
        };
        if let Typed::Line(line) = &typed
            && request.remember == Remember::Yes
            && !line.trim().is_empty()
        {
            let _ = editor.add_history_entry(line.as_str());
            crate::history::append(history, line);
        }
        // A line typed at a question that was withdrawn meanwhile is not lost: it was meant for
        // the conversation.
        if let Err(Typed::Line(line)) = request.answer.send(typed) {
            unclaimed = Some(line).filter(|line| !line.trim().is_empty());
        }
    }
}
