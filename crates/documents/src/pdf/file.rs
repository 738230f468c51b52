//! The objects of a file by their numbers.
//!
//! The file is searched for objects instead of following its cross-reference table: tables are often damaged, and a
//! later object of a number replaces an earlier one anyway.

use super::filters;
use super::object::{Dict, Lexer, Object, is_blank};
use crate::DocumentError;
use crate::budget::Budget;
use memchr::memmem;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// References to references, at most.
const LONGEST_CHAIN: usize = 8;
/// Objects of a file, at most.
const MOST_OBJECTS: usize = 2_000_000;
/// Streams with packed objects, at most.
const MOST_PACKS: usize = 20_000;
/// Trailers that are read, at most.
const MOST_TRAILERS: usize = 64;

/// The place of an object.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// After the word `obj` at this offset.
    At(usize),
    /// In a stream of packed objects: number of the pack, offset in it.
    Packed(usize, usize),
}

/// A PDF file.
pub(super) struct PdfFile<'a> {
    bytes: &'a [u8],
    places: HashMap<u32, Place>,
    packs: Vec<Rc<Vec<u8>>>,
    /// Objects that may be the catalogue, the likeliest first.
    roots: Vec<Object>,
    pub(super) budget: Budget,
}

impl<'a> PdfFile<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, DocumentError> {
        let start = memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-");
        if start.is_none() {
            return Err(DocumentError::OtherKind("PDF"));
        }
        let mut file = Self {
            bytes,
            places: HashMap::new(),
            packs: Vec::new(),
            roots: Vec::new(),
            budget: Budget::default(),
        };
        let found = object_places(bytes);
        file.places.extend(found.iter().map(|(number, at)| (*number, Place::At(*at))));
        file.read_trailers(&found)?;
        file.open_packs(&found)?;
        Ok(file)
    }

    /// The catalogue of the document.
    pub(super) fn root(&mut self) -> Result<Option<Dict>, DocumentError> {
        for root in self.roots.clone() {
            if let Some(root) = self.dict(&root)? {
                return Ok(Some(root));
            }
        }
        Ok(None)
    }

    /// All pages in the order of their numbers, for a file without a tree of pages.
    pub(super) fn loose_pages(&mut self) -> Result<Vec<Dict>, DocumentError> {
        let mut numbers: Vec<u32> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        let mut pages = Vec::new();
        for number in numbers {
            pages.extend(self.dict(&Object::Reference(number))?.filter(|dict| dict.is_type("Page")));
        }
        Ok(pages)
    }

    /// The object itself, after all references.
    pub(super) fn resolve(&mut self, object: &Object) -> Result<Object, DocumentError> {
        let mut object = object.clone();
        for _ in 0..LONGEST_CHAIN {
            let Object::Reference(number) = object else { return Ok(object) };
            object = self.load(number)?;
        }
        Ok(Object::Null)
    }

    pub(super) fn dict(&mut self, object: &Object) -> Result<Option<Dict>, DocumentError> {
        Ok(self.resolve(object)?.dict().cloned())
    }

    /// The unpacked bytes of a stream.
    pub(super) fn stream(&mut self, object: &Object) -> Result<Option<Vec<u8>>, DocumentError> {
        let Object::Stream(dict, place) = self.resolve(object)? else { return Ok(None) };
        self.unpacked(&dict, place).map(Some)
    }

    fn unpacked(&mut self, dict: &Dict, place: Range<usize>) -> Result<Vec<u8>, DocumentError> {
        let names = self.resolve(dict.get("Filter"))?;
        let parameters = self.resolve(dict.get("DecodeParms"))?;
        let names = if names.name().is_some() { vec![names] } else { names.array().to_vec() };
        let parameters = match parameters {
            Object::Array(items) => items,
            other => vec![other],
        };
        let raw = self.bytes.get(place).unwrap_or_default();
        let mut bytes = raw.to_vec();
        for (index, name) in names.iter().enumerate().take(8) {
            let name = self.resolve(name)?;
            let parameters = self.dict(parameters.get(index).unwrap_or(&Object::Null))?.unwrap_or_default();
            bytes = filters::decode(name.name().unwrap_or_default(), &bytes, &parameters, &mut self.budget)?;
        }
        Ok(bytes)
    }

    fn load(&mut self, number: u32) -> Result<Object, DocumentError> {
        match self.places.get(&number).copied() {
            None => Ok(Object::Null),
            Some(Place::At(at)) => self.object_at(at),
            Some(Place::Packed(pack, at)) => {
                let Some(pack) = self.packs.get(pack).cloned() else { return Ok(Object::Null) };
                let mut lexer = Lexer::new(&pack, at);
                let object = lexer.object().unwrap_or_default();
                self.budget.parse(lexer.at.saturating_sub(at) + 16)?;
                Ok(object)
            }
        }
    }

    /// The object whose text begins at `at`.
    fn object_at(&mut self, at: usize) -> Result<Object, DocumentError> {
        let mut lexer = Lexer::new(self.bytes, at);
        let object = lexer.object().unwrap_or_default();
        self.budget.parse(lexer.at.saturating_sub(at) + 16)?;
        let Object::Dict(dict) = object else { return Ok(object) };
        lexer.skip_blanks();
        let Some(rest) = lexer.rest().strip_prefix(b"stream") else { return Ok(Object::Dict(dict)) };
        let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
        let start = self.bytes.len() - rest.len();
        // A length that leads to the end mark is right; a file may also have a wrong one.
        let length = match dict.get("Length") {
            Object::Reference(number) if !matches!(self.places.get(number), Some(Place::At(other)) if *other == at) => {
                self.length_of(*number)?
            }
            other => other.count(),
        };
        let ends = |length: &usize| {
            rest.get(*length..).is_some_and(|after| {
                let after = &after[after.iter().take(4).take_while(|byte| is_blank(**byte)).count()..];
                after.starts_with(b"endstream")
            })
        };
        let length = match length.filter(ends) {
            Some(length) => length,
            None => {
                let length = memmem::find(rest, b"endstream").unwrap_or(rest.len());
                self.budget.parse(length)?;
                length
            }
        };
        Ok(Object::Stream(dict, start..start + length))
    }

    /// A number that stands in an object of its own.
    fn length_of(&mut self, number: u32) -> Result<Option<usize>, DocumentError> {
        match self.places.get(&number).copied() {
            Some(Place::At(at)) => {
                let mut lexer = Lexer::new(self.bytes, at);
                self.budget.parse(16)?;
                Ok(lexer.small_number().and_then(|length| usize::try_from(length).ok()))
            }
            Some(Place::Packed(..)) => Ok(self.load(number)?.count()),
            None => Ok(None),
        }
    }

    /// The dictionaries of the objects in which `word` occurs.
    fn dicts_with(
        &mut self,
        word: &[u8],
        found: &[(u32, usize)],
    ) -> Result<Vec<(usize, Dict, Object)>, DocumentError> {
        let mut dicts = Vec::new();
        let mut last = None;
        for hit in memmem::find_iter(self.bytes, word) {
            let before = found.partition_point(|(_, at)| *at <= hit);
            let Some((_, at)) = before.checked_sub(1).and_then(|index| found.get(index)) else { continue };
            if last == Some(*at) {
                continue;
            }
            last = Some(*at);
            let object = self.object_at(*at)?;
            if let Some(dict) = object.dict().cloned() {
                dicts.push((*at, dict, object));
            }
        }
        Ok(dicts)
    }

    /// Reads the trailers, of which the last one in the file counts first.
    fn read_trailers(&mut self, found: &[(u32, usize)]) -> Result<(), DocumentError> {
        let words: Vec<usize> = memmem::find_iter(self.bytes, b"trailer").map(|at| at + 7).collect();
        let mut trailers = Vec::new();
        for at in words.into_iter().rev().take(MOST_TRAILERS) {
            trailers.extend(self.object_at(at)?.dict().cloned());
        }
        let tables = self.dicts_with(b"/XRef", found)?.into_iter().rev().map(|(_, dict, _)| dict);
        trailers.extend(tables.filter(|dict| dict.is_type("XRef")).take(MOST_TRAILERS));
        if trailers.iter().any(|dict| *dict.get("Encrypt") != Object::Null) {
            return Err(DocumentError::Encrypted);
        }
        self.roots = trailers.iter().map(|dict| dict.get("Root").clone()).collect();
        let catalogues = self.dicts_with(b"/Catalog", found)?;
        self.roots.extend(catalogues.into_iter().rev().map(|(.., object)| object).take(MOST_TRAILERS));
        Ok(())
    }

    /// Notes the objects in streams of packed objects. One that stands later in the file counts.
    fn open_packs(&mut self, found: &[(u32, usize)]) -> Result<(), DocumentError> {
        for (at, dict, object) in self.dicts_with(b"/ObjStm", found)?.into_iter().take(MOST_PACKS) {
            let (Some(count), Some(first)) = (dict.get("N").count(), dict.get("First").count()) else {
                continue;
            };
            let Object::Stream(_, place) = object else { continue };
            if !dict.is_type("ObjStm") {
                continue;
            }
            let pack = Rc::new(self.unpacked(&dict, place)?);
            let mut lexer = Lexer::new(&pack, 0);
            for _ in 0..count {
                let (Some(number), Some(offset)) = (lexer.small_number(), lexer.small_number()) else {
                    break;
                };
                let (Ok(number), Ok(offset)) = (u32::try_from(number), usize::try_from(offset)) else {
                    break;
                };
                if self.places.len() >= MOST_OBJECTS {
                    break;
                }
                let is_newer = !matches!(self.places.get(&number), Some(Place::At(other)) if *other > at);
                if is_newer {
                    self.places.insert(number, Place::Packed(self.packs.len(), first.saturating_add(offset)));
                }
            }
            self.packs.push(pack);
        }
        Ok(())
    }
}

/// The numbers of objects and the places of their texts, in file order.
fn object_places(bytes: &[u8]) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for at in memmem::find_iter(bytes, b" obj") {
        // Backwards: the generation, blanks, and the number.
        let digits =
            |end: usize| bytes[..end].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        let generation = digits(at);
        let end = at - generation;
        let blanks = bytes[..end].iter().rev().take(4).take_while(|byte| is_blank(**byte)).count();
        let end = end - blanks;
        let number = &bytes[end - digits(end)..end];
        let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
        if let Some(number) = number
            && generation > 0
            && blanks > 0
            && found.len() < MOST_OBJECTS
        {
            found.push((number, at + 4));
        }
    }
    found
}
