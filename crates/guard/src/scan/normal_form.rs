//! The normal form of a text: every character in its plainest form, with its position in the original.
//!
//! Compatibility forms are decomposed, accents dropped, letters lower-cased and look-alikes mapped to Latin. The
//! phrases of the rules go through the same [`plain`], so a rule in Russian still matches Russian, and a Latin
//! word in Cyrillic letters matches the Latin rule.

use std::ops::Range;

use icu_normalizer::{DecomposingNormalizer, DecomposingNormalizerBorrowed};

use super::char_classes::is_ignorable;
use super::entities::entity;
use super::lookalikes::latin;

const APART: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfkd();

/// The treatment of hidden characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    /// Removed: the letters around them form one word.
    Dropped,
    /// Replaced by a space.
    Blank,
}

/// One character of the normal form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) char: char,
    /// Its length in bytes of the original.
    len: u8,
    at: usize,
}

#[derive(Debug)]
pub(super) struct NormalForm(Vec<Seen>);

impl NormalForm {
    pub(super) fn of(text: &str, hidden: Hidden) -> Self {
        let mut seen = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(char) = text[at..].chars().next() {
            let (char, len) = entity(char, &text[at..]).unwrap_or((char, char.len_utf8()));
            let size = u8::try_from(len).unwrap_or(u8::MAX);
            if is_ignorable(char) {
                if hidden == Hidden::Blank {
                    seen.push(Seen { char: ' ', len: size, at });
                }
            } else {
                plain(char, |char| seen.push(Seen { char, len: size, at }));
            }
            at += len;
        }
        Self(seen)
    }

    pub(super) fn chars(&self) -> &[Seen] {
        &self.0
    }

    pub(super) fn get(&self, index: usize) -> Option<char> {
        self.0.get(index).map(|seen| seen.char)
    }

    /// The offset of a character in the original text.
    pub(super) fn place(&self, index: usize) -> usize {
        self.0.get(index).map_or_else(|| self.end(), |seen| seen.at)
    }

    fn end(&self) -> usize {
        self.0.last().map_or(0, |seen| seen.at + usize::from(seen.len))
    }

    /// The byte range in the original of a range in the normal form.
    pub(super) fn bytes(&self, range: Range<usize>) -> Range<usize> {
        let start = self.place(range.start);
        let last = range.end.checked_sub(1).and_then(|last| self.0.get(last));
        start..last.map_or(start, |seen| seen.at + usize::from(seen.len)).max(start)
    }
}

/// Calls `give` with the plainest form of a character: none, one or several.
pub(super) fn plain(char: char, mut give: impl FnMut(char)) {
    match char {
        'A'..='Z' => give(char.to_ascii_lowercase()),
        // Chinese characters of the main block have no other form, and there are many of them.
        '\0'..='\x7f' | '\u{4e00}'..='\u{9fff}' => give(char),
        _ => APART.normalize_iter(std::iter::once(char)).for_each(|part| smallest(part, &mut give)),
    }
}

fn smallest(char: char, give: &mut impl FnMut(char)) {
    match char {
        // Accents, enclosing marks, and the marks of Japanese sounds.
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{3099}'
        | '\u{309a}' => {}
        'ß' | 'ẞ' => ['s', 's'].into_iter().for_each(give),
        _ => match latin(char) {
            Some(latin) => give(latin),
            None => char.to_lowercase().for_each(|small| give(latin(small).unwrap_or(small))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, hidden: Hidden) -> String {
        NormalForm::of(text, hidden).chars().iter().map(|seen| seen.char).collect()
    }

    #[test]
    fn disguised_letters_become_plain() {
        for (given, want) in [
            ("Plain Text", "plain text"),
            ("ｉｇｎｏｒｅ", "ignore"),
            ("𝐢𝑔𝓃𝔬𝕣𝖾", "ignore"),
            ("ⓘⓖⓝⓞⓡⓔ", "ignore"),
            ("іgnоrе", "ignore"),
            ("ιgnοrε", "ignore"),
            ("ɪɢɴᴏʀᴇ", "ignore"),
            ("i\u{301}g\u{336}nöré", "ignore"),
            ("ig\u{200b}no\u{ad}re", "ignore"),
            ("&#105;g&#x6E;ore&nbsp;all", "ignore all"),
            ("Straße", "strasse"),
        ] {
            assert_eq!(read(given, Hidden::Dropped), want, "{given}");
        }
        assert_eq!(read("ignore\u{200b}all", Hidden::Blank), "ignore all");
    }

    #[test]
    fn ranges_map_to_the_original() {
        let text = "é\u{200b}&#105;ﬁ";
        let view = NormalForm::of(text, Hidden::Dropped);
        assert_eq!(view.chars().len(), 4, "e, i, f, i");
        assert_eq!(&text[view.bytes(0..1)], "é");
        assert_eq!(&text[view.bytes(1..2)], "&#105;");
        assert_eq!(&text[view.bytes(2..3)], "ﬁ");
        assert_eq!(view.bytes(0..4), 0..text.len());
        assert_eq!(view.bytes(9..9).len(), 0);
    }
}
