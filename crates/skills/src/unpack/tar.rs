//! The entries of a tar file: old, POSIX and GNU headers, as far as plain files need them.

use super::super::package::{PackageBuilder, PackageError};

const BLOCK: usize = 512;
const CUT_SHORT: PackageError = PackageError::Damaged("the tar file is cut short");
/// Maximum size of a long-name entry.
const MAX_LONG_NAME: usize = 64 * 1024;

/// Returns true if the checksum of the first header is valid.
pub(super) fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(..BLOCK).is_some_and(|header| header[0] != 0 && has_valid_checksum(header))
}

/// Adds every entry to the package.
pub(super) fn read(bytes: &[u8], builder: &mut PackageBuilder) -> Result<(), PackageError> {
    let mut at = 0;
    let mut long_name: Option<String> = None;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        if !has_valid_checksum(header) {
            return Err(PackageError::Damaged("wrong header checksum in the tar file"));
        }
        builder.count()?;
        let size = octal(&header[124..136]).ok_or(PackageError::Damaged("invalid size in the tar file"))?;
        let size = usize::try_from(size).map_err(|_| CUT_SHORT)?;
        let start = at + BLOCK;
        let content = start.checked_add(size).and_then(|end| bytes.get(start..end)).ok_or(CUT_SHORT)?;
        at = start + size.div_ceil(BLOCK) * BLOCK;
        match header[156] {
            b'L' => long_name = Some(long_name_text(content)?.trim_end_matches('\0').to_owned()),
            b'x' => long_name = pax_path(long_name_text(content)?)?.or(long_name),
            // Global comments, such as the commit of the archive.
            b'g' => {}
            kind => {
                entry(kind, long_name.take().map_or_else(|| name(header), Ok)?, header, content, builder)?
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
    builder: &mut PackageBuilder,
) -> Result<(), PackageError> {
    let refuse = |what| Err(PackageError::Kind { path: path.clone(), what });
    match kind {
        b'0' | 0 | b'7' if path.ends_with('/') => builder.folder(&path),
        b'0' | 0 | b'7' => {
            builder.check_size(&path, content.len() as u64)?;
            let mode = octal(&header[100..108]).unwrap_or(0);
            builder.file(&path, content.to_vec(), mode & 0o111 != 0)
        }
        b'5' => builder.folder(&path),
        b'1' | b'2' => refuse("a link"),
        b'3' | b'4' => refuse("a device"),
        b'6' => refuse("a pipe"),
        _ => refuse("an unsupported entry"),
    }
}

fn has_valid_checksum(header: &[u8]) -> bool {
    let checksum: u64 = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { u64::from(b' ') } else { u64::from(*byte) })
        .sum();
    octal(&header[148..156]) == Some(checksum)
}

fn name(header: &[u8]) -> Result<String, PackageError> {
    let is_posix = &header[257..262] == b"ustar" && header[262] == 0;
    let own = text(&header[..100])?;
    let above = if is_posix { text(&header[345..500])? } else { "" };
    Ok(if above.is_empty() { own.to_owned() } else { format!("{above}/{own}") })
}

fn long_name_text(content: &[u8]) -> Result<&str, PackageError> {
    if content.len() > MAX_LONG_NAME {
        return Err(PackageError::Damaged("a name in the tar file is too long"));
    }
    std::str::from_utf8(content).map_err(|_| PackageError::Damaged("a name in the tar file is not UTF-8"))
}

/// Returns the path among PAX records, each `length key=value`. A size that differs from the header's is
/// refused: two readers would see two different archives.
fn pax_path(mut records: &str) -> Result<Option<String>, PackageError> {
    const WRONG: PackageError = PackageError::Damaged("malformed extended header in the tar file");
    let mut path = None;
    while !records.is_empty() {
        let (length, _) = records.split_once(' ').ok_or(WRONG)?;
        let whole: usize = length.parse().map_err(|_| WRONG)?;
        let record = records.get(length.len() + 1..whole).ok_or(WRONG)?;
        let (key, value) = record.trim_end_matches('\n').split_once('=').ok_or(WRONG)?;
        match key {
            "path" => path = Some(value.to_owned()),
            "size" => return Err(PackageError::Damaged("size in an extended header of the tar file")),
            key if key.starts_with("GNU.sparse") => {
                return Err(PackageError::Damaged("sparse file in the tar file"));
            }
            _ => {}
        }
        records = &records[whole..];
    }
    Ok(path)
}

/// Returns a name up to its NUL. Bytes after the NUL are refused: another reader would see another name.
fn text(field: &[u8]) -> Result<&str, PackageError> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    if field[end..].iter().any(|byte| *byte != 0) {
        return Err(PackageError::Damaged("a name in the tar file contains a NUL"));
    }
    std::str::from_utf8(&field[..end])
        .map_err(|_| PackageError::Damaged("a name in the tar file is not UTF-8"))
}

/// Parses an octal number. The binary form is only for files above the limits.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}
