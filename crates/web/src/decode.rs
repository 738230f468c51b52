//! Bytes of a page as text: compression, kind of content, character set.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// The kind of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    /// Feeds and other XML.
    Xml,
    Pdf,
    /// Plain text, Markdown, JSON: shown as it is.
    Text,
}

/// Bytes that are looked at to tell the kind and the character set.
const BEGINNING: usize = 1024;

/// The bytes without compression, at most `most`, and true if there are more. The limit counts what comes out, so a
/// small body cannot become a large one.
pub(crate) fn unpacked(
    bytes: Vec<u8>,
    encoding: Option<&str>,
    most: usize,
) -> Result<(Vec<u8>, bool), String> {
    let encoding = encoding.unwrap_or_default().trim().to_ascii_lowercase();
    match encoding.as_str() {
        "" | "identity" => {
            let is_cut = bytes.len() > most;
            let mut bytes = bytes;
            bytes.truncate(most);
            Ok((bytes, is_cut))
        }
        "gzip" | "x-gzip" => read_some(MultiGzDecoder::new(&bytes[..]), most),
        // Some servers send the bare format under this name.
        "deflate" => read_some(ZlibDecoder::new(&bytes[..]), most)
            .or_else(|_| read_some(DeflateDecoder::new(&bytes[..]), most)),
        other => Err(format!("the server compressed the page as `{other}`, which was not asked for")),
    }
}

/// The bytes that can be read; an error only if none can.
fn read_some(mut from: impl Read, most: usize) -> Result<(Vec<u8>, bool), String> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok((all, false)),
            Ok(count) => count,
            // The end of the body may be missing, because it has a limit as well.
            Err(_) if !all.is_empty() => return Ok((all, true)),
            Err(error) => return Err(format!("the compressed page is damaged: {error}")),
        };
        let room = most - all.len();
        all.extend_from_slice(&piece[..count.min(room)]);
        if count > room {
            return Ok((all, true));
        }
    }
}

/// The kind of a page by its content type and its beginning; an error for binary data.
pub(crate) fn kind(content_type: Option<&str>, bytes: &[u8]) -> Result<Kind, String> {
    let stated = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let stated = stated.to_ascii_lowercase();
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    if stated == "application/pdf" || beginning.starts_with(b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    let is_wide =
        matches!(beginning, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) || stated_set(content_type).is_some();
    if beginning.contains(&0) && !is_wide {
        return Err(not_text(&stated));
    }
    let sniffed = sniffed(beginning);
    match stated.as_str() {
        "text/html" | "application/xhtml+xml" => Ok(Kind::Html),
        "text/plain" | "" | "application/octet-stream" | "binary/octet-stream" => {
            Ok(sniffed.unwrap_or(Kind::Text))
        }
        // A server that sends HTML as XML means a page.
        "text/xml" | "application/xml" => Ok(sniffed.unwrap_or(Kind::Xml)),
        name if name.ends_with("+xml") => Ok(Kind::Xml),
        name if name.starts_with("text/") || is_textual(name) => Ok(Kind::Text),
        _ => Err(not_text(&stated)),
    }
}

fn is_textual(name: &str) -> bool {
    ["json", "javascript", "yaml", "toml", "x-sh", "sql", "graphql", "x-ndjson", "x-tex", "rtf"]
        .iter()
        .any(|known| name.ends_with(known))
}

fn not_text(stated: &str) -> String {
    let stated = if stated.is_empty() { "binary data" } else { stated };
    format!("{stated} cannot be read as text; download it with a command if you need it")
}

fn sniffed(beginning: &[u8]) -> Option<Kind> {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    let has = |mark: &str| text.contains(mark);
    if text.starts_with("<!doctype html") || text.starts_with("<html") || text.starts_with("<head") {
        return Some(Kind::Html);
    }
    if text.starts_with("<?xml") || text.starts_with("<rss") || text.starts_with("<feed") {
        return Some(if has("<html") || has("<!doctype html") { Kind::Html } else { Kind::Xml });
    }
    None
}

/// The text of a page. Its character set is that of its byte order mark, else the stated one, else the one that the page
/// names, else UTF-8 if it is valid, else Windows-1252.
pub(crate) fn text(content_type: Option<&str>, bytes: &[u8]) -> String {
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let stated = || stated_set(content_type).and_then(|label| Encoding::for_label(label.as_bytes()));
    let named = || {
        named_set(&String::from_utf8_lossy(beginning)).and_then(|label| Encoding::for_label(label.as_bytes()))
    };
    // The end may be in the middle of a character.
    let is_utf8 = || match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let fallback = || if is_utf8() { UTF_8 } else { WINDOWS_1252 };
    let encoding = marked.or_else(stated).or_else(named).unwrap_or_else(fallback);
    encoding.decode(bytes).0.into_owned()
}

fn stated_set(content_type: Option<&str>) -> Option<String> {
    let parameters = content_type?.split(';').skip(1);
    let set = parameters
        .filter_map(|one| one.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    set.map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_owned())
}

/// The character set that a page names in `meta` or in its XML declaration.
fn named_set(beginning: &str) -> Option<String> {
    let lower = beginning.to_ascii_lowercase();
    let after = |mark: &str| {
        let rest = lower.get(lower.find(mark)? + mark.len()..)?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(rest.len());
        rest.get(..end).filter(|label| !label.is_empty()).map(str::to_owned)
    };
    let named = if lower.contains("<meta") { after("charset") } else { None };
    let named =
        named.or_else(|| lower.trim_start().starts_with("<?xml").then(|| after("encoding")).flatten());
    // A page that can name it in ASCII has no wide characters.
    named.map(|label| if label.starts_with("utf-16") { "utf-8".to_owned() } else { label })
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
