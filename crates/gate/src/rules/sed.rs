//! `sed` and `awk`: scripts that may write files or run programs.

use super::files::{Edit, Via};
use crate::assessment::EffectKind;
use crate::field::{Field, is_known};
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Parsed, Spec, parse};
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "sed" | "gsed" => sed(walker, call).map(Some),
        "awk" | "gawk" | "mawk" | "nawk" => awk(walker, call).map(Some),
        _ => Ok(None),
    }
}

fn sed(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    // The suffix of `-i` is attached, and letters after it belong to it.
    let is_in_place = |field: &Field| {
        field.text.starts_with("--i")
            && "--in-place".starts_with(field.text.split('=').next().unwrap_or_default())
            || field.text.starts_with('-')
                && !field.text.starts_with("--")
                && field.text.split(['e', 'f', 'l']).next().is_some_and(|text| text.contains('i'))
    };
    let is_long = call.arguments.iter().any(|field| field.text.starts_with("--i") && is_in_place(field));
    let edits = call.arguments.iter().any(is_in_place);
    let plain: Vec<Field> = call
        .arguments
        .iter()
        .filter(|field| !is_in_place(field) || field.text.ends_with('e'))
        .cloned()
        .collect();
    let parsed = parse(&plain, Spec { letters: "efl", long: &["--expression", "--file", "--line-length"] });
    let mut scripts: Vec<Field> = parsed.values(&["-e", "--expression"]).cloned().collect();
    let mut files: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
    if scripts.is_empty() && !parsed.has(&["-f", "--file"]) && !files.is_empty() {
        scripts.push(files.remove(0));
        // BSD: the suffix is a word of its own.
        if scripts.first().is_some_and(|script| script.text.is_empty()) && !files.is_empty() {
            scripts = vec![files.remove(0)];
        }
    }
    script_files(walker, &parsed)?;
    for script in &scripts {
        sed_script(walker, &script.text)?;
    }
    for file in &files {
        if edits {
            walker.write(file, Via::Edit(if is_long { Edit::Long } else { Edit::Short }));
        }
        walker.read(file);
    }
    Ok(if files.is_empty() { call.stdin.filtered() } else { Output::Unknown })
}

/// Judges the files of `-f`.
fn script_files(walker: &mut Walker<'_>, parsed: &Parsed<'_>) -> Result<(), Unreadable> {
    let files: Vec<Field> = parsed.values(&["-f", "--file"]).cloned().collect();
    for file in files {
        match walker.process_output(&file) {
            Some(output) => {
                walker.process_payload(&output, "a script")?;
            }
            None if matches!(file.text.as_str(), "-" | "/dev/stdin") => {
                walker.ask(
                    EffectKind::Execute,
                    None,
                    keys::UNKNOWN_PAYLOAD,
                    "runs a script from standard input",
                );
            }
            None => walker.script_file(&file),
        }
    }
    Ok(())
}

/// Finds commands of a script that write files or run programs.
fn sed_script(walker: &mut Walker<'_>, script: &str) -> Result<(), Unreadable> {
    let mut rest = script;
    for _ in 0..4_096 {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '}', '{']);
        if rest.is_empty() {
            return Ok(());
        }
        rest = skip_addresses(rest);
        rest = rest.trim_start_matches([' ', '\t', '!']);
        let mut characters = rest.chars();
        let command = characters.next().unwrap_or('\n');
        let after = characters.as_str();
        rest = match command {
            's' => match substitution(after) {
                Some((flags, rest)) => {
                    if flags.contains('e') {
                        runs(walker);
                    }
                    if let Some((_, file)) = flags.split_once('w') {
                        walker.write(&Field::literal(file.trim()), Via::Other);
                    }
                    rest
                }
                None => return Ok(()),
            },
            'y' => substitution(after).map_or("", |(_, rest)| rest),
            'e' => {
                let line = after.lines().next().unwrap_or_default();
                runs(walker);
                walker.payload(line.trim(), Output::Nothing)?;
                after.split_once('\n').map_or("", |(_, rest)| rest)
            }
            'w' | 'W' => {
                walker.write(&Field::literal(after.lines().next().unwrap_or_default().trim()), Via::Other);
                after.split_once('\n').map_or("", |(_, rest)| rest)
            }
            'r' | 'R' => {
                walker.read(&Field::literal(after.lines().next().unwrap_or_default().trim()));
                after.split_once('\n').map_or("", |(_, rest)| rest)
            }
            'a' | 'i' | 'c' | '#' | ':' | 'b' | 't' | 'T' => {
                after.split_once(['\n']).map_or("", |(_, rest)| rest)
            }
            _ => after,
        };
    }
    walker.unreadable(Unreadable::TooManyWords);
    Ok(())
}

fn runs(walker: &mut Walker<'_>) {
    walker.ask(
        EffectKind::Execute,
        None,
        "arbitrary program execution via sed e",
        "sed runs text as a command",
    );
}

/// Skips line numbers, patterns and ranges before a command.
fn skip_addresses(script: &str) -> &str {
    let mut rest = script;
    loop {
        let trimmed = rest.trim_start_matches(|character: char| {
            character.is_ascii_digit() || matches!(character, '$' | ',' | '~' | '+' | ' ' | '\t')
        });
        let delimiter = if trimmed.starts_with('/') {
            Some(('/', 1))
        } else if let Some(after) = trimmed.strip_prefix('\\') {
            after.chars().next().map(|delimiter| (delimiter, 1 + delimiter.len_utf8()))
        } else {
            None
        };
        let Some((delimiter, length)) = delimiter else { return trimmed };
        let Some(end) = end_of(trimmed.get(length..).unwrap_or_default(), delimiter) else { return "" };
        rest = trimmed
            .get(length + end + delimiter.len_utf8()..)
            .unwrap_or_default()
            .trim_start_matches(['I', 'M']);
    }
}

/// The flags after `s/a/b/`, and the text after them.
fn substitution(text: &str) -> Option<(&str, &str)> {
    let delimiter = text.chars().next()?;
    let rest = text.get(delimiter.len_utf8()..)?;
    let first = end_of(rest, delimiter)?;
    let rest = rest.get(first + delimiter.len_utf8()..)?;
    let second = end_of(rest, delimiter)?;
    let rest = rest.get(second + delimiter.len_utf8()..)?;
    let flags = rest.bytes().take_while(|flag| flag.is_ascii_alphanumeric() && *flag != b'w').count();
    let has_file = rest.as_bytes().get(flags) == Some(&b'w');
    let end =
        rest.find(if has_file { &['\n'][..] } else { &['\n', ';', '}', ' '][..] }).unwrap_or(rest.len());
    Some(rest.split_at(end))
}

/// The position of a delimiter that is not escaped.
fn end_of(text: &str, delimiter: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == delimiter => return Some(at),
            _ => {}
        }
    }
    None
}

fn awk(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let parsed = parse(
        call.arguments,
        Spec {
            letters: "Ffvile",
            long: &["--file", "--assign", "--field-separator", "--include", "--load", "--source"],
        },
    );
    if parsed.has(&["-l", "--load"])
        || parsed.values(&["-i", "--include"]).any(|field| field.text != "inplace")
    {
        walker.ask(EffectKind::Execute, None, keys::LOADS_CODE, "awk loads an extension");
    }
    let mut operands: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
    let mut programs: Vec<Field> = parsed.values(&["-e", "--source"]).cloned().collect();
    if programs.is_empty() && !parsed.has(&["-f", "--file"]) && !operands.is_empty() {
        programs.push(operands.remove(0));
    }
    script_files(walker, &parsed)?;
    for program in &programs {
        awk_program(walker, &program.text)?;
    }
    let edits = parsed.values(&["-i", "--include"]).any(|field| field.text == "inplace");
    for file in operands.iter().filter(|file| !file.text.contains('=')) {
        if edits {
            walker.write(file, Via::Edit(Edit::Short));
        }
        walker.read(file);
    }
    Ok(if operands.is_empty() { call.stdin.filtered() } else { Output::Unknown })
}

fn awk_program(walker: &mut Walker<'_>, program: &str) -> Result<(), Unreadable> {
    let code = super::code::without_strings(program);
    let is_piping = code.replace("||", "").contains('|');
    if calls_system(&code) || is_piping || code.contains("@load") || code.contains("@include") {
        walker.ask(EffectKind::Execute, None, keys::SCRIPT_CODE, "the awk program runs other programs");
        for text in super::code::strings(program).into_iter().take(16) {
            walker.payload(&text, Output::Nothing)?;
        }
    }
    if prints_to_file(&code) {
        let names = super::code::strings(program);
        let targets: Vec<&String> = names.iter().filter(|name| name.contains(['/', '.'])).collect();
        if targets.is_empty() || !is_known(program) {
            walker.ask(EffectKind::Write, None, keys::UNKNOWN_PATH, "the awk program writes to files");
        }
        for target in targets.into_iter().take(16) {
            walker.write(&Field::literal(target.clone()), Via::Redirection);
        }
    }
    Ok(())
}

/// Returns true for a call of `system`, not for a variable whose name has this word in it.
fn calls_system(code: &str) -> bool {
    code.split("system").skip(1).any(|rest| rest.trim_start().starts_with('('))
}

/// Returns true if a `print` is followed by `>` outside of parentheses.
fn prints_to_file(code: &str) -> bool {
    code.split("print").skip(1).any(|rest| {
        let statement = rest.split([';', '}', '\n']).next().unwrap_or_default();
        let mut depth = 0i32;
        statement.chars().any(|character| {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            character == '>' && depth <= 0
        })
    })
}
