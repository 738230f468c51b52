//! Code of Perl, Ruby, PHP and other languages that only computes and prints.

/// Names that never are in harmless code.
const NAMES: &[&str] = &[
    "system",
    "exec",
    "qx",
    "unlink",
    "open",
    "eval",
    "require",
    "do",
    "fork",
    "kill",
    "socket",
    "syscall",
    "rename",
    "rmdir",
    "mkdir",
    "chmod",
    "chown",
    "symlink",
    "link",
    "truncate",
    "spawn",
    "popen",
    "IO",
    "File",
    "Dir",
    "FileUtils",
    "Kernel",
    "Open3",
    "Process",
    "Net",
    "Socket",
    "TCPSocket",
    "send",
    "public_send",
    "__send__",
    "instance_eval",
    "class_eval",
    "load",
    "autoload",
    "const_get",
    "method",
    "shell_exec",
    "passthru",
    "proc_open",
    "pcntl_exec",
    "assert",
    "include",
    "include_once",
    "require_once",
    "file_put_contents",
    "fopen",
    "fwrite",
    "curl_exec",
    "fsockopen",
    "mail",
    "dl",
    "call_user_func",
    "os",
    "io",
    "loadstring",
    "loadfile",
    "dofile",
    "package",
    "debug",
    "preg_replace",
    "create_function",
    "opendir",
    "sysopen",
    "pipe",
    "local",
    "tie",
    "dump",
    "sprintf_",
    "print_to_file",
    "chdir",
    "utime",
    "Fcntl",
    "readpipe",
    "glob",
    "unpack_code",
    "shell",
    "run",
    "Cmd",
    "unsafe",
    "unsafePerformIO",
    "ccall",
    "write",
    "cat",
    "sink",
    "download",
    "source",
    "file",
    "URI",
    "HTTP",
    "PTY",
    "ObjectSpace",
    "Fiddle",
    "binding",
    "trap",
    "at_exit",
    "putenv",
    "apache_setenv",
    "ini_set",
    "extract",
    "unserialize",
    "Runtime",
    "ProcessBuilder",
    "sh",
    "execute",
    "delete",
    "remove_tree",
    "rmtree",
];

/// Returns true for code without a name that runs, writes or loads something.
pub(super) fn is_harmless(plain: &str, names: &[&str], code: &str) -> bool {
    let has_evaluation = ["/e", "/ge", "/ee", "}e", "}ge", "/gei", "/ie", "|e", "!e", "/egi", "#e", ",e;"]
        .iter()
        .any(|sign| code.contains(sign))
        && plain.contains('s');
    let has_reference = plain.contains("&{")
        || plain.contains("&$")
        || plain.contains("*{")
        || plain.contains("%x")
        || plain.contains("->$")
        || code.contains('`')
        || plain.contains("@{[")
        || plain.contains("(?{")
        || plain.contains("<(");
    let pipes = plain.replace("||", "").replace("|=", "");
    let opens_pipe = pipes.contains("| \"\"")
        || pipes.contains("|\"\"")
        || plain.contains("> \"\"")
        || plain.contains(">>\"\"")
        || plain.contains(">\"\"");
    let uses_ok = plain.split("use ").skip(1).all(|rest| {
        let module = rest.split([';', ' ', '(']).next().unwrap_or_default();
        matches!(
            module,
            "strict"
                | "warnings"
                | "List::Util"
                | "POSIX"
                | "JSON::PP"
                | "Data::Dumper"
                | "Time::HiRes"
                | "utf8"
                | "feature"
                | "Time::Local"
                | "Scalar::Util"
                | "Encode"
                | "open_"
        )
    });
    !names.iter().any(|name| NAMES.contains(name))
        && !has_evaluation
        && !has_reference
        && !opens_pipe
        && uses_ok
}
