//! The numbered choices of a model's question, and the meaning of an entered line.

use crate::term::printable;

/// The meaning of an entered line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    Answer(String),
    /// None of the choices; the user's own answer follows.
    Other,
}

/// Interprets a line. The number of a choice is that choice, the number after the last one announces another
/// answer, and any other text is the answer itself.
pub(crate) fn meant(line: &str, choices: &[String]) -> Meant {
    let line = line.trim();
    match number(line).filter(|_| !choices.is_empty()) {
        Some(number) if number == choices.len() + 1 => Meant::Other,
        Some(number) => {
            let choice = number.checked_sub(1).and_then(|place| choices.get(place));
            Meant::Answer(choice.map_or(line, |choice| choice).to_owned())
        }
        None => Meant::Answer(line.to_owned()),
    }
}

/// `2`, `2.` or `2)`.
fn number(line: &str) -> Option<usize> {
    let digits = line.strip_suffix(['.', ')']).unwrap_or(line);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// One text for each choice, and one for any other answer; none without choices.
pub(crate) fn numbered(choices: &[String]) -> Vec<String> {
    if choices.is_empty() {
        return Vec::new();
    }
    let other = "other: type your own answer".to_owned();
    let texts = choices.iter().map(|choice| printable(choice).into_owned()).chain([other]);
    texts.enumerate().map(|(place, text)| format!("{}. {text}", place + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(choices: &[&str]) -> Vec<String> {
        choices.iter().map(|choice| (*choice).to_owned()).collect()
    }

    #[test]
    fn numbers_are_choices_and_other_text_is_the_answer() {
        let answer = |text: &str| Meant::Answer(text.to_owned());
        let two = &["red", "blue"][..];
        for (line, choices, want) in [
            ("1", two, answer("red")),
            (" 2 ", two, answer("blue")),
            ("2.", two, answer("blue")),
            ("2)", two, answer("blue")),
            ("3", two, Meant::Other),
            ("4", two, answer("4")),
            ("0", two, answer("0")),
            ("+1", two, answer("+1")),
            ("1 and 2", two, answer("1 and 2")),
            ("Blue", two, answer("Blue")),
            (".", two, answer(".")),
            ("99999999999999999999999", two, answer("99999999999999999999999")),
            ("1", &[], answer("1")),
            ("any\nthing", &[], answer("any\nthing")),
        ] {
            assert_eq!(meant(line, &listed(choices)), want, "{line:?} of {choices:?}");
        }
    }

    #[test]
    fn choices_are_numbered() {
        assert_eq!(numbered(&[]), Vec::<String>::new());
        let choices = listed(&["red", "\x1b[31mblue"]);
        let shown = numbered(&choices);
        assert_eq!(shown.len(), 3);
        assert_eq!((shown[0].as_str(), shown[2].as_str()), ("1. red", "3. other: type your own answer"));
        assert!(!shown[1].contains('\x1b'), "{shown:?}");
    }
}
