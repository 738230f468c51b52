//! Secrets that are recognised by their label: `password: …`, `API_KEY=…`, `--token …`, `-u name:…`.
//!
//! Source code is full of such labels, and the model cannot edit code that is redacted. The value must therefore
//! look like a secret, and the weaker the label, the stricter the test.

/// The strength of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// `password` and similar: any value that is not a plain word.
    Password,
    /// `token`, `secret`, `api_key`: only values that look generated.
    Key,
    /// A URL parameter: the value is data, never code.
    Parameter,
}

/// Longer values are judged by this many bytes and redacted whole.
const SAMPLE: usize = 64;

/// The value of a label that ends at `after`, as a range.
pub(crate) fn value(bytes: &[u8], start: usize, after: usize, label: Label) -> Option<(usize, usize)> {
    let is_loud = bytes[start..after].iter().all(|byte| !byte.is_ascii_lowercase());
    let is_flag = bytes[..start].ends_with(b"--");
    let (mut at, mut is_separated) = (after + quote(bytes, after), false);
    at += blanks(bytes, at);
    if label == Label::Parameter {
        is_separated = true;
        at = after;
    }
    if matches!(bytes.get(at), Some(b':' | b'=')) && !is_separated {
        is_separated = true;
        at += 1;
        at += usize::from(bytes.get(at) == Some(&b'>'));
        at += blanks(bytes, at);
    }
    let is_flag_value = is_flag && bytes.get(after) == Some(&b' ');
    if !is_separated && !is_flag_value {
        return None;
    }
    let opening = quote(bytes, at);
    let from = at + opening;
    let mark = (opening > 0).then(|| bytes[from - 1]);
    let is_part = |byte| is_value_byte(byte, mark);
    let sample = sample(&bytes[from..], is_part);
    let ends_as_code =
        mark.is_none() && matches!(bytes.get(from + sample.len()), Some(b'(' | b'[' | b'<' | b'{'));
    let judged = Judged { label, is_loud, is_quoted: mark.is_some(), is_bare_flag: is_flag };
    let is_repeated = sample.eq_ignore_ascii_case(&bytes[start..after]);
    let is_secret = !ends_as_code && !is_repeated && judged.is_secret(sample);
    is_secret.then(|| (from, from + run(&bytes[from..], is_part)))
}

/// The password of `name:password` after `-u`, if the program is one that sends it.
pub(crate) fn basic_auth(bytes: &[u8], start: usize, after: usize) -> Option<(usize, usize)> {
    let at = after + blanks(bytes, after) + usize::from(bytes.get(after) == Some(&b'='));
    let from = at + quote(bytes, at);
    let mark = (from > at).then(|| bytes[from - 1]);
    let is_part = |byte| is_value_byte(byte, mark) || byte == b'&';
    let word = sample(&bytes[from..], is_part);
    let colon = word.iter().position(|byte| *byte == b':')?;
    let is_worth_it = word.get(colon + 1).is_some_and(|first| !matches!(first, b'$' | b'['));
    (is_worth_it && is_sent(bytes, start)).then(|| (from + colon + 1, from + run(&bytes[from..], is_part)))
}

/// Returns true if the program before an argument makes requests.
fn is_sent(bytes: &[u8], start: usize) -> bool {
    const LOOK_BACK: usize = 400;
    const SENDERS: [&[u8]; 4] = [b"curl", b"wget", b"http", b"xh "];
    let line = &bytes[start.saturating_sub(LOOK_BACK)..start];
    let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    SENDERS.iter().any(|sender| line.windows(sender.len()).any(|part| part == *sender))
}

/// The first bytes of a value. The limit keeps many labels in one long word linear.
fn sample(bytes: &[u8], is_part: impl Fn(u8) -> bool) -> &[u8] {
    let beginning = &bytes[..bytes.len().min(SAMPLE)];
    &beginning[..run(beginning, is_part)]
}

struct Judged {
    label: Label,
    /// In capitals, like environment variables.
    is_loud: bool,
    is_quoted: bool,
    is_bare_flag: bool,
}

impl Judged {
    fn is_secret(&self, value: &[u8]) -> bool {
        let Some(first) = value.first() else { return false };
        if b"$<%*[{(&@!#/".contains(first) && self.label != Label::Password || b"$<[{(".contains(first) {
            return false;
        }
        let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let others = value.len() - digits - letters;
        // Paths of code: `os.environ`, `self::token`, `a->b`.
        let is_code = !self.is_quoted && (contains(value, b"::") || contains(value, b"->"));
        if is_code
            || letters == 0 && others == 0 && value.len() < 12
            || value.iter().all(|byte| byte == first)
        {
            return false;
        }
        let is_mixed = has_inner_capital(value) && digits > 0;
        let is_generated = value.len() >= 12 && digits >= 2 || value.len() >= 10 && is_mixed;
        match self.label {
            Label::Parameter => value.len() >= 8,
            Label::Password if self.is_loud || self.is_bare_flag => {
                value.len() >= 6 && !is_placeholder(value)
            }
            Label::Password => {
                let has_sign = value.iter().any(|byte| b"!@#$%^&*+~?-_".contains(byte));
                let is_odd = digits > 0 || self.is_quoted && has_sign && letters > 0 && !is_name(value);
                value.len() >= 6 && is_odd && !(is_name(value) && digits == 0)
            }
            Label::Key => is_generated || self.is_loud && value.len() >= 8 && digits >= 2,
        }
    }
}

/// Letters with dots, dashes or underscores between them: a name, not a secret.
fn is_name(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_alphabetic() || b"._-".contains(byte))
}

fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] = [
        b"string",
        b"required",
        b"optional",
        b"changeme",
        b"password",
        b"secret",
        b"example",
        b"undefined",
        b"options",
    ];
    let word = &value[..run(value, |byte| byte.is_ascii_alphabetic())];
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) && word.len() == value.len()
        || value.starts_with(b"your")
}

fn has_inner_capital(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase) && value.iter().skip(1).any(u8::is_ascii_uppercase)
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}

fn is_value_byte(byte: u8, mark: Option<u8>) -> bool {
    match mark {
        Some(mark) => byte != mark && byte != b'\n' && byte != b'\\' && byte != b' ',
        None => byte > b' ' && !b"\"'`,;()[]{}<>&\\|".contains(&byte),
    }
}

/// The length of a quotation mark, also if it is escaped in JSON.
fn quote(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some([b'"' | b'\'', ..]) => 1,
        Some([b'\\', b'"', ..]) => 2,
        _ => 0,
    }
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    run(bytes.get(at..).unwrap_or_default(), |byte| byte == b' ' || byte == b'\t').min(8)
}

fn run(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !wanted(*byte)).unwrap_or(bytes.len())
}
