//! Suspicious direction marks: overrides, unclosed marks, and marks in lines without right-to-left letters. They
//! can make a line look like a different one.

use crate::scan::char_classes::is_right_to_left;

/// The byte offsets of suspicious marks, in order.
pub(super) fn out_of_place(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.is_ascii() {
            in_line(line, start, &mut places);
        }
        start += line.len();
    }
    places
}

#[derive(Clone, Copy, PartialEq)]
enum Opened {
    Isolate,
    Embedding,
    Override,
}

fn in_line(line: &str, start: usize, places: &mut Vec<usize>) {
    let first = places.len();
    let needs_marks = line.chars().any(is_right_to_left);
    let mut open: Vec<(Opened, usize)> = Vec::new();
    for (at, char) in line.char_indices() {
        let at = start + at;
        let opened = match char {
            '\u{2066}'..='\u{2068}' => Opened::Isolate,
            '\u{202a}' | '\u{202b}' => Opened::Embedding,
            '\u{202d}' | '\u{202e}' => Opened::Override,
            '\u{2069}' | '\u{202c}' => {
                let closes = |(kind, _): &(Opened, usize)| (char == '\u{2069}') == (*kind == Opened::Isolate);
                match open.pop_if(|last| closes(last)) {
                    Some((kind, opened)) if !needs_marks || kind == Opened::Override => {
                        places.extend([opened, at])
                    }
                    Some(_) => {}
                    None => places.push(at),
                }
                continue;
            }
            _ => continue,
        };
        open.push((opened, at));
    }
    places.extend(open.into_iter().map(|(_, at)| at));
    places[first..].sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_needed_around_right_to_left_text_only() {
        for (given, want) in [
            ("plain \u{2067}text\u{2069}", vec![6, 13]),
            ("\u{2066}HTTP\u{2069} של השרת", vec![]),
            ("\u{202b}שלום\u{202c} world", vec![]),
            ("\u{202e}שלום\u{202c}", vec![0, 11]),
            ("שלום \u{2067}open", vec![9]),
            ("שלום\u{2069}", vec![8]),
            ("שלום\n\u{2067}next\u{2069}", vec![9, 16]),
        ] {
            assert_eq!(out_of_place(given), want, "{given:?}");
        }
    }
}
