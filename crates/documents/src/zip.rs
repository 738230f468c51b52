//! The files in a zip archive, unpacked in memory within limits.

use crate::DocumentError;
use crate::budget::Budget;
use std::collections::HashMap;

/// Files of an archive, at most.
const MOST_FILES: usize = 20_000;
/// The size of the record at the end, and of the longest comment after it.
const END: usize = 22;
const LONGEST_COMMENT: usize = 65_535;

/// A file of an archive.
#[derive(Debug, Clone, Copy)]
struct Entry {
    method: u16,
    is_encrypted: bool,
    packed: usize,
    /// The place of its local header.
    at: usize,
}

/// An archive.
pub(crate) struct Archive<'a> {
    bytes: &'a [u8],
    entries: HashMap<String, Entry>,
    pub(crate) budget: Budget,
}

impl<'a> Archive<'a> {
    /// Reads the list of files. `kind` names the document for errors.
    pub(crate) fn open(bytes: &'a [u8], kind: &'static str) -> Result<Self, DocumentError> {
        // Office programs put encrypted documents into the older container.
        if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            return Err(DocumentError::Encrypted);
        }
        if !bytes.starts_with(b"PK") {
            return Err(DocumentError::OtherKind(kind));
        }
        let from = bytes.len().saturating_sub(END + LONGEST_COMMENT);
        let end = memchr::memmem::rfind(&bytes[from..], b"PK\x05\x06").map(|at| from + at);
        let end = end.ok_or(DocumentError::Damaged("its list of files is missing"))?;
        let damaged = DocumentError::Damaged("its list of files cannot be read");
        let (count, start) = (number(bytes, end + 10, 2), number(bytes, end + 16, 4));
        let (Some(count), Some(mut at)) = (count, start) else { return Err(damaged) };
        let mut entries = HashMap::new();
        for _ in 0..count.min(MOST_FILES) {
            if bytes.get(at..at.saturating_add(4)) != Some(b"PK\x01\x02") {
                return Err(damaged);
            }
            let field = |offset: usize, size: usize| number(bytes, at + offset, size).ok_or(damaged.clone());
            let (names, extra, comment) = (field(28, 2)?, field(30, 2)?, field(32, 2)?);
            let name = bytes.get(at + 46..at + 46 + names).ok_or(damaged.clone())?;
            let entry = Entry {
                method: field(10, 2)? as u16,
                is_encrypted: field(8, 2)? & 1 == 1,
                packed: field(20, 4)?,
                at: field(42, 4)?,
            };
            entries.insert(String::from_utf8_lossy(name).into_owned(), entry);
            at += 46 + names + extra + comment;
        }
        Ok(Self { bytes, entries, budget: Budget::default() })
    }

    /// The text of a file; `None` if there is no such file.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, DocumentError> {
        let Some(entry) = self.entries.get(name).copied() else { return Ok(None) };
        if entry.is_encrypted {
            return Err(DocumentError::Encrypted);
        }
        let damaged = DocumentError::Damaged("a file in it cannot be read");
        let (names, extra) = (number(self.bytes, entry.at + 26, 2), number(self.bytes, entry.at + 28, 2));
        let (Some(names), Some(extra)) = (names, extra) else { return Err(damaged) };
        let start = entry.at + 30 + names + extra;
        let packed = self.bytes.get(start..start.saturating_add(entry.packed)).ok_or(damaged.clone())?;
        let plain = match entry.method {
            0 => {
                self.budget.unpack(packed.len())?;
                packed.to_vec()
            }
            8 => self.budget.inflate(packed, false)?,
            _ => return Err(damaged),
        };
        Ok(Some(match String::from_utf8(plain) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }
}

/// A little-endian number.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// An archive of these files, for tests.
#[cfg(test)]
pub(crate) fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use std::io::Write;
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let at = bytes.len() as u32;
        let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((text.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(name.bytes());
        bytes.extend(packed);
        list.extend(b"PK\x01\x02\x14\0");
        list.extend(&common);
        list.extend([0; 10]);
        list.extend(at.to_le_bytes());
        list.extend(name.bytes());
    }
    let (start, size, count) = (bytes.len() as u32, list.len() as u32, files.len() as u16);
    bytes.extend(list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}
