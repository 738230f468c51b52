//! The entries of a zip file, as its directory lists them: stored or deflated, nothing newer.

use super::super::package::{MAX_ENTRIES, MAX_FILE, PackageBuilder, PackageError};
use super::inflated;
use flate2::Crc;
use flate2::read::DeflateDecoder;

const CUT_SHORT: PackageError = PackageError::Damaged("the zip file is cut short");
const END: &[u8] = b"PK\x05\x06";
const END_LENGTH: usize = 22;
const CENTRAL: &[u8] = b"PK\x01\x02";
const CENTRAL_LENGTH: usize = 46;
const LOCAL: &[u8] = b"PK\x03\x04";
const LOCAL_LENGTH: usize = 30;
/// Maximum length of the final comment.
const MAX_COMMENT: usize = 65_535;
/// File type bits in the upper half of the external attributes, for archives made on Unix.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const PLAIN: u32 = 0o100_000;

/// Adds every entry to the package.
pub(super) fn read(bytes: &[u8], builder: &mut PackageBuilder) -> Result<(), PackageError> {
    let end = end_of(bytes)?;
    let count = usize::from(short(end, 10)?);
    if count > MAX_ENTRIES {
        return Err(PackageError::Entries { limit: MAX_ENTRIES });
    }
    let mut at = long(end, 16)? as usize;
    let mut packed = 0;
    for _ in 0..count {
        let header = bytes.get(at..).filter(|rest| rest.starts_with(CENTRAL)).ok_or(CUT_SHORT)?;
        let entry = Entry::read(header)?;
        at += CENTRAL_LENGTH + entry.lengths;
        // Overlapping entries unpack the same bytes repeatedly.
        packed += entry.packed;
        if packed > bytes.len() {
            return Err(PackageError::Bomb);
        }
        builder.count()?;
        entry.take(bytes, builder)?;
    }
    Ok(())
}

/// Returns the end-of-directory record, searched from the end.
fn end_of(bytes: &[u8]) -> Result<&[u8], PackageError> {
    let from = bytes.len().saturating_sub(END_LENGTH + MAX_COMMENT);
    let tail = &bytes[from..];
    let found = (0..tail.len().saturating_sub(END_LENGTH - 1)).rev().find(|at| tail[*at..].starts_with(END));
    let end = found.map(|at| &tail[at..]).ok_or(CUT_SHORT)?;
    let is_large = short(end, 10)? == u16::MAX || long(end, 16)? == u32::MAX;
    if is_large { Err(PackageError::Entries { limit: MAX_ENTRIES }) } else { Ok(end) }
}

struct Entry {
    path: String,
    method: u16,
    is_encrypted: bool,
    crc: u32,
    packed: usize,
    size: u64,
    mode: u32,
    local: usize,
    /// Length of name, extra field and comment.
    lengths: usize,
}

impl Entry {
    fn read(header: &[u8]) -> Result<Self, PackageError> {
        let name = usize::from(short(header, 28)?);
        let rest = usize::from(short(header, 30)?) + usize::from(short(header, 32)?);
        let path = header.get(CENTRAL_LENGTH..CENTRAL_LENGTH + name).ok_or(CUT_SHORT)?;
        let path = std::str::from_utf8(path)
            .map_err(|_| PackageError::Damaged("a name in the zip file is not UTF-8"))?;
        Ok(Self {
            path: path.to_owned(),
            method: short(header, 10)?,
            is_encrypted: short(header, 8)? & 1 != 0,
            crc: long(header, 16)?,
            packed: long(header, 20)? as usize,
            size: u64::from(long(header, 24)?),
            mode: long(header, 38)? >> 16,
            local: long(header, 42)? as usize,
            lengths: name + rest,
        })
    }

    fn take(&self, bytes: &[u8], builder: &mut PackageBuilder) -> Result<(), PackageError> {
        let refuse = |what| Err(PackageError::Kind { path: self.path.clone(), what });
        match self.mode & KIND {
            _ if self.is_encrypted => return refuse("encrypted"),
            LINK => return refuse("a link"),
            0 | FOLDER | PLAIN => {}
            _ => return refuse("an unsupported entry"),
        }
        if self.path.ends_with('/') {
            return builder.folder(&self.path);
        }
        let size = builder.check_size(&self.path, self.size)?;
        let content = self.content(bytes)?;
        let mut crc = Crc::new();
        crc.update(&content);
        if content.len() != size || crc.sum() != self.crc {
            return Err(PackageError::Damaged("a file in the zip file differs from its directory entry"));
        }
        builder.file(&self.path, content, self.mode & 0o111 != 0)
    }

    fn content(&self, bytes: &[u8]) -> Result<Vec<u8>, PackageError> {
        let header = bytes.get(self.local..).filter(|rest| rest.starts_with(LOCAL)).ok_or(CUT_SHORT)?;
        let name =
            header.get(LOCAL_LENGTH..LOCAL_LENGTH + usize::from(short(header, 26)?)).ok_or(CUT_SHORT)?;
        if name != self.path.as_bytes() {
            return Err(PackageError::Damaged("a file in the zip file has two names"));
        }
        let start = LOCAL_LENGTH + name.len() + usize::from(short(header, 28)?);
        let packed =
            start.checked_add(self.packed).and_then(|end| header.get(start..end)).ok_or(CUT_SHORT)?;
        match self.method {
            0 => Ok(packed.to_vec()),
            8 => inflated(DeflateDecoder::new(packed), packed.len(), MAX_FILE),
            _ => Err(PackageError::Damaged("unsupported compression method")),
        }
    }
}

fn short(bytes: &[u8], at: usize) -> Result<u16, PackageError> {
    match bytes.get(at..at + 2) {
        Some(&[a, b]) => Ok(u16::from_le_bytes([a, b])),
        _ => Err(CUT_SHORT),
    }
}

fn long(bytes: &[u8], at: usize) -> Result<u32, PackageError> {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => Ok(u32::from_le_bytes([a, b, c, d])),
        _ => Err(CUT_SHORT),
    }
}
