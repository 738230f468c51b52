//! Breaks text into lines that fit, at spaces where possible.

use crate::term::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The lines of a text, each at most `width` columns wide. A longer word is broken.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let text = printable(text).replace('\t', "    ");
    text.trim_end().lines().flat_map(|line| broken(line, width)).collect()
}

fn broken(line: &str, width: usize) -> Vec<String> {
    let (mut lines, mut current) = (Vec::new(), String::new());
    for word in line.split_inclusive(' ') {
        if current.width() + word.trim_end().width() > width && !current.is_empty() {
            lines.push(finished(&mut current));
        }
        for character in word.chars() {
            if current.width() + character.width().unwrap_or(0) > width {
                lines.push(finished(&mut current));
                // The line break replaces the space that did not fit.
                if character == ' ' {
                    continue;
                }
            }
            current.push(character);
        }
    }
    lines.push(finished(&mut current));
    lines
}

fn finished(line: &mut String) -> String {
    std::mem::take(line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit() {
        for (text, width, want) in [
            ("one two three", 7, vec!["one two", "three"]),
            ("one  two", 20, vec!["one  two"]),
            ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
            ("a abcdefghij", 4, vec!["a", "abcd", "efgh", "ij"]),
            ("中文搜索引擎", 5, vec!["中文", "搜索", "引擎"]),
            ("a\n\nb\tc", 10, vec!["a", "", "b    c"]),
            ("  let x = 1;\n", 20, vec!["  let x = 1;"]),
            ("x\x1b[31m", 20, vec!["x\\u{1b}[31m"]),
            ("", 10, vec![]),
            ("中", 0, vec!["中"]),
        ] {
            assert_eq!(wrapped(text, width), want, "{text:?} in {width}");
        }
    }
}
