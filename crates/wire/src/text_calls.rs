//! Tool calls that a model wrote into its text because its server did not parse them.
//!
//! Every chat template has its own notation. [`written_calls`] reads the common ones, and only where the
//! text is nothing but calls: prose around a call means that the reply talks about it. Names and arguments
//! are returned as written; comparing them with the offered tools is left to the caller.

mod json;
mod markup;
mod prefix;
mod python;

pub use prefix::may_become_calls;

/// A tool call found in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenCall {
    pub name: String,
    /// The text of a JSON object.
    pub arguments: String,
}

/// The maximum number of calls in one reply; a longer list is data.
const MOST: usize = 128;

/// The maximum depth of wrappers. Known notations need three.
const DEEPEST: usize = 6;

/// Tokens that end a turn in chat templates, and a closing tag whose opening one was part of the prompt.
const LAST_TOKENS: [&str; 9] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|end|>",
    "<|eot|>",
    "<|call|>",
    "</s>",
    "</tool_call>",
];

/// Returns the calls of a text that consists of nothing else; `None` for every other text.
pub fn written_calls(text: &str) -> Option<Vec<WrittenCall>> {
    let mut text = text.trim_start_matches('\u{feff}').trim();
    while let Some(rest) = LAST_TOKENS.iter().find_map(|token| strip_last_token(text, token)) {
        text = rest.trim_end();
    }
    let mut reader = Reader { rest: text, calls: Vec::new() };
    reader.items(&[], 0)?;
    (!reader.calls.is_empty()).then_some(reader.calls)
}

/// `</tool_call>` is dropped only where nothing opened it.
fn strip_last_token<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    let is_closed_wrapper = token == "</tool_call>" && text.starts_with('<');
    text.strip_suffix(token).filter(|_| !is_closed_wrapper)
}

/// The part of the text that has not been read, and the calls found before it.
struct Reader<'a> {
    rest: &'a str,
    calls: Vec<WrittenCall>,
}

impl<'a> Reader<'a> {
    /// Reads calls until one of `closers`, or to the end of the text: models often stop before they close
    /// the last wrapper.
    fn items(&mut self, closers: &[&str], depth: usize) -> Option<()> {
        let before = self.calls.len();
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', ';', ',']);
            let closed = closers.iter().find_map(|closer| strip_tag(self.rest, closer));
            if let Some(rest) = closed {
                self.rest = rest;
                return (self.calls.len() > before).then_some(());
            }
            if self.rest.is_empty() {
                return (self.calls.len() > before).then_some(());
            }
            self.item(depth)?;
            if self.calls.len() > MOST {
                return None;
            }
        }
    }

    /// Reads one call, or one wrapper with the calls in it.
    fn item(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        if let Some((fence, body)) = fenced(self.rest) {
            return self.fence(&fence, body, depth);
        }
        if self.rest.starts_with(['{', '[']) && !self.rest.starts_with("[TOOL_") {
            return self.bare();
        }
        self.markup(depth)
    }

    /// JSON, or the bracketed list of Python calls that some models are trained on.
    fn bare(&mut self) -> Option<()> {
        if let Some((json, length)) = json::value_at(self.rest) {
            self.calls.extend(json::calls_in(&json)?);
            self.rest = &self.rest[length..];
            return Some(());
        }
        let (calls, length) = python::bracketed(self.rest)?;
        self.calls.extend(calls);
        self.rest = &self.rest[length..];
        Some(())
    }

    fn fence(&mut self, fence: &Fence<'a>, after: &'a str, depth: usize) -> Option<()> {
        match fence.language {
            Language::Python => self.calls.extend(python::lines(fence.body)?),
            Language::Data => {
                let mut inner = Reader { rest: fence.body, calls: Vec::new() };
                inner.items(&[], depth + 1)?;
                self.calls.extend(inner.calls);
            }
        }
        self.rest = after;
        Some(())
    }

    fn push(&mut self, name: &str, arguments: String) -> Option<()> {
        let name = tool_name(name)?;
        self.calls.push(WrittenCall { name: name.to_owned(), arguments });
        Some(())
    }
}

/// A code block.
struct Fence<'a> {
    language: Language,
    body: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    /// JSON or markup.
    Data,
    /// The language of Gemma's calls.
    Python,
}

const FENCES: [&str; 2] = ["```", "~~~"];

/// The info strings of code blocks that may hold calls. A block in any other language is an answer.
const LANGUAGES: [(&str, Language); 9] = [
    ("", Language::Data),
    ("json", Language::Data),
    ("tool_call", Language::Data),
    ("tool_calls", Language::Data),
    ("tool", Language::Data),
    ("tool_use", Language::Data),
    ("function_call", Language::Data),
    ("xml", Language::Data),
    ("tool_code", Language::Python),
];

/// The code block that a text begins with, and what follows it. A block that is not closed is not read.
fn fenced(text: &str) -> Option<(Fence<'_>, &str)> {
    let mark = FENCES.into_iter().find(|mark| text.starts_with(mark))?;
    let (info, rest) = text[mark.len()..].split_once('\n')?;
    let info = info.trim();
    let (_, language) = LANGUAGES.into_iter().find(|(name, _)| info.eq_ignore_ascii_case(name))?;
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim() == mark {
            return Some((Fence { language, body: &rest[..length] }, &rest[length + line.len()..]));
        }
        // Some models close the block, or a wrapper around it, on the last line of the call.
        if let Some(at) = line.find(mark)
            && (line[at + mark.len()..].trim().is_empty() || line[at + mark.len()..].starts_with('<'))
        {
            let end = length + at;
            return Some((Fence { language, body: &rest[..end] }, &rest[end + mark.len()..]));
        }
        length += line.len();
    }
    None
}

/// The rest of a text that begins with a tag, in any case.
fn strip_tag<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let start = text.get(..tag.len())?;
    start.eq_ignore_ascii_case(tag).then(|| &text[tag.len()..])
}

/// A name that a tool can have, without the namespace that some models put before it.
fn tool_name(text: &str) -> Option<&str> {
    let name = text.trim().trim_matches(['"', '\'']);
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    (!name.is_empty() && name.len() <= 128 && name.chars().all(is_plain)).then_some(name)
}

#[cfg(test)]
#[path = "text_calls_tests.rs"]
mod tests;
