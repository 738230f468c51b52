//! What a person refers to with `@file:…` and its like, attached to their words.
//!
//! Attachments become part of the message and are stored with it: what the model was shown can be seen
//! later, whatever becomes of the files.

mod parse;
mod places;

use crate::{Runtime, RuntimeError, Session, model_facts};
use hermes_conversation::{TokenCount, estimate_tokens};
use hermes_guard::{FenceKey, delimit, redact};
use parse::{Reference, parse};
use places::{folder_of, git, listing, text_of};
use std::path::Path;

/// What is sent for what a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referred {
    pub text: String,
    /// What could not be attached, and why; also told to the model.
    pub warnings: Vec<String>,
}

/// Lines of a folder that are shown.
const MOST_ENTRIES: usize = 500;

impl Session {
    /// Attaches what is referred to. Words without references stay as they are.
    pub async fn referring(&self, text: &str) -> Result<Referred, RuntimeError> {
        let parsed = parse(text);
        if parsed.references.is_empty() {
            return Ok(Referred { text: text.to_owned(), warnings: Vec::new() });
        }
        let (runtime, cwd) = (self.runtime(), self.cwd());
        let (mut attached, mut warnings) = (Vec::new(), Vec::new());
        for (written, reference) in parsed.references {
            match looked_up(runtime, &cwd, &reference).await {
                Ok(found) => attached.push(block(runtime, &runtime.fence_key(), &written, &found)),
                Err(why) => warnings.push(format!("{written}: {why}")),
            }
        }
        let window = model_facts::known(runtime.home(), self.endpoint()).window.value;
        Ok(joined(&parsed.text, attached, warnings, window))
    }
}

async fn looked_up(runtime: &Runtime, cwd: &Path, reference: &Reference) -> Result<String, String> {
    match reference {
        Reference::Diff => git(runtime, cwd, &["diff"]).await,
        Reference::Staged => git(runtime, cwd, &["diff", "--staged"]).await,
        Reference::Git { commits } => git(runtime, cwd, &["log", "-p", &format!("-{commits}")]).await,
        Reference::File { path, lines } => {
            let text = text_of(runtime, cwd, path)?;
            let Some(lines) = lines else { return Ok(text) };
            let count = lines.end() - lines.start() + 1;
            let chosen: Vec<&str> = text.lines().skip(lines.start() - 1).take(count).collect();
            match chosen.is_empty() {
                true => Err(format!("the file has {} lines", text.lines().count())),
                false => Ok(chosen.join("\n")),
            }
        }
        Reference::Folder { path } => listing(&folder_of(runtime, cwd, path)?, MOST_ENTRIES),
        Reference::Url { .. } => Err("pages are not built in yet; attach a file".to_owned()),
    }
}

/// One attachment, between marks that it cannot close, without secrets.
fn block(runtime: &Runtime, key: &FenceKey, written: &str, found: &str) -> String {
    let safe = redact(&runtime.secrets, found);
    delimit(key, "attachment", written, &safe)
}

fn tokens(text: &str) -> u64 {
    match estimate_tokens(text) {
        TokenCount::Measured(tokens) | TokenCount::Estimated(tokens) => tokens,
    }
}

/// Puts everything together, unless it is too much for the model's window.
fn joined(said: &str, attached: Vec<String>, mut warnings: Vec<String>, window: u64) -> Referred {
    let size: u64 = attached.iter().map(|block| tokens(block)).sum();
    let is_too_much = size > window / 2;
    if is_too_much {
        warnings.push(format!(
            "nothing was attached: about {size} tokens are more than half of the model's window of {window}"
        ));
    } else if size > window / 4 {
        warnings
            .push(format!("the attachments have about {size} tokens, over a quarter of the model's window"));
    }
    let mut text = said.to_owned();
    if !warnings.is_empty() {
        text.push_str("\n\n--- Context Warnings ---\n");
        text.push_str(&warnings.join("\n"));
    }
    if !is_too_much && !attached.is_empty() {
        text.push_str("\n\n--- Attached Context ---\n");
        text.push_str(&attached.join("\n"));
    }
    Referred { text: text.trim_start().to_owned(), warnings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_not_attached_and_much_is_told() {
        let block = "x".repeat(400);
        let put = |window| joined("look", vec![block.clone()], Vec::new(), window);
        assert_eq!(put(10_000).text, format!("look\n\n--- Attached Context ---\n{block}"));
        let much = put(300);
        assert!(much.text.contains("over a quarter") && much.text.contains(&block), "{}", much.text);
        let too_much = put(150);
        assert!(too_much.text.contains("nothing was attached") && !too_much.text.contains(&block));
        assert_eq!(
            joined("a", vec![], vec!["@file:x: no".into()], 9).text,
            "a\n\n--- Context Warnings ---\n@file:x: no"
        );
    }
}
