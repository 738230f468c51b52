//! Calls written as Python: `[read_file(path="a.txt"), terminal(command='ls')]`.
//!
//! Only keyword arguments with literal values are read; anything else is code and not a call.

use super::{WrittenCall, tool_name};
use serde_json::{Map, Number, Value};

/// The maximum depth of lists in a literal.
const DEEPEST: usize = 32;

/// A bracketed list of calls at the start of a text, and its length.
pub(super) fn bracketed(text: &str) -> Option<(Vec<WrittenCall>, usize)> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.expect('[')?;
    let mut calls = Vec::new();
    loop {
        calls.push(cursor.call()?);
        match cursor.next_mark()? {
            ',' if cursor.peek() == Some(']') => cursor.expect(']')?,
            ',' => continue,
            ']' => {}
            _ => return None,
        }
        return Some((calls, cursor.at));
    }
}

/// One call at the start of a text, and its length.
pub(super) fn single(text: &str) -> Option<(WrittenCall, usize)> {
    let mut cursor = Cursor { text, at: 0 };
    let call = cursor.call()?;
    Some((call, cursor.at))
}

/// Calls one after another, each perhaps printed, and nothing else.
pub(super) fn lines(text: &str) -> Option<Vec<WrittenCall>> {
    let mut cursor = Cursor { text: text.trim(), at: 0 };
    let mut calls = Vec::new();
    while cursor.peek().is_some() {
        if cursor.peek() == Some('[') {
            let (found, length) = bracketed(&cursor.text[cursor.at..])?;
            calls.extend(found);
            cursor.at += length;
            continue;
        }
        let is_printed = cursor.text[cursor.at..].starts_with("print(");
        if is_printed {
            cursor.at += "print(".len();
        }
        calls.push(cursor.call()?);
        if is_printed {
            cursor.expect(')')?;
        }
    }
    (!calls.is_empty()).then_some(calls)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn next_mark(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += found.len_utf8();
        Some(found)
    }

    fn expect(&mut self, wanted: char) -> Option<()> {
        (self.next_mark()? == wanted).then_some(())
    }

    fn word(&mut self) -> Option<&'a str> {
        self.peek()?;
        let rest = &self.text[self.at..];
        let is_part = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
        let word = &rest[..rest.find(|character| !is_part(character)).unwrap_or(rest.len())];
        self.at += word.len();
        (!word.is_empty()).then_some(word)
    }

    fn call(&mut self) -> Option<WrittenCall> {
        let word = self.word()?;
        // Llama's form of a built-in tool.
        let name = tool_name(word.strip_suffix(".call").unwrap_or(word))?.to_owned();
        self.expect('(')?;
        let mut arguments = Map::new();
        while self.peek()? != ')' {
            let key = self.word()?.to_owned();
            self.expect('=')?;
            let value = self.literal(0)?;
            if arguments.insert(key, value).is_some() {
                return None;
            }
            match self.peek()? {
                ',' => self.expect(',')?,
                ')' => {}
                _ => return None,
            }
        }
        self.expect(')')?;
        Some(WrittenCall { name, arguments: Value::Object(arguments).to_string() })
    }

    fn literal(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek()? {
            quote @ ('"' | '\'') => self.string(quote).map(Value::String),
            '[' => self.list(depth),
            '{' => self.dict(depth),
            _ => match self.word()? {
                "True" | "true" => Some(Value::Bool(true)),
                "False" | "false" => Some(Value::Bool(false)),
                "None" | "null" => Some(Value::Null),
                number => serde_json::from_str::<Number>(number).ok().map(Value::Number),
            },
        }
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.expect('[')?;
        let mut items = Vec::new();
        while self.peek()? != ']' {
            items.push(self.literal(depth + 1)?);
            if self.peek()? == ',' {
                self.expect(',')?;
            } else if self.peek()? != ']' {
                return None;
            }
        }
        self.expect(']')?;
        Some(Value::Array(items))
    }

    fn dict(&mut self, depth: usize) -> Option<Value> {
        self.expect('{')?;
        let mut map = Map::new();
        while self.peek()? != '}' {
            let quote = self.peek().filter(|quote| "\"'".contains(*quote))?;
            let key = self.string(quote)?;
            self.expect(':')?;
            if map.insert(key, self.literal(depth + 1)?).is_some() {
                return None;
            }
            if self.peek()? == ',' {
                self.expect(',')?;
            } else if self.peek()? != '}' {
                return None;
            }
        }
        self.expect('}')?;
        Some(Value::Object(map))
    }

    /// A string with the escapes that Python and JSON share; a triple-quoted one runs over lines.
    fn string(&mut self, quote: char) -> Option<String> {
        let rest = &self.text[self.at..];
        let triple = quote.to_string().repeat(3);
        let end = if rest.starts_with(&triple) { triple } else { quote.to_string() };
        let mut said = String::new();
        let mut characters = rest[end.len()..].char_indices();
        while let Some((at, character)) = characters.next() {
            if rest[end.len() + at..].starts_with(&end) {
                self.at += end.len() + at + end.len();
                return Some(said);
            }
            match character {
                '\n' if end.len() == 1 => return None,
                '\\' => match characters.next()?.1 {
                    'n' => said.push('\n'),
                    't' => said.push('\t'),
                    'r' => said.push('\r'),
                    '\n' => {}
                    same @ ('\\' | '"' | '\'' | '/') => said.push(same),
                    // Other escapes are not guessed.
                    _ => return None,
                },
                other => said.push(other),
            }
        }
        None
    }
}
