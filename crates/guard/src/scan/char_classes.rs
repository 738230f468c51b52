//! Character classes of the scan: hidden characters, scripts with joiners, right-to-left scripts, scripts without
//! spaces between words, emoji.

/// Characters without width, which are skipped when words are read.
pub(super) fn is_ignorable(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

pub(super) fn is_selector(char: char) -> bool {
    matches!(char, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Letters and marks of scripts in which a joiner or non-joiner changes the shape of a word.
pub(super) fn uses_joiners(char: char) -> bool {
    matches!(char,
        // Hebrew, Arabic, Syriac, N'Ko, Mandaic and their extensions
        '\u{590}'..='\u{7ff}' | '\u{840}'..='\u{8ff}'
        // Devanagari to Sinhala, Tibetan, Myanmar
        | '\u{900}'..='\u{df5}' | '\u{f00}'..='\u{109f}'
        // Khmer, Mongolian, Limbu to Balinese and Sundanese
        | '\u{1780}'..='\u{18af}' | '\u{1900}'..='\u{1bff}' | '\u{1cd0}'..='\u{1cff}'
        | '\u{a8e0}'..='\u{a8ff}' | '\u{a980}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10c00}'..='\u{10c4f}' | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}')
}

/// Scripts of South East Asia that mark possible line breaks with U+200B.
pub(super) fn marks_line_breaks(char: char) -> bool {
    matches!(char,
        '\u{e00}'..='\u{eff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19ff}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{aa60}'..='\u{aadf}')
}

pub(super) fn is_right_to_left(char: char) -> bool {
    matches!(char,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
        && char.is_alphabetic()
}

/// Scripts without spaces between words, in which every character counts as a word.
pub(super) fn has_no_blanks(char: char) -> bool {
    matches!(char,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Emoji that can be joined into one.
pub(super) fn is_picture(char: char) -> bool {
    matches!(char,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}
