//! Calls between the tags and tokens of chat templates.

use super::{Reader, json, python, strip_tag};
use serde_json::{Map, Value};

/// Marks around calls: the opening one and those that end it.
const WRAPPERS: [(&str, &[&str]); 22] = [
    // Hermes, Qwen and most others.
    ("<tool_call>", &["</tool_call>"]),
    ("<tool_calls>", &["</tool_calls>"]),
    ("<toolcall>", &["</toolcall>"]),
    ("<tools>", &["</tools>"]),
    ("<tool_use>", &["</tool_use>"]),
    ("<function_call>", &["</function_call>"]),
    ("<function_calls>", &["</function_calls>"]),
    ("<minimax:tool_call>", &["</minimax:tool_call>"]),
    // Phi and Granite; the latter has no closing mark.
    ("<|tool_call|>", &["<|/tool_call|>"]),
    ("<|tool_call>", &["<tool_call|>"]),
    ("<|tool_calls|>", &["<|/tool_calls|>"]),
    ("<|tool_call_start|>", &["<|tool_call_end|>"]),
    // Command R.
    ("<|START_ACTION|>", &["<|END_ACTION|>"]),
    // InternLM.
    ("<|action_start|><|plugin|>", &["<|action_end|>"]),
    ("<|action_start|> <|plugin|>", &["<|action_end|>"]),
    // Llama.
    ("<|python_tag|>", &["<|eom_id|>", "<|eot_id|>"]),
    ("<|python_start|>", &["<|python_end|>"]),
    // DeepSeek and Kimi.
    ("<｜tool▁calls▁begin｜>", &["<｜tool▁calls▁end｜>"]),
    ("<|tool_calls_section_begin|>", &["<|tool_calls_section_end|>"]),
    // LM Studio.
    ("[TOOL_REQUEST]", &["[END_TOOL_REQUEST]"]),
    // Firefunction and Mistral.
    ("functools", &[]),
    ("Action:", &[]),
];

/// Marks that begin a call with its own syntax.
const SPECIAL: [&str; 9] = [
    "[TOOL_CALLS]",
    "<function=",
    "<function name=",
    "<invoke name=",
    "<｜tool▁call▁begin｜>",
    "<|tool_call_begin|>",
    "<|channel|>",
    "<|start|>assistant",
    ">>>",
];

/// Everything with which a call outside of code blocks and brackets can begin.
pub(super) fn openers() -> impl Iterator<Item = &'static str> {
    WRAPPERS.into_iter().map(|(opener, _)| opener).chain(SPECIAL)
}

impl<'a> Reader<'a> {
    /// Reads one wrapper with its calls, or one call with its own syntax.
    pub(super) fn markup(&mut self, depth: usize) -> Option<()> {
        let wrapper = WRAPPERS
            .into_iter()
            .find_map(|(opener, closers)| strip_tag(self.rest, opener).map(|rest| (rest, closers)));
        if let Some((rest, closers)) = wrapper {
            self.rest = rest;
            return self.wrapped(closers, depth);
        }
        let special = SPECIAL.into_iter().find(|mark| strip_tag(self.rest, mark).is_some())?;
        self.rest = self.rest.get(special.len()..)?;
        match special {
            "[TOOL_CALLS]" => self.mistral(depth),
            "<function=" | "<function name=" => self.function("</function>"),
            "<invoke name=" => self.function("</invoke>"),
            "<｜tool▁call▁begin｜>" => self.deepseek(),
            "<|tool_call_begin|>" => self.kimi(),
            ">>>" => self.functionary(),
            _ => self.harmony(),
        }
    }

    /// Reads the text between two marks: calls in any notation, a name with tagged arguments, or Python.
    fn wrapped(&mut self, closers: &[&str], depth: usize) -> Option<()> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(|first: char| first.is_ascii_alphabetic()) {
            if let Some((call, length)) = python::single(self.rest) {
                self.calls.push(call);
                self.rest = &self.rest[length..];
            } else {
                self.glm()?;
            }
            self.rest = self.rest.trim_start();
            let closed = closers.iter().find_map(|closer| strip_tag(self.rest, closer));
            self.rest = closed.or(self.rest.is_empty().then_some(""))?;
            return Some(());
        }
        self.items(closers, depth + 1)
    }

    /// `[TOOL_CALLS]` with a list, or with a name, perhaps an id, and an object.
    fn mistral(&mut self, depth: usize) -> Option<()> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['{', '[']) {
            return self.item(depth + 1);
        }
        let at = self.rest.find(['{', '['])?;
        let (name, mut rest) = self.rest.split_at(at);
        if let Some(after) = rest.strip_prefix("[CALL_ID]") {
            rest = &after[after.find("[ARGS]")?..];
        }
        self.rest = rest.strip_prefix("[ARGS]").unwrap_or(rest);
        self.named_object(name)
    }

    /// A name, and tagged arguments or an object: `<function=NAME><parameter=KEY>VALUE</parameter></function>`.
    fn function(&mut self, closer: &str) -> Option<()> {
        let (name, rest) = self.rest.split_once('>')?;
        self.rest = rest.trim_start();
        if self.rest.starts_with('{') {
            self.named_object(name)?;
        } else {
            let arguments = self.parameters()?;
            self.push(name, arguments)?;
        }
        self.rest = self.rest.trim_start();
        self.rest = strip_tag(self.rest, closer).or(self.rest.is_empty().then_some(""))?;
        Some(())
    }

    fn parameters(&mut self) -> Option<String> {
        let mut arguments = Map::new();
        loop {
            self.rest = self.rest.trim_start();
            let opened = ["<parameter=", "<parameter name="].iter().find_map(|tag| strip_tag(self.rest, tag));
            let Some(rest) = opened else { break };
            let (key, rest) = rest.split_once('>')?;
            let key = key.trim().trim_matches(['"', '\'']).to_owned();
            let (value, rest) = rest.split_once("</parameter>")?;
            if key.is_empty() || arguments.insert(key, Value::from(inner_text(value))).is_some() {
                return None;
            }
            self.rest = rest;
        }
        Some(Value::Object(arguments).to_string())
    }

    /// GLM: a name, then `<arg_key>` and `<arg_value>` in turn.
    fn glm(&mut self) -> Option<()> {
        let end = self.rest.find('<').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let mut arguments = Map::new();
        while let Some(rest) = strip_tag(self.rest.trim_start(), "<arg_key>") {
            let (key, rest) = rest.split_once("</arg_key>")?;
            let rest = strip_tag(rest.trim_start(), "<arg_value>")?;
            let (value, rest) = rest.split_once("</arg_value>")?;
            if arguments.insert(key.trim().to_owned(), Value::from(inner_text(value))).is_some() {
                return None;
            }
            self.rest = rest;
        }
        self.push(name, Value::Object(arguments).to_string())
    }

    /// `TYPE<sep>NAME`, a code block and the end, or `NAME<sep>`, an object and the end.
    fn deepseek(&mut self) -> Option<()> {
        const SEPARATOR: &str = "<｜tool▁sep｜>";
        let (first, rest) = self.rest.split_once(SEPARATOR)?;
        let (name, rest) = match rest.split_once('\n') {
            Some((name, block)) if first.trim() == "function" => (name, block),
            _ => (first, rest),
        };
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("```json").unwrap_or(rest);
        self.rest = rest.trim_start();
        self.named_object(name)?;
        let rest = self.rest.trim_start();
        self.rest = rest.strip_prefix("```").unwrap_or(rest).trim_start();
        self.ends_with("<｜tool▁call▁end｜>")
    }

    /// `functions.NAME:INDEX`, a mark, an object and the end.
    fn kimi(&mut self) -> Option<()> {
        let (id, rest) = self.rest.split_once("<|tool_call_argument_begin|>")?;
        self.rest = rest.trim_start();
        let name = id.rsplit_once(':').map_or(id, |(name, _)| name);
        self.named_object(name)?;
        self.ends_with("<|tool_call_end|>")
    }

    /// A name on its own line, then an object.
    fn functionary(&mut self) -> Option<()> {
        let (name, rest) = self.rest.split_once('\n')?;
        if name.starts_with(char::is_whitespace) {
            return None;
        }
        self.rest = rest.trim_start();
        self.named_object(name)
    }

    /// `commentary to=functions.NAME`, perhaps a format, `<|message|>`, an object and `<|call|>`.
    fn harmony(&mut self) -> Option<()> {
        let (header, rest) = self.rest.split_once("<|message|>")?;
        let (_, to) = header.split_once("to=").filter(|_| header.len() < 200)?;
        let name = to.split([' ', '<']).next()?;
        self.rest = rest.trim_start();
        self.named_object(name)?;
        self.rest = strip_tag(self.rest.trim_start(), "<|call|>").unwrap_or(self.rest);
        Some(())
    }

    fn named_object(&mut self, name: &str) -> Option<()> {
        let (found, length) = json::value_at(self.rest).filter(|(json, _)| json.starts_with('{'))?;
        let arguments = json::object(&found)?;
        self.rest = &self.rest[length..];
        self.push(name, arguments)
    }

    fn ends_with(&mut self, closer: &str) -> Option<()> {
        let rest = self.rest.trim_start();
        self.rest = strip_tag(rest, closer).or(rest.is_empty().then_some(""))?;
        Some(())
    }
}

/// A value between tags, without the line breaks that separate it from them.
fn inner_text(value: &str) -> &str {
    let value = value.strip_prefix("\r\n").or(value.strip_prefix('\n')).unwrap_or(value);
    value.strip_suffix("\r\n").or(value.strip_suffix('\n')).unwrap_or(value)
}
