//! Scripts given to shells: as an argument, from standard input, from a file.

use super::{Call, Walker};
use crate::assessment::EffectKind;
use crate::field::{Field, is_known};
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::paths::Target;
use crate::syntax;

const SHELLS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "rbash", "csh", "tcsh", "yash", "posh",
    "elvish",
];

pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

impl Walker<'_> {
    /// Judges a text that a shell runs.
    pub(crate) fn payload(&mut self, text: &str, stdin: Output) -> Result<Output, Unreadable> {
        if !is_known(text) {
            let reason = "runs shell text that is only known when the command runs";
            self.ask(EffectKind::Execute, None, keys::UNKNOWN_PAYLOAD, reason);
        }
        self.nested(|walker| {
            let (script, spent) = match syntax::parse(text, walker.depth, walker.spent) {
                Ok(parsed) => parsed,
                Err(cause) => {
                    walker.unreadable(cause);
                    return if cause == Unreadable::Syntax { Ok(Output::Unknown) } else { Err(cause) };
                }
            };
            walker.spent = spent;
            let mark = walker.mark();
            let output = walker.whole(&script, stdin);
            walker.leave_subshell(mark);
            output
        })
    }

    /// Judges standard input that a shell runs.
    pub(crate) fn stdin_payload(&mut self, stdin: &Output, name: &str) -> Result<Output, Unreadable> {
        let (rule, reason) = match stdin {
            Output::Text(text) => return self.payload(text, Output::Unknown),
            Output::Remote => (keys::REMOTE_TO_SHELL, format!("runs text from the network with {name}")),
            Output::Decoded(decoder, text) => {
                if let Some(text) = text {
                    self.payload(text, Output::Unknown)?;
                }
                (decoded_key(decoder), format!("runs text decoded by {decoder} with {name}"))
            }
            Output::Nothing | Output::Paths(_) | Output::Harmless | Output::Unknown => {
                (keys::UNKNOWN_PAYLOAD, format!("runs commands that {name} reads from standard input"))
            }
        };
        self.ask(EffectKind::Execute, None, rule, reason);
        Ok(Output::Unknown)
    }

    /// Judges a call of a shell; `None` if the program is not one.
    pub(super) fn shell(&mut self, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
        if !is_shell(call.name) {
            return Ok(None);
        }
        // With this option alone a shell reads its script and runs nothing.
        if let [option, ..] = call.arguments
            && option.text == "-n"
            && call.arguments.iter().skip(1).all(|field| !field.text.starts_with(['-', '+']))
        {
            return Ok(Some(Output::Harmless));
        }
        let mut arguments = call.arguments.iter();
        let mut is_command = false;
        let mut reads_stdin = false;
        while let Some(field) = arguments.clone().next() {
            let text = field.text.as_str();
            if !text.starts_with(['-', '+']) || text == "-" {
                break;
            }
            arguments.next();
            match text {
                "--" => break,
                "--rcfile" | "--init-file" | "-O" | "+O" | "-o" | "+o" => {
                    let value = arguments.next();
                    if text.starts_with("--") {
                        value.into_iter().for_each(|file| self.script_file(file));
                    }
                }
                "--command" | "--init-command" | "-C" if call.name == "fish" => is_command = true,
                "--version" | "--help" => return Ok(Some(Output::Harmless)),
                _ if !text.starts_with("--") => {
                    is_command |= text.contains('c');
                    reads_stdin |= text.contains('s');
                    if text.ends_with('o') {
                        arguments.next();
                    }
                }
                _ => {
                    if let Some((_, script)) = text.split_once('=').filter(|_| text.starts_with("--command="))
                    {
                        self.payload(script, call.stdin.clone())?;
                        return Ok(Some(Output::Unknown));
                    }
                }
            }
        }
        let rest: Vec<Field> = arguments.cloned().collect();
        if is_command {
            return self.command_text(&rest, call.stdin).map(Some);
        }
        match rest.first() {
            Some(file) if !reads_stdin && file.text != "-" => self.shell_file(file, call).map(Some),
            _ => self.stdin_payload(call.stdin, call.name).map(Some),
        }
    }

    /// Judges `-c TEXT name arguments...`.
    fn command_text(&mut self, rest: &[Field], stdin: &Output) -> Result<Output, Unreadable> {
        let Some((text, arguments)) = rest.split_first() else {
            let reason = "runs shell text that is only known when the command runs";
            self.ask(EffectKind::Execute, None, keys::SHELL_TEXT, reason);
            return Ok(Output::Unknown);
        };
        if arguments.iter().any(|field| field.text.contains(crate::field::INPUT)) && !text.is_known() {
            self.ask(EffectKind::Execute, None, keys::SHELL_TEXT, "runs shell text from standard input");
        }
        // Without arguments, a parameter counts as unknown and not as empty: the text may come from elsewhere.
        let positional = (arguments.len() > 1).then(|| arguments.iter().skip(1).cloned().collect());
        let former = std::mem::replace(&mut self.positional, positional);
        let output = self.payload(&text.text, stdin.clone());
        self.positional = former;
        output
    }

    /// Judges a script file that a shell runs.
    fn shell_file(&mut self, file: &Field, call: &Call<'_>) -> Result<Output, Unreadable> {
        if matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
            return self.stdin_payload(call.stdin, call.name);
        }
        if let Some(output) = self.process_output(file) {
            return self.process_payload(&output, call.name);
        }
        self.script_file(file);
        self.written_payload(file, call.stdin)
    }

    /// Judges a script that this text wrote before.
    pub(crate) fn written_payload(&mut self, file: &Field, stdin: &Output) -> Result<Output, Unreadable> {
        let Target::Path(path) = self.resolve(file) else { return Ok(Output::Unknown) };
        // Taken out while it is walked, since it may run itself.
        let Some(text) = self.contents.remove(&path) else { return Ok(Output::Unknown) };
        let output = self.payload(&text, stdin.clone());
        self.contents.insert(path, text);
        output
    }

    /// Judges a process substitution that is run as a script.
    pub(crate) fn process_payload(&mut self, output: &Output, name: &str) -> Result<Output, Unreadable> {
        if *output == Output::Remote {
            let reason = format!("runs text from the network with {name}");
            self.ask(EffectKind::Execute, None, keys::REMOTE_PROCESS, reason);
            return Ok(Output::Unknown);
        }
        self.stdin_payload(output, name)
    }

    /// Judges a file whose content is run.
    pub(crate) fn script_file(&mut self, file: &Field) {
        if !file.is_literal() {
            let reason =
                format!("runs the script `{}`, which is only known when the command runs", file.shown());
            self.ask(EffectKind::Execute, None, keys::UNKNOWN_PAYLOAD, reason);
        }
        self.read(file);
        if let Target::Path(path) = self.resolve(file) {
            self.run_file(&path);
        }
        if !self.scene.is_sandboxed {
            let reason = format!("runs the script {} without a sandbox", file.shown());
            self.ask(EffectKind::Execute, Some(&file.text), keys::UNNAMED_PROGRAM, reason);
        }
    }
}

fn decoded_key(decoder: &str) -> &'static str {
    match decoder {
        "xxd" => keys::XXD_TO_SHELL,
        "tr" => keys::TR_TO_SHELL,
        "openssl" => keys::OPENSSL_TO_SHELL,
        _ => keys::DECODED_TO_SHELL,
    }
}
