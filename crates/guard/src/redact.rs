//! Redacts secrets: first the known values, then text with the shape of a credential.
//!
//! Values are replaced first and in the whole text, so that a shape that ends inside a value cannot leave the
//! rest of it.

use std::borrow::Cow;

use crate::credential_shapes;
use crate::secrets::Secrets;

const MARK: &str = "[redacted]";

/// Replaces secrets in `text`; borrows when there is nothing to replace.
///
/// A known value becomes `[redacted:NAME]`, also where it is percent-encoded or base64; a
/// credential known only by its shape becomes `[redacted]`.
pub fn redact<'a>(secrets: &Secrets, text: &'a str) -> Cow<'a, str> {
    match by_value(secrets, text) {
        Cow::Borrowed(text) => by_shape(text),
        Cow::Owned(text) => match by_shape(&text) {
            Cow::Borrowed(_) => Cow::Owned(text),
            Cow::Owned(done) => Cow::Owned(done),
        },
    }
}

/// Replaces every known value by `{{secret:N}}`, where N is the number of the value: the result can be compared
/// without revealing the value.
pub fn placeholders<'a>(secrets: &Secrets, text: &'a str) -> Cow<'a, str> {
    replace(text, |from| {
        let (start, end, number) = secrets.find_number(text, from)?;
        Some((start, end, Cow::Owned(format!("{{{{secret:{number}}}}}"))))
    })
}

fn by_value<'a>(secrets: &Secrets, text: &'a str) -> Cow<'a, str> {
    replace(text, |from| {
        let (start, end, name) = secrets.find(text, from)?;
        Some((start, end, Cow::Owned(format!("[redacted:{name}]"))))
    })
}

pub(crate) fn by_shape(text: &str) -> Cow<'_, str> {
    replace(text, |from| {
        credential_shapes::find(text, from).map(|hit| (hit.start, hit.end, Cow::Borrowed(MARK)))
    })
}

type Replacement = (usize, usize, Cow<'static, str>);

fn replace<'a>(text: &'a str, next: impl Fn(usize) -> Option<Replacement>) -> Cow<'a, str> {
    let Some(mut hit) = next(0) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        let (start, end, mark) = hit;
        out.push_str(&text[done..start]);
        out.push_str(&mark);
        done = end;
        match next(done) {
            Some(found) => hit = found,
            None => break,
        }
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
