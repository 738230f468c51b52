//! Character classes for searches.

/// Returns true for scripts without spaces: Thai, Lao, Burmese, Khmer, Chinese, Japanese, and Korean, whose
/// particles are attached.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns true for characters that the word index keeps together.
pub(crate) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

/// Returns true for punctuation. Symbols such as emoji are not included: users search for them.
pub(crate) fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c,
            '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}'
            | '\u{3014}'..='\u{301f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3d}'
            | '\u{ff5b}'..='\u{ff65}')
}

/// Folds a text for comparison: ignores letter case and emoji variants.
pub(crate) fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !matches!(c, '\u{fe0e}' | '\u{fe0f}')).flat_map(char::to_lowercase)
}
