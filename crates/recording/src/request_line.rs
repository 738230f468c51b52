//! Recorded requests: each line holds the difference to the request before it.

use super::line::RequestLine;
use super::recorder::put_number;
use bytes::Bytes;
use hermes_conversation::RawJson;
use hermes_guard::{Secrets, placeholders};
use std::borrow::Cow;

/// The end of a body whose last field is the list of messages.
const END: &str = "]}";

/// The newest request.
#[derive(Debug, Default)]
pub(crate) struct LastRequest {
    number: u64,
    body: Bytes,
    /// The body with placeholders, if it has secrets.
    hidden: Option<String>,
}

impl LastRequest {
    /// Writes what the line of the next request says, and gives its number. Where no secret was heard
    /// of yet, none can be in it.
    pub(crate) fn next(&mut self, body: &Bytes, secrets: Option<&Secrets>, line: &mut Vec<u8>) -> u64 {
        self.number += 1;
        match secrets {
            None => write_rest(self.number, &self.body, body, line),
            Some(secrets) => {
                let hidden = placeholders(secrets, &String::from_utf8_lossy(body)).into_owned();
                let before = self.hidden.as_deref().map_or(&*self.body, str::as_bytes);
                write_rest(self.number, before, hidden.as_bytes(), line);
                self.hidden = Some(hidden);
            }
        }
        self.body = body.clone();
        self.number
    }
}

/// Writes a [`RequestLine`]. It is one of the longest lines of a step, so it is not put together first.
fn write_rest(number: u64, before: &[u8], body: &[u8], line: &mut Vec<u8>) {
    let same = common(before, body);
    if let Some(more) = more_messages(before, body, same) {
        put_number(line, "{\"number\":", number);
        put_number(line, ",\"prefix\":", same as u64);
        line.extend_from_slice(b",\"more\":[");
        line.extend_from_slice(more);
        line.extend_from_slice(b"]}");
        return;
    }
    let (prefix, rest) = rest_of(body, same);
    let written = RequestLine { number, prefix, rest: rest.into_owned(), more: Vec::new() };
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(line, &written);
}

/// The messages added at the end of the list, if nothing else changed.
fn more_messages<'a>(before: &[u8], body: &'a [u8], same: usize) -> Option<&'a [u8]> {
    if before.get(same..) != Some(END.as_bytes()) {
        return None;
    }
    let more = body.get(same..)?.strip_prefix(b",")?.strip_suffix(END.as_bytes())?;
    // A list that ends before the body does, with another field behind it, would not be a list. Some
    // messages look like that from here, and are written as text, as is what has several lines.
    let is_plain = memchr::memchr(b'\n', more).is_none() && memchr::memmem::find(more, b"],\"").is_none();
    (is_plain && !more.is_empty() && std::str::from_utf8(more).is_ok()).then_some(more)
}

/// The rest of a body after `same` bytes, from a character boundary.
fn rest_of(body: &[u8], mut same: usize) -> (usize, Cow<'_, str>) {
    while body.get(same).is_some_and(|byte| byte & 0xc0 == 0x80) {
        same -= 1;
    }
    let rest = &body[same..];
    // Nearly always text, and taking it for that is much cheaper.
    (same, std::str::from_utf8(rest).map_or_else(|_| String::from_utf8_lossy(rest), Cow::Borrowed))
}

/// The length of the common prefix of two bodies.
pub(crate) fn common(one: &[u8], other: &[u8]) -> usize {
    // Most often all but the end of the one.
    let most = one.len().saturating_sub(END.len());
    if other.get(..most) == one.get(..most) {
        let more = one[most..].iter().zip(&other[most..]);
        return most + more.take_while(|(one, other)| one == other).count();
    }
    // Whole blocks first, then smaller ones: comparing them is much cheaper than looking at each byte.
    [4096, 256, 16, 1].into_iter().fold(0, |same, step| {
        let blocks = one[same..].chunks_exact(step).zip(other[same..].chunks_exact(step));
        same + blocks.take_while(|(one, other)| one == other).count() * step
    })
}

/// The body of a line, given the body before it.
pub(crate) fn body_after(before: &[u8], line: &RequestLine) -> Option<Vec<u8>> {
    Some([before.get(..line.prefix)?, rest(line).as_bytes()].concat())
}

/// The part of a body that is new.
pub(crate) fn rest(line: &RequestLine) -> Cow<'_, str> {
    if line.more.is_empty() {
        return Cow::Borrowed(&line.rest);
    }
    let more = line.more.iter().flat_map(|message| [",", RawJson::as_str(message)]);
    Cow::Owned(more.chain([END]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    fn played(bodies: &[&str], secrets: Option<&Secrets>) -> Vec<(usize, String)> {
        let (mut last, mut before) = (LastRequest::default(), Vec::new());
        let each = bodies.iter().map(|body| {
            let mut line = Vec::new();
            last.next(&Bytes::copy_from_slice(body.as_bytes()), secrets, &mut line);
            assert!(!line.contains(&b'\n'), "a line is one line");
            let line: RequestLine = serde_json::from_slice(&line).unwrap();
            before = body_after(&before, &line).unwrap();
            (line.prefix, String::from_utf8(before.clone()).unwrap())
        });
        each.collect()
    }

    #[test]
    fn bodies_are_restored_from_differences() {
        let long = "x".repeat(1000);
        let bodies = [format!("[{long}]"), format!("[{long},ü,2]"), format!("[{long},ä,2]"), "[]".to_owned()];
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let got = played(&bodies, None);
        let want = [0, 1001, 1002, 1].into_iter().zip(bodies.iter().map(|body| (*body).to_owned()));
        assert_eq!(got, want.collect::<Vec<_>>());
    }

    #[test]
    fn appended_messages_are_written_as_json() {
        let bodies = [
            r#"{"m":[{"a":1}]}"#,
            r#"{"m":[{"a":1},{"b":"ü ] }"},{"c":[1]}]}"#,
            // Another field, which would end the list.
            r#"{"m":[{"a":1},{"b":"ü ] }"},{"c":[1]},2],"t":[3]}"#,
            // Something in the middle.
            r#"{"m":[{"a":1},{"b":"u ] }"},{"c":[1]},2],"t":[3]}"#,
            // White space in what was taken over from elsewhere.
            "{\"m\":[{\"a\":1},{\"b\":\"u ] }\"},{\"c\":[1]},2],\"t\":[3,[1,\n2]]}",
            "{\"m\":[{\"a\":1},{\"b\":\"u ] }\"},{\"c\":[1]},2],\"t\":[3,[1,\n2]]}",
        ];
        let got: Vec<String> = played(&bodies, None).into_iter().map(|(_, body)| body).collect();
        assert_eq!(got, bodies);
        let mut line = Vec::new();
        write_rest(2, bodies[0].as_bytes(), bodies[1].as_bytes(), &mut line);
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, r#"{"number":2,"prefix":13,"more":[{"b":"ü ] }"},{"c":[1]}]}"#);
    }

    #[test]
    fn secrets_are_hidden_across_the_prefix_boundary() {
        let secrets = Secrets::new([("KEY", SecretString::from("hunter2-hunter2"))]);
        // The third request goes on in the middle of the secret.
        let got =
            played(&["[a", "[a,hunter2-", "[a,hunter2-hunter2]", "[a,hunter2-hunter2,b]"], Some(&secrets));
        let bodies: Vec<&str> = got.iter().map(|(_, body)| body.as_str()).collect();
        assert_eq!(bodies, ["[a", "[a,hunter2-", "[a,{{secret:1}}]", "[a,{{secret:1}},b]"]);
    }

    #[test]
    fn common_prefix_ends_at_first_difference() {
        let base = vec![7; 1000];
        for at in [0, 1, 255, 256, 257, 511, 999] {
            let mut other = base.clone();
            other[at] = 8;
            assert_eq!(common(&base, &other), at);
        }
        assert_eq!((common(&base, &base), common(&base, &[])), (1000, 0));
    }
}
