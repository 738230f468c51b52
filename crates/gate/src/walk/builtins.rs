//! Builtins of the shell that change its state or run text.

use super::{Call, Value, Walker};
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::paths::Target;

impl Walker<'_> {
    /// Judges a builtin; `None` if the program is not one of these.
    pub(super) fn builtin(&mut self, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
        match call.name {
            "cd" | "pushd" | "chdir" => self.change_directory(call.arguments),
            "popd" => self.cwd = None,
            "export" | "declare" | "typeset" | "local" | "readonly" | "setenv" => self.declare(call),
            "read" | "mapfile" | "readarray" | "getopts" => {
                let callback = call
                    .arguments
                    .windows(2)
                    .find(|pair| pair.first().is_some_and(|field| field.text == "-C"));
                if let Some(text) = callback.and_then(|pair| pair.get(1)) {
                    self.payload(&text.text, Output::Unknown)?;
                    self.ask(
                        EffectKind::Execute,
                        None,
                        keys::LOADS_CODE,
                        format!("`{}` runs a callback", call.name),
                    );
                }
                self.read_variables(call);
            }
            "unset" => {
                for field in call.arguments {
                    self.set(&field.text, Value::scalar_of(Field::default()));
                }
            }
            "set" => self.set_options(call.arguments),
            "alias" => self.define_aliases(call.arguments),
            "eval" => return self.eval(call).map(Some),
            "source" | "." => return self.source(call).map(Some),
            "trap" => {
                if let Some(text) = call.arguments.iter().find(|field| field.text != "--") {
                    let is_listing = text.text.starts_with('-') || text.text.is_empty();
                    if !is_listing && call.arguments.len() > 1 {
                        self.payload(&text.text.clone(), Output::Nothing)?;
                    }
                }
            }
            "exec" if call.arguments.is_empty() => {}
            "hash" | "enable"
                if call.arguments.iter().any(|field| matches!(field.text.as_str(), "-p" | "-f")) =>
            {
                let reason = format!("makes `{}` load or run another program", call.name);
                self.ask(EffectKind::Execute, None, keys::LOADS_CODE, reason);
            }
            "complete" | "bind" | "compgen"
                if call.arguments.iter().any(|field| matches!(field.text.as_str(), "-C" | "-x" | "-F")) =>
            {
                let reason = format!("`{}` registers a command to run", call.name);
                self.ask(EffectKind::Execute, None, keys::LOADS_CODE, reason);
            }
            "shift" => self.positional = None,
            "return" | "exit" | "break" | "continue" | ":" | "true" | "false" | "wait" | "jobs" | "fg"
            | "bg" | "disown" | "shopt" | "ulimit" | "umask" | "let" | "times" | "hash" | "dirs"
            | "history" | "complete" | "bind" | "compgen" | "compopt" | "enable" | "logout" | "suspend"
            | "caller" | "unalias" | "setopt" | "unsetopt" | "autoload" | "emulate" => {}
            _ => return Ok(None),
        }
        Ok(Some(Output::Nothing))
    }

    fn change_directory(&mut self, arguments: &[Field]) {
        let operand = arguments.iter().find(|field| !field.text.starts_with('-') || field.text == "-");
        let home = || self.scene.user_home.clone();
        self.cwd = match operand {
            None => home(),
            Some(field) if field.text == "-" => None,
            Some(field) => match self.resolve(field) {
                Target::Path(path) => Some(path),
                Target::Below(path) | Target::Pattern(path) => {
                    Some(path).filter(|path| path.starts_with(&self.scene.project))
                }
                Target::Unknown => None,
            },
        };
    }

    /// `export NAME=value` and its relatives.
    fn declare(&mut self, call: &Call<'_>) {
        for field in call.arguments.iter().filter(|field| !field.text.starts_with('-')) {
            let Some((name, value)) = field.text.split_once('=') else { continue };
            let value = Field { text: value.to_owned(), is_pattern: field.is_pattern };
            self.judge_assignment(name, std::slice::from_ref(&value), None);
            let name = name.trim_end_matches('+');
            self.set(name, Value::scalar_of(value));
        }
    }

    /// `read` and its relatives give variables a value from standard input.
    fn read_variables(&mut self, call: &Call<'_>) {
        for field in call.arguments.iter().filter(|field| !field.text.starts_with('-')) {
            self.judge_assignment(&field.text, &[Field::unknown()], None);
        }
        let value = match call.stdin {
            Output::Text(text) if !text.contains('\u{1}') && text.trim_end().lines().count() == 1 => {
                Field::literal(text.trim())
            }
            Output::Paths(roots) => {
                return roots.iter().for_each(|root| {
                    let value = Value::scalar_of(Field::pattern(root.clone()));
                    call.arguments
                        .iter()
                        .filter(|field| !field.text.starts_with('-'))
                        .for_each(|field| self.set(&field.text, value.clone()));
                });
            }
            _ => Field::unknown(),
        };
        let names: Vec<&Field> = call.arguments.iter().filter(|field| !field.text.starts_with('-')).collect();
        let is_single = names.len() == 1;
        for name in names {
            let value = if is_single { value.clone() } else { Field::unknown() };
            self.set(&name.text, Value::scalar_of(value));
        }
        if call.arguments.is_empty() {
            self.set("REPLY", Value::scalar_of(value));
        }
    }

    fn set_options(&mut self, arguments: &[Field]) {
        if let Some(at) = arguments.iter().position(|field| field.text == "--") {
            self.positional = Some(arguments.iter().skip(at + 1).cloned().collect());
        } else if arguments.first().is_some_and(|field| !field.text.starts_with(['-', '+'])) {
            self.positional = Some(arguments.to_vec());
        }
    }

    fn define_aliases(&mut self, arguments: &[Field]) {
        for field in arguments {
            if let Some((name, value)) = field.text.split_once('=') {
                self.aliases.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    fn eval(&mut self, call: &Call<'_>) -> Result<Output, Unreadable> {
        let texts: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
        let text = texts.join(" ");
        if text.contains(crate::field::OUTPUT) {
            let reason = "runs the output of another command as shell text";
            self.ask(EffectKind::Execute, None, keys::REMOTE_SUBSTITUTION, reason);
        }
        // Assignments of the text stay, unlike those of a payload.
        self.nested(|walker| {
            if !crate::field::is_known(&text) {
                let reason = "runs shell text that is only known when the command runs";
                walker.ask(EffectKind::Execute, None, keys::UNKNOWN_PAYLOAD, reason);
            }
            let (script, spent) = match crate::syntax::parse(&text, walker.depth, walker.spent) {
                Ok(parsed) => parsed,
                Err(cause) => {
                    walker.unreadable(cause);
                    return if cause == Unreadable::Syntax { Ok(Output::Unknown) } else { Err(cause) };
                }
            };
            walker.spent = spent;
            walker.script(&script, call.stdin.clone())
        })
    }

    fn source(&mut self, call: &Call<'_>) -> Result<Output, Unreadable> {
        let Some(file) = call.arguments.iter().find(|field| field.text != "--") else {
            return Ok(Output::Nothing);
        };
        if matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "-") {
            return self.stdin_payload(call.stdin, call.name);
        }
        if let Some(output) = self.process_output(file) {
            return self.process_payload(&output, call.name);
        }
        // The usual scripts that prepare an environment are harmless; others are scripts like any.
        let is_activation = file.is_literal()
            && (file.text.ends_with("bin/activate")
                || file.text.ends_with(".cargo/env")
                || file.text.ends_with("/nvm.sh"));
        if !is_activation {
            self.script_file(file);
        }
        self.written_payload(file, call.stdin)
    }
}
