//! Lists, pipelines and simple commands.

use super::cursor::{Parser, is_meta};
use super::tree::{AndOr, Command, Connector, Kind, Pipeline, Redirect, RedirectKind, Script, Simple};
use super::words::Place;
use crate::limits::{MAX_CHARACTERS, Spent, Unreadable};
use std::rc::Rc;

/// Parses a whole text.
pub(crate) fn parse(text: &str, depth: usize, spent: Spent) -> Result<(Script, Spent), Unreadable> {
    if text.len() > MAX_CHARACTERS && text.chars().count() > MAX_CHARACTERS {
        return Err(Unreadable::TooLong);
    }
    let mut parser = Parser::new(text, depth, spent)?;
    let script = parser.list()?;
    if parser.position < parser.text.len() {
        return Err(Unreadable::Syntax);
    }
    parser.read_heredocs()?;
    Ok((script, parser.spent))
}

impl Parser<'_> {
    /// Reads commands up to the end of the text or a word that closes a compound command.
    pub(super) fn list(&mut self) -> Result<Script, Unreadable> {
        let mut items = Vec::new();
        loop {
            self.skip_lines()?;
            if self.is_list_end() {
                return Ok(Script { items });
            }
            let mut item = self.and_or()?;
            self.skip_blanks();
            match self.peek() {
                Some(b'&') => {
                    self.position += 1;
                    item.is_background = true;
                }
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => self.position += 1,
                None | Some(b'\n' | b')') => {}
                Some(b';') => {}
                Some(_) if self.is_list_end() => {}
                Some(_) => return Err(Unreadable::Syntax),
            }
            items.push(item);
        }
    }

    fn is_list_end(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            Some(b'}') => self.peek_at(1).is_none_or(|byte| is_meta(byte) || byte == b'}'),
            _ => matches!(self.reserved(), Some("then" | "else" | "elif" | "fi" | "do" | "done" | "esac")),
        }
    }

    /// The run of letters at the position, if it is a word of its own.
    pub(super) fn reserved(&self) -> Option<&str> {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(rest.len());
        let is_word = rest.as_bytes().get(length).is_none_or(|byte| is_meta(*byte));
        rest.get(..length).filter(|word| is_word && !word.is_empty())
    }

    fn and_or(&mut self) -> Result<AndOr, Unreadable> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let connector = if self.accept("&&") {
                Connector::And
            } else if self.accept("||") {
                Connector::Or
            } else {
                return Ok(AndOr { first, rest, is_background: false });
            };
            self.skip_lines()?;
            rest.push((connector, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Unreadable> {
        self.skip_prefixes();
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.starts_with("||") || !(self.accept("|&") || self.accept("|")) {
                return Ok(Pipeline { commands });
            }
            self.skip_lines()?;
            commands.push(self.command()?);
        }
    }

    /// Skips `!` and `time`, which do not change what runs.
    fn skip_prefixes(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek() == Some(b'!') && self.peek_at(1).is_some_and(|byte| b" \t\n(".contains(&byte)) {
                self.position += 1;
            } else if self.reserved() == Some("time") {
                self.position += "time".len();
                self.skip_blanks();
                while self.starts_with("-p ") || self.starts_with("-- ") {
                    self.position += 2;
                    self.skip_blanks();
                }
            } else {
                return;
            }
        }
    }

    pub(super) fn command(&mut self) -> Result<Command, Unreadable> {
        self.nested(|parser| {
            if let Some(kind) = parser.compound()? {
                let redirects = parser.redirects()?;
                return Ok(Command { kind, redirects });
            }
            parser.simple()
        })
    }

    fn redirects(&mut self) -> Result<Vec<Redirect>, Unreadable> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    fn simple(&mut self) -> Result<Command, Unreadable> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                self.spent.word()?;
                simple.assignments.push(assignment);
                continue;
            }
            let Some(word) = self.word(Place::Command)? else { break };
            let is_first = simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty();
            if let Some(name) = word.plain().filter(|_| is_first)
                && self.is_function()
            {
                return self.function(name.to_owned());
            }
            simple.words.push(word);
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return Err(Unreadable::Syntax);
        }
        Ok(Command { kind: Kind::Simple(simple), redirects })
    }

    /// Moves over `()` if it follows a name.
    fn is_function(&mut self) -> bool {
        let start = self.position;
        self.skip_blanks();
        if self.accept("(") {
            self.skip_blanks();
            if self.accept(")") {
                return true;
            }
        }
        self.position = start;
        false
    }

    /// Reads the body of a function after its name.
    pub(super) fn function(&mut self, name: String) -> Result<Command, Unreadable> {
        self.skip_lines()?;
        let body = Rc::new(self.command()?);
        Ok(Command { kind: Kind::Function { name, body }, redirects: Vec::new() })
    }

    fn redirect(&mut self) -> Result<Option<Redirect>, Unreadable> {
        let start = self.position;
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let mut descriptor = digits.parse().ok();
        if digits.is_empty() && self.peek() == Some(b'{') && self.is_named_descriptor() {
            descriptor = Some(3);
        }
        let is_both = digits.is_empty() && (self.starts_with("&>"));
        let is_operator = match self.peek() {
            Some(b'<' | b'>') => self.peek_at(1) != Some(b'(') || !digits.is_empty(),
            _ => is_both,
        };
        if !is_operator {
            self.position = start;
            return Ok(None);
        }
        let kind = self.redirect_kind()?;
        Ok(Some(Redirect { descriptor, kind }))
    }

    /// Moves over `{name}` if a redirection follows.
    fn is_named_descriptor(&mut self) -> bool {
        let rest = self.rest();
        let Some(end) = rest.bytes().take(64).position(|byte| byte == b'}') else { return false };
        let is_name = rest.get(1..end).is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let is_followed = matches!(rest.as_bytes().get(end + 1), Some(b'<' | b'>'));
        if is_name && is_followed {
            self.position += end + 1;
        }
        is_name && is_followed
    }

    fn redirect_kind(&mut self) -> Result<RedirectKind, Unreadable> {
        if self.accept("<<<") {
            return Ok(RedirectKind::HereString(self.target()?));
        }
        if self.accept("<<-") {
            return self.heredoc(true);
        }
        if self.accept("<<") {
            return self.heredoc(false);
        }
        if self.accept("<&") {
            return Ok(RedirectKind::Duplicate(self.target()?));
        }
        if self.accept(">&") {
            let target = self.target()?;
            let is_number = target
                .plain()
                .is_some_and(|text| text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()));
            return Ok(if is_number { RedirectKind::Duplicate(target) } else { RedirectKind::Write(target) });
        }
        for operator in ["&>>", "&>", "<>", ">>", ">|", ">"] {
            if self.accept(operator) {
                return Ok(RedirectKind::Write(self.target()?));
            }
        }
        self.expect("<")?;
        Ok(RedirectKind::Read(self.target()?))
    }

    fn target(&mut self) -> Result<super::tree::Word, Unreadable> {
        self.skip_blanks();
        self.word(Place::Command)?.ok_or(Unreadable::Syntax)
    }
}
