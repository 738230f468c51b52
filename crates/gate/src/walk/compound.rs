//! Commands of every kind, functions and their calls.

use super::{Value, Walker};
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::{MAX_ALTERNATIVES, Unreadable};
use crate::output::Output;
use crate::syntax::{AndOr, Command, Kind, Script, Word};
use std::rc::Rc;

impl Walker<'_> {
    pub(super) fn command(&mut self, command: &Command, stdin: Output) -> Result<Output, Unreadable> {
        self.nested(|walker| {
            if let Kind::Simple(simple) = &command.kind {
                return walker.simple(simple, &command.redirects, stdin);
            }
            let redirected = walker.redirects(&command.redirects, stdin)?;
            let output = walker.kind(&command.kind, redirected.stdin)?;
            walker.fetched_into(&redirected.written, &output);
            Ok(if redirected.is_captured { Output::Nothing } else { output })
        })
    }

    fn kind(&mut self, kind: &Kind, stdin: Output) -> Result<Output, Unreadable> {
        match kind {
            Kind::Simple(simple) => self.simple(simple, &[], stdin),
            Kind::Group(script) => self.script(script, stdin),
            Kind::Subshell(script) => {
                let mark = self.mark();
                let output = self.script(script, stdin)?;
                self.leave_subshell(mark);
                Ok(output)
            }
            Kind::If(parts) => self.branches(parts, stdin),
            Kind::Loop(condition, body) => {
                let mark = self.mark();
                let first = self.script(condition, stdin.clone())?;
                let second = self.script(body, stdin)?;
                self.leave_branch(&mark);
                Ok(first.then(second).filtered_loop())
            }
            Kind::For { variable, words, body } => self.iteration(variable, words.as_deref(), body, stdin),
            Kind::Case { subject, patterns, bodies } => {
                self.fields(subject)?;
                for pattern in patterns {
                    self.fields(pattern)?;
                }
                self.branches(bodies, stdin)
            }
            Kind::Function { name, body } => {
                self.define(name, body);
                Ok(Output::Nothing)
            }
            Kind::Test(words) => {
                for word in words {
                    let fields = self.fields(word)?;
                    self.subscripts(&fields)?;
                }
                Ok(Output::Nothing)
            }
            Kind::Coprocess(command) => {
                let was_background = std::mem::replace(&mut self.is_background, true);
                let result = self.command(command, Output::Unknown);
                self.is_background = was_background;
                result.map(|_| Output::Nothing)
            }
        }
    }

    fn branches(&mut self, parts: &[Script], stdin: Output) -> Result<Output, Unreadable> {
        let mut output = Output::Nothing;
        for part in parts {
            let mark = self.mark();
            let next = self.script(part, stdin.clone())?;
            self.leave_branch(&mark);
            output = match (output, next) {
                (Output::Nothing, next) => next,
                (before, Output::Nothing) => before,
                (before, next) => before.then(Output::Unknown).then(next),
            };
        }
        Ok(output)
    }

    fn iteration(
        &mut self,
        variable: &str,
        words: Option<&[Word]>,
        body: &Script,
        stdin: Output,
    ) -> Result<Output, Unreadable> {
        let mut fields = Vec::new();
        match words {
            Some(words) => {
                for word in words {
                    fields.extend(self.fields(word)?);
                }
            }
            None => fields = self.value("@").fields,
        }
        if fields.len() > MAX_ALTERNATIVES {
            // Too many to carry; those that matter most are kept, the others count as unknown.
            fields.retain(|field| field.text.starts_with('/') || !field.is_known());
            fields.truncate(MAX_ALTERNATIVES - 1);
            fields.push(Field::pattern("./*"));
        }
        if fields.is_empty() {
            fields.push(Field::unknown());
        }
        let mark = self.mark();
        self.judge_assignment(variable, &fields, None);
        self.set(variable, Value { fields, is_array: false });
        let output = self.script(body, stdin)?;
        self.leave_branch(&mark);
        Ok(output.filtered_loop())
    }

    fn define(&mut self, name: &str, body: &Rc<Command>) {
        if is_fork_bomb(name, body) {
            self.deny(EffectKind::Process, None, keys::FORK_BOMB, "starts processes without end (fork bomb)");
        }
        self.functions.insert(name.to_owned(), Rc::clone(body));
        self.called.remove(name);
    }

    /// Walks the function of this name with these arguments.
    pub(super) fn function(
        &mut self,
        name: &str,
        arguments: &[Field],
        stdin: Output,
    ) -> Result<Option<Output>, Unreadable> {
        let Some(body) = self.functions.get(name).map(Rc::clone) else { return Ok(None) };
        if self.calling.iter().any(|other| Rc::ptr_eq(other, &body)) {
            // A recursive call; the body is being walked already.
            return Ok(Some(Output::Unknown));
        }
        // As with `sh -c`, a parameter without an argument counts as unknown.
        let arguments = (!arguments.is_empty()).then(|| arguments.to_vec());
        self.call_function(name, &body, arguments, stdin).map(Some)
    }

    pub(super) fn call_function(
        &mut self,
        name: &str,
        body: &Rc<Command>,
        arguments: Option<Vec<Field>>,
        stdin: Output,
    ) -> Result<Output, Unreadable> {
        self.called.insert(name.to_owned());
        self.calling.push(Rc::clone(body));
        let former = std::mem::replace(&mut self.positional, arguments);
        let output = self.command(body, stdin);
        self.positional = former;
        self.calling.pop();
        output
    }
}

impl Output {
    /// A loop prints its output any number of times.
    fn filtered_loop(self) -> Self {
        match self {
            Self::Text(_) => Self::Unknown,
            other => other,
        }
    }
}

/// Returns true for a function that starts itself twice, or in the background.
fn is_fork_bomb(name: &str, body: &Command) -> bool {
    let mut calls = Calls { name, is_multiplied: false };
    calls.command(body, false, 0);
    calls.is_multiplied
}

struct Calls<'a> {
    name: &'a str,
    is_multiplied: bool,
}

impl Calls<'_> {
    fn script(&mut self, script: &Script, is_multiplied: bool, depth: usize) {
        if depth < crate::limits::MAX_DEPTH {
            script.items.iter().for_each(|item| self.item(item, is_multiplied, depth + 1));
        }
    }

    fn item(&mut self, item: &AndOr, is_multiplied: bool, depth: usize) {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            let is_multiplied = is_multiplied || item.is_background || pipeline.commands.len() > 1;
            pipeline.commands.iter().for_each(|command| self.command(command, is_multiplied, depth));
        }
    }

    fn command(&mut self, command: &Command, is_multiplied: bool, depth: usize) {
        match &command.kind {
            Kind::Simple(simple) => {
                if simple.words.first().and_then(Word::plain) == Some(self.name) {
                    self.is_multiplied |= is_multiplied;
                }
            }
            Kind::Group(script) | Kind::Subshell(script) => self.script(script, is_multiplied, depth),
            Kind::If(parts) => parts.iter().for_each(|part| self.script(part, is_multiplied, depth)),
            Kind::Loop(_, body) | Kind::For { body, .. } => self.script(body, is_multiplied, depth),
            Kind::Coprocess(command) if depth < crate::limits::MAX_DEPTH => {
                self.command(command, true, depth + 1);
            }
            Kind::Case { .. } | Kind::Function { .. } | Kind::Test(_) | Kind::Coprocess(_) => {}
        }
    }
}
