//! Interpreters: code in an argument, from standard input, or in a file.
//!
//! While a sandbox confines the command, code that only computes and prints may run without a question. The test is a
//! list of names that are allowed for the modules that can do harm, and a list of names that never are.

use super::code::{calls, names, strings, without_strings};
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
        "node" | "nodejs" | "tsx" | "ts-node" => (Language::Node, "eprCr", &["-e", "-p", "--eval", "--print"][..]),
        "bun" => (Language::Node, "er", &["-e", "--eval", "-p", "--print"][..]),
        "deno" => (Language::Node, "e", &["-e"][..]),
        "perl" => (Language::Perl, "eEMmIxF", &["-e", "-E"][..]),
        "ruby" | "jruby" => (Language::Ruby, "erICFE", &["-e"][..]),
        "php" => (Language::Other, "rBREfdcz", &["-r", "-B", "-R", "-E", "--run"][..]),
        "lua" | "luajit" => (Language::Other, "el", &["-e"][..]),
        "Rscript" | "R" | "r" => (Language::Other, "e", &["-e"][..]),
        "tclsh" | "wish" | "ghci" | "ghc" | "julia" | "elixir" | "erl" | "iex" | "scala" | "groovy" | "clojure" | "clj" | "bb" | "swift" | "guile" | "racket" | "sbcl" | "raku" | "octave" | "gnuplot"
        | "jshell" | "kotlin" | "nim" | "crystal" | "dart" | "m4" | "bc" | "dc" | "qjs" | "hy" | "xonsh" => (Language::Other, "eEc", &["-e", "-E", "-c", "--eval", "--evaluate", "--execute"][..]),
        _ => return Ok(None),
    };
    if matches!(name, "bc" | "dc" | "m4" | "gnuplot" | "ghc") && !call.arguments.iter().any(|field| field.text.starts_with("-e")) {
        let runs = matches!(call.stdin, Output::Text(text) if name != "bc" && text.contains('!'));
        if !runs {
            super::secrets::arguments(walker, call);
            return Ok(Some(Output::Harmless));
        }
    }
    let interpreter = Interpreter { language, letters, code };
    interpreter.judge(walker, call).map(Some)
}

struct Interpreter {
    language: Language,
    letters: &'static str,
    code: &'static [&'static str],
}

impl Interpreter {
    fn judge(&self, walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
        let arguments = self.without_verb(call);
        let spec = Spec { letters: self.letters, long: &["--eval", "--print", "--require", "--import", "--run", "--loader", "--evaluate"] };
        let (parsed, index) = parse_until(arguments, spec, 1);
        if parsed.has(&["--version", "-V", "--help", "-h"]) && parsed.operands.is_empty() || parsed.has(&["-v"]) && call.arguments.len() == 1 {
            return Ok(Output::Harmless);
        }
        self.options(walker, call, &parsed)?;
        let mut texts: Vec<Field> = parsed.values(self.code).cloned().collect();
        if call.name == "deno" && parsed.operands.first().is_some_and(|verb| verb.text == "eval") {
            texts.extend(arguments.get(index..).unwrap_or_default().iter().find(|field| !field.text.starts_with('-')).cloned());
        }
        if !texts.is_empty() {
            for text in &texts {
                self.code(walker, &text.text, keys::SCRIPT_CODE)?;
            }
            let files: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).chain(arguments.get(index..).unwrap_or_default().iter().cloned()).collect();
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
            return self.module(walker, call, &parsed, arguments.get(index..).unwrap_or_default());
        }
        match parsed.operands.first() {
            Some(file) if !matches!(file.text.as_str(), "-" | "/dev/stdin") => {
                match walker.process_output(file) {
                    Some(Output::Text(text)) => self.code(walker, &text, keys::SCRIPT_CODE)?,
                    Some(output) => {
                        walker.process_payload(&output, call.name)?;
                    }
                    None => walker.script_file(file),
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
            Output::Remote => walker.ask(EffectKind::Execute, None, keys::REMOTE_TO_SHELL, format!("runs text from the network with {}", call.name)),
            _ => walker.ask(EffectKind::Execute, None, keys::UNKNOWN_PAYLOAD, format!("{} runs code from standard input", call.name)),
        }
        Ok(())
    }

    fn options(&self, walker: &mut Walker<'_>, call: &Call<'_>, parsed: &crate::options::Parsed<'_>) -> Result<(), Unreadable> {
        let required: Vec<Field> = parsed.values(&["-r", "--require", "--import", "--loader"]).cloned().collect();
        let is_module = |text: &str| matches!(self.language, Language::Node | Language::Ruby) && !text.starts_with(['/', '~', '.']);
        if self.language != Language::Other && required.iter().any(|field| !is_module(&field.text)) {
            super::tools::program_option(walker, call.name, "--require", "")?;
        }
        if self.language == Language::Perl {
            let modules: Vec<Field> = parsed.values(&["-M", "-m"]).cloned().collect();
            for module in modules.iter().filter(|module| module.text.contains([';', '(', '=', ' ']) && !module.text.starts_with("List::Util=") && !module.text.starts_with("POSIX=")) {
                self.code(walker, &module.text, keys::SCRIPT_CODE)?;
            }
        }
        if matches!(call.name, "php") {
            for setting in parsed.values(&["-d"]).filter(|field| field.text.contains("auto_prepend") || field.text.contains("extension")).cloned().collect::<Vec<_>>() {
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
    fn module(&self, walker: &mut Walker<'_>, call: &Call<'_>, parsed: &crate::options::Parsed<'_>, rest: &[Field]) -> Result<Output, Unreadable> {
        let module = parsed.values(&["-m"]).next().map(|field| field.text.clone()).unwrap_or_default();
        let mut arguments: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
        arguments.extend(rest.iter().cloned());
        // Options of the module stand among those of the interpreter.
        let all: Vec<Field> = call.arguments.iter().skip_while(|field| !field.text.ends_with(&module)).skip(1).cloned().collect();
        match module.as_str() {
            "pip" | "pipx" | "uv" | "poetry" | "twine" | "build" | "hatch" | "flit" | "pytest" | "black" | "ruff" | "mypy" | "coverage" => {
                let fields: Vec<Field> = std::iter::once(Field::literal(module)).chain(all).collect();
                return walker.call(&fields, call.stdin);
            }
            "timeit" | "trace" | "cProfile" | "profile" | "pdb" | "code" | "runpy" => {
                for field in all.iter().filter(|field| !field.text.starts_with('-') && field.text.contains(['(', ';', ' '])) {
                    self.code(walker, &field.text, keys::SCRIPT_CODE)?;
                }
            }
            "http.server" | "SimpleHTTPServer" | "smtpd" | "webbrowser" | "telnetlib" | "ftplib" | "uploadserver" => {
                walker.ask(EffectKind::Network, None, keys::NETWORK_SEND, format!("python -m {module} opens files to the network"));
            }
            "shutil" | "pty" | "os" => walker.ask(EffectKind::Execute, None, keys::SCRIPT_CODE, format!("python -m {module} runs programs")),
            "ensurepip" | "venv" | "json.tool" | "unittest" | "compileall" | "py_compile" | "zipfile" | "tarfile" | "site" | "platform" | "sysconfig" | "this" | "ast" | "dis" | "tokenize" | "pydoc"
            | "calendar" | "gzip" | "base64" | "doctest" | "virtualenv" | "flake8" | "pylint" | "isort" | "sphinx" | "mkdocs" | "tox" | "nox" | "django" | "flask" | "uvicorn" | "gunicorn" | "alembic"
            | "jupyter" | "ipykernel" | "nbconvert" | "pyflakes" | "bandit" | "pre_commit" | "cookiecutter" | "celery" | "streamlit" | "torch.distributed.run" | "accelerate" => {}
            _ if !walker.scene.is_sandboxed => {
                walker.ask(EffectKind::Execute, None, keys::UNNAMED_PROGRAM, format!("python -m {module} is not known to the gate, and no sandbox confines it"));
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
        if is_fork_loop(code) {
            walker.deny(EffectKind::Process, None, keys::FORK_BOMB, "starts processes without end (fork bomb)");
        }
        for call in calls(code) {
            let first = call.strings.first().cloned().unwrap_or_default();
            match call.name.as_str() {
                "rmtree" | "rmSync" | "rm" | "rm_rf" | "rm_r" | "rimraf" | "remove_tree" | "rmdirSync" | "removeSync" | "remove_entry_secure" | "remove_dir_all" if call.is_literal => {
                    walker.delete_tree(&Field::literal(first), keys::RECURSIVE_DELETE);
                }
                "system" | "popen" | "exec" | "execSync" | "shell_exec" | "passthru" | "spawn" | "spawnSync" | "execFile" | "execFileSync" | "run" | "call" | "check_call" | "check_output" | "Popen"
                | "execvp" | "execv" | "execlp" | "execl" | "spawnlp" | "getoutput" | "getstatusoutput" | "proc_open" | "execute" | "sh" | "qx" | "create_subprocess_shell" | "os_execute" => {
                    shell_call(walker, &call.strings)?;
                }
                "open" | "openSync" | "readFileSync" | "readFile" | "read_text" | "Path" | "read" | "file_get_contents" | "slurp" | "readlines" if call.is_literal => {
                    walker.read(&Field::literal(first.clone()));
                    let mode = call.strings.get(1).cloned().unwrap_or_default();
                    if call.name == "open" && is_write_mode(&mode) {
                        walker.write(&Field::literal(first), Via::Other);
                    }
                }
                "write_text" | "writeFileSync" | "writeFile" | "appendFileSync" | "file_put_contents" | "createWriteStream" if call.is_literal && call.name != "write_text" => {
                    walker.write(&Field::literal(first), Via::Other);
                }
                _ => {}
            }
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
        }
        for text in strings(code).iter().take(64).filter(|text| text.starts_with(['/', '~', '.']) || text.contains("/.ssh") || text.contains(".env")) {
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
            Language::Python => python_is_harmless(&plain, &names, code),
            Language::Node => node_is_harmless(&plain, &names, code),
            Language::Perl | Language::Ruby | Language::Other => other_is_harmless(&plain, &names, code),
        }
    }
}

/// Judges the strings of a call that starts a program, as one text and as words.
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

fn is_fork_loop(code: &str) -> bool {
    let squeezed: String = code.chars().filter(|character| !character.is_whitespace()).collect();
    ["forkwhilefork", "fork()while", "while(1){fork", "whileTrue:os.fork()", "while1:os.fork()", "while(true){fork", "fork;fork", "loop{fork", "for(;;){fork"].iter().any(|text| squeezed.contains(text))
}

/// Modules of Python's standard library that only compute, or read.
const PYTHON_MODULES: &[&str] = &[
    "sys", "json", "math", "re", "datetime", "time", "platform", "collections", "itertools", "functools", "string", "random", "statistics", "textwrap", "base64", "hashlib", "struct", "decimal",
    "fractions", "pprint", "typing", "dataclasses", "enum", "uuid", "unicodedata", "operator", "calendar", "csv", "io", "os", "glob", "pathlib", "sysconfig", "site", "inspect", "ast", "tomllib",
    "copy", "heapq", "bisect", "array", "zlib", "binascii", "difflib", "keyword", "locale", "colorsys", "cmath", "numbers", "secrets", "string", "stat", "fnmatch", "html", "xml", "configparser",
    "traceback", "warnings", "contextlib", "abc", "types", "dis", "tokenize", "shlex", "zoneinfo", "gc", "weakref", "argparse", "ipaddress", "email", "gettext", "sqlite3", "this", "errno", "__future__",
];

/// Modules of the standard library that can start programs, reach the network, delete or run code.
const PYTHON_DANGEROUS: &[&str] = &[
    "subprocess", "shutil", "socket", "urllib", "requests", "httpx", "http", "ctypes", "pty", "multiprocessing", "ftplib", "smtplib", "telnetlib", "paramiko", "asyncio", "signal", "importlib", "code",
    "runpy", "pickle", "webbrowser", "marshal", "builtins", "pdb", "bdb", "timeit", "trace", "cffi", "fabric", "pexpect", "psutil", "aiohttp", "urllib3", "boto3", "socketserver", "xmlrpc", "imaplib",
    "poplib", "nntplib", "ssl", "select", "selectors", "concurrent", "threading", "_thread", "tempfile", "tarfile", "zipfile", "distutils", "setuptools", "posix", "nt", "resource", "fcntl", "mmap", "shelve",
    "dbm", "codeop", "venv", "ensurepip", "sh", "plumbum", "invoke", "docker", "kubernetes", "pwn", "scapy", "pip", "cProfile", "profile", "doctest", "unittest", "sched", "atexit", "faulthandler", "syslog",
    "crypt", "pwd", "grp", "spwd", "termios", "tty", "readline", "rlcompleter", "antigravity", "idlelib", "lib2to3", "turtle", "tkinter", "winreg", "_winapi", "msvcrt", "_posixsubprocess", "pkgutil",
    "zipimport", "linecache", "fileinput", "logging",
];

/// Names that never are in harmless Python.
const PYTHON_NAMES: &[&str] = &[
    "eval", "exec", "compile", "__import__", "getattr", "setattr", "delattr", "globals", "locals", "vars", "__builtins__", "system", "popen", "fork", "kill", "killpg", "remove", "unlink", "rmdir",
    "removedirs", "rmtree", "chmod", "chown", "symlink", "link", "truncate", "write", "write_text", "write_bytes", "writelines", "modules", "rename", "renames", "symlink_to", "hardlink_to", "import_module",
    "exec_module", "load_module", "breakpoint", "environb", "putenv", "unsetenv", "connect", "urlopen", "urlretrieve", "Popen", "check_output", "startfile", "touch", "input", "meta_path", "path_hooks", "settrace",
    "setprofile", "load_extension", "executescript",
];

fn python_is_harmless(plain: &str, names: &[&str], code: &str) -> bool {
    let dunder = ["__version__", "__file__", "__name__", "__doc__", "__path__", "__all__", "__main__", "__future__"];
    let has_dunder = names.iter().any(|name| name.starts_with("__") && !dunder.contains(name));
    if has_dunder || names.iter().any(|name| PYTHON_NAMES.contains(name) || PYTHON_DANGEROUS.contains(name)) || plain.contains('\\') {
        return false;
    }
    let writes = calls(code).iter().any(|call| call.name == "open" && (!call.is_literal || call.strings.len() > 1 && call.strings.iter().skip(1).any(|mode| is_write_mode(mode))));
    // Project modules are like scripts of the project; os is checked name by name.
    let imports_ok = imports(plain).iter().all(|module| !PYTHON_DANGEROUS.contains(&module.as_str()) || PYTHON_MODULES.contains(&module.as_str()));
    let os_names = ["path", "getcwd", "listdir", "environ", "sep", "name", "cpu_count", "linesep", "getpid", "getenv", "walk", "scandir", "stat", "uname", "pathsep", "curdir", "getuid", "fspath"];
    let os_ok = plain.split("os.").skip(1).all(|rest| os_names.contains(&super::code::names(rest).first().copied().unwrap_or_default()) || !is_os(plain, rest));
    let aliases_os = plain.contains("import os as") || plain.contains("from os import") && !plain.contains("from os import path") && !plain.contains("from os import environ") && !plain.contains("from os import getcwd");
    !writes && imports_ok && os_ok && !aliases_os
}

/// Returns true if the text before `rest` ends in the module name `os.` and not in a longer name such as `macos.`.
fn is_os(plain: &str, rest: &str) -> bool {
    let at = plain.len().saturating_sub(rest.len() + 3);
    let before = plain.get(..at).and_then(|text| text.chars().next_back());
    !before.is_some_and(|character| character.is_alphanumeric() || character == '_')
}

fn imports(plain: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in plain.split([';', '\n']) {
        let part = part.trim();
        let list = part.strip_prefix("import ").or_else(|| part.strip_prefix("from ").map(|rest| rest.split(" import").next().unwrap_or_default()));
        let modules = list.into_iter().flat_map(|list| list.split(','));
        found.extend(modules.map(|module| module.trim().split(['.', ' ']).next().unwrap_or_default().to_owned()));
    }
    found
}

fn node_is_harmless(plain: &str, names: &[&str], code: &str) -> bool {
    const NAMES: &[&str] = &[
        "eval", "Function", "constructor", "child_process", "execSync", "exec", "spawn", "spawnSync", "fork", "fetch", "XMLHttpRequest", "WebSocket", "globalThis", "mainModule", "binding", "dlopen", "kill", "Deno",
        "Bun", "Worker", "writeFileSync", "writeFile", "appendFileSync", "appendFile", "unlinkSync", "unlink", "rmSync", "rm", "rmdirSync", "rmdir", "renameSync", "rename", "chmodSync", "chmod", "symlinkSync",
        "createWriteStream", "copyFileSync", "cpSync", "mkdirSync", "truncateSync", "createServer", "connect", "createConnection", "runInThisContext", "runInNewContext", "Script", "WebAssembly", "atob", "import",
        "_load", "createRequire", "openSync", "writeSync", "linkSync", "chownSync", "Reflect", "Proxy", "request", "listen", "__proto__", "prototype", "process_binding", "getBuiltinModule", "setPrototypeOf",
    ];
    const MODULES: &[&str] = &["fs", "path", "os", "util", "url", "crypto", "assert", "buffer", "zlib", "querystring", "string_decoder", "events", "punycode", "perf_hooks"];
    const PROCESS: &[&str] = &["version", "versions", "argv", "env", "platform", "arch", "cwd", "exit", "stdout", "memoryUsage", "stdin", "uptime", "hrtime", "pid", "release", "features", "execPath", "title", "stderr", "config"];
    if names.iter().any(|name| NAMES.contains(name)) || plain.contains("process[") || plain.contains("require[") || plain.contains("[\"\"]") && plain.contains("require") && plain.contains("](") {
        return false;
    }
    let process_ok = plain.split("process.").skip(1).all(|rest| PROCESS.contains(&super::code::names(rest).first().copied().unwrap_or_default()));
    let requires = calls(code);
    let requires_ok = requires.iter().filter(|call| call.name == "require").all(|call| {
        let module = call.strings.first().map(|module| module.trim_start_matches("node:")).unwrap_or_default();
        let is_project = module.starts_with('.') || module.ends_with(".json");
        let is_builtin = matches!(module, "child_process" | "net" | "http" | "https" | "http2" | "dgram" | "vm" | "worker_threads" | "cluster" | "tls" | "dns" | "module" | "repl" | "inspector" | "v8" | "wasi" | "process" | "tty" | "readline");
        call.is_literal && (MODULES.contains(&module) || is_project || !is_builtin)
    });
    let aliases_require = plain.replace("require(", "").contains("require");
    process_ok && requires_ok && !aliases_require && !plain.contains("\\u") && !plain.contains("\\x")
}

fn other_is_harmless(plain: &str, names: &[&str], code: &str) -> bool {
    const NAMES: &[&str] = &[
        "system", "exec", "qx", "unlink", "open", "eval", "require", "do", "fork", "kill", "socket", "syscall", "rename", "rmdir", "mkdir", "chmod", "chown", "symlink", "link", "truncate", "spawn", "popen",
        "IO", "File", "Dir", "FileUtils", "Kernel", "Open3", "Process", "Net", "Socket", "TCPSocket", "send", "public_send", "__send__", "instance_eval", "class_eval", "load", "autoload", "const_get", "method",
        "shell_exec", "passthru", "proc_open", "pcntl_exec", "assert", "include", "include_once", "require_once", "file_put_contents", "fopen", "fwrite", "curl_exec", "fsockopen", "mail", "dl", "call_user_func",
        "os", "io", "loadstring", "loadfile", "dofile", "package", "debug", "preg_replace", "create_function", "opendir", "sysopen", "pipe", "local", "tie", "dump", "sprintf_", "print_to_file", "chdir", "utime",
        "Fcntl", "readpipe", "glob", "unpack_code", "shell", "run", "Cmd", "unsafe", "unsafePerformIO", "ccall", "write", "cat", "sink", "download", "source", "file", "URI", "HTTP", "PTY", "ObjectSpace", "Fiddle",
        "binding", "trap", "at_exit", "putenv", "apache_setenv", "ini_set", "extract", "unserialize", "Runtime", "ProcessBuilder", "sh", "execute", "delete", "remove_tree", "rmtree",
    ];
    let has_evaluation = ["/e", "/ge", "/ee", "}e", "}ge", "/gei", "/ie", "|e", "!e", "/egi", "#e", ",e;"].iter().any(|sign| code.contains(sign)) && plain.contains('s');
    let has_reference = plain.contains("&{") || plain.contains("&$") || plain.contains("*{") || plain.contains("%x") || plain.contains("->$") || code.contains('`') || plain.contains("@{[") || plain.contains("(?{") || plain.contains("<(") ;
    let pipes = plain.replace("||", "").replace("|=", "");
    let opens_pipe = pipes.contains("| \"\"") || pipes.contains("|\"\"") || plain.contains("> \"\"") || plain.contains(">>\"\"") || plain.contains(">\"\"");
    let uses_ok = plain.split("use ").skip(1).all(|rest| {
        let module = rest.split([';', ' ', '(']).next().unwrap_or_default();
        matches!(module, "strict" | "warnings" | "List::Util" | "POSIX" | "JSON::PP" | "Data::Dumper" | "Time::HiRes" | "utf8" | "feature" | "Time::Local" | "Scalar::Util" | "Encode" | "open_")
    });
    !names.iter().any(|name| NAMES.contains(name)) && !has_evaluation && !has_reference && !opens_pipe && uses_ok
}
