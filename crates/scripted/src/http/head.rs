//! Parses the head of a request.

use super::{HttpError, MAX_BODY, Request};
use bytes::Bytes;

const BLANK_LINE: &[u8] = b"\r\n\r\n";

/// The end of the head in `bytes`, if it is complete. The first `searched` bytes were examined before.
pub(super) fn end(bytes: &[u8], searched: usize) -> Option<usize> {
    let from = searched.saturating_sub(BLANK_LINE.len() - 1);
    let found = bytes[from..].windows(BLANK_LINE.len()).position(|window| window == BLANK_LINE)?;
    Some(from + found + BLANK_LINE.len())
}

/// Parses a head into a request without a body.
pub(super) fn parse(head: &[u8]) -> Option<Request> {
    let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target, version) = (first.next()?, first.next()?, first.next()?);
    if !version.starts_with("HTTP/1.") {
        return None;
    }
    let headers = lines.take_while(|line| !line.is_empty()).map(header).collect::<Option<_>>()?;
    let path = target.split('?').next().unwrap_or(target);
    Some(Request { method: method.to_owned(), path: path.to_owned(), headers, body: Bytes::new() })
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.to_owned(), value.trim().to_owned()))
}

/// The length of the body.
pub(super) fn body_length(request: &Request) -> Result<usize, HttpError> {
    if request.header("transfer-encoding").is_some() {
        return Err(HttpError::LengthRequired);
    }
    let Some(text) = request.header("content-length") else {
        return Ok(0);
    };
    match text.parse() {
        Ok(length) if length <= MAX_BODY => Ok(length),
        Ok(_) => Err(HttpError::BodyTooLarge),
        Err(_) => Err(HttpError::BadHead),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_end_at_the_blank_line() {
        for (text, searched, want) in [
            ("GET / HTTP/1.1\r\n\r\nrest", 0, Some(18)),
            ("GET / HTTP/1.1\r\n\r\n", 17, Some(18)),
            ("GET / HTTP/1.1\r\n\r", 0, None),
            ("", 0, None),
        ] {
            assert_eq!(end(text.as_bytes(), searched), want, "{text:?}");
        }
    }

    #[test]
    fn heads_are_parsed_or_rejected() {
        let request = parse(b"POST /v1/x?y=1 HTTP/1.1\r\nContent-Length: 5\r\nA:b\r\n\r\n").unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/x"));
        assert_eq!(request.header("content-length"), Some("5"));
        assert_eq!(request.header("a"), Some("b"));
        for bad in ["", "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nnonsense\r\n\r\n"] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn body_length_is_limited() {
        for (name, value, want) in [
            ("Accept", "*/*", Ok(0)),
            ("Content-Length", "12", Ok(12)),
            ("Content-Length", "67108864", Ok(MAX_BODY)),
            ("Content-Length", "67108865", Err(Some(413))),
            ("Content-Length", "x", Err(Some(400))),
            ("Transfer-Encoding", "chunked", Err(Some(411))),
        ] {
            let head = format!("POST / HTTP/1.1\r\n{name}: {value}\r\n\r\n");
            let length = body_length(&parse(head.as_bytes()).unwrap());
            assert_eq!(length.map_err(|error| error.status()), want, "{name}: {value}");
        }
    }
}
