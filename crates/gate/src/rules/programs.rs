//! Programs that are known to be harmless, with or without a sandbox.

use super::secrets;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

/// Programs that only read or compute.
const READERS: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "pwd", "echo", "sleep", "date", "whoami", "uname", "which", "stat", "file", "true", "false", "grep", "egrep", "fgrep", "rg", "id", "hostname", "df", "du", "free",
    "uptime", "ps", "pgrep", "pidof", "lsof", "nproc", "lscpu", "lsblk", "lspci", "lsusb", "lsmod", "arch", "printenv", "basename", "dirname", "realpath", "readlink", "seq", "sort", "uniq", "cut", "tr", "comm",
    "join", "paste", "column", "fold", "fmt", "nl", "rev", "tac", "diff", "cmp", "diff3", "sdiff", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum", "sum", "md5", "shasum", "strings", "od", "hexdump", "xxd",
    "base64", "jq", "tree", "cal", "bc", "expr", "factor", "test", "[", "printf", "type", "whereis", "whatis", "apropos", "groups", "users", "who", "w", "last", "tty", "locale", "getconf", "nm", "objdump", "readelf",
    "ldd", "size", "cloc", "tokei", "scc", "bat", "less", "more", "zcat", "zgrep", "top", "htop", "vmstat", "iostat", "mpstat", "sar", "ss", "netstat", "dig", "nslookup", "host", "ping", "traceroute", "whois", "getent",
    "numfmt", "shuf", "yes", "tput", "clear", "reset", "logname", "pathchk", "tsort", "column", "delta", "difft", "colordiff", "fzf", "exa", "eza", "fd", "fdfind", "ag", "ack", "ncdu", "dust", "procs", "glow",
    "xmllint", "csvlook", "csvcut", "gron", "hexyl", "pstree", "pmap", "time", "identify", "ffprobe", "exiftool", "pdfinfo", "pdftotext", "lsb_release", "sw_vers", "arp", "ifstat", "dmesg", "lsns", "namei", "uuidgen",
    "mktemp", "gtimeout", "qalc", "units", "datediff", "dateadd", "tldr", "cheat", "figlet", "cowsay", "fortune", "sysbench", "nvidia-smi", "rocm-smi", "sensors", "acpi",
];

/// Tools of developers that work inside the project.
const TOOLS: &[&str] = &[
    "cargo", "rustc", "rustfmt", "clippy-driver", "npm", "yarn", "pnpm", "bun", "tsc", "eslint", "prettier", "biome", "jest", "vitest", "mocha", "webpack", "vite", "rollup", "esbuild", "next", "pytest", "tox", "nox", "black", "ruff",
    "isort", "mypy", "pyright", "flake8", "pylint", "coverage", "go", "gofmt", "golangci-lint", "gopls", "mvn", "mvnw", "gradle", "gradlew", "javac", "java", "kotlinc", "sbt", "make", "cmake", "ctest", "ninja", "meson", "gcc", "g++", "clang",
    "clang-format", "clang-tidy", "ar", "strip", "dotnet", "swift", "xcodebuild", "mix", "rebar3", "stack", "cabal", "ghc", "zig", "nim", "crystal", "rspec", "rubocop", "rake", "rails", "bundle", "phpunit", "composer", "phpstan",
    "artisan", "pre-commit", "shellcheck", "shfmt", "hadolint", "yamllint", "markdownlint", "mdbook", "hugo", "jekyll", "mkdocs", "sphinx-build", "pandoc", "dot", "plantuml", "protoc", "buf", "sqlfluff", "terraform-docs", "tflint",
    "pip", "pip3", "uv", "poetry", "pipenv", "virtualenv", "git", "gh", "nvm", "rustup", "wasm-pack", "trunk", "playwright", "cypress", "storybook", "turbo", "nx", "lerna", "changeset", "typedoc", "jsdoc", "ctags", "cscope", "bear",
    "valgrind", "gprof", "gcov", "lcov", "cargo-nextest", "insta", "act", "convert", "magick", "ffmpeg", "gzip", "gunzip", "bzip2", "xz", "zstd", "pigz", "pyinstaller", "cython", "maturin", "alembic", "django-admin", "flask", "uvicorn",
    "gunicorn", "streamlit", "jupyter", "nbconvert", "dbt", "airflow", "serve", "http-server", "nodemon", "ts-node", "swc", "babel", "tailwindcss", "postcss", "sass", "svgo", "depcheck", "madge", "license-checker", "commitlint", "husky", "lint-staged", "bats", "luacheck", "stylua", "busted", "ocamlfind", "dune", "opam", "erlc", "elixirc", "fpc", "gfortran", "R",
];

/// Returns true for programs that read and print, whatever their arguments are.
pub(crate) fn is_reader(name: &str) -> bool {
    READERS.contains(&name)
}

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let is_named = !call.program.text.contains('/');
    if is_reader(call.name) || is_named && TOOLS.contains(&call.name) {
        secrets::arguments(walker, call);
        return Ok(Some(Output::Unknown));
    }
    Ok(None)
}
