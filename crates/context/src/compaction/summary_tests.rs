use super::*;
use crate::compaction::marker::framed;
use crate::compaction::reading::read;
use crate::compaction::settings::{CompressorSettings, limits};
use crate::compaction::template::SECTIONS;
use crate::{Keep, Past, Weights, Window};
use hermes_conversation::{Message, Trigger};
use std::sync::Arc;

struct Asked {
    summariser: Option<u64>,
    focus: Option<&'static str>,
    memory: Option<&'static str>,
}

impl Default for Asked {
    fn default() -> Self {
        Self { summariser: Some(200_000), focus: None, memory: None }
    }
}

fn asked(messages: Vec<Message>, asked: Asked) -> Option<Question> {
    let history: Vec<_> = messages.into_iter().map(Arc::new).collect();
    let weights = Weights::of(&history);
    let window = Window { tokens: Some(200_000), output: None, summariser: asked.summariser };
    let view = View {
        history: &history,
        weights: &weights,
        fixed: 0,
        last: None,
        scale: 1.0,
        window,
        trigger: Trigger::Manual,
        focus: asked.focus,
        past: &Past::default(),
        keep: &Keep { memory: asked.memory.map(str::to_owned), ..Keep::default() },
        nodes: &[],
        tools: &hermes_tools::KnownTools,
    };
    let (reading, range) = (read(&history), 0..history.len());
    let earlier = previous(&view, &reading, &range).map_or(Earlier::None, Earlier::Updated);
    let limits = limits(&CompressorSettings::default(), window);
    question(&view, &reading, &limits, range, &earlier)
}

fn talk() -> Vec<Message> {
    vec![Message::user("build the parser"), Message::assistant("done"), Message::user("now the tests")]
}

#[test]
fn a_first_summary_is_asked_for_with_all_sections_in_order() {
    let question = asked(talk(), Asked::default()).unwrap();
    let places: Vec<_> = SECTIONS.iter().map(|name| question.text.find(&format!("## {name}\n"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert!(question.text.contains("Sum up the messages") && !question.text.contains("earlier summary"));
    assert!(question.text.contains("Aim at 2000 tokens"));
    assert!(question.text.contains("- build the parser\n- now the tests"), "{}", question.text);
    assert_eq!(question.max_output_tokens, 3_000);
    assert!(question.system.contains("source material"));
}

#[test]
fn earlier_summary_of_any_program_is_updated() {
    for summary in [
        framed(
            "Words.",
            "## Goal\nport 8080\n\n## Kept by Hermes, Not by a Model\n\n### Files Touched\n- a.rs",
        ),
        "[CONTEXT COMPACTION - Reference Only] Text.\n## Goal\nport 8080".to_owned(),
        "[CONTEXT SUMMARY]: ## Goal\nport 8080".to_owned(),
    ] {
        let mut messages = talk();
        messages.insert(0, Message::user(summary));
        let text = asked(messages, Asked::default()).unwrap().text;
        assert!(text.contains("earlier summary>\n## Goal\nport 8080\n</source"), "{text}");
        assert!(text.contains("Bring the earlier summary up to date"));
        assert_eq!(text.matches("port 8080").count(), 1, "{text}");
        assert!(!text.contains("Words.") && !text.contains("Files Touched"), "{text}");
    }
}

#[test]
fn a_topic_replaces_what_was_guessed_and_memory_is_escaped() {
    let text = asked(
        talk(),
        Asked { focus: Some("the parser"), memory: Some("a \"b\"\n```\n</source>"), ..Asked::default() },
    )
    .unwrap()
    .text;
    assert!(text.contains("topic>\nthe parser\n") && !text.contains("newest requests>"), "{text}");
    assert!(
        text.contains(
            r#"```json
"a \"b\"\n```\n</source>"
```"#
        ),
        "{text}"
    );
}

#[test]
fn model_with_too_small_a_window_is_not_called() {
    for (summariser, want) in [(None, false), (Some(2_000), false), (Some(8_000), true)] {
        assert_eq!(asked(talk(), Asked { summariser, ..Asked::default() }).is_some(), want, "{summariser:?}");
    }
    let long = (0..400).map(|n| Message::user(format!("{n} {}", "word ".repeat(400)))).collect();
    let question = asked(long, Asked { summariser: Some(30_000), ..Asked::default() }).unwrap();
    let tokens = text_tokens(&question.text) + text_tokens(&question.system) + question.max_output_tokens;
    assert!(tokens <= 30_000, "{tokens}");
}

/// The Python release does not know our summaries: it leaves one at the beginning and adds its own. The
/// older one covers most of the conversation.
#[test]
fn summaries_of_two_programs_are_both_included() {
    let fact = "the key of the greenhouse is under the third pot";
    let long =
        format!("## {}\nask one\n\n## {}\n{}\n{fact}", SECTIONS[0], SECTIONS[3], "did it. ".repeat(1_000));
    let theirs = format!(
        "[CONTEXT COMPACTION — REFERENCE ONLY] Text:\n## {}\nask two\n\n## {}\nplanted\n\n--- END OF CONTEXT \
         SUMMARY — respond to the message below ---",
        SECTIONS[0], SECTIONS[3]
    );
    for with in ["", "\n\nand now the roses"] {
        let question = asked(
            vec![
                Message::user(format!("{}{with}", framed("Words.", &long))),
                Message::assistant("yes"),
                Message::user("two"),
                Message::assistant(theirs.clone()),
                Message::user("three"),
            ],
            Asked::default(),
        );
        let text = question.unwrap().text;
        assert_eq!(text.matches(fact).count(), 1, "{with}: {text}");
        assert_eq!(text.matches("planted").count(), 1, "{with}: {text}");
        assert!(text.contains("ask two") && !text.contains("ask one"), "{with}: {text}");
        assert_eq!(text.contains("the roses"), !with.is_empty(), "{text}");
    }
}
