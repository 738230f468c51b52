//! Compound commands: groups, conditions, loops, `case`, tests and functions.

use super::cursor::{Parser, is_meta, is_name, is_name_start};
use super::tree::{Kind, Part, Script, Word};
use super::words::Place;
use crate::limits::Unreadable;

impl Parser<'_> {
    /// Reads a compound command, or returns `None` for a simple one.
    pub(super) fn compound(&mut self) -> Result<Option<Kind>, Unreadable> {
        match self.peek() {
            Some(b'(') if self.peek_at(1) == Some(b'(') && self.is_arithmetic(0) => {
                let part = self.arithmetic()?;
                return Ok(Some(Kind::Test(vec![Word { parts: vec![part] }])));
            }
            Some(b'(') => return Ok(Some(Kind::Subshell(self.parenthesised()?))),
            Some(b'{') if self.peek_at(1).is_some_and(|byte| b" \t\n".contains(&byte)) => {
                self.position += 1;
                let body = self.list()?;
                self.expect("}")?;
                return Ok(Some(Kind::Group(body)));
            }
            Some(b'[')
                if self.starts_with("[[") && self.peek_at(2).is_some_and(|byte| b" \t\n".contains(&byte)) =>
            {
                return self.test().map(Some);
            }
            _ => {}
        }
        let Some(word) = self.reserved() else { return Ok(None) };
        let kind = match word {
            "if" => self.conditional(),
            "while" | "until" => self.repetition(word.len()),
            "for" | "select" => self.iteration(word.len()),
            "case" => self.case_command(),
            "function" => self.function_keyword(),
            "coproc" => self.coprocess(),
            "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" => Err(Unreadable::Syntax),
            _ => return Ok(None),
        };
        kind.map(Some)
    }

    fn keyword(&mut self, word: &str) -> Result<(), Unreadable> {
        self.skip_lines()?;
        if self.reserved() != Some(word) {
            return Err(Unreadable::Syntax);
        }
        self.position += word.len();
        Ok(())
    }

    fn conditional(&mut self) -> Result<Kind, Unreadable> {
        let mut parts = Vec::new();
        self.position += "if".len();
        loop {
            parts.push(self.list()?);
            self.keyword("then")?;
            parts.push(self.list()?);
            match self.reserved() {
                Some("elif") => self.position += "elif".len(),
                Some("else") => {
                    self.position += "else".len();
                    parts.push(self.list()?);
                    break;
                }
                _ => break,
            }
        }
        self.keyword("fi")?;
        Ok(Kind::If(parts))
    }

    fn repetition(&mut self, length: usize) -> Result<Kind, Unreadable> {
        self.position += length;
        let condition = self.list()?;
        let body = self.do_group()?;
        Ok(Kind::Loop(condition, body))
    }

    fn do_group(&mut self) -> Result<Script, Unreadable> {
        self.keyword("do")?;
        let body = self.list()?;
        self.keyword("done")?;
        Ok(body)
    }

    fn iteration(&mut self, length: usize) -> Result<Kind, Unreadable> {
        self.position += length;
        self.skip_blanks();
        if self.starts_with("((") {
            let part = self.arithmetic()?;
            let body = self.iteration_body()?;
            let words = Some(vec![Word { parts: vec![part] }]);
            return Ok(Kind::For { variable: "_".into(), words, body });
        }
        if !self.peek().is_some_and(is_name_start) {
            return Err(Unreadable::Syntax);
        }
        let variable = self.take_while(is_name).to_owned();
        self.skip_lines()?;
        let mut words = None;
        if self.reserved() == Some("in") {
            self.position += "in".len();
            let list = words.insert(Vec::new());
            loop {
                self.skip_blanks();
                match self.word(Place::Command)? {
                    Some(word) => list.push(word),
                    None => break,
                }
            }
        }
        let body = self.iteration_body()?;
        Ok(Kind::For { variable, words, body })
    }

    fn iteration_body(&mut self) -> Result<Script, Unreadable> {
        self.skip_blanks();
        self.accept(";");
        self.skip_lines()?;
        if self.peek() == Some(b'{') {
            self.position += 1;
            let body = self.list()?;
            self.expect("}")?;
            return Ok(body);
        }
        self.do_group()
    }

    fn case_command(&mut self) -> Result<Kind, Unreadable> {
        self.position += "case".len();
        self.skip_blanks();
        let subject = self.word(Place::Command)?.ok_or(Unreadable::Syntax)?;
        self.keyword("in")?;
        let (mut patterns, mut bodies) = (Vec::new(), Vec::new());
        loop {
            self.skip_lines()?;
            if self.reserved() == Some("esac") {
                self.position += "esac".len();
                return Ok(Kind::Case { subject, patterns, bodies });
            }
            self.accept("(");
            loop {
                self.skip_blanks();
                patterns.push(self.word(Place::Command)?.ok_or(Unreadable::Syntax)?);
                self.skip_blanks();
                if !self.accept("|") {
                    break;
                }
            }
            self.expect(")")?;
            bodies.push(self.list()?);
            if !(self.accept(";;&") || self.accept(";;") || self.accept(";&"))
                && self.reserved() != Some("esac")
            {
                return Err(Unreadable::Syntax);
            }
        }
    }

    fn function_keyword(&mut self) -> Result<Kind, Unreadable> {
        self.position += "function".len();
        self.skip_blanks();
        let name = self.take_while(|byte| !is_meta(byte)).to_owned();
        if name.is_empty() {
            return Err(Unreadable::Syntax);
        }
        self.skip_blanks();
        if self.accept("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.function(name).map(|command| command.kind)
    }

    fn coprocess(&mut self) -> Result<Kind, Unreadable> {
        self.position += "coproc".len();
        self.skip_blanks();
        let start = self.position;
        // A name is only allowed before a compound command.
        if self.peek().is_some_and(is_name_start) {
            self.take_while(is_name);
            self.skip_blanks();
            if !matches!(self.peek(), Some(b'{' | b'(')) {
                self.position = start;
            }
        }
        Ok(Kind::Coprocess(Box::new(self.command()?)))
    }

    /// Reads `[[ ... ]]`. Only operands are kept: operators do not run anything.
    fn test(&mut self) -> Result<Kind, Unreadable> {
        self.expect("[[")?;
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.skip_lines()?;
            if self.starts_with("]]") && self.peek_at(2).is_none_or(is_meta) {
                self.position += 2;
                return Ok(Kind::Test(words));
            }
            let is_regex = words.last().is_some_and(|word| word.plain() == Some("=~"));
            let place = if is_regex { Place::Regex } else { Place::Command };
            match self.word(place)? {
                Some(word) => words.push(word),
                None => match self.peek() {
                    Some(b'<' | b'>' | b'(' | b')' | b'&' | b'|') => self.position += 1,
                    _ => return Err(Unreadable::Syntax),
                },
            }
            if let Some(word) = words.last_mut() {
                word.parts
                    .retain(|part| !matches!(part, Part::BraceOpen | Part::BraceClose | Part::BraceComma));
            }
        }
    }
}
