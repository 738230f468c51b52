//! Requests on a tape: most bytes of one are those of the one before.

use super::line::RequestLine;
use bytes::Bytes;
use hermes_guard::{Secrets, placeholders};
use std::borrow::Cow;

/// The newest request.
#[derive(Debug, Default)]
pub(crate) struct LastRequest {
    number: u64,
    body: Bytes,
    /// The body with placeholders, if it has secrets.
    hidden: Option<String>,
}

impl LastRequest {
    /// The line of the next request. Where no secret was heard of yet, none can be in it.
    pub(crate) fn next(&mut self, body: &Bytes, secrets: Option<&Secrets>) -> RequestLine {
        self.number += 1;
        let number = self.number;
        let line = match secrets {
            None => {
                let (prefix, rest) = rest_of(body, common(&self.body, body));
                RequestLine { number, prefix, rest }
            }
            Some(secrets) => {
                let hidden = placeholders(secrets, &String::from_utf8_lossy(body)).into_owned();
                let before = self.hidden.as_deref().map_or(&*self.body, str::as_bytes);
                let (prefix, rest) = rest_of(hidden.as_bytes(), common(before, hidden.as_bytes()));
                self.hidden = Some(hidden);
                RequestLine { number, prefix, rest }
            }
        };
        self.body = body.clone();
        line
    }
}

/// What follows the first so many bytes, from the beginning of a character on.
fn rest_of(body: &[u8], mut same: usize) -> (usize, String) {
    while body.get(same).is_some_and(|byte| byte & 0xc0 == 0x80) {
        same -= 1;
    }
    let rest = &body[same..];
    // Nearly always text, and taking it for that is much cheaper.
    let rest = std::str::from_utf8(rest).map_or_else(|_| String::from_utf8_lossy(rest), Cow::Borrowed);
    (same, rest.into_owned())
}

/// How many bytes two bodies begin with alike.
pub(crate) fn common(one: &[u8], other: &[u8]) -> usize {
    // Whole blocks first, then smaller ones: comparing them is much cheaper than looking at each byte.
    [4096, 256, 16, 1].into_iter().fold(0, |same, step| {
        let blocks = one[same..].chunks_exact(step).zip(other[same..].chunks_exact(step));
        same + blocks.take_while(|(one, other)| one == other).count() * step
    })
}

/// The body that a line stands for, after this one.
pub(crate) fn body_after(before: &[u8], line: &RequestLine) -> Option<Vec<u8>> {
    Some([before.get(..line.prefix)?, line.rest.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    fn played(bodies: &[&str], secrets: Option<&Secrets>) -> Vec<(usize, String)> {
        let (mut last, mut before) = (LastRequest::default(), Vec::new());
        let each = bodies.iter().map(|body| {
            let line = last.next(&Bytes::copy_from_slice(body.as_bytes()), secrets);
            before = body_after(&before, &line).unwrap();
            (line.prefix, String::from_utf8(before.clone()).unwrap())
        });
        each.collect()
    }

    #[test]
    fn what_is_new_is_enough_to_get_every_body_back() {
        let long = "x".repeat(1000);
        let bodies = [format!("[{long}]"), format!("[{long},ü,2]"), format!("[{long},ä,2]"), "[]".to_owned()];
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let got = played(&bodies, None);
        let want = [0, 1001, 1002, 1].into_iter().zip(bodies.iter().map(|body| (*body).to_owned()));
        assert_eq!(got, want.collect::<Vec<_>>());
    }

    #[test]
    fn secrets_are_hidden_wherever_the_new_part_begins() {
        let secrets = Secrets::new([("KEY", SecretString::from("hunter2-hunter2"))]);
        // The third request goes on in the middle of the secret.
        let got =
            played(&["[a", "[a,hunter2-", "[a,hunter2-hunter2]", "[a,hunter2-hunter2,b]"], Some(&secrets));
        let bodies: Vec<&str> = got.iter().map(|(_, body)| body.as_str()).collect();
        assert_eq!(bodies, ["[a", "[a,hunter2-", "[a,{{secret:1}}]", "[a,{{secret:1}},b]"]);
    }

    #[test]
    fn a_common_beginning_ends_at_the_first_difference() {
        let base = vec![7; 1000];
        for at in [0, 1, 255, 256, 257, 511, 999] {
            let mut other = base.clone();
            other[at] = 8;
            assert_eq!(common(&base, &other), at);
        }
        assert_eq!((common(&base, &base), common(&base, &[])), (1000, 0));
    }
}
