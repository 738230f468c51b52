//! Here-documents: their delimiters and bodies.

use super::cursor::{Parser, is_meta};
use super::tree::{Here, Part, RedirectKind, Word};
use crate::limits::Unreadable;
use std::rc::Rc;

/// A here-document whose operator was read and whose body was not.
pub(super) struct Pending {
    here: Rc<Here>,
    delimiter: String,
    is_quoted: bool,
    strips_tabs: bool,
}

impl Parser<'_> {
    /// Reads the delimiter after `<<` or `<<-`.
    pub(super) fn heredoc(&mut self, strips_tabs: bool) -> Result<RedirectKind, Unreadable> {
        self.skip_blanks();
        let (delimiter, is_quoted) = self.delimiter()?;
        let here = Rc::new(Here::default());
        self.pending.push(Pending { here: Rc::clone(&here), delimiter, is_quoted, strips_tabs });
        Ok(RedirectKind::Here(here))
    }

    fn delimiter(&mut self) -> Result<(String, bool), Unreadable> {
        let start = self.position;
        let mut text = String::new();
        let mut is_quoted = false;
        while let Some(byte) = self.peek().filter(|byte| !is_meta(*byte)) {
            match byte {
                b'\'' | b'"' => {
                    is_quoted = true;
                    self.position += 1;
                    text.push_str(self.take_while(|other| other != byte));
                    self.position += 1;
                    if self.position > self.text.len() {
                        return Err(Unreadable::Syntax);
                    }
                }
                b'\\' => {
                    is_quoted = true;
                    self.position += 1;
                    text.extend(self.take_character());
                }
                // Bash compares such a delimiter with its source text; rare enough to ask.
                b'$' | b'`' => return Err(Unreadable::Syntax),
                _ => text.extend(self.take_character()),
            }
        }
        if self.position == start { Err(Unreadable::Syntax) } else { Ok((text, is_quoted)) }
    }

    /// Reads the bodies of all pending here-documents. The position is at the beginning of a line.
    pub(super) fn read_heredocs(&mut self) -> Result<(), Unreadable> {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.body(&pending);
            let word = if pending.is_quoted {
                Word { parts: vec![Part::Quoted(body)] }
            } else {
                self.nested(|parser| parser.text_with_expansions(&body))?
            };
            // Each here-document is read once.
            pending.here.body.set(word).ok();
        }
        Ok(())
    }

    fn body(&mut self, pending: &Pending) -> String {
        let mut body = String::new();
        while self.position < self.text.len() {
            let mut line = self.take_while(|byte| byte != b'\n');
            self.position = (self.position + 1).min(self.text.len());
            if pending.strips_tabs {
                line = line.trim_start_matches('\t');
            }
            if line == pending.delimiter {
                // The line end after the delimiter also ends the command.
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        body
    }
}
