//! The JSON messages of the engine protocol, documented in docs/context-engines.md.

use hermes_context::{Answer, Past, Plan, Question, View};
use hermes_conversation::{Message, Node, RawJson};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The version of the protocol.
pub(super) const PROTOCOL: u32 = 1;

#[derive(Serialize)]
pub(super) struct Initialize<'a> {
    pub(super) protocol: u32,
    pub(super) session: &'a str,
    pub(super) model: &'a str,
    /// The context window in tokens; unknown numbers are absent.
    pub(super) window: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) summariser_window: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Initialized {
    pub(super) name: String,
    pub(super) protocol: u32,
    #[serde(default)]
    pub(super) threshold_tokens: Option<u64>,
    #[serde(default)]
    pub(super) tools: Vec<ToolWire>,
}

/// A tool of an engine; recordings have the same format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolWire {
    pub name: String,
    pub description: String,
    pub parameters: RawJson,
}

#[derive(Serialize)]
pub(super) struct PlanParams<'a> {
    /// The index of the first of `messages`; earlier ones have been sent.
    from: usize,
    messages: Vec<&'a Message>,
    /// The size of the next request, and whether the provider counted it.
    tokens: u64,
    measured: bool,
    fixed: u64,
    window: WindowWire,
    trigger: &'static str,
    focus: Option<&'a str>,
    keep: KeepWire<'a>,
    past: &'a Past,
    /// Absent if unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<&'a [Node]>,
}

#[derive(Serialize)]
struct WindowWire {
    tokens: Option<u64>,
    output: Option<u64>,
    summariser: Option<u64>,
}

#[derive(Serialize)]
struct KeepWire<'a> {
    todos: &'a [String],
    pins: &'a [String],
    memory: Option<&'a str>,
}

/// The messages and nodes that an engine has received.
#[derive(Debug, Default)]
pub(super) struct SentSoFar {
    messages: Vec<Arc<Message>>,
    nodes: Option<Vec<Node>>,
}

impl SentSoFar {
    /// The parameters of the next `plan` request. They count as sent.
    pub(super) fn plan<'a>(&mut self, view: &View<'a>) -> PlanParams<'a> {
        let from = self.messages.len();
        // Pointers first: messages that were not touched are not compared by content.
        let same = |(old, new): (&Arc<Message>, &Arc<Message>)| Arc::ptr_eq(old, new) || old == new;
        let goes_on = from <= view.history.len() && self.messages.iter().zip(view.history).all(same);
        let from = if goes_on { from } else { 0 };
        self.messages.truncate(from);
        self.messages.extend(view.history[from..].iter().cloned());
        let nodes = (self.nodes.as_deref() != Some(view.nodes)).then_some(view.nodes);
        if nodes.is_some() {
            self.nodes = Some(view.nodes.to_vec());
        }
        let tokens = view.tokens();
        PlanParams {
            from,
            messages: view.history[from..].iter().map(|message| &**message).collect(),
            tokens: tokens.value(),
            measured: matches!(tokens, hermes_conversation::TokenCount::Measured(_)),
            fixed: view.fixed,
            window: WindowWire {
                tokens: view.window.tokens,
                output: view.window.output,
                summariser: view.window.summariser,
            },
            trigger: view.trigger.as_str(),
            focus: view.focus,
            keep: KeepWire {
                todos: &view.keep.todos,
                pins: &view.keep.pins,
                memory: view.keep.memory.as_deref(),
            },
            past: view.past,
            nodes,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub(super) enum Planned {
    Leave,
    Stuck {
        why: String,
    },
    Shrink {
        replace: (usize, usize),
        #[serde(default)]
        question: Option<QuestionWire>,
    },
}

/// The request for a summary that an engine plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionWire {
    pub system: String,
    pub text: String,
    pub max_output_tokens: u64,
}

impl From<QuestionWire> for Question {
    fn from(wire: QuestionWire) -> Self {
        let QuestionWire { system, text, max_output_tokens } = wire;
        Self { system, text, max_output_tokens }
    }
}

impl From<&Question> for QuestionWire {
    fn from(question: &Question) -> Self {
        let Question { system, text, max_output_tokens } = question.clone();
        Self { system, text, max_output_tokens }
    }
}

#[derive(Serialize)]
pub(super) struct AssembleParams<'a> {
    plan: PlanWire<'a>,
    answer: AnswerWire<'a>,
}

#[derive(Serialize)]
struct PlanWire<'a> {
    replace: (usize, usize),
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum AnswerWire<'a> {
    NotAsked,
    Said { model: &'a str, text: &'a str },
    Failed(&'a str),
}

impl<'a> AssembleParams<'a> {
    pub(super) fn of(plan: &'a Plan, answer: Answer<'a>) -> Self {
        Self {
            plan: PlanWire {
                replace: (plan.replace.start, plan.replace.end),
                question: plan.question.as_ref().map(|question| question.text.as_str()),
            },
            answer: match answer {
                Answer::NotAsked => AnswerWire::NotAsked,
                Answer::Said { model, text } => AnswerWire::Said { model, text },
                Answer::Failed(why) => AnswerWire::Failed(why),
            },
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct AssembledWire {
    /// New messages, and ranges of the history: `{"keep": [from, to]}`.
    pub(super) messages: Vec<Value>,
    pub(super) tail: usize,
    pub(super) summary: String,
}

#[derive(Serialize)]
pub(super) struct CallTool<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a serde_json::Map<String, Value>,
}
