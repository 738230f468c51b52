//! An excerpt of a message, cut so that the match is visible.

use crate::term::printable;
use unicode_width::UnicodeWidthChar;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) is_marked: bool,
}

/// Turns `>>>` and `<<<` into marks and fits the rest into `width` columns.
pub(super) fn of(snippet: &str, width: usize) -> Vec<Piece> {
    let line = snippet.split_whitespace().collect::<Vec<_>>().join(" ");
    let marked = marked(&printable(&line));
    let before: usize =
        marked.iter().take_while(|(_, is_marked)| !is_marked).filter_map(|(c, _)| c.width()).sum();
    let has_mark = marked.iter().any(|(_, is_marked)| *is_marked);
    // A match far to the right is moved to the left third.
    let skipped = if has_mark && before > width / 2 { before - width / 3 } else { 0 };
    pieces(&marked, skipped, width)
}

fn marked(line: &str) -> Vec<(char, bool)> {
    let mut found = Vec::new();
    for (place, part) in line.split(">>>").enumerate() {
        match part.split_once("<<<") {
            Some((inside, outside)) if place > 0 => {
                found.extend(inside.chars().map(|c| (c, true)));
                found.extend(outside.replace("<<<", "").chars().map(|c| (c, false)));
            }
            _ => found.extend(part.chars().map(|c| (c, false))),
        }
    }
    found
}

fn pieces(line: &[(char, bool)], skipped: usize, width: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut push = |text: char, is_marked: bool| match pieces.last_mut() {
        Some(piece) if piece.is_marked == is_marked => piece.text.push(text),
        _ => pieces.push(Piece { text: text.to_string(), is_marked }),
    };
    let (mut column, mut used) = (0, 0);
    if skipped > 0 && width > 0 {
        push('…', false);
        used = 1;
    }
    let whole: usize = line.iter().filter_map(|(c, _)| c.width()).sum();
    let is_cut = used + whole.saturating_sub(skipped) > width;
    for (character, is_marked) in line {
        let columns = character.width().unwrap_or(0);
        column += columns;
        if column <= skipped {
            continue;
        }
        if used + columns + usize::from(is_cut) > width {
            if width > 0 {
                push('…', false);
            }
            break;
        }
        push(*character, *is_marked);
        used += columns;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces as text, with the marks as brackets.
    fn shown(snippet: &str, width: usize) -> String {
        let piece = |piece: Piece| if piece.is_marked { format!("[{}]", piece.text) } else { piece.text };
        of(snippet, width).into_iter().map(piece).collect()
    }

    #[test]
    fn match_is_marked_and_visible() {
        let far = format!("{} >>>walrus<<< and more", "word ".repeat(20));
        for (snippet, width, want) in [
            ("a >>>fox<<< ran", 40, "a [fox] ran"),
            ("a >>>fox<<< and a >>>hen<<<", 40, "a [fox] and a [hen]"),
            ("no mark\n at all", 40, "no mark at all"),
            (">>>中文<<<搜索", 8, "[中文]搜索"),
            (">>>中文<<<搜索", 7, "[中文]搜…"),
            (">>>中文<<<搜索", 5, "[中文]…"),
            (">>> print(1)", 40, " print(1)"),
            ("<<<a>>>b", 40, "<<<ab"),
            ("a\x1b[2J >>>b<<<", 40, "a\\u{1b}[2J [b]"),
            (&far, 30, "…word word [walrus] and more"),
            ("anything", 0, ""),
        ] {
            assert_eq!(shown(snippet, width), want, "{snippet:?} in {width}");
        }
    }
}
