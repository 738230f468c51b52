//! Output as text for a model: without escape codes, and of a terminal what it shows.

use hermes_exec::TerminalSize;
use hermes_tools::strip_ansi;
use std::num::NonZeroU16;

/// Lines that are kept of what has left the screen.
const SCROLLBACK: usize = 2_000;

/// The text of a pipe.
pub(crate) fn piped(bytes: &[u8]) -> String {
    strip_ansi(&String::from_utf8_lossy(bytes)).replace("\r\n", "\n")
}

/// The lines that have left the screen of a terminal, and after them the screen.
pub(crate) fn shown(bytes: &[u8], size: TerminalSize) -> String {
    let least_one = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
    let mut terminal = vt100::Parser::new(least_one(size.rows), least_one(size.columns), SCROLLBACK);
    terminal.process(bytes);
    let screen = terminal.screen_mut();
    screen.set_scrollback(SCROLLBACK);
    let mut lines = Vec::new();
    for offset in (1..=screen.scrollback()).rev() {
        screen.set_scrollback(offset);
        lines.extend(screen.rows(0, size.columns).next());
    }
    screen.set_scrollback(0);
    lines.extend(screen.rows(0, size.columns));
    let used = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    let text: Vec<&str> = lines[..used].iter().map(|line| line.trim_end()).collect();
    text.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: TerminalSize = TerminalSize { rows: 5, columns: 20 };

    #[test]
    fn terminal_shows_its_screen() {
        for (output, want) in [
            ("one\r\ntwo\r\n", "one\ntwo"),
            ("\x1b[31mred\x1b[0m", "red"),
            ("10%\r50%\r100%", "100%"),
            ("first\r\n\x1b[2J\x1b[Hsecond", "second"),
            ("a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng", "a\nb\nc\nd\ne\nf\ng"),
            ("shell$ \x1b[?1049h\x1b[Hvim\x1b[?1049l", "shell$"),
            ("", ""),
            ("\u{4e2d}\u{6587}", "\u{4e2d}\u{6587}"),
        ] {
            assert_eq!(shown(output.as_bytes(), SIZE), want, "{output:?}");
        }
    }

    #[test]
    fn pipes_lose_colours_and_carriage_returns() {
        assert_eq!(piped(b"\x1b[1mx\x1b[0m\r\ny\xff\n"), "x\ny\u{fffd}\n");
    }

    /// A hostile program may print anything.
    #[test]
    fn any_output_is_read() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand::rngs::StdRng::seed_from_u64(7);
        let pieces: [&[u8]; 16] = [
            b"\x1b[",
            b";",
            b"H",
            b"\x1b]0;",
            b"\x07",
            b"\x1b[?1049h",
            b"9999999999",
            b"r",
            b"\xf0\x9f\x98\x80",
            b"L",
            b"M",
            b"@",
            b"P",
            b"\x1bM",
            "\u{4e2d}".as_bytes(),
            b"\r\n",
        ];
        for _ in 0..2_000 {
            let mut bytes = Vec::new();
            for _ in 0..random.random_range(0..60) {
                if random.random_bool(0.3) {
                    bytes.push(random.random());
                } else {
                    bytes.extend(pieces[random.random_range(0..pieces.len())]);
                }
            }
            shown(&bytes, SIZE);
            piped(&bytes);
        }
    }
}
