//! Reads the keyboard while a turn runs, key by key, until it is stopped.
//!
//! The terminal does not echo meanwhile: the screen shows the typed line below the stream. Ctrl-C stays a signal.

use crate::draft::Draft;
use crate::keys::Keys;
use crate::term;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::io::{IsTerminal, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Turns on bracketed paste, so that a line end in a paste does not enter it. It stays on when reading ends,
/// because the prompt that follows needs it, too.
const MARK_PASTES: &str = "\x1b[?2004h";
const LEAVE_PASTES: &str = "\x1b[?2004l";

/// The terminal modes to restore.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
/// Set once bracketed paste was turned on.
static MARKED: AtomicBool = AtomicBool::new(false);

/// A callback for every key, with the draft and the line that was entered, if any.
pub(crate) type Heard<'a> = &'a mut dyn FnMut(&Draft, Option<String>);

/// Reads keys until the other end of `stopped` closes, and returns the input that was not entered.
pub(crate) fn listen(draft: String, stopped: &UnixStream, heard: Heard<'_>) -> String {
    let mut draft = Draft::new(draft);
    let quiet = Quiet::begin();
    heard(&draft, None);
    // Keys come from a terminal only; piped input belongs to the prompt.
    let mut is_open = quiet.is_some();
    let mut keys = Keys::default();
    let keyboard = stdin();
    let mut buffer = [0; 1024];
    loop {
        let mut sources = vec![PollFd::new(stopped, PollFlags::IN)];
        if is_open {
            sources.push(PollFd::new(&keyboard, PollFlags::IN));
        }
        match poll(&mut sources, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Ok(_) if sources[0].revents().is_empty() => {}
            _ => return draft.into_string(),
        }
        match rustix::io::read(&keyboard, &mut buffer) {
            Ok(count @ 1..) => {
                for key in keys.feed(&buffer[..count]) {
                    let line = draft.press(key);
                    heard(&draft, line);
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            _ => is_open = false,
        }
    }
}

/// Removes the line of the cursor.
const ERASE_LINE: &str = "\r\x1b[K";

/// Shows a prompt and waits for a key, which stays unread, or until the other end of `stopped` closes. Returns the
/// prompt at which the line is to be read: all of it where no key can be awaited.
pub(crate) fn await_key(prompt: &str, stopped: &UnixStream) -> String {
    let can_move = stdout().is_terminal() && term::can_move_cursor();
    // Ctrl-C is a key at the prompt.
    let Some(_quiet) = can_move.then(|| Quiet::without(LocalModes::ISIG)).flatten() else {
        return prompt.to_owned();
    };
    term::print(prompt);
    let keyboard = stdin();
    let mut sources = [PollFd::new(stopped, PollFlags::IN), PollFd::new(&keyboard, PollFlags::IN)];
    while let Err(rustix::io::Errno::INTR) = poll(&mut sources, None) {}
    term::control(ERASE_LINE);
    prompt.rsplit('\n').next().unwrap_or_default().to_owned()
}

/// A terminal without echo and line buffering, restored on drop.
struct Quiet;

impl Quiet {
    fn begin() -> Option<Self> {
        Self::without(LocalModes::empty())
    }

    /// Without these modes, either.
    fn without(modes: LocalModes) -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | modes);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let guard = Self;
        tcsetattr(stdin(), OptionalActions::Now, &quiet).ok()?;
        MARKED.store(true, Ordering::Relaxed);
        term::control(MARK_PASTES);
        Some(guard)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        echo_again();
    }
}

/// Restores the terminal when the program exits without waiting for its threads.
pub(crate) fn restore() {
    if MARKED.swap(false, Ordering::Relaxed) {
        term::control(LEAVE_PASTES);
    }
    echo_again();
}

/// Restores the modes; a second call does nothing.
fn echo_again() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // A terminal that is gone needs no restoring.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}
