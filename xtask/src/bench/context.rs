//! The cost of compaction decisions for a long history.

use super::row::{Quantity, Row, Target};
use super::store::{cpu_of, median};
use super::{compactions, table};
use crate::flags::Flags;
use anyhow::{Result, ensure};
use hermes_context::{
    Compressor, CompressorSettings, ContextEngine, Decision, Keep, Past, View, Weights, Window,
};
use hermes_conversation::{AssistantMessage, CallId, Message, ToolCall, Trigger};
use std::sync::Arc;

const MESSAGES: usize = 5_000;
const FULL: usize = 101;
const QUICK: usize = 11;

pub(super) fn run(mut flags: Flags) -> Result<()> {
    let rounds = if flags.has("--quick") { QUICK } else { FULL };
    let as_json = flags.has("--json");
    let compactions = flags.value("--compactions")?.unwrap_or(100);
    flags.finish()?;
    let (long, short) = (history(MESSAGES), history(MESSAGES / 10));
    let (keep, past) = (Keep::default(), Past::default());
    let engine = Compressor::new(CompressorSettings::default());
    let (mut planned, mut due) = (Vec::new(), Vec::new());
    let (mut one_more, mut one_more_short) = (Vec::new(), Vec::new());
    let mut tokens = 0;
    for _ in 0..rounds {
        let mut weights = Weights::of(&long);
        tokens = weights.tokens(0..long.len());
        let (took, decision) =
            cpu_of(|| Ok(engine.plan(&view(&long, &weights, 200_000, Trigger::Manual, &keep, &past))))?;
        ensure!(matches!(decision, Decision::Shrink(_)), "nothing was planned");
        planned.push(took);
        let (took, decision) =
            cpu_of(|| Ok(engine.plan(&view(&long, &weights, 1_000_000, Trigger::Loop, &keep, &past))))?;
        ensure!(decision == Decision::Leave, "it fits");
        due.push(took);
        for (history, took) in [(&long, &mut one_more), (&short, &mut one_more_short)] {
            let mut longer = history.clone();
            weights = Weights::of(history);
            longer.push(Arc::new(Message::user("and now?")));
            let (cpu, _) = cpu_of(|| {
                weights.follow(&longer);
                Ok(weights.tokens(0..longer.len()))
            })?;
            took.push(cpu);
        }
    }
    let mut rows = vec![
        Row::new("CPU, a plan over 5,000 messages with the question for a summary", median(planned))
            .target(Target::Below(Quantity::Millis(5.0)))
            .note(format!("{} K estimated tokens, window of 200 K", tokens / 1000)),
        Row::new("CPU, the look before each call", median(due))
            .target(Target::Below(Quantity::Millis(5.0)))
            .note("5,000 messages that fit, window of 1 M"),
        Row::new("CPU, one more message after 5,000", median(one_more))
            .beside("after 500", median(one_more_short))
            .target(Target::Open)
            .note("what is weighed once is not weighed again"),
    ];
    rows.extend(compactions::rows(compactions)?);
    crate::say(&if as_json { table::json(&rows) } else { table::text(&rows) })
}

fn view<'a>(
    history: &'a [Arc<Message>],
    weights: &'a Weights,
    window: u64,
    trigger: Trigger,
    keep: &'a Keep,
    past: &'a Past,
) -> View<'a> {
    View {
        history,
        weights,
        fixed: 3_000,
        last: None,
        scale: 1.0,
        window: Window { tokens: Some(window), output: Some(8_000), summariser: Some(window) },
        trigger,
        focus: None,
        past,
        keep,
        nodes: &[],
        tools: &hermes_tools::KnownTools,
    }
}

/// Turns of a prompt, three calls with their results, and an answer.
fn history(messages: usize) -> Vec<Arc<Message>> {
    let mut history = Vec::with_capacity(messages);
    for turn in 0.. {
        if history.len() >= messages {
            break;
        }
        history.push(Message::user(format!("Question {turn}: what is in the next files, and why?")));
        for call in 0..3 {
            let id = CallId::new(format!("c{turn}_{call}"));
            let arguments = format!(r#"{{"path":"src/part{turn}/file{call}.rs"}}"#);
            let calls = vec![ToolCall::new(id.clone(), "read_file", arguments)];
            history.push(Message::Assistant(AssistantMessage { calls, ..AssistantMessage::default() }));
            history.push(Message::tool(
                id,
                "read_file",
                format!("{turn} {call} line of a file\n").repeat(14),
            ));
        }
        history.push(Message::assistant(format!("Answer {turn}: it is about this and that.")));
    }
    history.truncate(messages);
    history.into_iter().map(Arc::new).collect()
}
