//! JavaScript that only computes, reads and prints.

use crate::rules::code::{calls, names as names_of};

/// Names that never are in harmless code.
const NAMES: &[&str] = &[
    "eval",
    "Function",
    "constructor",
    "child_process",
    "execSync",
    "exec",
    "spawn",
    "spawnSync",
    "fork",
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "globalThis",
    "mainModule",
    "binding",
    "dlopen",
    "kill",
    "Deno",
    "Bun",
    "Worker",
    "writeFileSync",
    "writeFile",
    "appendFileSync",
    "appendFile",
    "unlinkSync",
    "unlink",
    "rmSync",
    "rm",
    "rmdirSync",
    "rmdir",
    "renameSync",
    "rename",
    "chmodSync",
    "chmod",
    "symlinkSync",
    "createWriteStream",
    "copyFileSync",
    "cpSync",
    "mkdirSync",
    "truncateSync",
    "createServer",
    "connect",
    "createConnection",
    "runInThisContext",
    "runInNewContext",
    "Script",
    "WebAssembly",
    "atob",
    "import",
    "_load",
    "createRequire",
    "openSync",
    "writeSync",
    "linkSync",
    "chownSync",
    "Reflect",
    "Proxy",
    "request",
    "listen",
    "__proto__",
    "prototype",
    "process_binding",
    "getBuiltinModule",
    "setPrototypeOf",
];

/// Modules that only compute, or read.
const MODULES: &[&str] = &[
    "fs",
    "path",
    "os",
    "util",
    "url",
    "crypto",
    "assert",
    "buffer",
    "zlib",
    "querystring",
    "string_decoder",
    "events",
    "punycode",
    "perf_hooks",
];

/// Properties of `process` that only inform.
const PROCESS: &[&str] = &[
    "version",
    "versions",
    "argv",
    "env",
    "platform",
    "arch",
    "cwd",
    "exit",
    "stdout",
    "memoryUsage",
    "stdin",
    "uptime",
    "hrtime",
    "pid",
    "release",
    "features",
    "execPath",
    "title",
    "stderr",
    "config",
];

/// The code without its `import ... from "module"` lines; `None` if one imports more than a module that only computes or
/// reads.
pub(super) fn without_imports(code: &str) -> Option<String> {
    let mut rest = String::new();
    for statement in code.split_inclusive([';', '\n']) {
        let text = statement.trim().trim_end_matches(';').trim_end();
        if !text.starts_with("import ") {
            rest.push_str(statement);
            continue;
        }
        let module = text.rsplit_once(" from ").map_or("", |(_, module)| module.trim());
        let module = module.trim_matches(['"', '\'']).trim_start_matches("node:");
        MODULES.contains(&module).then_some(())?;
    }
    Some(rest)
}

/// Returns true for code that starts nothing, sends nothing and writes nothing.
pub(super) fn is_harmless(plain: &str, names: &[&str], code: &str) -> bool {
    if names.iter().any(|name| NAMES.contains(name))
        || plain.contains("process[")
        || plain.contains("](")
        || plain.contains("require[")
        || plain.contains("[\"\"]") && plain.contains("require") && plain.contains("](")
    {
        return false;
    }
    let process_ok = plain
        .split("process.")
        .skip(1)
        .all(|rest| PROCESS.contains(&names_of(rest).first().copied().unwrap_or_default()));
    let requires = calls(code);
    let requires_ok = requires.iter().filter(|call| call.name == "require").all(|call| {
        let module =
            call.strings.first().map(|module| module.trim_start_matches("node:")).unwrap_or_default();
        let is_project = module.starts_with('.') || module.ends_with(".json");
        let is_builtin = matches!(
            module,
            "child_process"
                | "net"
                | "http"
                | "https"
                | "http2"
                | "dgram"
                | "vm"
                | "worker_threads"
                | "cluster"
                | "tls"
                | "dns"
                | "module"
                | "repl"
                | "inspector"
                | "v8"
                | "wasi"
                | "process"
                | "tty"
                | "readline"
        );
        call.is_literal && (MODULES.contains(&module) || is_project || !is_builtin)
    });
    let aliases_require = plain.replace("require(", "").contains("require");
    process_ok && requires_ok && !aliases_require && !plain.contains("\\u") && !plain.contains("\\x")
}
