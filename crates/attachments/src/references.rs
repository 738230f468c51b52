//! References of a prompt, such as `@file:PATH`, and the text that is attached for them.

mod parse;
mod sources;

use hermes_conversation::{TokenCount, estimate_tokens};
use hermes_guard::{FenceKey, Secrets, delimit, fence, redact};
use parse::{Parsed, Reference, parse};
pub use sources::Sources;

/// A prompt with its attachments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedPrompt {
    pub text: String,
    /// One line for each reference that could not be attached; the model gets them too.
    pub warnings: Vec<String>,
}

/// The number of entries that are listed of a folder.
const MOST_ENTRIES: usize = 500;

/// The references of a prompt, found and not yet looked up.
#[derive(Debug)]
pub struct References(Parsed);

impl References {
    /// The references in a text; `None` if it has none.
    pub fn find(text: &str) -> Option<Self> {
        let parsed = parse(text);
        (!parsed.references.is_empty()).then_some(Self(parsed))
    }

    /// Looks the references up and attaches their contents, up to half of a context window of so many tokens.
    pub async fn attach(self, sources: &Sources<'_>, key: &FenceKey, window: u64) -> ExpandedPrompt {
        let Self(parsed) = self;
        let (mut attached, mut warnings) = (Vec::new(), Vec::new());
        for (written, reference) in parsed.references {
            match look_up(sources, &reference).await {
                Ok(found) => attached.push(block(sources.secrets, key, &written, &reference, &found)),
                Err(why) => warnings.push(format!("{written}: {why}")),
            }
        }
        joined(&parsed.text, attached, warnings, window)
    }
}

async fn look_up(sources: &Sources<'_>, reference: &Reference) -> Result<String, String> {
    match reference {
        Reference::Diff => sources.git(&["diff"]).await,
        Reference::Staged => sources.git(&["diff", "--staged"]).await,
        Reference::Git { commits } => sources.git(&["log", "-p", &format!("-{commits}")]).await,
        Reference::File { path, lines } => {
            let text = sources.file(path)?;
            let Some(lines) = lines else { return Ok(text) };
            let count = lines.end() - lines.start() + 1;
            let chosen: Vec<&str> = text.lines().skip(lines.start() - 1).take(count).collect();
            match chosen.is_empty() {
                true => Err(format!("the file has {} lines", text.lines().count())),
                false => Ok(chosen.join("\n")),
            }
        }
        Reference::Folder { path } => sources.folder(path, MOST_ENTRIES),
        Reference::Url { address } => sources.page(address).await,
    }
}

/// One attachment, between marks that it cannot close, without secrets. A page is marked as text of others.
fn block(secrets: &Secrets, key: &FenceKey, written: &str, reference: &Reference, found: &str) -> String {
    let safe = redact(secrets, found);
    match reference {
        Reference::Url { .. } => fence(key, written, &safe),
        _ => delimit(key, "attachment", written, &safe),
    }
}

fn tokens(text: &str) -> u64 {
    match estimate_tokens(text) {
        TokenCount::Measured(tokens) | TokenCount::Estimated(tokens) => tokens,
    }
}

/// Joins the prompt and its attachments, unless they are too large for the context window.
fn joined(said: &str, attached: Vec<String>, mut warnings: Vec<String>, window: u64) -> ExpandedPrompt {
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
    ExpandedPrompt { text: text.trim_start().to_owned(), warnings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_attachments_give_a_warning_and_too_large_ones_are_left_out() {
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
