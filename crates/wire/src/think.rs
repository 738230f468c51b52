//! Thoughts that a model writes into its text, between tags, told apart from what it says.
//!
//! Models without a field for reasoning write `<think>…</think>`. A tag that begins a line opens a
//! block; in the middle of a line, only a pair on that line counts, so that prose about tags stays
//! prose. Code between fences is left alone. How the text arrives in pieces makes no difference.

/// What stands between the angle brackets, in any case.
const TAGS: [&str; 5] = ["think", "thinking", "reasoning", "thought", "reasoning_scratchpad"];

/// A pair in the middle of a line is waited for over so many bytes.
const LONGEST_PAIR: usize = 1024;

/// A stretch of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Said(&'a str),
    Thought(&'a str),
}

/// Splits text as it arrives.
#[derive(Debug, Default)]
pub(crate) struct ThinkSplitter {
    /// What cannot be told yet: the beginning of a tag, or of a pair.
    held: String,
    is_inside: bool,
    has_said: bool,
    /// White space between a block and the first words belongs to neither.
    skips_space: bool,
    line: Line,
}

/// The line that is being written, as far as it matters.
#[derive(Debug, Default)]
struct Line {
    has_text: bool,
    /// How many it begins with; three or more begin or end a block of code.
    backticks: u32,
    /// Something else has followed them.
    is_past_them: bool,
    in_fence: bool,
}

impl Line {
    fn take(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'\n' => {
                    let in_fence = self.in_fence ^ (self.backticks >= 3);
                    *self = Self { in_fence, ..Self::default() };
                }
                // Code within a line, and no fence after all.
                b'`' if self.is_past_them => self.backticks = 0,
                b'`' => (self.backticks, self.has_text) = (self.backticks.saturating_add(1), true),
                byte if byte.is_ascii_whitespace() => self.is_past_them |= self.has_text,
                _ => (self.has_text, self.is_past_them) = (true, true),
            }
        }
    }
}

impl ThinkSplitter {
    /// Takes the next piece of text.
    pub(crate) fn feed(&mut self, text: &str, mut each: impl FnMut(Piece<'_>)) {
        if self.held.is_empty() && !self.is_inside && !text.contains('<') {
            return self.say(text, &mut each);
        }
        let all = std::mem::take(&mut self.held) + text;
        let mut rest = all.as_str();
        while !rest.is_empty() {
            let taken = match self.is_inside {
                true => self.inside(rest, &mut each),
                false => self.outside(rest, &mut each),
            };
            match taken {
                Some(taken) => rest = &rest[taken..],
                None => return rest.clone_into(&mut self.held),
            }
        }
    }

    /// The text has ended: what was held back is what it looks like.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.is_inside {
            _ if held.is_empty() => {}
            true => each(Piece::Thought(&held)),
            false => self.say(&held, &mut each),
        }
    }

    fn say(&mut self, text: &str, each: &mut impl FnMut(Piece<'_>)) {
        let text = if self.skips_space { text.trim_start_matches(['\n', '\r', ' ', '\t']) } else { text };
        if !text.is_empty() {
            self.skips_space = false;
            self.has_said |= !text.trim_ascii().is_empty();
            self.line.take(text);
            each(Piece::Said(text));
        }
    }

    /// How much of a thought could be taken; `None` when all that is left may be the end of it.
    fn inside(&mut self, rest: &str, each: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        for (at, _) in rest.match_indices('<') {
            match tag(&rest[at..]) {
                Tag::Close(length) => {
                    thought(&rest[..at], each);
                    self.is_inside = false;
                    self.skips_space = !self.has_said;
                    return Some(at + length);
                }
                Tag::Perhaps if at == 0 => return None,
                Tag::Perhaps => {
                    thought(&rest[..at], each);
                    return Some(at);
                }
                Tag::Open(_) | Tag::No => {}
            }
        }
        thought(rest, each);
        Some(rest.len())
    }

    fn outside(&mut self, rest: &str, each: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        let Some(at) = rest.find('<') else {
            self.say(rest, each);
            return Some(rest.len());
        };
        if at > 0 {
            self.say(&rest[..at], each);
            return Some(at);
        }
        let found = if self.line.in_fence { Tag::No } else { tag(rest) };
        match found {
            Tag::Perhaps => None,
            // One that closes nothing says nothing.
            Tag::Close(length) => Some(length),
            Tag::Open(length) if !self.line.has_text => {
                self.is_inside = true;
                Some(length)
            }
            Tag::Open(length) => match pair(&rest[length..]) {
                Pair::Closed { inner, length: closing } => {
                    thought(&rest[length..length + inner], each);
                    Some(length + inner + closing)
                }
                Pair::Open => None,
                Pair::None => {
                    self.say(&rest[..length], each);
                    Some(length)
                }
            },
            Tag::No => {
                self.say(&rest[..1], each);
                Some(1)
            }
        }
    }
}

fn thought(text: &str, each: &mut impl FnMut(Piece<'_>)) {
    if !text.is_empty() {
        each(Piece::Thought(text));
    }
}

/// What begins with an angle bracket.
#[derive(Debug, PartialEq, Eq)]
enum Tag {
    /// With its length.
    Open(usize),
    Close(usize),
    /// More of it must be seen.
    Perhaps,
    No,
}

fn tag(text: &str) -> Tag {
    let is_close = text[1..].starts_with('/');
    let name = &text[1 + usize::from(is_close)..];
    for known in TAGS {
        let end = name.len().min(known.len());
        let begins = name.as_bytes()[..end].eq_ignore_ascii_case(&known.as_bytes()[..end]);
        let after = name.as_bytes().get(known.len());
        match after {
            Some(b'>') if begins => {
                let length = known.len() + 2 + usize::from(is_close);
                return if is_close { Tag::Close(length) } else { Tag::Open(length) };
            }
            None if begins => return Tag::Perhaps,
            _ => {}
        }
    }
    Tag::No
}

/// Whether a block that was opened in the middle of a line is closed on it.
enum Pair {
    /// After so many bytes, by a tag of this length.
    Closed {
        inner: usize,
        length: usize,
    },
    /// Perhaps later.
    Open,
    None,
}

fn pair(rest: &str) -> Pair {
    for (at, byte) in rest.bytes().enumerate().take(LONGEST_PAIR) {
        match byte {
            b'\n' => return Pair::None,
            b'<' => {
                if let Tag::Close(length) = tag(&rest[at..]) {
                    return Pair::Closed { inner: at, length };
                }
            }
            _ => {}
        }
    }
    if rest.len() >= LONGEST_PAIR { Pair::None } else { Pair::Open }
}

#[cfg(test)]
#[path = "think_tests.rs"]
mod tests;
