//! The entries of a tar file: old, POSIX and GNU headers, as far as plain files need them.

use super::super::parcel::{Packing, ParcelError};

const BLOCK: usize = 512;
const CUT_SHORT: ParcelError = ParcelError::Damaged("the tar file is cut short");
/// A header for a long name is no file; more than this is no name.
const MAX_NOTE: usize = 64 * 1024;

/// Whether the first header adds up.
pub(super) fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(..BLOCK).is_some_and(|header| header[0] != 0 && adds_up(header))
}

/// Takes every entry.
pub(super) fn read(bytes: &[u8], packing: &mut Packing) -> Result<(), ParcelError> {
    let mut at = 0;
    let mut long_name: Option<String> = None;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        if !adds_up(header) {
            return Err(ParcelError::Damaged("a header of the tar file does not add up"));
        }
        packing.count()?;
        let size =
            octal(&header[124..136]).ok_or(ParcelError::Damaged("a size in the tar file is no number"))?;
        let size = usize::try_from(size).map_err(|_| CUT_SHORT)?;
        let start = at + BLOCK;
        let content = start.checked_add(size).and_then(|end| bytes.get(start..end)).ok_or(CUT_SHORT)?;
        at = start + size.div_ceil(BLOCK) * BLOCK;
        match header[156] {
            b'L' => long_name = Some(note(content)?.trim_end_matches('\0').to_owned()),
            b'x' => long_name = pax_path(note(content)?)?.or(long_name),
            // Comments about the whole archive, such as the commit it was made from.
            b'g' => {}
            kind => {
                entry(kind, long_name.take().map_or_else(|| name(header), Ok)?, header, content, packing)?
            }
        }
    }
    if at == 0 { Err(CUT_SHORT) } else { Ok(()) }
}

fn entry(
    kind: u8,
    path: String,
    header: &[u8],
    content: &[u8],
    packing: &mut Packing,
) -> Result<(), ParcelError> {
    let refuse = |what| Err(ParcelError::Kind { path: path.clone(), what });
    match kind {
        b'0' | 0 | b'7' if path.ends_with('/') => packing.folder(&path),
        b'0' | 0 | b'7' => {
            packing.check_size(&path, content.len() as u64)?;
            let mode = octal(&header[100..108]).unwrap_or(0);
            packing.file(&path, content.to_vec(), mode & 0o111 != 0)
        }
        b'5' => packing.folder(&path),
        b'1' | b'2' => refuse("a link"),
        b'3' | b'4' => refuse("a device"),
        b'6' => refuse("a pipe"),
        _ => refuse("something unknown"),
    }
}

fn adds_up(header: &[u8]) -> bool {
    let sum: u64 = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { u64::from(b' ') } else { u64::from(*byte) })
        .sum();
    octal(&header[148..156]) == Some(sum)
}

fn name(header: &[u8]) -> Result<String, ParcelError> {
    let is_posix = &header[257..262] == b"ustar" && header[262] == 0;
    let own = text(&header[..100])?;
    let above = if is_posix { text(&header[345..500])? } else { "" };
    Ok(if above.is_empty() { own.to_owned() } else { format!("{above}/{own}") })
}

fn note(content: &[u8]) -> Result<&str, ParcelError> {
    if content.len() > MAX_NOTE {
        return Err(ParcelError::Damaged("a name in the tar file is too long"));
    }
    std::str::from_utf8(content).map_err(|_| ParcelError::Damaged("a name in the tar file is no UTF-8"))
}

/// The path among POSIX records, each `length key=value`. Other sizes than the header's are refused:
/// two readers would see two different archives.
fn pax_path(mut records: &str) -> Result<Option<String>, ParcelError> {
    const WRONG: ParcelError = ParcelError::Damaged("an extended header of the tar file makes no sense");
    let mut path = None;
    while !records.is_empty() {
        let (length, _) = records.split_once(' ').ok_or(WRONG)?;
        let whole: usize = length.parse().map_err(|_| WRONG)?;
        let record = records.get(length.len() + 1..whole).ok_or(WRONG)?;
        let (key, value) = record.trim_end_matches('\n').split_once('=').ok_or(WRONG)?;
        match key {
            "path" => path = Some(value.to_owned()),
            "size" => return Err(ParcelError::Damaged("a size in an extended header of the tar file")),
            key if key.starts_with("GNU.sparse") => {
                return Err(ParcelError::Damaged("a file with holes in the tar file"));
            }
            _ => {}
        }
        records = &records[whole..];
    }
    Ok(path)
}

/// A name up to its NUL. One that goes on behind it would be another name to another reader.
fn text(field: &[u8]) -> Result<&str, ParcelError> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    if field[end..].iter().any(|byte| *byte != 0) {
        return Err(ParcelError::Damaged("a name in the tar file has a NUL in it"));
    }
    std::str::from_utf8(&field[..end]).map_err(|_| ParcelError::Damaged("a name in the tar file is no UTF-8"))
}

/// A number in octal digits; the binary form is only for files that are too large anyway.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}
