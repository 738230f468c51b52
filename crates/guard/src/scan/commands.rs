//! Commands that read or send secrets.
//!
//! A command is judged by its arguments: a key in a header goes to the service that it belongs to, but a key in
//! the URL or the body of a request goes wherever the author of the text wants.

mod secrets;

use std::ops::Range;

use super::local_address::is_local_address;
use super::normal_form::NormalForm;
use super::{Match, neutralise};
use secrets::{has_secret, is_secret_file};

/// The kind of command that a word may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Curl,
    Wget,
    /// Reads files; hardly ever a word of prose.
    Cat,
    /// Reads files; also an ordinary word.
    Reader,
}

pub(super) const PROGRAMS: [(&str, Program); 11] = [
    ("curl", Program::Curl),
    ("wget", Program::Wget),
    ("cat", Program::Cat),
    ("head", Program::Reader),
    ("tail", Program::Reader),
    ("less", Program::Reader),
    ("more", Program::Reader),
    ("base64", Program::Reader),
    ("xxd", Program::Reader),
    ("strings", Program::Reader),
    ("bat", Program::Reader),
];

/// Characters of a command that are examined.
const LONGEST: usize = 2_048;
/// Characters before a pipe that are examined.
const PIPE: usize = 256;
/// Arguments of a command that reads files; a file name further away belongs to prose.
const READ_ARGUMENTS: usize = 6;

/// Options of curl and wget whose value may hold a credential or is not sent.
const HARMLESS_OPTIONS: [&str; 14] = [
    "-H",
    "--header",
    "-u",
    "--user",
    "--oauth2-bearer",
    "-b",
    "--cookie",
    "-o",
    "--output",
    "-A",
    "-x",
    "--proxy-header",
    "--cacert",
    "--key",
];

/// Judges the command whose name is at `name`.
pub(super) fn find(text: &str, view: &NormalForm, program: Program, name: Range<usize>) -> Option<Match> {
    if program == Program::Reader && !is_command_start(view, name.start) {
        return None;
    }
    let (command, length) = read(view, name.end);
    let words = arguments(&command);
    let id = match program {
        Program::Curl if sends(&words) || is_piped_secret(view, name.start) && !is_local_request(&words) => {
            "exfil_curl"
        }
        Program::Wget if sends(&words) => "exfil_wget",
        Program::Cat if reads_secrets(&words) => "read_secrets",
        Program::Reader if reads_secrets(up_to_prose(&words)) => "read_secrets",
        _ => return None,
    };
    let at = view.bytes(name.start..name.end + length);
    let cut = neutralise::sentence_around(text, &at);
    Some(Match { id: id.to_owned(), at, cut })
}

/// The rest of the line, including lines continued by a backslash, and its length in the normal form.
fn read(view: &NormalForm, from: usize) -> (String, usize) {
    let (mut line, mut length) = (String::new(), 0);
    let mut is_quoted = None;
    while let Some(char) = view.get(from + length).filter(|_| length < LONGEST) {
        match char {
            '\n' if line.ends_with('\\') => {
                line.pop();
                line.push(' ');
            }
            '\n' | '`' => break,
            ';' | '|' if is_quoted.is_none() => break,
            '&' if is_quoted.is_none() && line.ends_with('&') => break,
            '"' | '\'' => {
                is_quoted = match is_quoted {
                    None => Some(char),
                    Some(quote) if quote == char => None,
                    still => still,
                };
                line.push(char);
            }
            _ => line.push(char),
        }
        length += 1;
        // The next command is judged by itself, which also keeps a line with many commands cheap.
        let is_word_end = !view.get(from + length).is_some_and(char::is_alphanumeric);
        if is_quoted.is_none() && is_word_end && PROGRAMS.iter().any(|(name, _)| ends_with_word(&line, name))
        {
            break;
        }
    }
    (line, length)
}

fn ends_with_word(line: &str, name: &str) -> bool {
    line.strip_suffix(name).is_some_and(|before| before.ends_with(char::is_whitespace))
}

/// Splits roughly like a shell: quoted spaces do not separate, and quotes are removed.
fn arguments(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for char in command.chars() {
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), close) if open == close => quote = None,
            (None, blank) if blank.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(char),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn sends(words: &[String]) -> bool {
    let mut is_value_kept = false;
    let mut leaks = false;
    for word in words {
        let is_kept = std::mem::replace(&mut is_value_kept, false);
        // Options are lower case in the normal form; `-h` and `-b` are the ones that matter.
        if HARMLESS_OPTIONS.iter().any(|option| option.eq_ignore_ascii_case(word)) {
            is_value_kept = true;
        } else if !is_kept && !is_harmless_option(word) {
            leaks |= has_secret(word);
        }
    }
    leaks && !is_local_request(words)
}

fn is_harmless_option(word: &str) -> bool {
    let option = word.split_once('=').map_or(word, |(option, _)| option);
    word.starts_with("--") && HARMLESS_OPTIONS.iter().any(|kept| kept.eq_ignore_ascii_case(option))
}

/// Returns true if there is an address and all addresses are local.
fn is_local_request(words: &[String]) -> bool {
    let mut addresses =
        words.iter().filter(|word| word.contains("://") || word.starts_with("localhost")).peekable();
    addresses.peek().is_some() && addresses.all(|address| is_local_address(address))
}

fn reads_secrets(words: &[String]) -> bool {
    let is_write = |word: &&String| word.starts_with('>') || word.starts_with("<<");
    let read = words.iter().take(READ_ARGUMENTS).take_while(|word| !is_write(word));
    read.into_iter().any(|word| is_secret_file(word))
}

/// The arguments before the first word of prose: "less in .env" is not a command.
fn up_to_prose(words: &[String]) -> &[String] {
    let prose = words.iter().position(|word| word.chars().all(char::is_alphabetic));
    &words[..prose.unwrap_or(words.len())]
}

/// Returns true if the input of a command is piped from a secret.
fn is_piped_secret(view: &NormalForm, start: usize) -> bool {
    let before: String = (start.saturating_sub(PIPE)..start).filter_map(|at| view.get(at)).collect();
    let Some(source) = before.trim_end().strip_suffix('|') else { return false };
    let source = source.rsplit(['\n', ';']).next().unwrap_or_default();
    let mut words = source.split_whitespace();
    words.any(|word| is_secret_file(word) || matches!(word.trim_matches(['`', '(', '$']), "env" | "printenv"))
}

/// Returns true if a command can begin here: at the start of a line, after a prompt or a pipe, or in backticks.
fn is_command_start(view: &NormalForm, start: usize) -> bool {
    let mut near = (0..start).rev().take(PIPE).filter_map(|at| view.get(at));
    let before = near.find(|char| !matches!(char, ' ' | '\t'));
    before.is_none_or(|char| matches!(char, '\n' | '$' | '`' | '|' | ';' | '&' | '('))
}
