//! Characters of simple fonts: base encodings and names of glyphs.

use icu_normalizer::ComposingNormalizer;

/// The characters of Windows code page 1252 from 0x80 to 0x9f.
const WINDOWS: [char; 32] = [
    '€', '•', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '•', 'Ž', '•', '•', '‘', '’', '“', '”',
    '•', '–', '—', '˜', '™', 'š', '›', 'œ', '•', 'ž', 'Ÿ',
];

/// The characters of the Macintosh encoding from 0x80.
const MACINTOSH: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// The characters of the standard encoding that differ from Latin 1, by code.
const STANDARD: &str = "\u{27}’\u{60}‘\u{a4}⁄\u{a6}ƒ\u{a8}¤\u{a9}'\u{aa}“\u{ac}‹\u{ad}›\u{ae}ﬁ\u{af}ﬂ\u{b1}–\u{b2}†\u{b3}‡\u{b4}·\u{b7}•\u{b8}‚\u{b9}„\u{ba}”\u{bc}…\u{bd}‰\u{d0}—\u{e1}Æ\u{e8}Ł\u{e9}Ø\u{ea}Œ\u{f1}æ\u{f5}ı\u{f8}ł\u{f9}ø\u{fa}œ\u{fb}ß";

/// The encoding that a font starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Windows,
    Macintosh,
    Standard,
}

impl Base {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"WinAnsiEncoding" => Some(Self::Windows),
            b"MacRomanEncoding" => Some(Self::Macintosh),
            b"StandardEncoding" => Some(Self::Standard),
            _ => None,
        }
    }

    pub(super) fn character(self, code: u8) -> char {
        match (self, code) {
            (Self::Windows, 0x80..=0x9f) => WINDOWS[usize::from(code - 0x80)],
            (Self::Macintosh, 0x80..) => MACINTOSH.chars().nth(usize::from(code - 0x80)).unwrap_or(' '),
            (Self::Standard, _) => {
                let mut pairs = STANDARD.chars().step_by(2).zip(STANDARD.chars().skip(1).step_by(2));
                let found = pairs.find(|(listed, _)| u32::from(*listed) == u32::from(code));
                found.map_or(char::from(code), |(_, character)| character)
            }
            _ => char::from(code),
        }
    }
}

/// Names of glyphs and their characters.
const NAMES: &str = "exclam ! quotedbl \" numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( \
parenright ) asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 \
six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \\ \
bracketright ] asciicircum ^ underscore _ grave ` braceleft { bar | braceright } asciitilde ~ exclamdown ¡ cent ¢ \
sterling £ currency ¤ yen ¥ brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª guillemotleft « logicalnot ¬ \
registered ® macron ¯ degree ° plusminus ± acute ´ mu µ paragraph ¶ periodcentered · cedilla ¸ ordmasculine º \
guillemotright » onequarter ¼ onehalf ½ threequarters ¾ questiondown ¿ multiply × divide ÷ germandbls ß AE Æ ae æ \
Oslash Ø oslash ø OE Œ oe œ Eth Ð eth ð Thorn Þ thorn þ dotlessi ı Lslash Ł lslash ł Dcroat Đ dcroat đ florin ƒ \
circumflex ˆ tilde ˜ caron ˇ breve ˘ ring ˚ ogonek ˛ dotaccent ˙ hungarumlaut ˝ endash – emdash — quoteleft ‘ \
quoteright ’ quotesinglbase ‚ quotedblleft “ quotedblright ” quotedblbase „ dagger † daggerdbl ‡ bullet • ellipsis … \
perthousand ‰ guilsinglleft ‹ guilsinglright › fraction ⁄ Euro € trademark ™ fi ﬁ fl ﬂ ff ﬀ ffi ﬃ ffl ﬄ alpha α \
beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ \
sigma1 ς tau τ upsilon υ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ \
Phi Φ Psi Ψ Omega Ω infinity ∞ partialdiff ∂ summation ∑ product ∏ integral ∫ radical √ approxequal ≈ notequal ≠ \
lessequal ≤ greaterequal ≥ lozenge ◊ arrowleft ← arrowup ↑ arrowright → arrowdown ↓ arrowboth ↔ element ∈ \
checkmark ✓";

/// Accents in names of glyphs, as combining characters.
const ACCENTS: [(&str, char); 14] = [
    ("acute", '\u{301}'),
    ("grave", '\u{300}'),
    ("circumflex", '\u{302}'),
    ("dieresis", '\u{308}'),
    ("tilde", '\u{303}'),
    ("ring", '\u{30a}'),
    ("cedilla", '\u{327}'),
    ("commaaccent", '\u{327}'),
    ("caron", '\u{30c}'),
    ("ogonek", '\u{328}'),
    ("macron", '\u{304}'),
    ("breve", '\u{306}'),
    ("dotaccent", '\u{307}'),
    ("hungarumlaut", '\u{30b}'),
];

/// The text of a glyph by its name.
pub(super) fn glyph(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    if name.len() == 1 {
        return Some(name.to_owned());
    }
    if name == "space" || name == "nbspace" {
        return Some(" ".to_owned());
    }
    let mut known = NAMES.split_ascii_whitespace();
    while let Some(listed) = known.next() {
        let character = known.next()?;
        if listed == name {
            return Some(character.to_owned());
        }
    }
    code_name(name).or_else(|| accented(name))
}

/// `uni0041`, `u1F600`.
fn code_name(name: &str) -> Option<String> {
    if let Some(digits) =
        name.strip_prefix("uni").filter(|digits| digits.len() >= 4 && digits.len().is_multiple_of(4))
    {
        let units = digits
            .as_bytes()
            .chunks(4)
            .map(|four| u16::from_str_radix(std::str::from_utf8(four).ok()?, 16).ok());
        return String::from_utf16(&units.collect::<Option<Vec<u16>>>()?).ok();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(String::from)
}

fn accented(name: &str) -> Option<String> {
    let (base, accent) = ACCENTS.iter().find_map(|(suffix, accent)| {
        name.strip_suffix(suffix).filter(|base| base.len() == 1).map(|base| (base, *accent))
    })?;
    Some(ComposingNormalizer::new_nfc().normalize(&format!("{base}{accent}")).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_have_names() {
        for (name, want) in [
            ("A", Some("A")),
            ("one", Some("1")),
            ("space", Some(" ")),
            ("exclam", Some("!")),
            ("eacute", Some("é")),
            ("Scaron", Some("Š")),
            ("a.alt", Some("a")),
            ("uni0416", Some("Ж")),
            ("u1F600", Some("😀")),
            ("fi", Some("ﬁ")),
            ("checkmark", Some("✓")),
            ("g123", None),
            (".notdef", None),
            ("uniÄÄ", None),
        ] {
            assert_eq!(glyph(name.as_bytes()).as_deref(), want, "{name}");
        }
    }

    #[test]
    fn codes_have_characters() {
        assert_eq!(MACINTOSH.chars().count(), 128);
        for (base, code, want) in [
            (Base::Windows, 0x80, '€'),
            (Base::Windows, 0xe4, 'ä'),
            (Base::Macintosh, 0x8a, 'ä'),
            (Base::Macintosh, 0xff, 'ˇ'),
            (Base::Standard, 0xae, 'ﬁ'),
            (Base::Standard, 0x27, '’'),
            (Base::Standard, b'x', 'x'),
        ] {
            assert_eq!(base.character(code), want, "{base:?} {code:x}");
        }
    }
}
