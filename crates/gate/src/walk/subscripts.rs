//! Commands in array subscripts. A shell evaluates them wherever a text is the name of a variable or a number, also if it
//! is quoted: `test -v 'a[$(rm -r x)]'` runs `rm`.

use super::Walker;
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;

/// Builtins that take names of variables or numbers.
const EVALUATE: [&str; 15] = [
    "[",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

pub(super) fn evaluates(name: &str) -> bool {
    EVALUATE.contains(&name)
}

impl Walker<'_> {
    /// Judges the commands in the subscripts of texts that a shell evaluates, now or when a variable with this value is
    /// taken for a number.
    pub(super) fn subscripts(&mut self, fields: &[Field]) -> Result<(), Unreadable> {
        for field in fields {
            let commands = commands(&field.text);
            if commands.is_empty() {
                continue;
            }
            let reason = format!("hides a command in an array subscript: {}", field.shown());
            self.ask(EffectKind::Execute, None, keys::LOADS_CODE, reason);
            for command in commands {
                self.payload(&command, Output::Nothing)?;
            }
        }
        Ok(())
    }
}

/// The commands in `name[$(command)]` and `name[`command`]`, at most 16.
fn commands(text: &str) -> Vec<String> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | ']');
    let mut subscripts = text.match_indices('[').filter(|(at, _)| text[..*at].ends_with(is_name));
    let Some((start, _)) = subscripts.next() else { return Vec::new() };
    let rest = &text[start..];
    let expansions = rest.match_indices("$(").filter_map(|(at, _)| parenthesised(rest.get(at + 2..)?));
    let backticks = rest.split('`').skip(1).step_by(2);
    expansions.chain(backticks).take(16).map(str::to_owned).collect()
}

/// The text up to the parenthesis that closes it, or all of it.
fn parenthesised(text: &str) -> Option<&str> {
    let mut depth = 1;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..at);
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_of_subscripts_are_found() {
        for (text, want) in [
            ("a[$(rm -r x)]", vec!["rm -r x"]),
            ("a[`rm x`]", vec!["rm x"]),
            ("a[$(echo $(date))]", vec!["echo $(date)", "date"]),
            ("x[1][$(date", vec!["date"]),
            ("a[1]", vec![]),
            ("[$(date)]", vec![]),
            ("see [`x`](y) for $(z)", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(commands(text), want, "{text}");
        }
    }
}
