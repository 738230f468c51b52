//! Values of parameters and the operations on them.

use super::{Alternatives, pattern};
use crate::field::{Field, UNKNOWN};
use crate::limits::{MAX_ALTERNATIVES, MAX_FIELDS, MAX_VALUE, Unreadable};
use crate::syntax::{Operation, Part, Word};
use crate::walk::{Value, Walker};

impl Walker<'_> {
    pub(super) fn parameter(
        &mut self,
        name: &str,
        operation: &Operation,
        is_quoted: bool,
    ) -> Result<Alternatives, Unreadable> {
        let value = self.value(name);
        let all = |value: Value| {
            if value.is_array { vec![value.fields] } else { one_each(value.fields) }
        };
        Ok(match operation {
            Operation::Plain if matches!(name, "@" | "*") => all(value),
            Operation::Plain => one_each(value.scalar()),
            Operation::All => all(value),
            Operation::Index(index) => one_each(value.element(index)),
            Operation::Default(parts) => {
                let fallback = self.expand_parts(parts)?;
                let is_set = self.variables.contains_key(name) || self.scene.variables.contains_key(name);
                let known: Vec<Field> =
                    value.scalar().into_iter().filter(|field| !field.text.is_empty()).collect();
                let is_certain = is_set && !known.is_empty() && known.iter().all(Field::is_known);
                let mut values = one_each(known);
                if !is_certain {
                    values.extend(fallback);
                }
                values
            }
            Operation::Alternative(parts) => {
                let mut values = self.expand_parts(parts)?;
                values.push(Vec::new());
                values
            }
            Operation::Required(message) => {
                self.expand_parts(message)?;
                one_each(value.scalar())
            }
            Operation::Trim { operator, pattern } => {
                let pattern = self.one_text(pattern)?;
                one_each(value.scalar().into_iter().map(|field| trim(field, operator, &pattern)).collect())
            }
            Operation::Replace { is_all, pattern, replacement } => {
                let pattern = self.one_text(pattern)?;
                let replacement = self.one_text(replacement)?;
                let replace = |field| replace(field, *is_all, &pattern, &replacement);
                one_each(value.scalar().into_iter().map(replace).collect())
            }
            Operation::Slice { offset, length } => {
                let slice = |field| slice(field, *offset, *length);
                one_each(value.scalar().into_iter().map(slice).collect())
            }
            Operation::Case(operator) => {
                let change = |field: Field| Field { text: change_case(&field.text, operator), ..field };
                one_each(value.scalar().into_iter().map(change).collect())
            }
            Operation::Other(parts) => {
                self.expand_parts(parts)?;
                vec![vec![Field::unknown()]]
            }
        }
        .into_iter()
        .map(|fields| self.after_split_change(fields, is_quoted))
        .collect())
    }

    /// With a changed `IFS`, its characters separate fields too. Blanks still do, so a field more may be judged.
    fn after_split_change(&self, fields: Vec<Field>, is_quoted: bool) -> Vec<Field> {
        let Some(separators) = self.variables.get("IFS").filter(|_| !is_quoted) else { return fields };
        let separators: String = separators.fields.iter().map(|field| field.text.as_str()).collect();
        let split = |field: Field| {
            if !crate::field::is_known(&separators) {
                return Field::unknown();
            }
            Field { text: field.text.replace(|character| separators.contains(character), " "), ..field }
        };
        fields.into_iter().map(split).collect()
    }

    fn one_text(&mut self, parts: &[Part]) -> Result<String, Unreadable> {
        let mut texts = self.texts(&Word { parts: parts.to_vec() })?;
        Ok(if texts.len() == 1 { texts.pop().unwrap_or_default().text } else { UNKNOWN.into() })
    }

    /// The value of a variable: set by the text, or known from the scene.
    pub(crate) fn value(&self, name: &str) -> Value {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        if let Some(value) = self.scene.variables.get(name) {
            return Value::scalar_of(from_environment(value.as_deref()));
        }
        let path = match name {
            "HOME" => self.scene.user_home.clone(),
            "PWD" => self.cwd.clone(),
            "HERMES_HOME" => Some(self.scene.hermes_home.clone()).filter(|home| !home.as_os_str().is_empty()),
            "TMPDIR" => self.scene.temporary.first().cloned(),
            _ => None,
        };
        if let Some(path) = path {
            return Value::scalar_of(Field::literal(path.display().to_string()));
        }
        match name {
            "@" | "*" => match &self.positional {
                Some(fields) => Value { fields: fields.clone(), is_array: true },
                None => Value::scalar_of(Field::unknown()),
            },
            // The parent of a command is Hermes; a signal to it is judged like one to the first process.
            "PPID" => Value::scalar_of(Field::literal("1")),
            "IFS" => Value::scalar_of(Field::literal(" \t\n")),
            "USER" | "LOGNAME" => {
                let home = self.scene.user_home.as_ref();
                let user = home.and_then(|home| home.file_name()).and_then(|name| name.to_str());
                Value::scalar_of(user.map_or_else(Field::unknown, Field::literal))
            }
            _ => match (name.parse::<usize>(), &self.positional) {
                (Ok(index), Some(fields)) if index > 0 => {
                    Value::scalar_of(fields.get(index - 1).cloned().unwrap_or_default())
                }
                _ => Value::scalar_of(Field::unknown()),
            },
        }
    }
}

impl Value {
    pub(crate) fn scalar_of(field: Field) -> Self {
        Self { fields: vec![field], is_array: false }
    }

    fn scalar(self) -> Vec<Field> {
        if self.is_array { self.fields.into_iter().take(1).collect() } else { self.fields }
    }

    fn element(self, index: &str) -> Vec<Field> {
        match (self.is_array, index.parse::<usize>()) {
            (true, Ok(index)) => self.fields.into_iter().skip(index).take(1).collect(),
            (false, Ok(0)) => self.fields,
            _ => vec![Field::unknown()],
        }
    }

    /// This value or another one.
    pub(crate) fn or(mut self, other: Self) -> Self {
        if self.is_array || other.is_array {
            if self != other {
                self.fields.push(Field::unknown());
                self.fields.extend(other.fields);
                self.fields.truncate(MAX_FIELDS);
            }
            return self;
        }
        for field in other.fields {
            if !self.fields.contains(&field) {
                self.fields.push(field);
            }
        }
        if self.fields.len() > MAX_ALTERNATIVES { Self::scalar_of(Field::unknown()) } else { self }
    }
}

/// The value of an exported variable.
fn from_environment(value: Option<&str>) -> Field {
    match value {
        Some(text) if text.len() > MAX_VALUE || !crate::field::is_known(text) => Field::unknown(),
        Some(text) => Field::literal(text),
        None => Field::default(),
    }
}

/// A list of possible values, each of one field.
fn one_each(fields: Vec<Field>) -> Alternatives {
    if fields.is_empty() { vec![Vec::new()] } else { fields.into_iter().map(|field| vec![field]).collect() }
}

fn trim(field: Field, operator: &str, pattern: &str) -> Field {
    if !field.is_known() || field.text.len() > MAX_VALUE || !crate::field::is_known(pattern) {
        return Field::unknown();
    }
    let text = &field.text;
    let is_front = operator.starts_with('#');
    let is_longest = operator.len() == 2;
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if cuts.len() > 512 {
        return Field::unknown();
    }
    // The shortest match first.
    if is_front == is_longest {
        cuts.reverse();
    }
    let found = cuts.into_iter().find_map(|at| {
        let (front, back) = text.split_at_checked(at)?;
        let (tested, kept) = if is_front { (front, back) } else { (back, front) };
        pattern::matches(pattern, tested).then(|| kept.to_owned())
    });
    Field { text: found.unwrap_or_else(|| text.clone()), is_pattern: field.is_pattern }
}

fn replace(field: Field, is_all: bool, pattern: &str, replacement: &str) -> Field {
    let is_plain =
        !pattern.contains(['*', '?', '[']) && !pattern.starts_with(['#', '%']) && !pattern.is_empty();
    if !field.is_known() || !is_plain || !crate::field::is_known(pattern) {
        return Field::unknown();
    }
    let text = if is_all {
        field.text.replace(pattern, replacement)
    } else {
        field.text.replacen(pattern, replacement, 1)
    };
    if text.len() > MAX_VALUE { Field::unknown() } else { Field { text, is_pattern: field.is_pattern } }
}

fn slice(field: Field, offset: i64, length: Option<i64>) -> Field {
    if !field.is_known() {
        return Field::unknown();
    }
    let count = field.text.chars().count() as i64;
    let start = if offset < 0 { (count + offset).max(0) } else { offset.min(count) };
    let end = match length {
        None => count,
        Some(length) if length < 0 => (count + length).max(start),
        Some(length) => start.saturating_add(length).min(count),
    };
    let text = field.text.chars().skip(start as usize).take((end - start).max(0) as usize).collect();
    Field { text, is_pattern: field.is_pattern }
}

fn change_case(text: &str, operator: &str) -> String {
    let is_all = operator.len() == 2;
    let change = |(index, character): (usize, char)| {
        if index > 0 && !is_all {
            character
        } else if operator.starts_with('^') {
            character.to_ascii_uppercase()
        } else {
            character.to_ascii_lowercase()
        }
    };
    text.chars().enumerate().map(change).collect()
}
