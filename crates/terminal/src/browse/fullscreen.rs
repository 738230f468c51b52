//! The terminal's alternate screen, restored on every way out.
//!
//! Returning and unwinding drop [`Fullscreen`]; a panic restores the terminal before its message is printed,
//! so that the message is visible.

use crate::term;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{stdin, stdout};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use tokio::sync::mpsc;

/// Enters the alternate screen, without line wrapping, with bracketed paste.
const ENTER: &str = "\x1b[?1049h\x1b[?7l\x1b[?2004h\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The terminal modes to restore.
static BEFORE: Mutex<Option<(Termios, ThreadId)>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Columns and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) lines: usize,
}

/// The right to draw; restores the terminal on drop.
pub(super) struct Fullscreen(());

impl Fullscreen {
    pub(super) fn enter() -> std::io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        HOOK.call_once(restore_before_panics);
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some((before, thread::current().id()));
        let screen = Self(());
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        term::control(ENTER);
        Ok(screen)
    }

    /// Writes to the screen; `false` if the terminal is gone.
    pub(super) fn write(&self, text: &str) -> bool {
        term::control(text)
    }

    pub(super) fn size(&self) -> Size {
        let size = tcgetwinsize(stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        let (columns, lines) = size.map_or((80, 24), |size| (size.ws_col, size.ws_row));
        Size { columns: columns.into(), lines: lines.into() }
    }
}

impl Drop for Fullscreen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal; a second call does nothing.
fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((before, _)) = before {
        term::control(LEAVE);
        // A terminal that is gone needs no restoring.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}

/// Restores the terminal on a panic of the drawing thread only: after one of another thread it keeps drawing.
fn restore_before_panics() {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let drawing = match BEFORE.try_lock() {
            Ok(before) => before.as_ref().map(|(_, thread)| *thread),
            Err(_) => None,
        };
        if drawing == Some(thread::current().id()) {
            restore();
        }
        say(info);
    }));
}

/// Reads the keyboard on a thread that ends on drop: later input belongs to the next reader.
pub(super) struct Keyboard {
    bytes: mpsc::UnboundedReceiver<Vec<u8>>,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Keyboard {
    pub(super) fn start() -> std::io::Result<Self> {
        let (stop, stopped) = UnixStream::pair()?;
        let (into, bytes) = mpsc::unbounded_channel();
        let reader = move || read_keys(&stopped, &into);
        let thread = thread::Builder::new().name("keyboard".into()).spawn(reader)?;
        Ok(Self { bytes, stop: Some(stop), thread: Some(thread) })
    }

    /// The next bytes; `None` if the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        self.bytes.recv().await
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // The thread sees this end close, and ends.
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits for keys or the end, whichever comes first; reads only if there is input.
fn read_keys(stopped: &UnixStream, into: &mpsc::UnboundedSender<Vec<u8>>) {
    let keyboard = stdin();
    let mut buffer = [0; 1024];
    loop {
        let mut sources = [PollFd::new(&keyboard, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut sources, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        if !sources[1].revents().is_empty() {
            return;
        }
        match rustix::io::read(&keyboard, &mut buffer) {
            Ok(count @ 1..) if into.send(buffer[..count].to_vec()).is_ok() => {}
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}
