//! Redirections: files that are written or read, and standard input that is known.

use super::{Prepared, Walker};
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::paths::Target;
use crate::rules::files::Via;
use crate::syntax::{Redirect, RedirectKind};

/// The streams of a command after its redirections.
#[derive(Debug, Default)]
pub(super) struct Redirected {
    pub(super) stdin: Output,
    /// Standard output goes to a file.
    pub(super) is_captured: bool,
    pub(super) written: Vec<Field>,
}

impl Walker<'_> {
    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirect],
        stdin: Output,
    ) -> Result<Redirected, Unreadable> {
        let mut result = Redirected { stdin, ..Redirected::default() };
        for redirect in redirects {
            match &redirect.kind {
                RedirectKind::Read(word) => {
                    let fields = self.fields(word)?;
                    let process = fields.iter().find_map(|field| self.process_output(field));
                    let is_empty = fields.iter().all(|field| field.text == "/dev/null");
                    let plain = if is_empty { Output::Text(String::new()) } else { Output::Unknown };
                    result.stdin = process.unwrap_or(plain);
                    for field in &fields {
                        self.network_device(field);
                        self.read(field);
                    }
                }
                RedirectKind::Write(word) => {
                    for field in self.fields(word)? {
                        self.network_device(&field);
                        self.write(&field, Via::Redirection);
                        result.written.push(field);
                    }
                    result.is_captured |= redirect.descriptor.is_none_or(|descriptor| descriptor == 1);
                }
                RedirectKind::Duplicate(word) => {
                    self.fields(word)?;
                    if redirect.descriptor.is_none_or(|descriptor| descriptor == 0)
                        && word.plain().is_none_or(|text| text != "1" && text != "2")
                    {
                        result.stdin = Output::Unknown;
                    }
                }
                RedirectKind::Here(here) => {
                    result.stdin = match here.body.get() {
                        Some(body) => self.text_output(body)?,
                        None => Output::Text(String::new()),
                    };
                }
                RedirectKind::HereString(word) => result.stdin = self.text_output(word)?,
            }
        }
        Ok(result)
    }

    fn text_output(&mut self, word: &crate::syntax::Word) -> Result<Output, Unreadable> {
        let texts = self.texts(word)?;
        // Alternatives one after the other: each is judged.
        let text: Vec<String> = texts.into_iter().map(|field| field.text).collect();
        Ok(Output::Text(text.join("\n") + "\n"))
    }

    /// The output of the process substitution that a field names.
    pub(crate) fn process_output(&self, field: &Field) -> Option<Output> {
        field.process().and_then(|number| self.processes.get(number).cloned())
    }

    fn network_device(&mut self, field: &Field) {
        if field.text.starts_with("/dev/tcp/") || field.text.starts_with("/dev/udp/") {
            let reason = format!("opens a network connection to {}", field.shown());
            self.ask(EffectKind::Network, Some(&field.text), keys::NETWORK_SEND, reason);
        }
    }

    /// Remembers the text that files were given, for a later command that runs them.
    fn written_into(&mut self, fields: &[Field], text: &str) {
        for field in fields {
            if let Target::Path(path) = self.resolve(field)
                && self.spent.expanded(text.len()).is_ok()
            {
                self.contents.entry(path).or_default().push_str(text);
            }
        }
    }

    /// Remembers that files hold text from the network or from an unknown source.
    pub(crate) fn fetched_into(&mut self, fields: &[Field], output: &Output) {
        let prepared = match output {
            Output::Remote => Prepared::Remote,
            Output::Decoded(..) => Prepared::Unknown,
            Output::Text(text) => return self.written_into(fields, text),
            _ => return,
        };
        for field in fields {
            if let Target::Path(path) = self.resolve(field) {
                self.prepared.push((path, prepared));
            }
        }
    }
}
