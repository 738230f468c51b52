//! Commands that certainly change nothing, and commands that are one program with plain arguments.

use crate::assessment::Verdict;
use crate::limits::Spent;
use crate::rules::is_reader;
use crate::scene::Scene;
use crate::syntax::{AndOr, Command, Kind, Part, RedirectKind, Script, Simple, Word, parse};

/// Returns true if a command certainly changes nothing, so that it may run beside others and again after a crash.
pub fn is_read_only(command: &str, scene: &Scene) -> bool {
    let Ok((script, _)) = parse(command, 0, Spent::default()) else { return false };
    !script.items.is_empty() && reads(&script) && crate::assess(command, scene).verdict() == Verdict::Allow
}

fn reads(script: &Script) -> bool {
    script.items.iter().all(|item: &AndOr| {
        let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline));
        !item.is_background
            && pipelines.into_iter().all(|pipeline| pipeline.commands.iter().all(command_reads))
    })
}

fn command_reads(command: &Command) -> bool {
    let harmless_redirects = command.redirects.iter().all(|redirect| match &redirect.kind {
        RedirectKind::Write(word) => word.plain() == Some("/dev/null"),
        RedirectKind::Read(word) => literal(word).is_some(),
        RedirectKind::Duplicate(_) => true,
        RedirectKind::Here(_) | RedirectKind::HereString(_) => false,
    });
    match &command.kind {
        Kind::Simple(simple) => harmless_redirects && simple_reads(simple),
        _ => false,
    }
}

fn simple_reads(simple: &Simple) -> bool {
    let Some(words) = words(simple) else { return false };
    let Some((program, arguments)) = words.split_first() else { return false };
    let has = |options: &[&str]| arguments.iter().any(|word| has_option(word, options));
    let has_letter = |letter: char| {
        arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    match program.as_str() {
        "git" => git_reads(arguments),
        "cd" => true,
        // Sets the clock when given a value.
        "date" => arguments.iter().all(|word| word.starts_with('+') || word == "-u"),
        "hostname" => arguments.is_empty(),
        // Run a program of the caller's choice.
        "rg" => !has(&["--pre", "--hostname-bin"]),
        "fd" | "fdfind" => !has(&["--exec", "--exec-batch"]) && !has_letter('x') && !has_letter('X'),
        "less" | "more" | "fzf" | "top" | "htop" | "mktemp" | "yes" | "time" | "reset" | "sar"
        | "exiftool" | "dmesg" | "arp" | "ncdu" | "whois" | "tldr" | "cheat" => false,
        // Compiles a magic file next to the one named.
        "file" => !has_letter('C') && !has(&["--compile"]),
        "sort" => {
            !has_letter('o')
                && !has_letter('T')
                && !has(&["--output", "--compress-program", "--temporary-directory"])
        }
        "uniq" => arguments.iter().filter(|word| !word.starts_with('-')).count() < 2,
        "xxd" => !has_letter('r') && arguments.iter().filter(|word| !word.starts_with('-')).count() < 2,
        "tree" => !has_letter('o'),
        "diff" => !has(&["--output"]),
        "xmllint" => !has(&["--output", "--shell"]),
        "printf" => !arguments.iter().any(|word| word == "-v"),
        "bat" => !has(&["--pager"]),
        "find" => !arguments.iter().any(|word| {
            matches!(word.as_str(), "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir")
                || word.starts_with("-fprint")
                || word == "-fls"
        }),
        "sed" => sed_reads(arguments),
        "strip" | "size" | "nm" | "objdump" | "readelf" | "ldd" => program != "ldd" && program != "strip",
        name => is_reader(name),
    }
}

fn sed_reads(arguments: &[String]) -> bool {
    // Only printing of lines: `sed -n 1,20p`.
    match arguments {
        [flag, script, ..] => {
            flag == "-n"
                && script.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'p' | b'$'))
                && arguments.iter().skip(2).all(|word| !word.starts_with('-'))
        }
        _ => false,
    }
}

fn git_reads(arguments: &[String]) -> bool {
    let Some((verb, rest)) = arguments.split_first() else { return false };
    let writes = rest.iter().any(|word| {
        has_option(word, &["--output", "--ext-diff", "--textconv", "--open-files-in-pager"])
            || word == "-O"
            || word.starts_with("-O")
    });
    let is_listing = |word: &String| {
        matches!(
            word.as_str(),
            "-a" | "-r" | "-v" | "-vv" | "--all" | "--list" | "--show-current" | "--remotes"
        )
    };
    let is_read = match verb.as_str() {
        "status" | "log" | "diff" | "show" | "rev-parse" | "ls-files" | "ls-tree" | "blame" | "describe"
        | "rev-list" | "shortlog" | "cat-file" | "grep" | "merge-base" | "name-rev" | "for-each-ref" => true,
        "branch" => rest.iter().all(is_listing),
        "remote" => rest.iter().all(|word| word == "-v"),
        "tag" => rest.iter().all(|word| matches!(word.as_str(), "-l" | "--list")),
        "stash" => rest.first().is_some_and(|word| word == "list"),
        _ => false,
    };
    is_read && !writes
}

fn has_option(word: &str, options: &[&str]) -> bool {
    // Long options may be shortened, so any beginning of one counts.
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 2 && name.starts_with("--") && options.iter().any(|option| option.starts_with(name))
}

/// The arguments of a command that is one program, its name first, without operators, redirections and expansions.
pub fn simple_command(command: &str) -> Option<Vec<String>> {
    simple_words(command)
}

pub(crate) fn simple_words(command: &str) -> Option<Vec<String>> {
    let (script, _) = parse(command, 0, Spent::default()).ok()?;
    let [item] = script.items.as_slice() else { return None };
    let [only] = item.first.commands.as_slice() else { return None };
    if !item.rest.is_empty() || item.is_background || !only.redirects.is_empty() {
        return None;
    }
    match &only.kind {
        Kind::Simple(simple) => words(simple),
        _ => None,
    }
}

fn words(simple: &Simple) -> Option<Vec<String>> {
    if !simple.assignments.is_empty() || simple.words.is_empty() {
        return None;
    }
    simple.words.iter().map(literal).collect()
}

/// The text of a word without expansions and patterns.
fn literal(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Literal(literal) if !literal.contains(['*', '?', '[']) => text.push_str(literal),
            Part::Quoted(quoted) => text.push_str(quoted),
            Part::BraceComma => text.push(','),
            _ => return None,
        }
    }
    crate::field::is_known(&text).then_some(text)
}

#[cfg(test)]
#[path = "read_only_tests.rs"]
mod tests;
