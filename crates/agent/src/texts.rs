//! Texts that the agent itself adds to a conversation, and notices for the user.
//!
//! Texts in a conversation are replayed with the history, so changing one changes request bytes of future
//! sessions only.

use crate::loop_guard::Loop;
use crate::window;
use hermes_conversation::{Message, Quirk, UserMessage};

/// Stands as the model's message where it said nothing.
pub(crate) const EMPTY_REPLY: &str = "(empty)";
/// The answer when even the last question of a spent budget brought nothing.
pub(crate) const NO_SUMMARY: &str = "I ran out of steps for this task and could not put together a summary. Ask me to go on, or narrow the task.";
/// Closes a turn that the user cancelled.
pub(crate) const INTERRUPTED: &str = "[The user stopped this turn here.]";
/// Closes a turn whose process died.
const CRASHED: &str =
    "[Hermes was stopped during this turn; it was closed when the session was opened again.]";
/// Closes a turn that failed; the next message of the user begins a new one.
pub(crate) const FAILED: &str = "[No answer: the model could not be reached or refused the request.]";

/// Returns true for a line that closes a turn without an answer and is not a reply of a model.
pub fn is_closing_line(text: &str) -> bool {
    text == INTERRUPTED || text == FAILED || text == CRASHED
}

const CONTINUE: &str = "[Your reply was cut off by its length limit. Go on exactly where it stopped, without \
repeating anything.]";
const SUMMARISE: &str = "[The step budget of this task is spent. Do not call tools any more. Tell the user what was \
done, what was found and what remains.]";

pub(crate) const TRUNCATED_CALL: &str = "The call was cut off before its arguments were complete, so it was not \
run. Send it again, in smaller pieces if it is long.";
pub(crate) const MALFORMED_CALL: &str = "The arguments are not valid JSON, so the call was not run. Send one JSON \
object; use {} for no arguments.";
pub(crate) const SKIPPED_CALL: &str = "Skipped: another call of the same reply had arguments that are not valid JSON, \
so none of them was run. Send it again.";
pub(crate) const CANCELLED_CALL: &str = "Not run: the user stopped the turn first.";

/// The notice that a request feature was rejected by the endpoint.
pub(crate) fn repaired(quirk: Quirk, why: &str) -> String {
    let instead = match quirk {
        Quirk::NoStreaming => "asking for whole replies",
        Quirk::NoReasoningReplay => "leaving out earlier reasoning",
        Quirk::PlainSchemas => "describing the tools more simply",
        Quirk::TextResults => "sending the results of tools as text",
        Quirk::SmallImages => "shrinking the images of this conversation",
        Quirk::NoImages => "going on without the images of this conversation",
    };
    format!("{why}; {instead} from now on")
}

/// The notice that truncated tool calls are requested again.
pub(crate) fn cap_raised(tokens: u64) -> String {
    format!("the model's tool calls were cut by the output limit; asking again, with up to {tokens} tokens")
}

/// The notice that a larger output cap was rejected.
pub(crate) fn cap_restored(why: &str) -> String {
    format!("{why}; going back to the first output limit")
}

/// The error for a history that is too long while compaction is disabled.
pub(crate) const COMPACTION_IS_OFF: &str =
    "compression.enabled is false, so the conversation is not made shorter; /new begins another one";

/// The notice that a compaction begins.
pub(crate) fn compacting(messages: usize) -> String {
    format!("compacting {messages} older messages (`hermes context expand` shows them)")
}

/// The notice, once per session, that a summary has itself been summarised.
pub(crate) const SUMMARISED_TWICE: &str =
    "early messages have been summarised twice; details may be missing (/new starts a new session)";

/// The notice that a model other than the configured one wrote a summary.
pub(crate) fn summary_by_fallback(why: &str, model: &str) -> String {
    format!("{why}; the summary is by {model} instead. `hermes model tasks` shows who is asked")
}

/// The reason why a compaction is not possible now.
pub(crate) fn compacted_elsewhere() -> String {
    "another program is making this conversation shorter; when it has ended, open the session again"
        .to_owned()
}

/// The error for a history that could not be summarised.
pub(crate) fn left_whole(why: &str) -> String {
    format!(
        "no summary was written ({why}), and compression.abort_on_summary_failure leaves the conversation as it is"
    )
}

/// The notice that a refusal states how many output tokens are left.
pub(crate) fn output_left(tokens: u64) -> String {
    format!("the prompt leaves room for {tokens} tokens; asking again with that limit")
}

/// A refusal for the length of a request that is far below the window.
pub(crate) fn far_below_the_window(claim: &str, counted: u64, window: u64) -> String {
    format!(
        "{claim} (the server calls the request too long, but it has about {counted} tokens by our count, and the \
         window has {window})"
    )
}

/// The advice if the requested output is too long and the limit of the model is unknown.
pub(crate) const OUTPUT_TOO_LONG: &str = "the reply may not be that long; set model.max_tokens to less";

/// The error for a model that was not called.
pub(crate) fn window_too_small(tokens: u64) -> String {
    format!(
        "the model's context window is {tokens} tokens, and Hermes needs at least {}: start the server with a \
         larger one (llama.cpp: -c 16384, vLLM: --max-model-len 16384, Ollama: OLLAMA_CONTEXT_LENGTH=16384 or \
         `PARAMETER num_ctx 16384`, LM Studio: the model's context length), or use another model",
        window::LEAST
    )
}

/// The error of a turn that used all of its model calls.
pub(crate) fn budget_spent(max: u32) -> String {
    format!(
        "the turn used all of its model calls ({max}, agent.max_turns); the reply is a summary of the work so far"
    )
}

/// The warning beside the result of a call that repeats without progress.
pub(crate) fn loop_warning(kind: Loop, tool: &str, times: u32) -> String {
    match kind {
        Loop::ExactFailure => format!(
            "[Loop warning: this exact call has failed {times} times in a row. Change the arguments or the approach, \
             or report what blocks you, instead of repeating it.]"
        ),
        Loop::SameToolFailure => format!(
            "[Loop warning: {tool} has failed {times} times in a row. Look for the cause before calling it again, or \
             use another way.]"
        ),
        Loop::NoProgress => format!(
            "[Loop warning: this call has returned the same result {times} times in a row. Use the result you have, \
             or make another call.]"
        ),
    }
}

/// The error of a turn that a loop ended.
pub(crate) fn loop_stopped(kind: Loop, tool: &str, times: u32) -> String {
    let what = match kind {
        Loop::ExactFailure => format!("the same {tool} call failed {times} times in a row"),
        Loop::SameToolFailure => format!("{tool} failed {times} times in a row"),
        Loop::NoProgress => format!("the same {tool} call returned the same result {times} times in a row"),
    };
    format!("{what}; tool_loop_guardrails.hard_stop_enabled ended the turn")
}

const ABOUT_RESULTS: &str = "[You said nothing to the results above. Go on with the task on the basis of them, or \
give the user your answer.]";

const ACT: &str =
    "[You announced this and made no tool call. Do it now with your tools, and answer when it is done.]";

/// Asks for a check of changed code.
pub(crate) fn verify(files: &str) -> Message {
    Message::user(format!(
        "[You changed {files} and ran nothing since. Check the change now (build, tests, or the program itself), fix \
         what fails, and then give the user your complete answer again. If nothing can be run here, say so in it.]"
    ))
}

/// Asks for what was promised.
pub(crate) fn act() -> Message {
    Message::user(ACT)
}

pub(crate) fn about_results() -> Message {
    Message::user(ABOUT_RESULTS)
}

pub(crate) fn continuation() -> Message {
    Message::User(UserMessage { content: hermes_conversation::Content::text(CONTINUE), api_content: None })
}

pub(crate) fn summary_request() -> Message {
    Message::user(SUMMARISE)
}

/// An error as every tool states one.
pub(crate) fn error_result(text: &str) -> String {
    serde_json::json!({ "error": text }).to_string()
}

/// The texts that are recorded for a turn whose process died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashTexts {
    /// The result of a call that was running.
    pub unknown: String,
    /// The result of a call that never started.
    pub not_started: String,
    /// The result of a call that was running and only looks.
    pub looking: String,
    /// The line that closes the turn.
    pub closing: String,
}

pub fn crash_texts() -> CrashTexts {
    CrashTexts {
        unknown: error_result(
            "Hermes was stopped while this call was running. It may or may not have taken effect; check before \
             repeating it.",
        ),
        not_started: error_result("Hermes was stopped before this call began. It was not run."),
        looking: error_result(
            "Hermes was stopped before this call was done. It changes nothing, so it can be made again.",
        ),
        closing: CRASHED.to_owned(),
    }
}
