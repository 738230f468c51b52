//! Decisions of an external context engine, as lines.

use hermes_context::{Assembled, Decision, Plan, View};
use hermes_conversation::{KeptCounts, Message, NewNode, SummaryBy, TokenCount};
use hermes_plugins::context_engine::{EngineStatus, QuestionWire};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EngineLine {
    /// The status of the engine after the decision.
    #[serde(rename = "told")]
    pub(crate) status: EngineStatus,
    pub(crate) did: EngineDid,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EngineDid {
    Leave,
    Stuck(String),
    Shrink {
        from: usize,
        to: usize,
        before: TokenCount,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<QuestionWire>,
    },
    Assembled(Box<AssembledLine>),
    /// The assembly failed, for this reason.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AssembledLine {
    /// Without the unchanged ones at the end.
    messages: Vec<Message>,
    tail: usize,
    nodes: Vec<NodeLine>,
    by: SummaryBy,
    kept: KeptCounts,
    after: TokenCount,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct NodeLine {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    children: Vec<u32>,
    text: String,
}

impl EngineDid {
    pub(crate) fn of_decision(decision: &Decision) -> Self {
        match decision {
            Decision::Leave => Self::Leave,
            Decision::Stuck(why) => Self::Stuck(why.clone()),
            Decision::Shrink(plan) => Self::Shrink {
                from: plan.replace.start,
                to: plan.replace.end,
                before: plan.before,
                question: plan.question.as_ref().map(QuestionWire::from),
            },
        }
    }

    pub(crate) fn of_assembled(assembled: &Result<Assembled, String>) -> Self {
        let made = match assembled {
            Ok(made) => made,
            Err(why) => return Self::Failed(why.clone()),
        };
        let new = &made.messages[..made.messages.len().saturating_sub(made.tail)];
        let node = |node: &NewNode| NodeLine { children: node.children.clone(), text: node.text.clone() };
        Self::Assembled(Box::new(AssembledLine {
            messages: new.iter().map(|message| Message::clone(message)).collect(),
            tail: made.tail,
            nodes: made.nodes.iter().map(node).collect(),
            by: made.by.clone(),
            kept: made.kept,
            after: made.after,
        }))
    }

    /// `None` for the result of an assembly.
    pub(crate) fn into_decision(self) -> Option<Decision> {
        Some(match self {
            Self::Leave => Decision::Leave,
            Self::Stuck(why) => Decision::Stuck(why),
            Self::Shrink { from, to, before, question } => {
                Decision::Shrink(Plan { replace: from..to, question: question.map(Into::into), before })
            }
            Self::Assembled(_) | Self::Failed(_) => return None,
        })
    }

    /// `None` if it is not an assembly for this history.
    pub(crate) fn into_assembled(self, view: &View<'_>) -> Option<Result<Assembled, String>> {
        let line = match self {
            Self::Assembled(line) => *line,
            Self::Failed(why) => return Some(Err(why)),
            Self::Leave | Self::Stuck(_) | Self::Shrink { .. } => return None,
        };
        let tail = view.history.len().checked_sub(line.tail)?;
        let mut messages: Vec<Arc<Message>> = line.messages.into_iter().map(Arc::new).collect();
        messages.extend(view.history[tail..].iter().cloned());
        let node = |node: NodeLine| NewNode { children: node.children, text: node.text };
        Some(Ok(Assembled {
            messages,
            tail: line.tail,
            nodes: line.nodes.into_iter().map(node).collect(),
            by: line.by,
            kept: line.kept,
            after: line.after,
        }))
    }
}
