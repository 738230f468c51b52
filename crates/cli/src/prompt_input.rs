//! The prompt of a one-shot, from flags or standard input.

use crate::commands::chat::ChatArgs;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_runtime::Image;
use std::io::Read;

/// The largest prompt that is read from standard input.
const MOST: u64 = 10 * 1024 * 1024;

/// The prompt of a one-shot, and the form of its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
    pub(crate) form: ReplyForm,
    /// The user typed it: `@file:…` references are expanded. Text that a program passes on is not trusted that far.
    pub(crate) is_typed: bool,
}

/// The form of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyForm {
    /// Streamed, with tool lines.
    Human,
    /// The reply alone, with the session's id on standard error (`-Q`).
    Quiet,
    /// The reply and nothing else (`-z`).
    Bare,
    /// One JSON object per line.
    Json,
}

/// The prompt of a one-shot, or `None` for a chat.
pub(crate) fn wanted(
    args: &ChatArgs,
    common: &Common,
    stdin_is_terminal: bool,
) -> Result<Option<Prompt>, Failure> {
    let given = match (&common.conversation.oneshot, &args.query) {
        (Some(_), Some(_)) => return Err(Failure::usage("-z and -q cannot be used together")),
        (Some(text), None) => Some((text, ReplyForm::Bare)),
        (None, Some(text)) if args.quiet => Some((text, ReplyForm::Quiet)),
        (None, Some(text)) => Some((text, ReplyForm::Human)),
        (None, None) => None,
    };
    let form = |form| if common.json { ReplyForm::Json } else { form };
    let (text, form) = match given {
        Some((text, how)) if text == "-" => (standard_input()?, form(how)),
        Some((text, how)) => (text.clone(), form(how)),
        None if stdin_is_terminal && common.json => {
            return Err(Failure::usage("--json needs a prompt: -z PROMPT, -q PROMPT or standard input"));
        }
        None if stdin_is_terminal && !common.conversation.image.is_empty() => {
            return Err(Failure::usage("--image needs a prompt: -z PROMPT, -q PROMPT or standard input"));
        }
        None if stdin_is_terminal => return Ok(None),
        None => (standard_input()?, form(if args.quiet { ReplyForm::Quiet } else { ReplyForm::Human })),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty"));
    }
    let images: Result<_, _> = common.conversation.image.iter().map(|path| Image::read(path)).collect();
    let images = images.map_err(|error| Failure::usage(error.to_string()))?;
    let is_typed = form == ReplyForm::Human && args.query.as_deref().is_some_and(|query| query != "-");
    Ok(Some(Prompt { text, images, form, is_typed }))
}

fn standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Internal, format!("standard input could not be read: {error}")))?;
    if bytes.len() as u64 > MOST {
        return Err(Failure::usage("the prompt on standard input is larger than 10 MB"));
    }
    let text = String::from_utf8_lossy(&bytes);
    // The newline of `echo prompt | hermes` is not part of the prompt.
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
    fn flags_choose_the_prompt_and_its_form() {
        for (line, want) in [
            ("hermes", None),
            ("hermes chat", None),
            ("hermes -z hi", Some(ReplyForm::Bare)),
            ("hermes chat -q hi", Some(ReplyForm::Human)),
            ("hermes chat -q hi -Q", Some(ReplyForm::Quiet)),
            ("hermes --json -z hi", Some(ReplyForm::Json)),
            ("hermes --yolo chat -q hi --provider custom --resume latest", Some(ReplyForm::Human)),
        ] {
            let got = read(line).unwrap().map(|prompt| prompt.form);
            assert_eq!(got, want, "{line}");
        }
        assert!(read("hermes -z a chat -q b").is_err());
        assert!(read("hermes --json").is_err());
    }
}
