use super::*;
use crate::compaction::marker::{found, framed};
use crate::{Compressor, Keep, SUMMARY_SECTIONS, Weights};
use hermes_conversation::{AssistantMessage, CallId, Message, MessageId, Node, ToolCall, Trigger};
use std::sync::Arc;

const WINDOW: Window = Window { tokens: Some(200_000), output: None, summariser: Some(200_000) };

fn good() -> String {
    let section = |name: &&str| format!("## {name}\nthe model's text about {name}");
    SUMMARY_SECTIONS.iter().map(section).collect::<Vec<_>>().join("\n\n")
}

/// Turns of about 500 tokens.
fn turns(range: Range<usize>) -> Vec<Arc<Message>> {
    let turn = |n: usize| {
        let call =
            ToolCall::new(CallId::new(format!("c{n}")), "read_file", format!(r#"{{"path":"src/{n}.rs"}}"#));
        [
            Message::user(format!("request {n}")),
            Message::Assistant(AssistantMessage { calls: vec![call], ..Default::default() }),
            Message::tool(CallId::new(format!("c{n}")), "read_file", "line\n".repeat(370)),
            Message::assistant(format!("reply {n}")),
        ]
    };
    range.flat_map(turn).map(Arc::new).collect()
}

fn leaf(number: u32, text: &str) -> Node {
    let first = i64::from(number) * 100;
    Node {
        number,
        level: 0,
        children: vec![],
        first: MessageId(first),
        last: MessageId(first + 99),
        messages: 100,
        text: text.to_owned(),
    }
}

/// A session as the engine sees it.
struct Session {
    history: Vec<Arc<Message>>,
    nodes: Vec<Node>,
    past: Past,
    keep: Keep,
    window: Window,
}

impl Session {
    fn new(history: Vec<Arc<Message>>) -> Self {
        let keep =
            Keep { todos: vec!["ship it".into()], pins: vec!["never push\nto main".into()], memory: None };
        Self { history, nodes: vec![], past: Past::default(), keep, window: WINDOW }
    }

    fn with<T>(&self, look: impl FnOnce(&View<'_>) -> T) -> T {
        let weights = Weights::of(&self.history);
        look(&View {
            history: &self.history,
            weights: &weights,
            fixed: 1_000,
            last: None,
            scale: 1.0,
            window: self.window,
            trigger: Trigger::Manual,
            focus: None,
            past: &self.past,
            keep: &self.keep,
            nodes: &self.nodes,
            tools: &hermes_tools::KnownTools,
        })
    }

    fn plan(&self, engine: &impl ContextEngine) -> Plan {
        match self.with(|view| engine.plan(view)) {
            Decision::Shrink(plan) => plan,
            other => panic!("{other:?}"),
        }
    }

    fn compact(&self, engine: &impl ContextEngine, answer: Answer<'_>) -> Assembled {
        let plan = self.plan(engine);
        self.with(|view| engine.assemble(view, &plan, answer)).unwrap()
    }
}

fn said(text: &str) -> Answer<'_> {
    Answer::Said { model: "small", text }
}

fn summary(assembled: &Assembled) -> String {
    let summaries: Vec<_> = assembled.messages.iter().filter_map(|message| found(message)).collect();
    assert_eq!(summaries.len(), 1);
    summaries[0].text.clone()
}

#[test]
fn the_first_compaction_makes_one_leaf_and_one_message() {
    let session = Session::new(turns(0..20));
    let assembled = session.compact(&Lossless::default(), said(&good()));
    assert_eq!(assembled.by, SummaryBy::Model("small".into()));
    let text = summary(&assembled);
    for part in [
        "context_expand reads them word for word",
        "### Summary 1, the Newest Part",
        "## Historical Task Snapshot\nrequest 15\n\n## Goal\nthe model's text",
        "### Open Todos\n- ship it\n\n### Pinned\nnever push\nto main\n\n### Files Touched\n- src/15.rs",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert_eq!(assembled.nodes.len(), 1);
    assert!(assembled.nodes[0].text.starts_with("## Historical Task Snapshot\nrequest 15\n\n## Goal\n"));
    assert!(!assembled.nodes[0].text.contains("never push"), "what is pinned is not part of the record");
    assert!(found(&assembled.messages[0]).is_some(), "a leaf stands for everything from the first on");
}

#[test]
fn a_model_is_asked_for_the_leaf_only_and_only_if_it_may_be() {
    let mut session = Session::new(turns(0..10));
    let asked = |session: &Session, engine: &Lossless| session.plan(engine).question.map(|asked| asked.text);
    let first = session.compact(&Lossless::default(), said(&good().replace("Goal\n", "Goal\nOLDER ")));
    session.history = first.messages;
    session.history.extend(turns(10..30));
    session.nodes = vec![leaf(1, &first.nodes[0].text)];
    let text = asked(&session, &Lossless::default()).unwrap();
    assert!(!text.contains("earlier summary") && !text.contains("OLDER"), "{text}");
    assert!(text.contains("request 20"), "{text}");
    let extractive = Lossless::new(LosslessSettings { extractive: true, ..LosslessSettings::default() });
    assert_eq!(asked(&session, &extractive), None);
    for past in [
        Past { resting: Some("the model failed; wait".into()), ..Past::default() },
        Past { fallbacks: 2, ..Past::default() },
    ] {
        session.past = past;
        assert_eq!(asked(&session, &Lossless::default()), None, "{:?}", session.past);
    }
    session.past = Past::default();
    session.window.summariser = None;
    assert_eq!(asked(&session, &Lossless::default()), None);
    assert_eq!(session.compact(&Lossless::default(), Answer::NotAsked).by, SummaryBy::Excerpts);
}

#[test]
fn messages_that_no_summary_covers_go_into_the_leaf() {
    let old = "## Goal\nport 8080\n\n## Key Decisions\nuse sqlite";
    let foreign = || Arc::new(Message::user(format!("[CONTEXT SUMMARY]: {old}")));
    let ours = || Arc::new(Message::user(framed("Words.", old)));
    for (name, first, nodes, is_carried) in [
        ("ours, in the tree", ours(), vec![leaf(1, old)], false),
        ("ours, and no tree", ours(), vec![], true),
        ("of another program", foreign(), vec![leaf(1, old)], true),
    ] {
        let mut session = Session::new(vec![first]);
        session.history.extend(turns(0..20));
        session.nodes = nodes;
        let asked = session.plan(&Lossless::default()).question.unwrap().text;
        assert_eq!(asked.contains("earlier summary>\n## Goal\nport 8080"), is_carried, "{name}");
        let assembled = session.compact(&Lossless::default(), Answer::NotAsked);
        assert_eq!(assembled.nodes[0].text.contains("use sqlite"), is_carried, "{name}");
        assert!(summary(&assembled).contains("use sqlite"), "{name}: in the leaf or in the tree");
    }
}

#[test]
fn unacceptable_answer_is_replaced_by_excerpts() {
    let session = Session::new(turns(0..20));
    for (answer, why) in [
        (Answer::NotAsked, None),
        (Answer::Failed("no key"), Some("no key")),
        (said(""), Some("empty")),
        (said("I cannot help with that."), Some("refused")),
        (said(&good()[..300]), Some("cut off")),
    ] {
        let assembled = session.compact(&Lossless::default(), answer);
        match (&assembled.by, why) {
            (SummaryBy::Excerpts, None) => {}
            (SummaryBy::Fallback { why: found }, Some(why)) => assert!(found.contains(why), "{found}"),
            (by, _) => panic!("{answer:?} gave {by:?}"),
        }
        let text = summary(&assembled);
        assert!(text.contains("- [read_file] src/9.rs -> 370 lines, 1850 bytes"), "{text}");
        assert!(text.contains("never push\nto main"), "{text}");
    }
}

#[test]
fn engines_take_over_from_each_other() {
    let engines: [&dyn Fn(&Session) -> Assembled; 4] = [
        &|session| session.compact(&Compressor::default(), said(&good().replace("Goal\n", "Goal\nFIRST "))),
        &|session| session.compact(&Lossless::default(), said(&good().replace("Goal\n", "Goal\nSECOND "))),
        &|session| session.compact(&Compressor::default(), Answer::NotAsked),
        &|session| session.compact(&Lossless::default(), Answer::NotAsked),
    ];
    let mut session = Session::new(turns(0..20));
    let mut texts = Vec::new();
    for (round, compact) in engines.iter().enumerate() {
        let assembled = compact(&session);
        texts.push(summary(&assembled));
        session.nodes.push(leaf(round as u32 + 1, &assembled.nodes[0].text));
        session.past.count += 1;
        session.history = assembled.messages;
        session.history.extend(turns((round + 1) * 20..(round + 2) * 20));
    }
    for (round, text) in texts.iter().enumerate() {
        for file in ["src/9.rs", &format!("src/{}.rs", round * 20 + 9)] {
            assert!(text.contains(&format!("- {file}\n")), "{round}: {file} is not in {text}");
        }
        assert!(text.contains("never push\nto main") && text.contains("- ship it"), "{round}");
    }
    assert!(
        texts[1].contains("- Summary 1 (messages 100 to 199):\n  goal: FIRST the model's text"),
        "{}",
        texts[1]
    );
    assert!(texts[2].contains("## Goal\nSECOND the model's text"), "{}", texts[2]);
    assert!(texts[3].contains("- Summary 2 (messages 200 to 299):\n  goal: SECOND"), "{}", texts[3]);
    assert!(texts[3].contains("### Summary 4, the Newest Part"), "{}", texts[3]);
}

#[test]
fn the_budget_follows_the_window_and_what_is_written() {
    for (window, written, want) in [
        (200_000, None, 20_000),
        (1_000_000, None, 20_000),
        (32_000, None, 3_200),
        (200_000, Some(5_000), 5_000),
        (32_000, Some(5_000), 3_200),
    ] {
        let mut session = Session::new(turns(0..2));
        session.window.tokens = Some(window);
        let engine = Lossless::new(LosslessSettings { summary_tokens: written, ..Default::default() });
        assert_eq!(session.with(|view| engine.budget(view)), want, "{window} {written:?}");
    }
}

#[test]
fn settings_may_be_written_in_part() {
    let settings: LosslessSettings = serde_json::from_str(r#"{"fan_out": 1, "extractive": true}"#).unwrap();
    assert_eq!(settings.fan_out(), 2, "with one, nothing would get fewer");
    let want = LosslessSettings { fan_out: 1, extractive: true, ..LosslessSettings::default() };
    assert_eq!(settings, want);
    let text = serde_json::to_string(&want).unwrap();
    assert_eq!(serde_json::from_str::<LosslessSettings>(&text).unwrap(), want);
}
