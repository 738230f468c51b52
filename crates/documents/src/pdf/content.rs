//! The contents of pages: instructions of which those that show text matter.

use super::file::PdfFile;
use super::font::Font;
use super::layout::{Layout, Matrix};
use super::object::{Dict, Lexer, Object, Token, is_blank};
use crate::DocumentError;
use crate::text::Text;
use std::collections::HashMap;
use std::rc::Rc;

/// Forms inside forms, at most.
const DEEPEST: usize = 12;
/// Saved states, at most.
const MOST_STATES: usize = 512;
/// Operands of one instruction, at most.
const MOST_OPERANDS: usize = 1024;

/// Fonts by the number of their object.
pub(super) type Fonts = HashMap<u32, Rc<Font>>;

/// The state that instructions change.
#[derive(Debug, Clone)]
struct State {
    space: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
    character_spacing: f64,
    word_spacing: f64,
    scale: f64,
}

/// One run through the contents of a page or form.
pub(super) struct Contents<'a, 'f> {
    pub(super) file: &'a mut PdfFile<'f>,
    pub(super) fonts: &'a mut Fonts,
    pub(super) layout: &'a mut Layout,
    pub(super) text: &'a mut Text,
    /// The forms that are being run.
    pub(super) open: Vec<Object>,
}

impl Contents<'_, '_> {
    /// Runs the contents of a page.
    pub(super) fn run(&mut self, bytes: &[u8], resources: &Dict) -> Result<(), DocumentError> {
        self.run_in(bytes, resources, Matrix::IDENTITY, 0)
    }

    fn run_in(
        &mut self,
        bytes: &[u8],
        resources: &Dict,
        space: Matrix,
        depth: usize,
    ) -> Result<(), DocumentError> {
        self.file.budget.parse(bytes.len())?;
        let state = State {
            space,
            font: None,
            size: 0.0,
            leading: 0.0,
            character_spacing: 0.0,
            word_spacing: 0.0,
            scale: 1.0,
        };
        let mut run = Run {
            state,
            saved: Vec::new(),
            line: Matrix::IDENTITY,
            place: Matrix::IDENTITY,
            fonts: HashMap::new(),
            resources,
            depth,
        };
        let mut lexer = Lexer::new(bytes, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.content_token() {
            match token {
                Token::Object(object) if operands.len() < MOST_OPERANDS => operands.push(object),
                Token::Object(_) | Token::CloseArray | Token::CloseDict => {}
                Token::Word(word) => {
                    match &bytes[word] {
                        b"ID" => skip_image(&mut lexer),
                        operator => self.instruction(operator, &operands, &mut run)?,
                    }
                    operands.clear();
                    if self.text.is_full() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        operator: &[u8],
        operands: &[Object],
        run: &mut Run<'_>,
    ) -> Result<(), DocumentError> {
        let number = |index: usize| operands.get(index).and_then(Object::number).unwrap_or(0.0);
        match operator {
            b"q" if run.saved.len() < MOST_STATES => run.saved.push(run.state.clone()),
            b"Q" => run.state = run.saved.pop().unwrap_or_else(|| run.state.clone()),
            b"cm" => run.state.space = Matrix::of(operands).then(run.state.space),
            b"BT" => run.start_line(Matrix::IDENTITY),
            b"Tm" => run.start_line(Matrix::of(operands)),
            b"Td" => run.move_line(number(0), number(1)),
            b"TD" => {
                run.state.leading = -number(1);
                run.move_line(number(0), number(1));
            }
            b"T*" => run.move_line(0.0, -run.state.leading),
            b"TL" => run.state.leading = number(0),
            b"Tc" => run.state.character_spacing = number(0),
            b"Tw" => run.state.word_spacing = number(0),
            b"Tz" => run.state.scale = number(0) / 100.0,
            b"Tf" => {
                run.state.size = number(1);
                if let Some(Object::Name(name)) = operands.first() {
                    run.state.font = self.font(name, run)?;
                }
            }
            b"Tj" => self.show(operands.first(), run),
            b"'" => {
                run.move_line(0.0, -run.state.leading);
                self.show(operands.first(), run);
            }
            b"\"" => {
                (run.state.word_spacing, run.state.character_spacing) = (number(0), number(1));
                run.move_line(0.0, -run.state.leading);
                self.show(operands.get(2), run);
            }
            b"TJ" => {
                for item in operands.first().map(Object::array).unwrap_or_default() {
                    match item {
                        Object::Number(back) => run.advance(-back / 1000.0 * run.state.size),
                        item => self.show(Some(item), run),
                    }
                }
            }
            b"Do" => {
                if let Some(Object::Name(name)) = operands.first() {
                    self.form(name, run)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn show(&mut self, operand: Option<&Object>, run: &mut Run<'_>) {
        let (Some(Object::Text(bytes)), Some(font)) = (operand, run.state.font.clone()) else { return };
        for glyph in font.glyphs(bytes) {
            let blank = if glyph.is_blank { run.state.word_spacing } else { 0.0 };
            let from = run.place.then(run.state.space);
            run.advance(glyph.width * run.state.size);
            let to = run.place.then(run.state.space);
            run.advance(run.state.character_spacing + blank);
            self.layout.put(&glyph.text, from, to, run.state.size, self.text);
        }
    }

    /// The font of this name in the resources.
    fn font(&mut self, name: &[u8], run: &mut Run<'_>) -> Result<Option<Rc<Font>>, DocumentError> {
        if let Some(font) = run.fonts.get(name) {
            return Ok(font.clone());
        }
        let entry = self.resource("Font", name, run)?;
        let known = match &entry {
            Object::Reference(number) => self.fonts.get(number).cloned(),
            _ => None,
        };
        let font = match known {
            Some(font) => Some(font),
            None => match self.file.dict(&entry)? {
                Some(dict) => Some(Rc::new(Font::read(&dict, self.file)?)),
                None => None,
            },
        };
        if let (Object::Reference(number), Some(font)) = (&entry, &font) {
            self.fonts.insert(*number, font.clone());
        }
        run.fonts.insert(name.to_vec(), font.clone());
        Ok(font)
    }

    fn resource(&mut self, kind: &str, name: &[u8], run: &Run<'_>) -> Result<Object, DocumentError> {
        let Some(named) = self.file.dict(run.resources.get(kind))? else { return Ok(Object::Null) };
        // It is copied for every use.
        self.file.budget.parse(16 * named.len())?;
        let found = named.entries().find(|(key, _)| *key == name).map(|(_, object)| object.clone());
        Ok(found.unwrap_or_default())
    }

    /// Runs the contents of a form.
    fn form(&mut self, name: &[u8], run: &Run<'_>) -> Result<(), DocumentError> {
        let entry = self.resource("XObject", name, run)?;
        if run.depth >= DEEPEST || self.open.contains(&entry) {
            return Ok(());
        }
        let form = self.file.resolve(&entry)?;
        let Some(dict) = form.dict().filter(|dict| dict.get("Subtype").name() == Some(b"Form")).cloned()
        else {
            return Ok(());
        };
        let Some(bytes) = self.file.stream(&form)? else { return Ok(()) };
        let resources = self.file.dict(dict.get("Resources"))?;
        let matrix = self.file.resolve(dict.get("Matrix"))?;
        let matrix = if matrix.array().len() == 6 { Matrix::of(matrix.array()) } else { Matrix::IDENTITY };
        let resources = resources.as_ref().unwrap_or(run.resources);
        self.open.push(entry);
        let done = self.run_in(&bytes, resources, matrix.then(run.state.space), run.depth + 1);
        self.open.pop();
        done
    }
}

/// The state of one run.
struct Run<'a> {
    state: State,
    saved: Vec<State>,
    /// The beginning of the line.
    line: Matrix,
    /// The place of the next character.
    place: Matrix,
    fonts: HashMap<Vec<u8>, Option<Rc<Font>>>,
    resources: &'a Dict,
    depth: usize,
}

impl Run<'_> {
    fn start_line(&mut self, at: Matrix) {
        (self.line, self.place) = (at, at);
    }

    fn move_line(&mut self, x: f64, y: f64) {
        self.start_line(Matrix::moved(x, y).then(self.line));
    }

    fn advance(&mut self, by: f64) {
        self.place = Matrix::moved(by * self.state.scale, 0.0).then(self.place);
    }
}

/// Skips the data of an image inside of the contents.
fn skip_image(lexer: &mut Lexer<'_>) {
    let rest = lexer.rest();
    let is_end = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| rest.get(at));
        before.is_some_and(|byte| is_blank(*byte)) && rest.get(at + 2).is_none_or(|byte| is_blank(*byte))
    };
    let end = memchr::memmem::find_iter(rest, b"EI").find(is_end);
    lexer.at += end.map_or(rest.len(), |end| end + 2);
}
