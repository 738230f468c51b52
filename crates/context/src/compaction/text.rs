//! Cutting text.

/// The first so many characters, and a mark if there were more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", &text[..end])
        }
    }
}

/// Beginning and end of a long text, and how much was between.
pub(crate) fn ends(text: &str, most: usize, head: usize, tail: usize) -> String {
    // A byte is at most a character, so most texts need no counting.
    if text.len() <= most {
        return text.to_owned();
    }
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let at = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    let left_out = count - head - tail;
    format!("{}\n[… {left_out} characters …]\n{}", &text[..at(head)], &text[at(count - tail)..])
}

/// On one line, with single spaces, and cut.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    // Four bytes are at least a character, and white space at most doubles what is needed.
    let start = text.char_indices().nth(most * 4).map_or(text, |(at, _)| &text[..at]);
    let joined = start.split_whitespace().collect::<Vec<_>>().join(" ");
    if start.len() < text.len() && joined.chars().count() <= most {
        return format!("{joined}…");
    }
    cut(&joined, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters() {
        for (text, most, want) in
            [("", 3, ""), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("中文字典", 3, "中文…")]
        {
            assert_eq!(cut(text, most), want);
        }
        for (text, want) in
            [("abcdef", "abcdef"), ("abcdefg", "ab\n[… 4 characters …]\ng"), ("中中中中中中", "中中中中中中")]
        {
            assert_eq!(ends(text, 6, 2, 1), want);
        }
        for (text, want) in
            [("a\n  b\t c", "a b c"), ("a b c d e f", "a b …"), ("     a                         b", "a…")]
        {
            assert_eq!(one_line(text, 5), want, "{text:?}");
        }
    }
}
