//! Events of a turn with control characters in every string, for tests of what is printed.

use hermes_conversation::{
    AskedCall, CallEnding, CallId, CompactionReport, KeptCounts, MailId, MailMode, SessionId, SubagentEvent,
    SummaryBy, TokenCount, Trigger, TurnEvent, Usage,
};

/// A title change, a screen wipe, a style of ours, C1 controls, DEL, a carriage return, an override of direction.
pub const HOSTILE: &str =
    "a\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\u{9b}8m\u{9d}\u{90}\x7f\x08\x00\rfake\u{202e}txt\u{2066}z";

fn compacted(by: SummaryBy, text: &str) -> TurnEvent {
    TurnEvent::Compacted(Box::new(CompactionReport {
        engine: text.to_owned(),
        trigger: Trigger::Loop,
        by,
        messages_before: 9,
        messages_after: 3,
        tokens_before: TokenCount::Measured(9),
        tokens_after: TokenCount::Estimated(3),
        seconds: 1.0,
        cost_usd: None,
        kept: KeptCounts::default(),
    }))
}

fn subagent_events(text: &str) -> Vec<SubagentEvent> {
    let text = || text.to_owned();
    vec![
        SubagentEvent::Started { goal: text() },
        SubagentEvent::ToolStarted { name: text(), arguments: text() },
        SubagentEvent::ToolFinished { name: text(), failed: true, millis: 1, ending: Default::default() },
        SubagentEvent::Status(text()),
        SubagentEvent::Ended { status: text(), millis: 1 },
    ]
}

/// One event of every kind with `text` in every field, and known tools with `text` in every argument.
pub fn events(text: &str) -> Vec<TurnEvent> {
    let (id, owned) = (CallId::new(text), || text.to_owned());
    let mut all = vec![
        TurnEvent::Accepted,
        TurnEvent::Text(owned()),
        TurnEvent::Reasoning(owned()),
        TurnEvent::Retracted,
        TurnEvent::Thinking { active: true },
        TurnEvent::ToolPreparing { name: owned() },
        TurnEvent::ApprovalAsked {
            id: id.clone(),
            what: owned(),
            cwd: owned(),
            effects: vec![owned()],
            rules: vec![owned()],
        },
        TurnEvent::BatchAsked {
            calls: vec![AskedCall { id: id.clone(), what: owned(), cwd: owned(), effects: vec![owned()] }],
        },
        TurnEvent::CallDecided {
            id: id.clone(),
            decision: "denied",
            by: "user",
            scope: None,
            rules: vec![owned()],
        },
        TurnEvent::ClarifyAsked { id: id.clone(), question: owned(), choices: vec![owned()] },
        TurnEvent::HookAsked { key: owned(), event: owned(), command: owned(), is_changed: true },
        TurnEvent::StepFinished { usage: Some(Usage::default()) },
        TurnEvent::MailAccepted { id: MailId(1), mode: MailMode::Steer, text: owned() },
        TurnEvent::MailDelivered { id: MailId(1), mode: MailMode::Steer, text: owned() },
        TurnEvent::MailDelivered { id: MailId(1), mode: MailMode::Queue, text: owned() },
        TurnEvent::Status(owned()),
        compacted(SummaryBy::Model(owned()), text),
        compacted(SummaryBy::Fallback { why: owned() }, text),
    ];
    for event in subagent_events(text) {
        let session = SessionId::new(text);
        all.push(TurnEvent::Subagent { call: id.clone(), session, task: 0, event });
    }
    let keys =
        ["command", "path", "pattern", "goal", "question", "category", "name", "action", "query", "target"];
    let arguments: serde_json::Map<_, _> = keys.iter().map(|key| (key.to_string(), text.into())).collect();
    let arguments = serde_json::Value::from(arguments).to_string();
    let result = serde_json::json!({ "user_response": text, "error": text }).to_string();
    let known =
        ["terminal", "read_file", "clarify", "memory", "skill_manage", "tool_search", "delegate_task"];
    for name in known.into_iter().chain([text]) {
        let (name, id) = (name.to_owned(), id.clone());
        let started =
            TurnEvent::ToolStarted { id: id.clone(), name: name.clone(), arguments: arguments.clone() };
        all.push(started);
        let ending = CallEnding::Answered;
        all.push(TurnEvent::ToolFinished {
            id,
            name,
            result: result.clone(),
            failed: true,
            ending,
            millis: 1,
        });
    }
    all.iter().for_each(is_covered);
    all
}

/// A new kind of event does not compile here until [`events`] has one of it.
fn is_covered(event: &TurnEvent) {
    match event {
        TurnEvent::Accepted
        | TurnEvent::Text(_)
        | TurnEvent::Reasoning(_)
        | TurnEvent::Retracted
        | TurnEvent::Thinking { .. }
        | TurnEvent::ToolPreparing { .. }
        | TurnEvent::ToolStarted { .. }
        | TurnEvent::ToolFinished { .. }
        | TurnEvent::ApprovalAsked { .. }
        | TurnEvent::BatchAsked { .. }
        | TurnEvent::CallDecided { .. }
        | TurnEvent::ClarifyAsked { .. }
        | TurnEvent::HookAsked { .. }
        | TurnEvent::StepFinished { .. }
        | TurnEvent::Subagent { .. }
        | TurnEvent::MailAccepted { .. }
        | TurnEvent::MailDelivered { .. }
        | TurnEvent::Compacted(_)
        | TurnEvent::Status(_) => {}
    }
}

/// Returns true for characters that may change what a terminal shows.
pub fn is_hostile(character: char) -> bool {
    character.is_control() && character != '\n' && character != '\t'
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
