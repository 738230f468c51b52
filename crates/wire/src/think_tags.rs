//! Separates reasoning between tags from the text of a reply.
//!
//! Models without a field for reasoning write `<think>…</think>`. A tag at the start of a line opens a block;
//! within a line, only a pair on that line counts, so that prose about tags is not affected. Code between
//! fences is ignored. The result does not depend on the pieces in which the text arrives.

/// The tag names, in any case.
const TAGS: [&str; 5] = ["think", "thinking", "reasoning", "thought", "reasoning_scratchpad"];

/// The maximum length of a pair within a line.
const LONGEST_PAIR: usize = 1024;

/// A piece of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Reasoning(&'a str),
}

/// Splits text incrementally.
#[derive(Debug, Default)]
pub(crate) struct ThinkSplitter {
    /// Text that cannot be classified yet: the beginning of a tag or of a pair.
    held: String,
    is_inside: bool,
    has_text: bool,
    /// White space between a block and the following text belongs to neither.
    skips_space: bool,
    line: LineState,
}

/// The state of the current line.
#[derive(Debug, Default)]
struct LineState {
    has_text: bool,
    /// The number of backticks at its start; three or more begin or end a code block.
    backticks: u32,
    /// Other characters have followed them.
    is_past_backticks: bool,
    in_fence: bool,
}

impl LineState {
    fn take(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'\n' => {
                    let in_fence = self.in_fence ^ (self.backticks >= 3);
                    *self = Self { in_fence, ..Self::default() };
                }
                // Inline code, not a fence.
                b'`' if self.is_past_backticks => self.backticks = 0,
                b'`' => (self.backticks, self.has_text) = (self.backticks.saturating_add(1), true),
                byte if byte.is_ascii_whitespace() => self.is_past_backticks |= self.has_text,
                _ => (self.has_text, self.is_past_backticks) = (true, true),
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

    /// Ends the text: what was held back is classified as it is.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.is_inside {
            _ if held.is_empty() => {}
            true => each(Piece::Reasoning(&held)),
            false => self.say(&held, &mut each),
        }
    }

    fn say(&mut self, text: &str, each: &mut impl FnMut(Piece<'_>)) {
        let text = if self.skips_space { text.trim_start_matches(['\n', '\r', ' ', '\t']) } else { text };
        if !text.is_empty() {
            self.skips_space = false;
            self.has_text |= !text.trim_ascii().is_empty();
            self.line.take(text);
            each(Piece::Text(text));
        }
    }

    /// The number of bytes of reasoning that were taken; `None` if the rest may be a closing tag.
    fn inside(&mut self, rest: &str, each: &mut impl FnMut(Piece<'_>)) -> Option<usize> {
        for (at, _) in rest.match_indices('<') {
            match tag(&rest[at..]) {
                Tag::Close(length) => {
                    thought(&rest[..at], each);
                    self.is_inside = false;
                    self.skips_space = !self.has_text;
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
            // A closing tag without an opening one is dropped.
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
        each(Piece::Reasoning(text));
    }
}

/// The result of reading at an angle bracket.
#[derive(Debug, PartialEq, Eq)]
enum Tag {
    /// A tag, with its length.
    Open(usize),
    Close(usize),
    /// Incomplete: more text is needed.
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

/// The result of the search for the closing tag of a block within a line.
enum Pair {
    /// Closed after so many bytes, by a tag of this length.
    Closed {
        inner: usize,
        length: usize,
    },
    /// Undecided: more text is needed.
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
#[path = "think_tags_tests.rs"]
mod tests;
