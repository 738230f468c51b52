//! Fonts: from the bytes of a text to characters and widths.

use super::cmap::{self, CodeMap};
use super::encoding::{Base, glyph};
use super::file::PdfFile;
use super::object::{Dict, Object};
use crate::DocumentError;
use std::collections::HashMap;

/// Widths that a font may name.
const MOST_WIDTHS: usize = 100_000;
/// Entries of a list of differences from an encoding, at most.
const MOST_DIFFERENCES: usize = 1024;

/// A font, as far as its text is concerned.
#[derive(Debug)]
pub(super) struct Font {
    /// Codes have two bytes unless the map says otherwise.
    wide: bool,
    map: CodeMap,
    /// Codes are UTF-16.
    is_utf16: bool,
    base: Base,
    differences: HashMap<u8, String>,
    widths: HashMap<u32, f64>,
    default_width: f64,
}

/// One character of a text.
#[derive(Debug, PartialEq)]
pub(super) struct Glyph {
    pub(super) text: String,
    /// In units of the font size.
    pub(super) width: f64,
    /// It is the one-byte code of the blank, which word spacing applies to.
    pub(super) is_blank: bool,
}

impl Font {
    pub(super) fn read(dict: &Dict, file: &mut PdfFile<'_>) -> Result<Self, DocumentError> {
        let wide = dict.get("Subtype").name() == Some(b"Type0");
        let encoding = file.resolve(dict.get("Encoding"))?;
        let map = match file.stream(dict.get("ToUnicode"))? {
            Some(bytes) => {
                file.budget.parse(bytes.len())?;
                CodeMap::parse(&bytes)
            }
            None => CodeMap::default(),
        };
        let named = encoding.name().unwrap_or_default();
        let is_utf16 =
            [&b"UCS2"[..], b"UTF16"].iter().any(|word| memchr::memmem::find(named, word).is_some());
        let mut font = Self {
            wide,
            map,
            is_utf16,
            base: Base::Standard,
            differences: HashMap::new(),
            widths: HashMap::new(),
            default_width: if wide { 1.0 } else { 0.5 },
        };
        if wide {
            font.read_wide_widths(dict, file)?;
        } else {
            font.read_encoding(&encoding, dict, file)?;
            font.read_widths(dict, file)?;
        }
        Ok(font)
    }

    fn read_encoding(
        &mut self,
        encoding: &Object,
        dict: &Dict,
        file: &mut PdfFile<'_>,
    ) -> Result<(), DocumentError> {
        let described = encoding.dict().cloned().unwrap_or_default();
        let named = file.resolve(described.get("BaseEncoding"))?;
        let named = encoding.name().or(named.name()).and_then(Base::named);
        // Embedded TrueType fonts without an encoding are mostly made on Windows.
        let is_true_type = dict.get("Subtype").name() == Some(b"TrueType");
        self.base = named.unwrap_or(if is_true_type { Base::Windows } else { Base::Standard });
        let mut code = 0_usize;
        for item in file.resolve(described.get("Differences"))?.array().iter().take(MOST_DIFFERENCES) {
            match item {
                Object::Number(_) => code = item.count().unwrap_or(256),
                Object::Name(name) => {
                    if let (Ok(code), Some(text)) = (u8::try_from(code), glyph(name)) {
                        self.differences.insert(code, text);
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_widths(&mut self, dict: &Dict, file: &mut PdfFile<'_>) -> Result<(), DocumentError> {
        let first = file.resolve(dict.get("FirstChar"))?.count().unwrap_or(0);
        let matrix = file.resolve(dict.get("FontMatrix"))?;
        let unit = match dict.get("Subtype").name() {
            Some(b"Type3") => matrix.array().first().and_then(Object::number).unwrap_or(0.001),
            _ => 0.001,
        };
        for (index, width) in file.resolve(dict.get("Widths"))?.array().iter().enumerate().take(256) {
            if let (Some(width), Ok(code)) = (width.number(), u32::try_from(first.saturating_add(index))) {
                self.widths.insert(code, width * unit);
            }
        }
        Ok(())
    }

    fn read_wide_widths(&mut self, dict: &Dict, file: &mut PdfFile<'_>) -> Result<(), DocumentError> {
        let descendants = file.resolve(dict.get("DescendantFonts"))?;
        let first = descendants.array().first().cloned().unwrap_or_default();
        let Some(font) = file.dict(&first)? else { return Ok(()) };
        if let Some(width) = file.resolve(font.get("DW"))?.number() {
            self.default_width = width / 1000.0;
        }
        let listed = file.resolve(font.get("W"))?;
        let mut rest = listed.array();
        while let [first, second, after @ ..] = rest {
            let Some(code) = first.count().and_then(|code| u32::try_from(code).ok()) else { break };
            rest = after;
            match (file.resolve(second)?, after) {
                (Object::Array(widths), _) => {
                    for (width, code) in widths.iter().zip(code..) {
                        self.note_width(code, width.number());
                    }
                }
                (Object::Number(last), [width, after @ ..]) => {
                    for code in (code..=last as u32).take(1 << 16) {
                        self.note_width(code, width.number());
                    }
                    rest = after;
                }
                _ => break,
            }
            if self.widths.len() >= MOST_WIDTHS {
                break;
            }
        }
        Ok(())
    }

    fn note_width(&mut self, code: u32, width: Option<f64>) {
        if let Some(width) = width
            && self.widths.len() < MOST_WIDTHS
        {
            self.widths.insert(code, width / 1000.0);
        }
    }

    /// The characters of a text.
    pub(super) fn glyphs(&self, bytes: &[u8]) -> Vec<Glyph> {
        let mut glyphs = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let usual = if self.wide { 2 } else { 1 };
            let length = match self.wide {
                true => self.map.code_length(rest).unwrap_or(usual).min(rest.len()),
                false => usual,
            };
            let (raw, after) = rest.split_at(length);
            let code = cmap::code(raw);
            let width = self.widths.get(&code).copied().unwrap_or(self.default_width);
            glyphs.push(Glyph { text: self.text(raw, code), width, is_blank: raw == b" " });
            rest = after;
        }
        glyphs
    }

    fn text(&self, raw: &[u8], code: u32) -> String {
        if let Some(text) = self.map.text(code) {
            return text;
        }
        match (self.wide, u8::try_from(code)) {
            (true, _) if self.is_utf16 && self.map.is_empty() => cmap::utf16(raw),
            // What glyph it is only the embedded font knows.
            (true, _) | (false, Err(_)) => String::new(),
            (false, Ok(code)) => match self.differences.get(&code) {
                Some(text) => text.clone(),
                None => self.base.character(code).to_string(),
            },
        }
    }
}
