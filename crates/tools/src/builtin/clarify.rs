//! A question to the user during a turn.

use crate::clarify::{Clarified, MOST_CHOICES, Question};
use crate::facts::text;
use crate::{CallScope, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallTitle, ForSubagents, ToolFacts, TurnEvent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

const NOBODY: &str = "Nobody is there to ask. Choose the most sensible option yourself, go on with it, and say in \
                      your answer which one you chose.";
const STOPPED: &str = "Not answered: the user stopped the turn.";

/// Ask the user a question and wait for the answer. Only for decisions that are theirs and that you
/// cannot sensibly make yourself.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ClarifyArgs {
    question: String,
    /// Up to 4 answers to choose from; the user can always give another.
    choices: Option<Vec<String>>,
}

pub(crate) struct Clarify;

impl Tool for Clarify {
    const NAME: &'static str = "clarify";
    const TOOLSET: Toolset = Toolset::Clarify;
    const FACTS: ToolFacts = ToolFacts {
        reads_only: true,
        result_varies: true,
        for_subagents: ForSubagents::No,
        title: Some(|arguments| CallTitle::new("❓", "asked", text(arguments, "question"))),
        user_answer: Some("user_response"),
        rank: 7,
        ..ToolFacts::DEFAULT
    };
    type Args = ClarifyArgs;

    fn refusal(&self, args: &ClarifyArgs, _: &ToolContext) -> Option<Refusal> {
        let is_empty = args.question.trim().is_empty();
        is_empty.then(|| Refusal::Invalid("`question` is empty; say what the user is to decide".to_owned()))
    }

    async fn run(
        &self,
        args: ClarifyArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let question = Question {
            call_id: scope.call_id.clone(),
            text: args.question.trim().to_owned(),
            choices: offered(args.choices.unwrap_or_default()),
        };
        scope.events.send(asked(&question)).await;
        let seconds = cx.settings().clarify_timeout;
        let limit = (seconds > 0).then(|| Duration::from_secs(seconds));
        let waiting = answer(scope.ask.clarify(&question), limit);
        let Some(response) = scope.cancel.run_until_cancelled(waiting).await else {
            return Err(ToolError::failed(STOPPED));
        };
        Ok(ToolOutput::json(json!({
            "question": question.text,
            "choices_offered": question.choices,
            "user_response": response,
        })))
    }
}

/// The choices that are worth showing: none that says nothing, and not too many.
fn offered(choices: Vec<String>) -> Vec<String> {
    let said = choices.into_iter().map(|choice| choice.trim().to_owned());
    said.filter(|choice| !choice.is_empty()).take(MOST_CHOICES).collect()
}

fn asked(question: &Question) -> TurnEvent {
    let Question { call_id, text, choices } = question.clone();
    TurnEvent::ClarifyAsked { id: call_id, question: text, choices }
}

/// The tool result for a question; without a limit the user may take any time.
async fn answer(asking: impl Future<Output = Clarified>, limit: Option<Duration>) -> String {
    let clarified = match limit {
        Some(limit) => tokio::time::timeout(limit, asking).await.map_err(|_| limit),
        None => Ok(asking.await),
    };
    match clarified {
        Ok(Clarified::Answered(answer)) => answer,
        Ok(Clarified::NoUser) => NOBODY.to_owned(),
        Err(limit) => format!(
            "No answer came within {} s. Choose the most sensible option yourself, go on with it, and say in \
             your answer which one you chose.",
            limit.as_secs()
        ),
    }
}

#[cfg(test)]
#[path = "clarify_tests.rs"]
mod tests;
