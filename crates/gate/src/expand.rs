//! Expansion of arguments: quotes, braces, home directories, variables and literal substitutions.

pub(crate) mod braces;
mod parameters;
pub(crate) mod pattern;

use crate::field::{Field, OUTPUT, PROCESS, UNKNOWN, is_mark};
use crate::limits::{MAX_ALTERNATIVES, MAX_FIELDS, MAX_VALUE, Unreadable};
use crate::output::Output;
use crate::syntax::{Part, Word};
use crate::walk::Walker;

/// The possible results of one word. Each is the list of fields that the word becomes.
pub(crate) type Alternatives = Vec<Vec<Field>>;

impl Walker<'_> {
    /// All fields that a word may become.
    pub(crate) fn fields(&mut self, word: &Word) -> Result<Vec<Field>, Unreadable> {
        let mut alternatives = self.alternatives(word)?;
        if alternatives.len() == 1 {
            return Ok(alternatives.pop().unwrap_or_default());
        }
        Ok(alternatives.into_iter().flatten().collect())
    }

    pub(crate) fn alternatives(&mut self, word: &Word) -> Result<Alternatives, Unreadable> {
        if !word.parts.contains(&Part::BraceOpen) {
            return self.expand_parts(&word.parts);
        }
        let Some(words) = braces::expand(&word.parts) else {
            return Ok(vec![vec![Field::unknown()]]);
        };
        let mut all = vec![Vec::new()];
        for parts in words {
            let alternatives = self.expand_parts(&parts)?;
            all = join(all, &alternatives);
        }
        Ok(all)
    }

    /// A word as one text: the value of an assignment, a here-document.
    pub(crate) fn texts(&mut self, word: &Word) -> Result<Vec<Field>, Unreadable> {
        let quoted: Vec<Part> = word.parts.iter().map(quoted_part).collect();
        let alternatives = self.expand_parts(&quoted)?;
        let join = |fields: Vec<Field>| {
            let is_pattern = fields.iter().any(|field| field.is_pattern);
            let texts: Vec<String> = fields.into_iter().map(|field| field.text).collect();
            Field { text: texts.join(" "), is_pattern }
        };
        Ok(alternatives.into_iter().map(join).collect())
    }

    pub(crate) fn expand_parts(&mut self, parts: &[Part]) -> Result<Alternatives, Unreadable> {
        let mut drafts = vec![Draft::default()];
        for part in parts {
            self.expand_part(part, &mut drafts)?;
            if drafts.len() > MAX_ALTERNATIVES {
                drafts = vec![Draft::unknown()];
            }
        }
        let mut bytes = 0;
        let finished: Alternatives = drafts.into_iter().map(Draft::finish).collect();
        for field in finished.iter().flatten() {
            bytes += field.text.len() + 1;
        }
        self.spent.expanded(bytes)?;
        Ok(finished)
    }

    fn expand_part(&mut self, part: &Part, drafts: &mut Vec<Draft>) -> Result<(), Unreadable> {
        match part {
            Part::Literal(text) => {
                if text.chars().any(is_invisible) {
                    self.found_invisible();
                }
                let is_pattern = text.contains(['*', '?', '[']);
                drafts.iter_mut().for_each(|draft| draft.push(text, is_pattern));
            }
            Part::Quoted(text) => drafts.iter_mut().for_each(|draft| draft.push(text, false)),
            Part::BraceOpen => drafts.iter_mut().for_each(|draft| draft.push("{", false)),
            Part::BraceComma => drafts.iter_mut().for_each(|draft| draft.push(",", false)),
            Part::BraceClose => drafts.iter_mut().for_each(|draft| draft.push("}", false)),
            Part::Tilde(user) => {
                let home = self.home_of(user);
                drafts.iter_mut().for_each(|draft| draft.push(&home, false));
            }
            Part::Parameter { name, operation, is_quoted } => {
                let values = self.parameter(name, operation, *is_quoted)?;
                multiply(drafts, &values, *is_quoted);
            }
            Part::Command { script, is_quoted } => {
                let output = self.substitution(script, None)?;
                let value = vec![vec![Field::literal(output_text(&output))]];
                multiply(drafts, &value, *is_quoted);
            }
            Part::Process { script, is_output } => {
                let stdin = is_output.then_some(Output::Unknown);
                let output = self.substitution(script, stdin)?;
                self.processes.push(output);
                let text = format!("{PROCESS}{}", self.processes.len() - 1);
                drafts.iter_mut().for_each(|draft| draft.push(&text, false));
            }
            Part::Arithmetic(parts) => {
                self.expand_parts(parts)?;
                drafts.iter_mut().for_each(|draft| draft.push(UNKNOWN.encode_utf8(&mut [0; 4]), false));
            }
            Part::Array(words) => {
                for word in words {
                    self.fields(word)?;
                }
                drafts.iter_mut().for_each(|draft| draft.push(UNKNOWN.encode_utf8(&mut [0; 4]), false));
            }
        }
        Ok(())
    }

    /// The directory of `~` or `~user`.
    fn home_of(&self, user: &str) -> String {
        let own = self.scene.user_home.as_ref().map(|home| home.display().to_string());
        match user {
            "" => own.unwrap_or_else(|| UNKNOWN.into()),
            "+" => self.cwd_text(),
            "-" => UNKNOWN.into(),
            "root" => "/root".into(),
            _ if own.as_deref().is_some_and(|home| home.rsplit('/').next() == Some(user)) => {
                own.unwrap_or_default()
            }
            _ => format!("/home/{user}"),
        }
    }
}

/// Text that a command substitution becomes: without the line ends at the end.
fn output_text(output: &Output) -> String {
    match output {
        Output::Text(text) => text.trim_end_matches('\n').to_owned(),
        Output::Nothing => String::new(),
        Output::Harmless => UNKNOWN.into(),
        Output::Decoded(_, Some(text)) => text.trim_end_matches('\n').to_owned(),
        Output::Paths(_) | Output::Unknown | Output::Decoded(_, None) | Output::Remote => OUTPUT.into(),
    }
}

/// Returns true for characters that a terminal does not show or that reorder text.
pub(crate) fn is_invisible(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\t' | '\n');
    (is_control && !is_mark(character))
        || matches!(character,
            '\u{ad}' | '\u{a0}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Unquoted expansions are not split where one text is wanted.
fn quoted_part(part: &Part) -> Part {
    match part {
        Part::Parameter { name, operation, .. } => {
            Part::Parameter { name: name.clone(), operation: operation.clone(), is_quoted: true }
        }
        Part::Command { script, .. } => Part::Command { script: script.clone(), is_quoted: true },
        other => other.clone(),
    }
}

/// Every combination of the fields so far and the next ones, up to the limit.
fn join(all: Alternatives, next: &Alternatives) -> Alternatives {
    let mut joined = Vec::new();
    for fields in &all {
        for more in next.iter().take(MAX_ALTERNATIVES) {
            if joined.len() < MAX_ALTERNATIVES && fields.len() + more.len() <= MAX_FIELDS {
                joined.push(fields.iter().chain(more).cloned().collect());
            } else {
                return vec![vec![Field::unknown()]];
            }
        }
    }
    joined
}

fn multiply(drafts: &mut Vec<Draft>, values: &Alternatives, is_quoted: bool) {
    if let [value] = values.as_slice() {
        drafts.iter_mut().for_each(|draft| draft.push_value(value, is_quoted));
        return;
    }
    let mut result = Vec::new();
    for draft in drafts.iter() {
        for value in values.iter().take(MAX_ALTERNATIVES + 1) {
            let mut next = draft.clone();
            next.push_value(value, is_quoted);
            result.push(next);
        }
    }
    *drafts = result;
}

/// Fields that are being built from the parts of a word.
#[derive(Debug, Clone, Default)]
struct Draft {
    done: Vec<Field>,
    current: Option<Field>,
}

impl Draft {
    fn unknown() -> Self {
        Self { done: Vec::new(), current: Some(Field::unknown()) }
    }

    fn push(&mut self, text: &str, is_pattern: bool) {
        let current = self.current.get_or_insert_with(Field::default);
        if current.text.len() + text.len() <= MAX_VALUE.max(text.len()) {
            current.text.push_str(text);
        } else {
            current.text = UNKNOWN.into();
        }
        current.is_pattern |= is_pattern;
    }

    fn push_value(&mut self, value: &[Field], is_quoted: bool) {
        for (index, field) in value.iter().enumerate() {
            if index > 0 {
                self.done.extend(self.current.take());
            }
            if is_quoted {
                self.push(&field.text, field.is_pattern);
            } else {
                self.push_split(field);
            }
        }
    }

    fn push_split(&mut self, field: &Field) {
        let is_blank = |character: char| matches!(character, ' ' | '\t' | '\n');
        if field.text.starts_with(is_blank) {
            self.done.extend(self.current.take());
        }
        let is_pattern = field.is_pattern || field.text.contains(['*', '?', '[']);
        for (index, piece) in field.text.split(is_blank).filter(|piece| !piece.is_empty()).enumerate() {
            if index > 0 {
                self.done.extend(self.current.take());
            }
            if self.done.len() > MAX_FIELDS {
                *self = Self::unknown();
                return;
            }
            self.push(piece, is_pattern);
        }
        if field.text.ends_with(is_blank) {
            self.done.extend(self.current.take());
        }
    }

    fn finish(mut self) -> Vec<Field> {
        self.done.extend(self.current);
        self.done
    }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
