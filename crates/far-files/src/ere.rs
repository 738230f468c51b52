//! Translation of regular expressions for `grep -E`, for places without `rg`.
//!
//! A line matches or not, so greed and groups do not matter. What `grep -E` cannot express is an error that names it.

/// A pattern for `grep -E`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extended {
    pub(crate) pattern: String,
    pub(crate) ignores_case: bool,
}

/// Translates a pattern that is valid for ripgrep. The error is the syntax that has no counterpart.
pub(crate) fn extended(pattern: &str) -> Result<Extended, String> {
    let (pattern, ignores_case) = match pattern.strip_prefix("(?i)") {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '\\' => escape(&rest[1..], &mut out, Inside::Pattern)?,
            '[' => class(&rest[1..], &mut out)?,
            '(' => group(&rest[1..], &mut out)?,
            '*' | '+' | '?' | '}' => repetition(rest, first, &mut out),
            other => {
                out.push(other);
                &rest[other.len_utf8()..]
            }
        };
    }
    Ok(Extended { pattern: out, ignores_case })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Pattern,
    Class,
}

/// Translates an escape after its backslash. Returns the rest.
fn escape<'a>(rest: &'a str, out: &mut String, inside: Inside) -> Result<&'a str, String> {
    let Some(sign) = rest.chars().next() else { return Ok(rest) };
    let text = match (sign, inside) {
        ('d', Inside::Pattern) => "[0-9]".to_owned(),
        ('D', Inside::Pattern) => "[^0-9]".to_owned(),
        ('s', Inside::Pattern) => "[[:space:]]".to_owned(),
        ('S', Inside::Pattern) => "[^[:space:]]".to_owned(),
        ('w', Inside::Pattern) => "[[:alnum:]_]".to_owned(),
        ('W', Inside::Pattern) => "[^[:alnum:]_]".to_owned(),
        ('d', Inside::Class) => "0-9".to_owned(),
        ('s', Inside::Class) => "[:space:]".to_owned(),
        ('w', Inside::Class) => "[:alnum:]_".to_owned(),
        ('b' | 'B', Inside::Pattern) => format!("\\{sign}"),
        ('A', Inside::Pattern) => "^".to_owned(),
        ('z', Inside::Pattern) => "$".to_owned(),
        ('t', _) => "\t".to_owned(),
        (sign, Inside::Pattern) if ".[]()*+?{}|^$\\".contains(sign) => format!("\\{sign}"),
        (sign, _) if sign.is_ascii_punctuation() => sign.to_string(),
        (sign, _) => return Err(format!("\\{sign}")),
    };
    out.push_str(&text);
    Ok(&rest[sign.len_utf8()..])
}

/// A bracketed class after its first bracket. Returns the rest.
fn class<'a>(mut rest: &'a str, out: &mut String) -> Result<&'a str, String> {
    let mut members = String::new();
    let (mut has_bracket, mut has_caret, mut has_dash) = (false, false, false);
    let is_negated = rest.starts_with('^');
    rest = rest.strip_prefix('^').unwrap_or(rest);
    let mut is_first = true;
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        rest = match sign {
            ']' if !is_first => {
                let first = if has_bracket { "]" } else { "" };
                let last = [(has_caret, "^"), (has_dash, "-")].map(|(has, text)| if has { text } else { "" });
                let not = if is_negated { "^" } else { "" };
                // A caret alone would negate the class.
                match (members.is_empty() && !has_bracket && !is_negated && has_caret, has_dash) {
                    (true, false) => out.push_str("\\^"),
                    (true, true) => out.push_str("[-^]"),
                    (false, _) => out.push_str(&format!("[{not}{first}{members}{}]", last.concat())),
                }
                return Ok(after);
            }
            ']' => {
                has_bracket = true;
                after
            }
            '[' if after.starts_with(':') => {
                let end = after.find(":]").ok_or("[: ")? + 2;
                members.push_str(&rest[..=end]);
                &after[end..]
            }
            '[' => return Err("a class inside of a class".to_owned()),
            '&' | '~' if after.starts_with(sign) => return Err(format!("{sign}{sign} in a class")),
            '\\' if after.starts_with([']', '^', '-']) => {
                match after.as_bytes()[0] {
                    b']' => has_bracket = true,
                    b'^' => has_caret = true,
                    _ => has_dash = true,
                }
                &after[1..]
            }
            '\\' => escape(after, &mut members, Inside::Class)?,
            '^' => {
                has_caret = true;
                after
            }
            '-' if is_first || after.starts_with(']') => {
                has_dash = true;
                after
            }
            other => {
                members.push(other);
                after
            }
        };
        is_first = false;
    }
    Err("[".to_owned())
}

/// A group after its bracket. Returns the rest.
fn group<'a>(rest: &'a str, out: &mut String) -> Result<&'a str, String> {
    out.push('(');
    let Some(kind) = rest.strip_prefix('?') else { return Ok(rest) };
    if let Some(rest) = kind.strip_prefix(':') {
        return Ok(rest);
    }
    let named = kind.strip_prefix("P<").or_else(|| kind.strip_prefix('<'));
    match named.and_then(|named| named.split_once('>')) {
        Some((_, rest)) => Ok(rest),
        None => Err(format!("(?{}", kind.chars().take(1).collect::<String>())),
    }
}

/// A sign of repetition, without the sign that makes it lazy.
fn repetition<'a>(rest: &'a str, sign: char, out: &mut String) -> &'a str {
    out.push(sign);
    let rest = &rest[1..];
    rest.strip_prefix('?').unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_translated_or_named() {
        for (pattern, want) in [
            ("alpha", Ok("alpha")),
            (r"fn\s+\w+\(", Ok(r"fn[[:space:]]+[[:alnum:]_]+\(")),
            (r"[\w.-]+@\d{2,3}", Ok("[[:alnum:]_.-]+@[0-9]{2,3}")),
            (r"[^\]\\/]", Ok(r"[^]\/]")),
            (r"[^]a]", Ok("[^]a]")),
            (r"[\^]", Ok(r"\^")),
            (r"[a^-]", Ok("[a^-]")),
            (r"[[:digit:]x]", Ok("[[:digit:]x]")),
            (r"(?:a|b)*?c", Ok("(a|b)*c")),
            (r"(?P<n>a)(?<m>b)", Ok("(a)(b)")),
            (r"a\/b\-c\.d\tx", Ok("a/b-c\\.d\tx")),
            (r"\bword\b", Ok(r"\bword\b")),
            (r"\p{L}", Err(r"\p")),
            (r"\x41", Err(r"\x")),
            (r"(?x) a", Err("(?x")),
            (r"[a&&b]", Err("&& in a class")),
            (r"[\D]", Err(r"\D")),
            (r"a\n", Err(r"\n")),
            ("中+", Ok("中+")),
        ] {
            let found = extended(pattern).map(|found| found.pattern);
            assert_eq!(found, want.map(str::to_owned).map_err(str::to_owned), "{pattern}");
        }
        assert!(extended("(?i)a").unwrap().ignores_case);
    }
}
