//! `hermes prompt show|size|diff`: the layers of a system prompt, and changes to their sources.

use crate::exit::{Exit, Failure};
use crate::flags::{Common, ModelFlags, PromptFlags, ToolFlags};
use crate::launch;
use clap::Args;
use hermes_conversation::{TokenCount, estimate_tokens};
use hermes_runtime::{LayerView, PromptTier, PromptView, Runtime};
use hermes_terminal::print;
use hermes_terminal::term::{self, Style};
use serde_json::{Value, json};

#[derive(Debug, Clone, Args)]
pub(crate) struct WhichPrompt {
    /// Session: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    pub(super) tools: ToolFlags,
    #[command(flatten)]
    pub(super) prompt: PromptFlags,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DiffArgs {
    /// Session: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION", default_value = "latest")]
    session: String,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    pub(super) tools: ToolFlags,
    #[command(flatten)]
    pub(super) prompt: PromptFlags,
}

/// Prints the layers with their texts, or only the sizes.
pub(crate) async fn show(which: &WhichPrompt, with_texts: bool, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let view = view(&runtime, which.session.as_deref()).await;
    runtime.leave().await;
    let view = view?;
    if common.json {
        print::json(&as_json(&view, with_texts));
        return Ok(Exit::Answered);
    }
    for notice in &view.notices {
        print::notice(&notice.to_string());
    }
    print::lines(if with_texts { texts(&view) } else { sizes(&view) });
    Ok(Exit::Answered)
}

/// Prints the changes since a session started.
pub(crate) async fn diff(args: &DiffArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let found = both(&runtime, &args.session).await;
    runtime.leave().await;
    let (then, now) = found?;
    let changes = changes(&then.layers, &now.layers);
    if common.json {
        let all = changes.iter().map(|change| {
            json!({ "layer": change.name, "source": change.source, "before": change.before, "after": change.after })
        });
        print::json(&json!({ "session": then.session, "changes": all.collect::<Vec<_>>() }));
        return Ok(Exit::Answered);
    }
    if changes.is_empty() {
        term::print_line("No changes: a new session would get the same prompt.");
        return Ok(Exit::Answered);
    }
    let style = Style::for_stream(&std::io::stdout());
    let mut lines = Vec::new();
    for change in &changes {
        lines.push(format!("{}{}{}{}", style.bold, change.name, source(change.source.as_deref()), style.off));
        lines.extend(line_changes(change));
    }
    lines.push(String::new());
    lines.push("The session keeps its prompt; the changes apply to new sessions.".to_owned());
    print::lines(lines);
    Ok(Exit::Answered)
}

async fn view(runtime: &Runtime, which: Option<&str>) -> Result<PromptView, Failure> {
    match which {
        None => Ok(runtime.prompt_here()?),
        Some(which) => {
            let session = launch::stored(runtime, which).await?;
            Ok(runtime.prompt_of(&session).await?)
        }
    }
}

async fn both(runtime: &Runtime, which: &str) -> Result<(PromptView, PromptView), Failure> {
    let session = launch::stored(runtime, which).await?;
    Ok((runtime.prompt_of(&session).await?, runtime.prompt_now(&session).await?))
}

fn tokens(text: &str) -> u64 {
    match estimate_tokens(text) {
        TokenCount::Measured(tokens) | TokenCount::Estimated(tokens) => tokens,
    }
}

fn tier(tier: PromptTier) -> &'static str {
    match tier {
        PromptTier::Stable => "stable",
        PromptTier::Context => "context",
        PromptTier::Volatile => "volatile",
    }
}

fn source(source: Option<&str>) -> String {
    source.map(|source| format!("  {}", term::printable(source))).unwrap_or_default()
}

fn texts(view: &PromptView) -> Vec<String> {
    let style = Style::for_stream(&std::io::stdout());
    let mut lines = Vec::new();
    for layer in &view.layers {
        lines.push(format!(
            "{}── {} ({}, {} bytes, about {} tokens){}{}",
            style.dim,
            layer.name,
            tier(layer.tier),
            layer.text.len(),
            tokens(&layer.text),
            source(layer.source.as_deref()),
            style.off
        ));
        lines.push(term::printable(&layer.text).into_owned());
        lines.push(String::new());
    }
    lines
}

/// One row per layer and per tool, and the totals.
fn sizes(view: &PromptView) -> Vec<String> {
    let row = |name: &str, what: &str, bytes: usize, tokens: u64, more: &str| {
        format!("{name:<18}{what:<10}{bytes:>9}{tokens:>9}{more}")
    };
    let mut lines = vec![format!("{:<18}{:<10}{:>9}{:>9}  source", "layer", "tier", "bytes", "~tokens")];
    let (mut bytes, mut all) = (0, 0);
    for layer in &view.layers {
        let counted = tokens(&layer.text);
        let from = source(layer.source.as_deref());
        lines.push(row(&layer.name, tier(layer.tier), layer.text.len(), counted, &from));
        (bytes, all) = (bytes + layer.text.len(), all + counted);
    }
    lines.push(row("system prompt", "", bytes, all, ""));
    lines.push(String::new());
    lines.push(format!("{:<28}{:>9}{:>9}", "tool", "bytes", "~tokens"));
    let tool = |name: &str, bytes: usize| format!("{name:<28}{bytes:>9}{:>9}", bytes.div_ceil(4));
    lines.extend(view.tools.iter().map(|view| tool(&term::printable(&view.name), view.bytes)));
    lines.push(tool("all tools", view.tools.iter().map(|tool| tool.bytes).sum()));
    lines
}

fn as_json(view: &PromptView, with_texts: bool) -> Value {
    let layers = view.layers.iter().map(|layer| {
        let mut shown = json!({
            "name": layer.name,
            "tier": tier(layer.tier),
            "source": layer.source,
            "bytes": layer.text.len(),
            "tokens": tokens(&layer.text),
        });
        if let (true, Some(fields)) = (with_texts, shown.as_object_mut()) {
            fields.insert("text".to_owned(), layer.text.clone().into());
        }
        shown
    });
    let tools = view.tools.iter().map(|tool| json!({ "name": tool.name, "bytes": tool.bytes }));
    json!({
        "session": view.session,
        "layers": layers.collect::<Vec<_>>(),
        "tools": tools.collect::<Vec<_>>(),
        "notices": view.notices,
    })
}

/// A layer that changed.
#[derive(Debug, PartialEq)]
struct Change {
    name: String,
    source: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

fn changes(then: &[LayerView], now: &[LayerView]) -> Vec<Change> {
    let text = |layers: &[LayerView], name: &str| {
        layers.iter().find(|layer| layer.name == name).map(|layer| layer.text.clone())
    };
    let gone = then.iter().filter(|layer| text(now, &layer.name).is_none());
    let all = now.iter().chain(gone).map(|layer| Change {
        name: layer.name.clone(),
        source: layer.source.clone(),
        before: text(then, &layer.name),
        after: text(now, &layer.name),
    });
    all.filter(|change| change.before != change.after).collect()
}

/// The changed lines with a sign before each: everything between the first and the last change, the old lines
/// first.
fn line_changes(change: &Change) -> Vec<String> {
    let lines =
        |text: &Option<String>| text.as_deref().unwrap_or("").lines().map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (lines(&change.before), lines(&change.after));
    let same = |pairs: &mut dyn Iterator<Item = (&String, &String)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let first = same(&mut before.iter().zip(&after));
    let last = same(&mut before[first..].iter().rev().zip(after[first..].iter().rev()));
    let signed = |sign: char, lines: &[String]| {
        let changed = &lines[first..lines.len() - last];
        changed.iter().map(|line| format!("{sign} {}", term::printable(line))).collect::<Vec<_>>()
    };
    [signed('-', &before), signed('+', &after)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(name: &str, text: &str) -> LayerView {
        LayerView { name: name.into(), tier: PromptTier::Stable, source: None, text: text.into() }
    }

    #[test]
    fn diff_shows_only_changed_lines() {
        let then = [layer("a", "same"), layer("b", "one\ntwo\n"), layer("gone", "x")];
        let now = [layer("a", "same"), layer("b", "one\nthree\n"), layer("new", "y")];
        let found = changes(&then, &now);
        let told: Vec<(&str, Vec<String>)> =
            found.iter().map(|change| (change.name.as_str(), line_changes(change))).collect();
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            told,
            [("b", lines(&["- two", "+ three"])), ("new", lines(&["+ y"])), ("gone", lines(&["- x"]))]
        );
        assert!(changes(&then, &then).is_empty());
    }
}
