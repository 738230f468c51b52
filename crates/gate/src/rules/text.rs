//! Programs that print or filter text, and the text they print.

use super::{files::Via, secrets};
use crate::field::{Field, UNKNOWN};
use crate::limits::Unreadable;
use crate::options::{Spec, parse};
use crate::output::Output;
use crate::walk::{Call, Value, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    Ok(Some(match call.name {
        "echo" => Output::Text(echo(call.arguments)),
        "printf" => printf(walker, call.arguments),
        "pwd" => Output::Text(walker.cwd_text()),
        "cat" | "tac" | "nl" | "bat" | "batcat" => {
            secrets::arguments(walker, call);
            cat(walker, call)
        }
        "tee" | "sponge" => {
            for field in call.arguments.iter().filter(|field| !field.text.starts_with('-')) {
                walker.write(field, Via::Tee);
            }
            call.stdin.clone()
        }
        "base64" | "base32" | "basenc" | "gbase64" => {
            secrets::arguments(walker, call);
            base64(call)
        }
        "rev" if !call.arguments.is_empty() => {
            secrets::arguments(walker, call);
            Output::Unknown
        }
        "rev" => match call.stdin {
            Output::Text(text) => Output::Decoded("rev", Some(reversed(text))),
            other => other.filtered(),
        },
        "xxd" | "tr" | "openssl" | "gunzip" | "zcat" | "gzip" | "bzip2" | "bzcat" | "xz" | "xzcat"
        | "zstd" | "zstdcat" | "uudecode" | "ascii2uni" | "hex" | "rot13" | "unxz" | "lz4" | "brotli"
        | "od" | "iconv" | "gpg" | "age"
            if !matches!(call.stdin, Output::Nothing) && !matches!(call.name, "gpg" | "openssl" | "age")
                || matches!(call.name, "tr" | "xxd" | "od") =>
        {
            secrets::arguments(walker, call);
            decoded(call)
        }
        "openssl" => {
            secrets::arguments(walker, call);
            super::secrets::openssl(walker, call);
            Output::Decoded("openssl", None)
        }
        "head" | "tail" | "sort" | "uniq" | "cut" | "column" | "fold" | "fmt" | "paste" | "wc" | "less"
        | "more" | "expand" | "strings" | "shuf" | "comm" | "join" | "numfmt" | "pr" => {
            return filter(walker, call).map(Some);
        }
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" | "ugrep" => {
            return grep(walker, call).map(Some);
        }
        "ls" | "ll" | "dir" | "tree" | "exa" | "eza" => Output::Paths(operands_or_here(call)),
        "date" | "uname" | "nproc" | "whoami" | "id" | "groups" | "hostname" | "arch" | "tty" | "seq"
        | "uptime" | "basename" | "dirname" | "realpath" | "readlink" | "uuidgen" | "getconf" | "locale"
        | "logname" | "users" | "expr" | "factor" | "cal" | "tput" | "which" | "whereis" | "type" => {
            return harmless(walker, call).map(Some);
        }
        "mktemp" => mktemp(walker, call),
        _ => return Ok(None),
    }))
}

fn echo(arguments: &[Field]) -> String {
    let mut is_escaped = false;
    let mut has_end = true;
    let mut words = arguments;
    while let Some((first, rest)) = words.split_first() {
        let flags = first.text.strip_prefix('-').unwrap_or_default();
        if flags.is_empty() || !flags.chars().all(|flag| matches!(flag, 'n' | 'e' | 'E')) {
            break;
        }
        is_escaped |= flags.contains('e');
        has_end &= !flags.contains('n');
        words = rest;
    }
    let texts: Vec<&str> = words.iter().map(|field| field.text.as_str()).collect();
    let text = texts.join(" ");
    let mut text = if is_escaped { unescaped(&text) } else { text };
    if has_end {
        text.push('\n');
    }
    text
}

/// Backslash escapes of `echo -e` and `printf`.
pub(super) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let byte = match rest.next() {
            Some('n') => b'\n',
            Some('t') => b'\t',
            Some('r') => b'\r',
            Some('a') => 7,
            Some('b') => 8,
            Some('e' | 'E') => 27,
            Some('f') => 12,
            Some('v') => 11,
            Some('c') | None => break,
            Some('\\') => b'\\',
            Some(digit @ ('x' | '0'..='7')) => {
                let (radix, most, first) = if digit == 'x' { (16, 2, None) } else { (8, 4, Some(digit)) };
                let mut digits: String = first.into_iter().collect();
                while digits.len() < most && rest.peek().is_some_and(|digit| digit.is_digit(radix)) {
                    digits.extend(rest.next());
                }
                u32::from_str_radix(&digits, radix).unwrap_or_default() as u8
            }
            Some(other) => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
                continue;
            }
        };
        bytes.push(byte);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn printf(walker: &mut Walker<'_>, arguments: &[Field]) -> Output {
    let mut arguments = arguments;
    if let [flag, name, rest @ ..] = arguments
        && flag.text == "-v"
    {
        let text = formatted(rest);
        walker.judge_assignment(&name.text, &[Field::literal(text.clone())], None);
        walker.set(&name.text, Value::scalar_of(Field::literal(text)));
        return Output::Nothing;
    }
    if arguments.first().is_some_and(|field| field.text == "--") {
        arguments = arguments.get(1..).unwrap_or_default();
    }
    Output::Text(formatted(arguments))
}

/// The text of a format with `%s` and its arguments; other directives become unknown.
fn formatted(arguments: &[Field]) -> String {
    let Some((format, values)) = arguments.split_first() else { return String::new() };
    let format = unescaped(&format.text);
    let mut values = values.iter();
    let mut text = String::new();
    loop {
        let before = values.len();
        let mut rest = format.chars();
        while let Some(character) = rest.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            let directive = rest.by_ref().find(|character| !"-+ #0123456789.'".contains(*character));
            match directive {
                Some('%') => text.push('%'),
                Some('s' | 'q' | 'd' | 'i' | 'u') => {
                    text.push_str(values.next().map_or("", |field| &field.text))
                }
                Some('b') => {
                    text.push_str(&values.next().map_or_else(String::new, |field| unescaped(&field.text)))
                }
                _ => {
                    values.next();
                    text.push(UNKNOWN);
                }
            }
        }
        // The format is used again while arguments are left.
        if values.len() == 0 || values.len() == before || text.len() > crate::limits::MAX_CHARACTERS {
            return text;
        }
    }
}

fn cat(walker: &Walker<'_>, call: &Call<'_>) -> Output {
    let mut output = Output::Nothing;
    let mut has_file = false;
    for field in call.arguments.iter().filter(|field| !field.text.starts_with('-') || field.text == "-") {
        has_file = true;
        output = output.then(match walker.process_output(field) {
            Some(process) => process,
            None if matches!(field.text.as_str(), "-" | "/dev/stdin") => call.stdin.clone(),
            None => walker.file_output(field),
        });
    }
    match (has_file, call.name) {
        (true, _) => output,
        (false, "cat") => call.stdin.clone(),
        _ => call.stdin.filtered(),
    }
}

fn base64(call: &Call<'_>) -> Output {
    let is_decoding = call.arguments.iter().any(|field| {
        let text = field.text.as_str();
        text.len() > 2 && "--decode".starts_with(text) && text.starts_with("--d")
            || text.starts_with('-') && !text.starts_with("--") && text.contains(['d', 'D'])
    });
    if !is_decoding {
        return call.stdin.filtered();
    }
    let has_file = call.arguments.iter().any(|field| !field.text.starts_with('-'));
    match call.stdin {
        Output::Text(text) if !has_file && call.name.ends_with("base64") => {
            match super::tools::decode_base64(text.trim()) {
                Some(decoded) => Output::Decoded("base64", Some(decoded)),
                None => Output::Decoded("base64", None),
            }
        }
        Output::Remote => Output::Remote,
        _ => Output::Decoded("base64", None),
    }
}

fn reversed(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| line.chars().rev().collect()).collect();
    lines.join("\n") + "\n"
}

fn decoded(call: &Call<'_>) -> Output {
    match (call.name, call.stdin) {
        (_, Output::Remote) => Output::Remote,
        ("tr", Output::Paths(_)) => call.stdin.clone(),
        ("tr", _) => Output::Decoded("tr", None),
        ("xxd", _) => Output::Decoded("xxd", None),
        _ => Output::Decoded("a decoder", None),
    }
}

fn filter(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    secrets::arguments(walker, call);
    if call.name == "sort" {
        let parsed = parse(
            call.arguments,
            Spec { letters: "oTStk", long: &["--output", "--compress-program", "--temporary-directory"] },
        );
        for file in parsed.values(&["-o", "--output"]) {
            walker.write(file, Via::Other);
        }
        if let Some(program) = parsed.values(&["--compress-program"]).next() {
            super::tools::program_option(walker, "sort", "--compress-program", &program.text)?;
        }
    }
    if matches!(call.name, "less" | "more") {
        for field in call
            .arguments
            .iter()
            .filter(|field| field.text.starts_with(['+', '-']) && field.text.contains('!'))
        {
            let command = field.text.split_once('!').map_or("", |(_, text)| text);
            super::tools::program_option(walker, call.name, "+!", command)?;
        }
    }
    let has_file = call.arguments.iter().any(|field| !field.text.starts_with(['-', '+']));
    let is_counting = call.name == "wc";
    Ok(match call.stdin {
        _ if is_counting => Output::Harmless,
        Output::Nothing if has_file => Output::Unknown,
        other => other.filtered(),
    })
}

fn grep(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let letters = if call.name == "rg" { "efABCmgtTjMrE" } else { "efABCmdD" };
    let spec = Spec { letters, long: if call.name == "rg" { &RG_LONG } else { &GREP_LONG } };
    let parsed = parse(call.arguments, spec);
    for (option, program) in [("--pre", "--pre"), ("--hostname-bin", "--hostname-bin")] {
        if let Some(field) = parsed.values(&[option]).next().filter(|_| call.name == "rg") {
            super::tools::program_option(walker, "rg", program, &field.text)?;
        }
    }
    let pattern_is_option = parsed.has(&["-e", "-f", "--regexp", "--file", "--files"]);
    let files: Vec<Field> =
        parsed.operands.iter().skip(usize::from(!pattern_is_option)).map(|field| (*field).clone()).collect();
    let is_recursive =
        parsed.has(&["-r", "-R", "--recursive", "--dereference-recursive"]) || !call.name.contains("grep");
    for file in &files {
        if is_recursive { walker.read_tree(file) } else { walker.read(file) }
    }
    let lists_names = parsed.has(&["-l", "-L", "--files-with-matches", "--files-without-match", "--files"]);
    Ok(if lists_names {
        let roots = if files.is_empty() {
            vec!["./**".into()]
        } else {
            files.iter().map(|field| format!("{}/**", field.text)).collect()
        };
        Output::Paths(roots)
    } else if parsed.has(&["-c", "--count"]) {
        Output::Harmless
    } else if files.is_empty() && !is_recursive {
        call.stdin.filtered()
    } else {
        Output::Unknown
    })
}

const GREP_LONG: [&str; 12] = [
    "--regexp",
    "--file",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--color",
    "--after-context",
    "--before-context",
    "--context",
    "--max-count",
    "--exclude-from",
    "--binary-files",
];
const RG_LONG: [&str; 14] = [
    "--regexp",
    "--file",
    "--glob",
    "--type",
    "--type-not",
    "--pre",
    "--hostname-bin",
    "--pre-glob",
    "--replace",
    "--after-context",
    "--before-context",
    "--context",
    "--max-count",
    "--color",
];

fn operands_or_here(call: &Call<'_>) -> Vec<String> {
    let operands = call.arguments.iter().filter(|field| !field.text.starts_with('-') && field.is_known());
    let mut roots: Vec<String> =
        operands.map(|field| format!("{}/*", field.text.trim_end_matches('/'))).collect();
    if roots.is_empty() {
        roots.push("./*".into());
    }
    roots
}

fn harmless(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let first =
        call.arguments.iter().find(|field| !field.text.starts_with('-')).map(|field| field.text.as_str());
    if matches!(call.name, "date" | "factor" | "cal") {
        secrets::arguments(walker, call);
    }
    let sets_clock = call.name == "date"
        && call.arguments.iter().any(|field| {
            field.text == "-s"
                || field.text.starts_with("--set")
                || field.text.bytes().all(|byte| byte.is_ascii_digit()) && field.text.len() >= 8
        });
    let sets_name = call.name == "hostname" && first.is_some();
    if sets_clock || sets_name {
        walker.system_change(call.name);
    }
    Ok(match (call.name, first) {
        ("basename", Some(path)) if crate::field::is_known(path) && call.arguments.len() == 1 => {
            Output::Text(path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().into())
        }
        ("dirname", Some(path)) if crate::field::is_known(path) && call.arguments.len() == 1 => {
            let parent = std::path::Path::new(path).parent().unwrap_or(std::path::Path::new("/"));
            let shown = parent.display().to_string();
            Output::Text(if shown.is_empty() { ".".into() } else { shown })
        }
        ("whoami" | "logname", _) => Output::Text(
            walker.value("USER").fields.first().map(|field| field.text.clone()).unwrap_or_default(),
        ),
        ("which" | "type", Some(name)) if crate::field::is_known(name) && call.arguments.len() == 1 => {
            Output::Text(name.into())
        }
        ("seq", _) => Output::Harmless,
        _ => Output::Harmless,
    })
}

/// A new file in the temporary directory; its name is known well enough.
fn mktemp(walker: &Walker<'_>, call: &Call<'_>) -> Output {
    let root =
        walker.scene.temporary.first().map_or_else(|| "/tmp".into(), |path| path.display().to_string());
    match call.arguments.iter().rfind(|field| !field.text.starts_with('-')) {
        Some(field) if field.text.contains('/') => Output::Text(field.text.clone()),
        _ => Output::Text(format!("{root}/tmp.XXXXXXXXXX")),
    }
}
