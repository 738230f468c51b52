//! Options that make ordinary tools run a program, and other helpers of rules.

use super::files::Via;
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Prepared, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    match call.name {
        "vim" | "vi" | "nvim" | "ex" | "view" | "ed" | "emacs" | "emacsclient" | "nano" | "pico" | "joe"
        | "micro" | "hx" | "kak" => editor(walker, call, &words)?,
        "man" | "info" => {
            for pair in words.windows(2) {
                if let ["-P" | "--pager" | "-H" | "--html", program] = pair {
                    program_option(walker, "man", "-P", program)?;
                }
            }
            if let Some(program) = words.iter().find_map(|word| {
                word.strip_prefix("--pager=")
                    .or_else(|| word.strip_prefix("-P").filter(|rest| !rest.is_empty()))
            }) {
                program_option(walker, "man", "-P", program)?;
            }
        }
        "make" | "gmake" | "bmake" | "ninja" | "just" | "task" | "rake" | "cmake" | "meson" | "scons"
        | "bazel" | "ant" => build(walker, call, &words)?,
        "jq" | "yq" | "gojq" | "jaq" => {
            super::secrets::arguments(walker, call);
            if call.name == "yq" && words.iter().any(|word| matches!(*word, "-i" | "--inplace")) {
                call.arguments
                    .iter()
                    .filter(|field| !field.text.starts_with('-'))
                    .skip(1)
                    .for_each(|field| walker.write(field, Via::Edit(super::files::Edit::Short)));
            }
            return Ok(Some(call.stdin.filtered()));
        }
        "gcc" | "g++" | "cc" | "clang" | "clang++" | "c++" | "ld" | "rustc" | "nasm" | "as" | "tsc"
        | "esbuild" => {
            super::secrets::arguments(walker, call);
            for pair in call.arguments.windows(2) {
                if let [flag, file] = pair
                    && flag.text == "-o"
                {
                    walker.write(file, Via::Other);
                }
            }
            if words.iter().any(|word| {
                word.starts_with("-fplugin")
                    || word.starts_with("-wrapper")
                    || word.starts_with("-specs=")
                    || word.starts_with("-B/")
            }) {
                program_option(walker, call.name, "-fplugin", "")?;
            }
        }
        "test" | "[" => {}
        "xdg-open" | "open" | "start" | "gnome-open" | "kde-open" | "sensible-browser" | "firefox"
        | "google-chrome" | "chromium" | "brave" => {
            walker.ask(
                EffectKind::Execute,
                None,
                keys::UNNAMED_PROGRAM,
                format!("{} opens a program of the desktop", call.name),
            );
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Unknown))
}

/// Judges an option that names a program: asks, and judges the program's text.
pub(super) fn program_option(
    walker: &mut Walker<'_>,
    tool: &str,
    option: &str,
    program: &str,
) -> Result<(), Unreadable> {
    let rule = format!("arbitrary program execution via {tool} {option}");
    let reason = format!("{tool} {option} runs another program");
    walker.ask(EffectKind::Execute, Some(program).filter(|program| !program.is_empty()), rule, reason);
    if !program.trim().is_empty() {
        walker.payload(program, Output::Nothing)?;
    }
    Ok(())
}

fn editor(walker: &mut Walker<'_>, call: &Call<'_>, words: &[&str]) -> Result<(), Unreadable> {
    for (index, word) in words.iter().enumerate() {
        let text = match *word {
            "-c" | "--cmd" | "-S" | "-s" | "-u" | "--eval" | "-l" | "--load" | "-f" | "--funcall"
            | "--script" | "-e"
                if index + 1 < words.len() =>
            {
                words.get(index + 1).copied()
            }
            _ if word.starts_with('-') && word.ends_with('c') => words.get(index + 1).copied(),
            _ => word.strip_prefix('+').filter(|text| !text.is_empty()),
        };
        let Some(text) = text else { continue };
        if let Some((_, command)) = text.split_once('!').filter(|(before, _)| {
            !matches!(before.trim_start_matches(':'), "q" | "wq" | "x" | "qa" | "wqa" | "w")
        }) {
            program_option(walker, call.name, "!", command)?;
        } else if text.contains("system(")
            || text.contains("shell-command")
            || text.contains("call-process")
            || text.contains("lua ")
            || text.contains("py")
            || text.contains("exe")
            || text.contains("delete-directory")
        {
            let code = super::code::strings(text).join(" ");
            program_option(walker, call.name, "-c", &code)?;
        }
    }
    if matches!(call.name, "ed" | "ex" | "vim" | "vi")
        && let Output::Text(text) = call.stdin
    {
        for line in text.lines().take(256) {
            if let Some((_, command)) = line
                .split_once('!')
                .filter(|(before, _)| before.is_empty() || before.starts_with(['r', 'w', ':', '.', '%', '1']))
            {
                program_option(walker, call.name, "!", command)?;
            }
            if let Some(file) = line.strip_prefix("w ") {
                walker.write(&Field::literal(file.trim()), Via::Other);
            }
        }
    }
    for field in call.arguments.iter().filter(|field| !field.text.starts_with(['-', '+'])) {
        walker.write(field, Via::Edit(super::files::Edit::Short));
        walker.read(field);
    }
    Ok(())
}

fn build(walker: &mut Walker<'_>, call: &Call<'_>, words: &[&str]) -> Result<(), Unreadable> {
    let reads_stdin =
        words.windows(2).any(|pair| matches!(pair, ["-f" | "--file" | "--makefile", "-" | "/dev/stdin"]))
            || words.iter().any(|word| matches!(*word, "-f-" | "--file=-"));
    if reads_stdin {
        walker.ask(
            EffectKind::Execute,
            None,
            "arbitrary program execution via make -f -",
            "make runs rules from standard input",
        );
        if let Output::Text(text) = call.stdin {
            for line in text
                .lines()
                .filter(|line| line.starts_with('\t') || line.contains(": ;") || line.contains(":;"))
            {
                walker.payload(
                    line.rsplit(";").next().unwrap_or(line).trim().trim_start_matches(['@', '-']),
                    Output::Nothing,
                )?;
            }
        }
    }
    if let Some(text) = words.iter().find_map(|word| word.strip_prefix("--eval=")) {
        let recipe = text.rsplit([';', '\t']).next().unwrap_or_default();
        program_option(walker, "make", "--eval", recipe.trim())?;
        if let Some((_, shell)) = text.split_once("$(shell ") {
            walker.payload(shell.trim_end_matches(')'), Output::Nothing)?;
        }
    }
    for pair in words.windows(2) {
        match pair {
            ["--eval", text] => {
                program_option(walker, "make", "--eval", text.rsplit([';', '\t']).next().unwrap_or_default())?
            }
            ["-P", script] if call.name == "cmake" => walker.script_file(&Field::literal(*script)),
            ["-C" | "--directory", directory] if directory.starts_with(['/', '~']) => {
                walker.write(&Field::literal(format!("{directory}/_")), Via::Other);
            }
            _ => {}
        }
    }
    // `make SHELL=x` and the like name the program that runs every rule.
    if let Some(program) = words
        .iter()
        .find_map(|word| word.strip_prefix("SHELL=").or_else(|| word.strip_prefix(".SHELLFLAGS=")))
    {
        program_option(walker, "make", "SHELL", program)?;
    }
    if call.name == "cmake" && words.first() == Some(&"-E") {
        cmake_tool(walker, call, words)?;
    }
    let installs = matches!(call.name, "make" | "gmake" | "ninja" | "meson")
        && words
            .iter()
            .any(|word| matches!(*word, "install" | "uninstall" | "deploy" | "publish" | "release"))
        || call.name == "cmake" && words.contains(&"--install");
    let has_destination = words.iter().any(|word| {
        word.starts_with("DESTDIR=") || word.starts_with("PREFIX=") || word.starts_with("prefix=")
    });
    let is_dry = words.iter().any(|word| matches!(*word, "-n" | "--dry-run" | "--just-print" | "--recon"));
    if installs && !has_destination && !is_dry {
        walker.ask(
            EffectKind::Write,
            None,
            keys::PACKAGES,
            format!("{} installs files outside of the project", call.name),
        );
    }
    Ok(())
}

/// `cmake -E`: small file tools, and a way to run programs.
fn cmake_tool(walker: &mut Walker<'_>, call: &Call<'_>, words: &[&str]) -> Result<(), Unreadable> {
    let inner: Vec<Field> = call.arguments.iter().skip(1).cloned().collect();
    match words.get(1) {
        Some(&("rm" | "remove_directory" | "remove")) => {
            inner
                .iter()
                .skip(1)
                .filter(|field| !field.text.starts_with('-'))
                .for_each(|field| walker.delete_tree(field, keys::RECURSIVE_DELETE));
        }
        Some(&("copy" | "copy_directory" | "rename" | "touch" | "make_directory")) => {
            inner.iter().skip(1).for_each(|field| walker.write(field, Via::Copy));
        }
        _ => {
            crate::wrappers::any_suffix(walker, &inner, call.stdin)?;
        }
    }
    Ok(())
}

/// Debuggers run commands and attach to processes.
pub(super) fn debugger(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    for (index, word) in words.iter().enumerate() {
        let text = match *word {
            "-ex" | "--ex" | "-iex" | "--eval-command" | "-o" | "-O" | "-eval-command" => {
                words.get(index + 1).copied()
            }
            _ => word
                .strip_prefix("-ex=")
                .or_else(|| word.strip_prefix("--eval-command="))
                .or_else(|| word.strip_prefix("-ex ")),
        };
        if let Some(text) = text {
            let is_shell = [
                "shell ",
                "!",
                "python ",
                "py ",
                "pi ",
                "call ",
                "print system",
                "p system",
                "pipe ",
                "make ",
                "source ",
                "expr ",
                "platform shell ",
            ]
            .iter()
            .any(|sign| text.trim_start().starts_with(sign));
            if is_shell {
                program_option(
                    walker,
                    call.name,
                    "-ex",
                    text.trim_start().trim_start_matches('!').split_once(' ').map_or(
                        text,
                        |(first, rest)| {
                            if text.starts_with('!') {
                                text.trim_start_matches('!')
                            } else {
                                let _ = first;
                                rest
                            }
                        },
                    ),
                )?;
            }
        }
    }
    let attaches = words.iter().any(|word| {
        matches!(*word, "-p" | "--pid" | "-x" | "--command" | "attach")
            || word.starts_with("-p=")
            || word.starts_with("--pid=")
    });
    if attaches || !matches!(call.name, "gdb" | "lldb" | "rr") {
        walker.ask(
            EffectKind::Process,
            None,
            keys::SIGNAL,
            format!("{} attaches to a process or runs a script", call.name),
        );
    }
    crate::wrappers::any_suffix(walker, call.arguments, call.stdin)?;
    Ok(Output::Unknown)
}

/// Decodes base64 to text; `None` if it is not valid or not text.
pub(super) fn decode_base64(text: &str) -> Option<String> {
    let mut bits = 0u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

impl Walker<'_> {
    /// The content of a file, as far as this text wrote it.
    pub(crate) fn file_output(&self, field: &Field) -> Output {
        let target = self.resolve(field);
        if let Some(text) = target.path().and_then(|path| self.contents.get(path)) {
            return Output::Text(text.clone());
        }
        let prepared =
            target.path().and_then(|path| self.prepared.iter().rev().find(|(other, _)| other == path));
        match prepared {
            Some((_, Prepared::Remote)) => Output::Remote,
            Some((_, Prepared::Unknown)) => Output::Decoded("a decoder", None),
            _ => Output::Unknown,
        }
    }
}
