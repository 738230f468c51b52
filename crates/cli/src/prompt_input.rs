//! Where the prompt of a single question comes from.

use crate::commands::chat::ChatArgs;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_runtime::Image;
use std::io::Read;

/// The largest prompt that is read from standard input.
const MOST: u64 = 10 * 1024 * 1024;

/// A single question and how its answer is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
    pub(crate) manner: Manner,
    /// A person wrote it for Hermes: what it refers to (`@file:…`) goes along. In what a program passes on,
    /// such words are somebody else's.
    pub(crate) is_typed: bool,
}

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// For people: streamed, with tool lines.
    Human,
    /// The final text alone, the session's id on standard error (`-Q`).
    Quiet,
    /// The final text and nothing else (`-z`).
    Bare,
    /// One JSON object per line.
    Json,
}

/// The question to answer, or `None` for a conversation.
pub(crate) fn wanted(
    args: &ChatArgs,
    common: &Common,
    stdin_is_terminal: bool,
) -> Result<Option<Prompt>, Failure> {
    let given = match (&common.conversation.oneshot, &args.query) {
        (Some(_), Some(_)) => return Err(Failure::usage("-z and -q cannot be used together")),
        (Some(text), None) => Some((text, Manner::Bare)),
        (None, Some(text)) if args.quiet => Some((text, Manner::Quiet)),
        (None, Some(text)) => Some((text, Manner::Human)),
        (None, None) => None,
    };
    let manner = |manner| if common.json { Manner::Json } else { manner };
    let (text, manner) = match given {
        Some((text, how)) if text == "-" => (standard_input()?, manner(how)),
        Some((text, how)) => (text.clone(), manner(how)),
        None if stdin_is_terminal && common.json => {
            return Err(Failure::usage("--json needs a prompt: -z PROMPT, -q PROMPT or standard input"));
        }
        None if stdin_is_terminal && !common.conversation.image.is_empty() => {
            return Err(Failure::usage("--image needs a prompt: -z PROMPT, -q PROMPT or standard input"));
        }
        None if stdin_is_terminal => return Ok(None),
        None => (standard_input()?, manner(if args.quiet { Manner::Quiet } else { Manner::Human })),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty"));
    }
    let images: Result<_, _> = common.conversation.image.iter().map(|path| Image::read(path)).collect();
    let images = images.map_err(|error| Failure::usage(error.to_string()))?;
    let is_typed = manner == Manner::Human && args.query.as_deref().is_some_and(|query| query != "-");
    Ok(Some(Prompt { text, images, manner, is_typed }))
}

fn standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Internal, format!("standard input could not be read: {error}")))?;
    if bytes.len() as u64 > MOST {
        return Err(Failure::usage("the prompt on standard input is larger than 10 MB"));
    }
    let text = String::from_utf8_lossy(&bytes);
    // `echo question | hermes` does not mean the newline.
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, parse};

    fn read(line: &str) -> Result<Option<Prompt>, String> {
        let parsed = parse(line.split_whitespace().map(Into::into).collect()).unwrap();
        let args = match parsed.command {
            Some(Command::Chat(args)) => args,
            _ => ChatArgs::default(),
        };
        wanted(&args, &parsed.common, true).map_err(|failure| failure.line)
    }

    #[test]
    fn the_prompt_and_its_manner_follow_the_flags() {
        for (line, want) in [
            ("hermes", None),
            ("hermes chat", None),
            ("hermes -z hi", Some(Manner::Bare)),
            ("hermes chat -q hi", Some(Manner::Human)),
            ("hermes chat -q hi -Q", Some(Manner::Quiet)),
            ("hermes --json -z hi", Some(Manner::Json)),
            ("hermes --yolo chat -q hi --provider custom --resume latest", Some(Manner::Human)),
        ] {
            let got = read(line).unwrap().map(|prompt| prompt.manner);
            assert_eq!(got, want, "{line}");
        }
        assert!(read("hermes -z a chat -q b").is_err());
        assert!(read("hermes --json").is_err());
    }
}
