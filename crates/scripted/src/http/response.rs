//! Renders responses as bytes.

/// Ends a chunked body.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A response with a known length.
pub fn whole(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let length = body.len().to_string();
    let mut out = head(status, headers, ("content-length", &length));
    out.extend_from_slice(body);
    out
}

/// The head of a chunked response.
pub fn chunked_head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    head(status, headers, ("transfer-encoding", "chunked"))
}

/// Appends one chunk. Skips empty data, since an empty chunk would end the body.
pub fn put_chunk(out: &mut Vec<u8>, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    out.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

fn head(status: u16, headers: &[(&str, &str)], framing: (&str, &str)) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers.iter().copied().chain([framing]) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_framed_by_length_or_by_chunk() {
        let text = String::from_utf8(whole(404, &[("a", "b")], b"no")).unwrap();
        assert_eq!(text, "HTTP/1.1 404 Not Found\r\na: b\r\ncontent-length: 2\r\n\r\nno");

        let mut out = chunked_head(200, &[]);
        put_chunk(&mut out, b"0123456789abcdef");
        put_chunk(&mut out, b"");
        out.extend_from_slice(LAST_CHUNK);
        let text = String::from_utf8(out).unwrap();
        let want = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n";
        assert_eq!(text, want);
    }
}
