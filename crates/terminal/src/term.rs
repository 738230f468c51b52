//! The writers of standard output and standard error.
//!
//! Everything that is printed goes through [`print`], [`print_line`], [`print_error`] or [`complain_inline`],
//! which escape control characters, whatever the text is made of. Only [`control`] writes bytes as they
//! are: for the program's own cursor movements.

use rustix::termios::tcgetwinsize;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Text in which control characters other than newline and tab are escaped, so that output of a model or a tool
/// cannot move the cursor, recolour the screen or fake a prompt.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\r' => {}
            unsafe_one if is_unsafe(unsafe_one) => out.extend(unsafe_one.escape_unicode()),
            safe => out.push(safe),
        }
    }
    Cow::Owned(out)
}

fn is_unsafe(character: char) -> bool {
    let is_control = character.is_control() && character != '\n' && character != '\t';
    // Bidirectional overrides can make a command read as another one.
    is_control || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text on one line, at most `width` columns wide.
pub fn one_line(text: &str, width: usize) -> String {
    use unicode_width::UnicodeWidthChar;
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = printable(&joined);
    let (mut out, mut used) = (String::new(), 0);
    for character in text.chars() {
        let columns = character.width().unwrap_or(0);
        if used + columns > width.saturating_sub(1) {
            out.push('…');
            return out;
        }
        used += columns;
        out.push(character);
    }
    out
}

/// Text on one line, cut only if it is wider than `width` columns.
pub fn fitting(text: &str, width: usize) -> String {
    use unicode_width::UnicodeWidthStr;
    // `one_line` keeps a column free.
    let whole = one_line(text, width + 1);
    match (whole.width() <= width, width) {
        (true, _) => whole,
        (false, 0) => String::new(),
        (false, _) => one_line(text, width),
    }
}

/// Styles, empty when the output is not a terminal or `NO_COLOR` is set.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub dim: &'static str,
    pub bold: &'static str,
    pub red: &'static str,
    pub off: &'static str,
}

impl Style {
    pub const PLAIN: Self = Self { dim: "", bold: "", red: "", off: "" };
    pub const COLOUR: Self = Self { dim: "\x1b[2m", bold: "\x1b[1m", red: "\x1b[31m", off: "\x1b[0m" };

    /// Returns true for a stream with styles.
    pub fn is_coloured(self) -> bool {
        !self.off.is_empty()
    }

    /// The sequences themselves.
    pub fn all(self) -> [&'static str; 4] {
        [self.dim, self.bold, self.red, self.off]
    }

    pub fn for_stream(stream: &impl IsTerminal) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted && stream.is_terminal() { Self::COLOUR } else { Self::PLAIN }
    }
}

/// Returns true if the terminal understands movements of the cursor, as far as its name says.
pub(crate) fn can_move_cursor() -> bool {
    std::env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb")
}

/// The width of a stream; 80 columns if it is not a terminal or its width is unknown.
pub fn columns(stream: &(impl IsTerminal + AsFd)) -> usize {
    let size = stream.is_terminal().then(|| tcgetwinsize(stream).ok()).flatten();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
}

/// The width and height of a stream; 80x24 if it is not a terminal or its size is unknown.
pub(crate) fn size(stream: &(impl IsTerminal + AsFd)) -> (usize, usize) {
    let size = stream.is_terminal().then(|| tcgetwinsize(stream).ok()).flatten();
    let rows = size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0);
    (columns(stream), rows.unwrap_or(24))
}

/// Set when standard output could not be written for another reason than a closed pipe.
static OUTPUT_LOST: AtomicBool = AtomicBool::new(false);

/// Text for a stream: control characters are escaped, except line ends, tabs and, on a terminal, the
/// program's own styles.
///
/// The escapes are those of JSON, so that a line of JSON keeps its meaning.
pub fn escaped(text: &str, is_styled: bool) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let own = |rest: &str| Style::COLOUR.all().into_iter().find(|style| is_styled && rest.starts_with(style));
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = own(rest).map_or(character.len_utf8(), str::len);
        let is_kept = !is_unsafe(character) || length > character.len_utf8() || rest.starts_with("\r\n");
        match is_kept {
            true => out.push_str(&rest[..length]),
            false => out.push_str(&format!("\\u{:04x}", u32::from(character))),
        }
        rest = &rest[length..];
    }
    Cow::Owned(out)
}

fn stdout_is_styled() -> bool {
    static STYLED: OnceLock<bool> = OnceLock::new();
    *STYLED.get_or_init(|| std::io::stdout().is_terminal())
}

fn stderr_is_styled() -> bool {
    static STYLED: OnceLock<bool> = OnceLock::new();
    *STYLED.get_or_init(|| std::io::stderr().is_terminal())
}

/// Writes to standard output; `false` means that it is closed.
pub fn print(text: &str) -> bool {
    let is_styled = text.contains('\x1b') && stdout_is_styled();
    control(&escaped(text, is_styled))
}

/// Writes the program's own control sequences to standard output. Text from outside must have gone
/// through [`escaped`].
pub fn control(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(error) => {
            note_lost(&error);
            false
        }
    }
}

fn note_lost(error: &std::io::Error) {
    let is_closed = error.kind() == std::io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(EBADF);
    OUTPUT_LOST.fetch_or(!is_closed, Ordering::Relaxed);
}

/// Records that a reply could not be printed: unlike a list, a part of it is useless.
pub fn note_lost_answer() {
    OUTPUT_LOST.store(true, Ordering::Relaxed);
}

/// Standard output for data that arrives in pieces, escaped like all output.
#[derive(Debug, Default)]
pub struct Pieces {
    /// The first bytes of an incomplete character.
    begun: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            // Incomplete at the end, not malformed.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.begun.len(),
        };
        let text: Vec<u8> = self.begun.drain(..whole).collect();
        let text = String::from_utf8_lossy(&text);
        std::io::stdout().lock().write_all(escaped(&text, false).as_bytes()).inspect_err(note_lost)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().lock().flush().inspect_err(note_lost)
    }
}

const EBADF: i32 = 9;

/// Returns true if output was lost, for instance because a disk is full.
pub fn output_was_lost() -> bool {
    OUTPUT_LOST.load(Ordering::Relaxed)
}

/// Writes a line to standard error; a failure is ignored.
pub fn print_error(line: &str) {
    let line = for_stderr(line);
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn for_stderr(text: &str) -> Cow<'_, str> {
    escaped(text, text.contains('\x1b') && stderr_is_styled())
}

/// Writes a question to standard error, without a newline.
pub fn complain_inline(question: &str) {
    let question = for_stderr(question);
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(question.as_bytes()).and_then(|()| out.flush());
}

/// Text for an approval: control characters and invisible characters are escaped.
pub fn revealed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            hidden if is_unsafe(hidden) || is_invisible(hidden) => out.extend(hidden.escape_unicode()),
            shown => out.push(shown),
        }
    }
    out
}

/// Returns true for characters without width, which can split or disguise a word.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Like [`print`], with a newline.
pub fn print_line(text: &str) -> bool {
    let mut line = String::with_capacity(text.len() + 1);
    line.push_str(text);
    line.push('\n');
    print(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (given, want) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("x\r\ny", "x\ny"),
            ("rm \u{202e}txt", "rm \\u{202e}txt"),
            ("\u{9b}31m", "\\u{9b}31m"),
        ] {
            assert_eq!(printable(given), want, "{given:?}");
        }
    }

    #[test]
    fn writers_escape_all_but_line_ends_and_own_styles() {
        let red = format!("{}x{}", Style::COLOUR.red, Style::COLOUR.off);
        for (given, is_styled, want) in [
            ("a\n\tb\r\n", false, "a\n\tb\r\n"),
            ("a\rb", false, "a\\u000db"),
            ("\x1b]0;title\x07", true, "\\u001b]0;title\\u0007"),
            (&red, true, &red),
            (&red, false, "\\u001b[31mx\\u001b[0m"),
            ("\x1b[8mhidden", true, "\\u001b[8mhidden"),
            ("\u{9b}2J\u{7f}", true, "\\u009b2J\\u007f"),
            ("\u{202e}txt", false, "\\u202etxt"),
        ] {
            assert_eq!(escaped(given, is_styled), want, "{given:?}");
        }
        let line = serde_json::json!({ "name": "\u{9b}2J\u{7f}\u{202e}" });
        let read: serde_json::Value = serde_json::from_str(&escaped(&line.to_string(), false)).unwrap();
        assert_eq!(read, line, "JSON keeps its meaning");
    }

    #[test]
    fn fitting_text_is_not_cut() {
        for (given, width, want) in
            [("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("中文", 4, "中文"), ("中文", 3, "中…"), ("a", 0, "")]
        {
            assert_eq!(fitting(given, width), want, "{given} in {width}");
        }
    }

    #[test]
    fn invisible_characters_are_revealed() {
        for (given, want) in [
            ("ls -la\n中文", "ls -la\n中文"),
            ("r\u{200b}m", "r\\u{200b}m"),
            ("echo a\rrm b", "echo a\\u{d}rm b"),
            ("a\u{ad}b\u{feff}", "a\\u{ad}b\\u{feff}"),
        ] {
            assert_eq!(revealed(given), want, "{given:?}");
        }
    }

    #[test]
    fn long_lines_are_cut_by_columns() {
        for (given, width, want) in
            [("short", 10, "short"), ("a b\n c", 10, "a b c"), ("abcdef", 4, "abc…"), ("中文字", 4, "中…")]
        {
            assert_eq!(one_line(given, width), want, "{given}");
        }
    }
}
