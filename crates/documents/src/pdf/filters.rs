//! The encodings of streams.

use super::object::{Dict, from_hex};
use crate::DocumentError;
use crate::budget::Budget;

/// The bytes behind one filter. Filters of images leave nothing.
pub(super) fn decode(
    filter: &[u8],
    bytes: &[u8],
    parameters: &Dict,
    budget: &mut Budget,
) -> Result<Vec<u8>, DocumentError> {
    let decoded = match filter {
        b"FlateDecode" | b"Fl" => inflated(bytes, budget)?,
        b"LZWDecode" | b"LZW" => lzw(bytes, parameters.get("EarlyChange").count() != Some(0), budget)?,
        b"ASCIIHexDecode" | b"AHx" => {
            return Ok(from_hex(bytes.split(|byte| *byte == b'>').next().unwrap_or(bytes)));
        }
        b"ASCII85Decode" | b"A85" => return Ok(ascii85(bytes)),
        b"RunLengthDecode" | b"RL" => return run_length(bytes, budget),
        _ => return Ok(Vec::new()),
    };
    Ok(unpredicted(decoded, parameters))
}

fn inflated(bytes: &[u8], budget: &mut Budget) -> Result<Vec<u8>, DocumentError> {
    let plain = budget.inflate(bytes, true)?;
    // Some writers leave out the header.
    if plain.is_empty() { budget.inflate(bytes.get(2..).unwrap_or_default(), false) } else { Ok(plain) }
}

fn ascii85(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut group, mut count) = (0_u64, 0);
    for byte in bytes.iter().copied() {
        match byte {
            b'~' => break,
            b'z' if count == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group = group * 85 + u64::from(byte - b'!');
                count += 1;
                if count == 5 {
                    out.extend_from_slice(&(group as u32).to_be_bytes());
                    (group, count) = (0, 0);
                }
            }
            _ => {}
        }
    }
    if count > 1 {
        for _ in count..5 {
            group = group * 85 + 84;
        }
        out.extend_from_slice(&(group as u32).to_be_bytes()[..count - 1]);
    }
    out
}

fn run_length(bytes: &[u8], budget: &mut Budget) -> Result<Vec<u8>, DocumentError> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(length) = bytes.get(at).copied().filter(|length| *length != 128) {
        let count = usize::from(length);
        if count < 128 {
            let copied = bytes.get(at + 1..bytes.len().min(at + 2 + count)).unwrap_or_default();
            budget.unpack(copied.len())?;
            out.extend_from_slice(copied);
            at += 2 + count;
        } else {
            let Some(byte) = bytes.get(at + 1) else { break };
            budget.unpack(257 - count)?;
            out.extend(std::iter::repeat_n(*byte, 257 - count));
            at += 2;
        }
    }
    Ok(out)
}

fn lzw(bytes: &[u8], early: bool, budget: &mut Budget) -> Result<Vec<u8>, DocumentError> {
    let mut out: Vec<u8> = Vec::new();
    // Each entry is a place in the output: what was written when it was made.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let mut previous: Option<(usize, usize)> = None;
    let (mut buffer, mut bits, mut width) = (0_u32, 0_u32, 9_u32);
    for byte in bytes {
        buffer = (buffer << 8 | u32::from(*byte)) & 0x00ff_ffff;
        bits += 8;
        if bits < width {
            continue;
        }
        bits -= width;
        let code = (buffer >> bits & ((1 << width) - 1)) as usize;
        match code {
            256 => {
                table.clear();
                (previous, width) = (None, 9);
                continue;
            }
            257 => break,
            _ => {}
        }
        let start = out.len();
        match (code, previous) {
            (0..256, _) => out.push(code as u8),
            (_, Some((from, length))) => {
                let entry = table.get(code - 258).copied().unwrap_or((from, length + 1));
                budget.unpack(entry.1)?;
                for offset in 0..entry.1 {
                    let byte = out.get(entry.0 + offset).copied().unwrap_or_default();
                    out.push(byte);
                }
            }
            _ => break,
        }
        if let Some((from, length)) = previous
            && table.len() < 4096 - 258
        {
            table.push((from, length + 1));
        }
        previous = Some((start, out.len() - start));
        let next = table.len() + 259 + usize::from(early);
        width = match next {
            ..=512 => 9,
            513..=1024 => 10,
            1025..=2048 => 11,
            _ => 12,
        };
    }
    Ok(out)
}

/// The data behind a predictor of PNG; that of TIFF is for images only.
fn unpredicted(bytes: Vec<u8>, parameters: &Dict) -> Vec<u8> {
    if parameters.get("Predictor").count().unwrap_or(1) < 10 {
        return bytes;
    }
    let count = |key, default| parameters.get(key).count().unwrap_or(default).clamp(1, 1 << 16);
    let step = (count("Colors", 1) * count("BitsPerComponent", 8)).div_ceil(8);
    let width = (count("Columns", 1) * count("Colors", 1) * count("BitsPerComponent", 8)).div_ceil(8);
    let width = width.min(bytes.len().max(1));
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut above = vec![0_u8; width];
    for row in bytes.chunks(width + 1) {
        let mut line = row[1..].to_vec();
        for index in 0..line.len() {
            let left = index.checked_sub(step).map_or(0, |at| line[at]);
            let up = above[index];
            let corner = index.checked_sub(step).map_or(0, |at| above[at]);
            let added = match row[0] {
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => paeth(left, up, corner),
                _ => 0,
            };
            line[index] = line[index].wrapping_add(added);
        }
        out.extend_from_slice(&line);
        above[..line.len()].copy_from_slice(&line);
    }
    out
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let estimate = i16::from(left) + i16::from(up) - i16::from(corner);
    let distance = |value: u8| (estimate - i16::from(value)).abs();
    match (distance(left), distance(up), distance(corner)) {
        (left_far, up_far, corner_far) if left_far <= up_far && left_far <= corner_far => left,
        (_, up_far, corner_far) if up_far <= corner_far => up,
        _ => corner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::object::Lexer;

    #[test]
    fn streams_are_decoded() {
        let none = Dict::default();
        for (filter, bytes, want) in [
            ("ASCIIHexDecode", &b"48 65 6C>xx"[..], &b"Hel"[..]),
            ("ASCII85Decode", b"87cURD]i,\"Ebo80~>", b"Hello World!"),
            ("ASCII85Decode", b"z87cUR~>", b"\0\0\0\0Hell"),
            ("RunLengthDecode", b"\x02abc\xfex\x80no", b"abcxxx"),
            ("LZWDecode", b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01", b"-----A---B"),
            ("DCTDecode", b"image", b""),
        ] {
            let decoded = decode(filter.as_bytes(), bytes, &none, &mut Budget::default()).unwrap();
            assert_eq!(decoded, want, "{filter}");
        }
    }

    #[test]
    fn predictors_are_undone() {
        let object = Lexer::new(b"<</Predictor 12/Columns 3>>", 0).object().unwrap();
        let rows = vec![2, 1, 2, 3, 2, 1, 1, 1, 1, 5, 1, 1, 0, 9];
        assert_eq!(unpredicted(rows, object.dict().unwrap()), [1, 2, 3, 2, 3, 4, 5, 6, 7, 9]);
    }
}
