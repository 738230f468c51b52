//! Simple commands: assignments, then the program with its arguments.

use super::{Prepared, Value, Walker};
use crate::assessment::EffectKind;
use crate::field::{Field, INPUT};
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::paths::Target;
use crate::rules;
use crate::syntax::{Assignment, Redirect, Simple};
use crate::wrappers;

/// A program and its arguments, after expansion.
pub(crate) struct Call<'a> {
    /// The name of the program without its directory.
    pub(crate) name: &'a str,
    pub(crate) program: &'a Field,
    pub(crate) arguments: &'a [Field],
    pub(crate) stdin: &'a Output,
}

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[Redirect],
        stdin: Output,
    ) -> Result<Output, Unreadable> {
        self.spent.command()?;
        let redirected = self.redirects(redirects, stdin)?;
        let Some((first, rest)) = simple.words.split_first() else {
            for assignment in &simple.assignments {
                self.assign(assignment, None)?;
            }
            return Ok(Output::Nothing);
        };
        let programs = self.alternatives(first)?;
        let mut arguments = Vec::new();
        for word in rest {
            arguments.extend(self.fields(word)?);
        }
        let name = programs.first().and_then(|fields| fields.first()).map(|field| field.text.clone());
        for assignment in &simple.assignments {
            self.assign(assignment, Some(name.as_deref().unwrap_or_default()))?;
        }
        let mut output = Output::Nothing;
        for mut fields in programs {
            // `$empty rm -rf x` runs rm.
            fields.extend(arguments.iter().cloned());
            let next = self.call(&fields, &redirected.stdin)?;
            output = if output == Output::Nothing { next } else { output.then(next) };
        }
        self.fetched_into(&redirected.written, &output);
        Ok(if redirected.is_captured { Output::Nothing } else { output })
    }

    /// Applies `name=value`. Before a program it holds for that program only.
    fn assign(&mut self, assignment: &Assignment, program: Option<&str>) -> Result<(), Unreadable> {
        let mut fields = Vec::new();
        for word in &assignment.values {
            fields.extend(if assignment.is_array { self.fields(word)? } else { self.texts(word)? });
        }
        let subscript = self.fields(&assignment.subscript)?;
        self.subscripts(&subscript)?;
        let mut value = Value { fields, is_array: assignment.is_array };
        self.judge_assignment(&assignment.name, &value.fields, program);
        if assignment.name == "PROMPT_COMMAND" {
            for field in value.fields.clone() {
                self.payload(&field.text, Output::Nothing)?;
            }
        }
        if program.is_some() {
            return Ok(());
        }
        if assignment.is_append {
            let before = self.value(&assignment.name);
            value = appended(before, value);
        }
        self.subscripts(&value.fields)?;
        self.set(&assignment.name, value);
        Ok(())
    }

    /// Judges a program with its arguments; the first field is the program.
    pub(crate) fn call(&mut self, fields: &[Field], stdin: &Output) -> Result<Output, Unreadable> {
        let Some((program, arguments)) = fields.split_first() else {
            return Ok(Output::Unknown);
        };
        self.nested(|walker| {
            walker.spent.command()?;
            walker.commands.push(fields.iter().map(Field::shown).collect::<Vec<_>>().join(" "));
            walker.spent.arguments(arguments.len())?;
            if !program.is_literal() && program.text != "[" {
                walker.unclear_program(program);
            }
            if program.text.chars().any(crate::expand::is_invisible) {
                walker.found_invisible();
            }
            if walker.aliases.contains_key(&program.text) {
                return walker.alias(&program.text, arguments, stdin);
            }
            if let Some(output) = walker.function(&program.text, arguments, stdin.clone())? {
                return Ok(output);
            }
            let name = program.text.rsplit('/').next().unwrap_or_default();
            // zsh puts the path of a program in place of `=name`.
            let name = name.strip_suffix(".exe").unwrap_or(name).trim_start_matches('=');
            let call = Call { name, program, arguments, stdin };
            walker.run_prepared(&call)?;
            if super::subscripts::evaluates(call.name) {
                walker.subscripts(call.arguments)?;
            }
            if let Some(output) = walker.builtin(&call)? {
                return Ok(output);
            }
            if let Some(output) = wrappers::unwrap(walker, &call)? {
                return Ok(output);
            }
            if let Some(output) = walker.shell(&call)? {
                return Ok(output);
            }
            rules::judge(walker, &call)
        })
    }

    fn unclear_program(&mut self, program: &Field) {
        let reason = format!("the program `{}` is only known when the command runs", program.shown());
        let kind = if program.text.contains(INPUT) { EffectKind::Execute } else { EffectKind::Unclear };
        self.ask(kind, None, keys::UNKNOWN_PROGRAM, reason);
    }

    /// Judges the start of a file that this text fetched or made executable.
    fn run_prepared(&mut self, call: &Call<'_>) -> Result<(), Unreadable> {
        if !call.program.text.contains('/') {
            return Ok(());
        }
        let Target::Path(path) = self.resolve(call.program) else { return Ok(()) };
        self.run_file(&path);
        let shebang = self.contents.get(&path).and_then(|text| text.lines().next()).unwrap_or_default();
        if !shebang.starts_with("#!") || shebang.contains("sh") {
            self.written_payload(call.program, call.stdin)?;
        }
        Ok(())
    }

    pub(crate) fn run_file(&mut self, path: &std::path::Path) {
        // A directory is one that was fetched as a whole.
        let holds = |(other, _): &&(std::path::PathBuf, Prepared)| path.starts_with(other);
        let Some((_, prepared)) = self.prepared.iter().rev().find(holds) else { return };
        let shown = path.display().to_string();
        match prepared {
            Prepared::Executable => {
                let reason = format!("makes {shown} executable and runs it");
                self.ask(EffectKind::Execute, Some(&shown), keys::CHMOD_AND_RUN, reason);
            }
            Prepared::Remote => {
                let reason = format!("runs {shown}, which was just fetched from the network");
                self.ask(EffectKind::Execute, Some(&shown), keys::REMOTE_TO_SHELL, reason);
            }
            Prepared::Unknown => {
                let reason = format!("runs {shown}, whose content is not known");
                self.ask(EffectKind::Execute, Some(&shown), keys::UNKNOWN_PAYLOAD, reason);
            }
        }
    }

    fn alias(&mut self, name: &str, arguments: &[Field], stdin: &Output) -> Result<Output, Unreadable> {
        // An alias may name itself; it is not expanded twice.
        let Some(text) = self.aliases.remove(name) else { return Ok(Output::Unknown) };
        let result = match crate::simple_words(&text) {
            Some(words) => {
                let fields: Vec<Field> =
                    words.into_iter().map(Field::literal).chain(arguments.iter().cloned()).collect();
                self.call(&fields, stdin)
            }
            None => {
                let more: Vec<String> = arguments.iter().map(|field| quoted(&field.text)).collect();
                self.payload(&format!("{text} {}", more.join(" ")), stdin.clone())
            }
        };
        self.aliases.insert(name.to_owned(), text);
        result
    }
}

/// A text as one word of shell text.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn appended(before: Value, added: Value) -> Value {
    if before.is_array || added.is_array {
        let mut fields = before.fields;
        fields.extend(added.fields);
        fields.truncate(crate::limits::MAX_FIELDS);
        return Value { fields, is_array: true };
    }
    let join = |first: &Field, second: &Field| {
        let text = format!("{}{}", first.text, second.text);
        if text.len() > crate::limits::MAX_VALUE {
            return Field::unknown();
        }
        Field { text, is_pattern: first.is_pattern || second.is_pattern }
    };
    let pairs =
        before.fields.iter().flat_map(|first| added.fields.iter().map(move |second| join(first, second)));
    Value { fields: pairs.take(crate::limits::MAX_ALTERNATIVES).collect(), is_array: false }
}
