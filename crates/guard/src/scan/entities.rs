//! HTML entities: a character written as its number or its name.

/// The maximum length of an entity: `&#x10ffff;` and some leading zeros.
const LONGEST: usize = 12;

/// Named entities that can occur inside or between words.
const NAMED: [(&str, char); 14] = [
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("shy", '\u{ad}'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
    ("lt", '<'),
    ("gt", '>'),
    ("amp", '&'),
    ("quot", '"'),
    ("apos", '\''),
    ("Tab", '\t'),
    ("NewLine", '\n'),
];

/// The character of an entity at the start of `rest`, and the length of the entity.
pub(super) fn entity(first: char, rest: &str) -> Option<(char, usize)> {
    if first != '&' {
        return None;
    }
    let end = rest.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = rest.get(1..end)?;
    let char = match name.strip_prefix('#') {
        Some(number) => numbered(number)?,
        None => NAMED.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((char, end + 1))
}

fn numbered(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_decoded_and_other_ampersands_ignored() {
        for (given, want) in [
            ("&#105;x", Some(('i', 6))),
            ("&#x0069;", Some(('i', 8))),
            ("&nbsp;", Some((' ', 6))),
            ("& more", None),
            ("&unknown;", None),
            ("&#xd800;", None),
            ("&#1234567890123;", None),
            ("&", None),
            ("&éé;", None),
        ] {
            assert_eq!(entity('&', given), want, "{given}");
        }
    }
}
