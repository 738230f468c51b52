//! Interpreters: code in an argument, from standard input, or in a file.
//!
//! While a sandbox confines the command, code that only computes and prints may run without a question. The test is a
//! list of names that are allowed for the modules that can do harm, and a list of names that never are.

mod all_processes;
mod node;
mod others;
mod python;

use super::code::{CodeCall, calls, names, strings, without_strings};
use super::files::{Edit, Via};
use crate::assessment::EffectKind;
use crate::field::{Field, is_known};
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Spec, parse_until};
use crate::output::Output;
use crate::walk::{Call, Walker};

/// A language, as far as its options and names differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Node,
    Perl,
    Ruby,
    Other,
}

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let name = call.name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    let (language, letters, code) = match name {
        "python" | "pypy" | "ipython" | "bpython" | "micropython" => (Language::Python, "cmWXQ", &["-c"][..]),
        "node" | "nodejs" | "tsx" | "ts-node" => {
            (Language::Node, "eprCr", &["-e", "-p", "--eval", "--print"][..])
        }
        "bun" => (Language::Node, "er", &["-e", "--eval", "-p", "--print"][..]),
        "deno" => (Language::Node, "e", &["-e"][..]),
        "perl" => (Language::Perl, "eEMmIxF", &["-e", "-E"][..]),
        "ruby" | "jruby" => (Language::Ruby, "erICFE", &["-e"][..]),
        "php" => (Language::Other, "rBREfdcz", &["-r", "-B", "-R", "-E", "--run"][..]),
        "lua" | "luajit" => (Language::Other, "el", &["-e"][..]),
        "Rscript" | "R" | "r" => (Language::Other, "e", &["-e"][..]),
        "tclsh" | "wish" | "ghci" | "ghc" | "julia" | "elixir" | "erl" | "iex" | "scala" | "groovy"
        | "clojure" | "clj" | "bb" | "swift" | "guile" | "racket" | "sbcl" | "raku" | "octave"
        | "gnuplot" | "jshell" | "kotlin" | "nim" | "crystal" | "dart" | "m4" | "bc" | "dc" | "qjs"
        | "hy" | "xonsh" => {
            (Language::Other, "eEc", &["-e", "-E", "-c", "--eval", "--evaluate", "--execute"][..])
        }
        _ => return Ok(None),
    };
    if matches!(name, "bc" | "dc" | "m4" | "gnuplot" | "ghc")
        && !call.arguments.iter().any(|field| field.text.starts_with("-e"))
    {
        let runs = matches!(call.stdin, Output::Text(text) if name != "bc" && text.contains('!'));
        if !runs {
            super::secrets::arguments(walker, call);
            return Ok(Some(Output::Harmless));
        }
    }
    let interpreter = Interpreter { language, letters, code };
    interpreter.judge(walker, call).map(Some)
}

/// Judges a Python script that runs as a whole.
pub(crate) fn python_script(walker: &mut Walker<'_>, code: &str) -> Result<(), Unreadable> {
    let interpreter = Interpreter { language: Language::Python, letters: "", code: &[] };
    interpreter.code(walker, code, keys::EXECUTE_CODE)
}

struct Interpreter {
    language: Language,
    letters: &'static str,
    code: &'static [&'static str],
}

impl Interpreter {
    fn judge(&self, walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
        let arguments = self.without_verb(call);
        let spec = Spec {
            letters: self.letters,
            long: &["--eval", "--print", "--require", "--import", "--run", "--loader", "--evaluate"],
        };
        let (parsed, index) = parse_until(arguments, spec, 1);
        if parsed.has(&["--version", "-V", "--help", "-h"]) && parsed.operands.is_empty()
            || parsed.has(&["-v"]) && call.arguments.len() == 1
        {
            return Ok(Output::Harmless);
        }
        self.options(walker, call, &parsed)?;
        let mut texts: Vec<Field> = parsed.values(self.code).cloned().collect();
        if call.name == "deno" && parsed.operands.first().is_some_and(|verb| verb.text == "eval") {
            texts.extend(
                arguments
                    .get(index..)
                    .unwrap_or_default()
                    .iter()
                    .find(|field| !field.text.starts_with('-'))
                    .cloned(),
            );
        }
        if !texts.is_empty() {
            for text in &texts {
                self.code(walker, &text.text, keys::SCRIPT_CODE)?;
            }
            let files: Vec<Field> = parsed
                .operands
                .iter()
                .map(|field| (*field).clone())
                .chain(arguments.get(index..).unwrap_or_default().iter().cloned())
                .collect();
            let edits = self.is_in_place(call);
            for file in &files {
                walker.read(file);
                if edits {
                    walker.write(file, Via::Edit(Edit::Perl));
                }
            }
            return Ok(call.stdin.filtered());
        }
        if self.language == Language::Python && parsed.has(&["-m"]) {
            return self.module(walker, call, &parsed);
        }
        match parsed.operands.first() {
            Some(file) if file.text.starts_with("https:") || file.text.starts_with("http:") => walker.ask(
                EffectKind::Execute,
                Some(&file.shown()),
                keys::REMOTE_TO_SHELL,
                format!("runs text from the network with {}", call.name),
            ),
            Some(file) if !matches!(file.text.as_str(), "-" | "/dev/stdin") => {
                match walker.process_output(file) {
                    Some(Output::Text(text)) => self.code(walker, &text, keys::SCRIPT_CODE)?,
                    Some(output) => {
                        walker.process_payload(&output, call.name)?;
                    }
                    None => {
                        walker.script_file(file);
                        // A script that this text wrote: only its literal effects, since scripts may do more.
                        if let Output::Text(text) = walker.file_output(file) {
                            self.effects(walker, &text)?;
                        }
                    }
                }
                super::secrets::fields(walker, arguments.get(index..).unwrap_or_default());
            }
            _ => self.stdin(walker, call)?,
        }
        Ok(Output::Unknown)
    }

    /// `deno run`, `deno eval`, `bun run`: the verb is not a script.
    fn without_verb<'a>(&self, call: &Call<'a>) -> &'a [Field] {
        match (call.name, call.arguments.split_first()) {
            ("bun" | "deno", Some((verb, rest))) if verb.text == "run" => rest,
            _ => call.arguments,
        }
    }

    fn stdin(&self, walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
        match call.stdin {
            Output::Text(text) => self.code(walker, &text.clone(), keys::SCRIPT_HEREDOC)?,
            Output::Nothing => {}
            Output::Remote => walker.ask(
                EffectKind::Execute,
                None,
                keys::REMOTE_TO_SHELL,
                format!("runs text from the network with {}", call.name),
            ),
            _ => walker.ask(
                EffectKind::Execute,
                None,
                keys::UNKNOWN_PAYLOAD,
                format!("{} runs code from standard input", call.name),
            ),
        }
        Ok(())
    }

    fn options(
        &self,
        walker: &mut Walker<'_>,
        call: &Call<'_>,
        parsed: &crate::options::Parsed<'_>,
    ) -> Result<(), Unreadable> {
        let required: Vec<Field> =
            parsed.values(&["-r", "--require", "--import", "--loader"]).cloned().collect();
        let is_module = |text: &str| {
            matches!(self.language, Language::Node | Language::Ruby) && !text.starts_with(['/', '~', '.'])
        };
        if self.language != Language::Other && required.iter().any(|field| !is_module(&field.text)) {
            super::tools::program_option(walker, call.name, "--require", "")?;
        }
        if self.language == Language::Perl {
            let modules: Vec<Field> = parsed.values(&["-M", "-m"]).cloned().collect();
            for module in modules.iter().filter(|module| {
                module.text.contains([';', '(', '=', ' '])
                    && !module.text.starts_with("List::Util=")
                    && !module.text.starts_with("POSIX=")
            }) {
                self.code(walker, &module.text, keys::SCRIPT_CODE)?;
            }
        }
        if matches!(call.name, "php") {
            for setting in parsed
                .values(&["-d"])
                .filter(|field| field.text.contains("auto_prepend") || field.text.contains("extension"))
                .cloned()
                .collect::<Vec<_>>()
            {
                super::tools::program_option(walker, "php", "-d", &setting.text)?;
            }
        }
        Ok(())
    }

    fn is_in_place(&self, call: &Call<'_>) -> bool {
        matches!(self.language, Language::Perl | Language::Ruby)
            && call.arguments.iter().any(|field| {
                let flags = field.text.strip_prefix('-').unwrap_or_default();
                let before_code = flags.split(['e', 'E', 'M', 'I']).next().unwrap_or_default();
                !flags.starts_with('-') && before_code.contains('i')
            })
    }

    /// `python -m module`.
    fn module(
        &self,
        walker: &mut Walker<'_>,
        call: &Call<'_>,
        parsed: &crate::options::Parsed<'_>,
    ) -> Result<Output, Unreadable> {
        let module = parsed.values(&["-m"]).next().map(|field| field.text.clone()).unwrap_or_default();
        // Options of the module stand among those of the interpreter.
        let all: Vec<Field> = call
            .arguments
            .iter()
            .skip_while(|field| !field.text.ends_with(&module))
            .skip(1)
            .cloned()
            .collect();
        match module.as_str() {
            "pip" | "pipx" | "uv" | "poetry" | "twine" | "build" | "hatch" | "flit" | "pytest" | "black"
            | "ruff" | "mypy" | "coverage" => {
                let fields: Vec<Field> = std::iter::once(Field::literal(module)).chain(all).collect();
                return walker.call(&fields, call.stdin);
            }
            "pdb" | "code" if all.iter().any(|field| field.text.starts_with("-c")) => {
                walker.ask(
                    EffectKind::Execute,
                    None,
                    keys::SCRIPT_CODE,
                    format!("python -m {module} runs commands"),
                );
            }
            "timeit" | "trace" | "cProfile" | "profile" | "pdb" | "code" | "runpy" => {
                for field in all
                    .iter()
                    .filter(|field| !field.text.starts_with('-') && field.text.contains(['(', ';', ' ']))
                {
                    self.code(walker, &field.text, keys::SCRIPT_CODE)?;
                }
            }
            "http.server" if is_bound_to_loopback(&all) => {}
            "http.server" | "SimpleHTTPServer" | "smtpd" | "webbrowser" | "telnetlib" | "ftplib"
            | "uploadserver" => {
                walker.ask(
                    EffectKind::Network,
                    None,
                    keys::NETWORK_SEND,
                    format!("python -m {module} opens files to the network"),
                );
            }
            "shutil" | "pty" | "os" => walker.ask(
                EffectKind::Execute,
                None,
                keys::SCRIPT_CODE,
                format!("python -m {module} runs programs"),
            ),
            _ if python::RUNNABLE.contains(&module.as_str()) => {}
            _ if !walker.scene.is_sandboxed => {
                walker.ask(
                    EffectKind::Execute,
                    None,
                    keys::UNNAMED_PROGRAM,
                    format!("python -m {module} is not known to the gate, and no sandbox confines it"),
                );
            }
            _ => {}
        }
        super::secrets::fields(walker, &all);
        Ok(Output::Unknown)
    }

    /// Judges code: harmless calculations run while a sandbox confines them, everything else asks.
    fn code(&self, walker: &mut Walker<'_>, code: &str, rule: &'static str) -> Result<(), Unreadable> {
        let before = walker.findings.len();
        self.effects(walker, code)?;
        let is_plain = is_known(code) && code.len() < 20_000 && self.is_harmless(code);
        if !is_plain || walker.findings.len() > before || !walker.scene.is_sandboxed {
            walker.ask(EffectKind::Execute, None, rule, "runs code in an argument or from standard input");
        }
        Ok(())
    }

    /// Adds findings for literal effects: deleted trees, shell commands, files that are read or written.
    fn effects(&self, walker: &mut Walker<'_>, code: &str) -> Result<(), Unreadable> {
        if all_processes::is_fork_loop(code) {
            walker.deny(
                EffectKind::Process,
                None,
                keys::FORK_BOMB,
                "starts processes without end (fork bomb)",
            );
        }
        if all_processes::kills_all(code) {
            super::processes::kill_all(walker);
        }
        for call in calls(code) {
            call_effect(walker, &call)?;
        }
        // Ruby, Perl and PHP run the text in backticks; perl also what follows `system` and `exec`.
        if matches!(self.language, Language::Ruby | Language::Perl | Language::Other) {
            for text in code.split('`').skip(1).step_by(2).take(16) {
                walker.payload(text, Output::Nothing)?;
            }
            let words = ["system", "exec", "rm_rf", "remove_tree", "rmtree"];
            if words.iter().any(|word| code.contains(word)) {
                shell_call(walker, &strings(code))?;
            }
            if ["rm_rf", "rm_r", "remove_tree", "rmtree", "remove_entry"]
                .iter()
                .any(|word| code.contains(word))
            {
                for text in
                    strings(code).into_iter().take(16).filter(|text| text.starts_with(['/', '~', '.']))
                {
                    walker.delete_tree(&Field::literal(text), keys::RECURSIVE_DELETE);
                }
            }
        }
        for text in strings(code).iter().take(64).filter(|text| {
            text.starts_with(['/', '~', '.']) || text.contains("/.ssh") || text.contains(".env")
        }) {
            let expanded = match (text.strip_prefix("~/"), &walker.scene.user_home) {
                (Some(rest), Some(home)) => home.join(rest).display().to_string(),
                _ => text.clone(),
            };
            walker.read(&Field::literal(expanded));
        }
        Ok(())
    }

    fn is_harmless(&self, code: &str) -> bool {
        let plain = without_strings(code);
        let names = names(&plain);
        match self.language {
            Language::Python => python::is_harmless(&plain, &names, code),
            Language::Node => node::without_imports(code).is_some_and(|code| {
                let plain = without_strings(&code);
                node::is_harmless(&plain, &super::code::names(&plain), &code)
            }),
            Language::Perl | Language::Ruby | Language::Other => others::is_harmless(&plain, &names, code),
        }
    }
}

/// Adds findings for a call with literal arguments.
fn call_effect(walker: &mut Walker<'_>, call: &CodeCall) -> Result<(), Unreadable> {
    let first = call.strings.first().cloned().unwrap_or_default();
    // `rmtree(os.path.expanduser('~'))`
    if call.name.contains("rm") && !call.is_literal && call.strings == ["~"] {
        let home = walker.scene.user_home.as_ref().map(|home| home.display().to_string());
        walker.delete_tree(&Field::literal(home.unwrap_or_default()), keys::RECURSIVE_DELETE);
    }
    match call.name.as_str() {
        "rmtree"
        | "rmSync"
        | "rm"
        | "rm_rf"
        | "rm_r"
        | "rimraf"
        | "remove_tree"
        | "rmdirSync"
        | "removeSync"
        | "remove_entry_secure"
        | "remove_dir_all"
            if call.is_literal =>
        {
            walker.delete_tree(&Field::literal(first), keys::RECURSIVE_DELETE);
        }
        "system"
        | "popen"
        | "exec"
        | "execSync"
        | "shell_exec"
        | "passthru"
        | "spawn"
        | "spawnSync"
        | "execFile"
        | "execFileSync"
        | "run"
        | "call"
        | "check_call"
        | "check_output"
        | "Popen"
        | "execvp"
        | "execv"
        | "execlp"
        | "execl"
        | "spawnlp"
        | "getoutput"
        | "getstatusoutput"
        | "proc_open"
        | "execute"
        | "sh"
        | "qx"
        | "create_subprocess_shell"
        | "os_execute" => {
            shell_call(walker, &call.strings)?;
        }
        "open" | "openSync" | "readFileSync" | "readFile" | "read_text" | "Path" | "read"
        | "file_get_contents" | "slurp" | "readlines"
            if call.is_literal =>
        {
            walker.read(&Field::literal(first.clone()));
            let mode = call.strings.get(1).cloned().unwrap_or_default();
            if call.name == "open" && is_write_mode(&mode) {
                walker.write(&Field::literal(first), Via::Other);
            }
        }
        "write_text" | "writeFileSync" | "writeFile" | "appendFileSync" | "file_put_contents"
        | "createWriteStream"
            if call.is_literal && call.name != "write_text" =>
        {
            walker.write(&Field::literal(first), Via::Other);
        }
        _ => {}
    }
    Ok(())
}

/// Judges the strings of a call that starts a program, as one text and as arguments.
fn shell_call(walker: &mut Walker<'_>, strings: &[String]) -> Result<(), Unreadable> {
    let texts: Vec<String> = strings.iter().take(16).map(|text| super::text::unescaped(text)).collect();
    if texts.is_empty() {
        return Ok(());
    }
    walker.ask(EffectKind::Execute, None, keys::SCRIPT_CODE, "code starts another program");
    if let Some(first) = texts.first() {
        walker.payload(first, Output::Nothing)?;
    }
    if texts.len() > 1 {
        let fields: Vec<Field> = texts.iter().cloned().map(Field::literal).collect();
        walker.call(&fields, &Output::Nothing)?;
        walker.payload(&texts.join(" "), Output::Nothing)?;
        for text in texts.iter().skip(1).filter(|text| text.contains(' ')) {
            walker.payload(text, Output::Nothing)?;
        }
    }
    Ok(())
}

fn is_write_mode(mode: &str) -> bool {
    mode.len() <= 4 && mode.contains(['w', 'a', 'x', '+', '>'])
}

/// Returns true if an option binds a server to this machine only.
fn is_bound_to_loopback(arguments: &[Field]) -> bool {
    let is_loopback = |text: &str| matches!(text, "127.0.0.1" | "localhost" | "::1");
    arguments.iter().any(|field| field.text.strip_prefix("--bind=").is_some_and(is_loopback))
        || arguments.windows(2).any(|pair| match pair {
            [option, value] => matches!(option.text.as_str(), "-b" | "--bind") && is_loopback(&value.text),
            _ => false,
        })
}
