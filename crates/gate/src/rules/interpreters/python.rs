//! Python code that only computes, reads and prints.

use super::is_write_mode;
use crate::rules::code::{calls, names as names_of};

/// Modules that `python -m` may run without a sandbox.
pub(super) const RUNNABLE: &[&str] = &[
    "ensurepip",
    "venv",
    "json.tool",
    "unittest",
    "compileall",
    "py_compile",
    "zipfile",
    "tarfile",
    "site",
    "platform",
    "sysconfig",
    "this",
    "ast",
    "dis",
    "tokenize",
    "pydoc",
    "calendar",
    "gzip",
    "base64",
    "doctest",
    "virtualenv",
    "flake8",
    "pylint",
    "isort",
    "sphinx",
    "mkdocs",
    "tox",
    "nox",
    "django",
    "flask",
    "uvicorn",
    "gunicorn",
    "alembic",
    "jupyter",
    "ipykernel",
    "nbconvert",
    "pyflakes",
    "bandit",
    "pre_commit",
    "cookiecutter",
    "celery",
    "streamlit",
    "torch.distributed.run",
    "accelerate",
];

/// Modules of Python's standard library that only compute, or read.
const PYTHON_MODULES: &[&str] = &[
    "sys",
    "json",
    "math",
    "re",
    "datetime",
    "time",
    "platform",
    "collections",
    "itertools",
    "functools",
    "string",
    "random",
    "statistics",
    "textwrap",
    "base64",
    "hashlib",
    "struct",
    "decimal",
    "fractions",
    "pprint",
    "typing",
    "dataclasses",
    "enum",
    "uuid",
    "unicodedata",
    "operator",
    "calendar",
    "csv",
    "io",
    "os",
    "glob",
    "pathlib",
    "sysconfig",
    "site",
    "inspect",
    "ast",
    "tomllib",
    "copy",
    "heapq",
    "bisect",
    "array",
    "zlib",
    "binascii",
    "difflib",
    "keyword",
    "locale",
    "colorsys",
    "cmath",
    "numbers",
    "secrets",
    "string",
    "stat",
    "fnmatch",
    "html",
    "xml",
    "configparser",
    "traceback",
    "warnings",
    "contextlib",
    "abc",
    "types",
    "dis",
    "tokenize",
    "shlex",
    "zoneinfo",
    "gc",
    "weakref",
    "argparse",
    "ipaddress",
    "email",
    "gettext",
    "sqlite3",
    "this",
    "errno",
    "__future__",
];

/// Modules of the standard library that can start programs, reach the network, delete or run code.
const PYTHON_DANGEROUS: &[&str] = &[
    "subprocess",
    "shutil",
    "socket",
    "urllib",
    "requests",
    "httpx",
    "http",
    "ctypes",
    "pty",
    "multiprocessing",
    "ftplib",
    "smtplib",
    "telnetlib",
    "paramiko",
    "asyncio",
    "signal",
    "importlib",
    "code",
    "runpy",
    "pickle",
    "webbrowser",
    "marshal",
    "builtins",
    "pdb",
    "bdb",
    "timeit",
    "trace",
    "cffi",
    "fabric",
    "pexpect",
    "psutil",
    "aiohttp",
    "urllib3",
    "boto3",
    "socketserver",
    "xmlrpc",
    "imaplib",
    "poplib",
    "nntplib",
    "ssl",
    "select",
    "selectors",
    "concurrent",
    "threading",
    "_thread",
    "tempfile",
    "tarfile",
    "zipfile",
    "distutils",
    "setuptools",
    "posix",
    "nt",
    "resource",
    "fcntl",
    "mmap",
    "shelve",
    "dbm",
    "codeop",
    "venv",
    "ensurepip",
    "sh",
    "plumbum",
    "invoke",
    "docker",
    "kubernetes",
    "pwn",
    "scapy",
    "pip",
    "cProfile",
    "profile",
    "doctest",
    "unittest",
    "sched",
    "atexit",
    "faulthandler",
    "syslog",
    "crypt",
    "pwd",
    "grp",
    "spwd",
    "termios",
    "tty",
    "readline",
    "rlcompleter",
    "antigravity",
    "idlelib",
    "lib2to3",
    "turtle",
    "tkinter",
    "winreg",
    "_winapi",
    "msvcrt",
    "_posixsubprocess",
    "pkgutil",
    "zipimport",
    "linecache",
    "fileinput",
    "logging",
];

/// Names that never are in harmless Python.
const PYTHON_NAMES: &[&str] = &[
    "eval",
    "exec",
    "compile",
    "__import__",
    "getattr",
    "setattr",
    "delattr",
    "globals",
    "locals",
    "vars",
    "__builtins__",
    "system",
    "popen",
    "fork",
    "kill",
    "killpg",
    "remove",
    "unlink",
    "rmdir",
    "removedirs",
    "rmtree",
    "chmod",
    "chown",
    "symlink",
    "link",
    "truncate",
    "write",
    "write_text",
    "write_bytes",
    "writelines",
    "modules",
    "rename",
    "renames",
    "symlink_to",
    "hardlink_to",
    "import_module",
    "exec_module",
    "load_module",
    "breakpoint",
    "environb",
    "putenv",
    "unsetenv",
    "connect",
    "urlopen",
    "urlretrieve",
    "Popen",
    "check_output",
    "startfile",
    "touch",
    "input",
    "meta_path",
    "path_hooks",
    "settrace",
    "setprofile",
    "load_extension",
    "executescript",
];

pub(super) fn is_harmless(plain: &str, names: &[&str], code: &str) -> bool {
    let dunder =
        ["__version__", "__file__", "__name__", "__doc__", "__path__", "__all__", "__main__", "__future__"];
    let has_dunder = names.iter().any(|name| name.starts_with("__") && !dunder.contains(name));
    if has_dunder
        || names.iter().any(|name| PYTHON_NAMES.contains(name) || PYTHON_DANGEROUS.contains(name))
        || plain.contains('\\')
    {
        return false;
    }
    let writes = calls(code).iter().any(|call| {
        call.name == "open"
            && (!call.is_literal
                || call.strings.len() > 1 && call.strings.iter().skip(1).any(|mode| is_write_mode(mode)))
    });
    // Project modules are like scripts of the project; os is checked name by name.
    let imports_ok = imports(plain).iter().all(|module| {
        !PYTHON_DANGEROUS.contains(&module.as_str()) || PYTHON_MODULES.contains(&module.as_str())
    });
    let os_names = [
        "path",
        "getcwd",
        "listdir",
        "environ",
        "sep",
        "name",
        "cpu_count",
        "linesep",
        "getpid",
        "getenv",
        "walk",
        "scandir",
        "stat",
        "uname",
        "pathsep",
        "curdir",
        "getuid",
        "fspath",
    ];
    let os_ok = plain.split("os.").skip(1).all(|rest| {
        os_names.contains(&names_of(rest).first().copied().unwrap_or_default()) || !is_os(plain, rest)
    });
    let aliases_os = plain.contains("import os as")
        || plain.contains("from os import")
            && !plain.contains("from os import path")
            && !plain.contains("from os import environ")
            && !plain.contains("from os import getcwd");
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
        let list = part.strip_prefix("import ").or_else(|| {
            part.strip_prefix("from ").map(|rest| rest.split(" import").next().unwrap_or_default())
        });
        let modules = list.into_iter().flat_map(|list| list.split(','));
        found.extend(
            modules.map(|module| module.trim().split(['.', ' ']).next().unwrap_or_default().to_owned()),
        );
    }
    found
}
