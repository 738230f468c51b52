//! One way in which a model call goes wrong, and what must come of it.

use hermes_conversation::FinishReason;
use hermes_runtime::FaultClass;
use hermes_testkit::{FakeProvider, Fault, ReplyScript};
use serde_json::{Value, json};

/// The formats in which a server can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Chat,
    Messages,
    Responses,
}

pub(crate) const ALL: &[Mode] = &[Mode::Chat, Mode::Messages, Mode::Responses];
pub(crate) const CHAT: &[Mode] = &[Mode::Chat];
pub(crate) const MESSAGES: &[Mode] = &[Mode::Messages];
pub(crate) const OPENAI: &[Mode] = &[Mode::Chat, Mode::Responses];
pub(crate) const RESPONSES: &[Mode] = &[Mode::Responses];

impl Mode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat_completions",
            Self::Messages => "anthropic_messages",
            Self::Responses => "codex_responses",
        }
    }
}

/// As far as a server comes with a reply that fails.
pub(crate) const HALF: &str = "Half of an ans";

/// The fault of the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum How {
    /// It refuses in the shape of its format, and says that we may come back at once.
    Refuses { status: u16, code: &'static str, words: &'static str },
    /// It begins to answer and breaks off with an error.
    BreaksOff { code: &'static str, words: &'static str },
    /// It begins to answer and something happens to the bytes.
    Spoils(Fault),
    /// It does this.
    Does(Fault),
    /// It ends its reply for this reason.
    Ends(FinishReason),
    /// It reads the request and is silent, longer than the user wants to wait.
    IsSilent,
    /// There is none.
    IsNotThere,
    /// Its certificate is not trusted.
    IsUntrusted,
    /// There are no certificates on this machine that it could be compared with.
    NobodyIsTrusted,
}

/// A line of the table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) class: FaultClass,
    pub(crate) how: How,
    pub(crate) modes: &'static [Mode],
    /// The number of failing requests.
    pub(crate) failures: usize,
    /// `agent.api_max_retries`, where a server cannot say that we may come back at once.
    pub(crate) attempts: Option<usize>,
    /// The server is an aggregator.
    pub(crate) is_aggregator: bool,
    /// Messages that were said before, where a fault means another thing in a long conversation.
    pub(crate) earlier: usize,
    /// The reason for the end of the turn, if the number of failures does not give it.
    pub(crate) exit_reason: Option<&'static str>,
}

impl Row {
    pub(crate) fn new(class: FaultClass, modes: &'static [Mode], how: How) -> Self {
        let (failures, earlier, is_aggregator) = (1, 0, false);
        Self { class, how, modes, failures, attempts: None, is_aggregator, earlier, exit_reason: None }
    }

    pub(crate) fn refuses(
        class: FaultClass,
        modes: &'static [Mode],
        status: u16,
        code: &'static str,
        words: &'static str,
    ) -> Self {
        Self::new(class, modes, How::Refuses { status, code, words })
    }

    pub(crate) fn breaks_off(class: FaultClass, code: &'static str, words: &'static str) -> Self {
        Self::new(class, ALL, How::BreaksOff { code, words })
    }

    /// So many requests fail.
    pub(crate) fn times(self, failures: usize) -> Self {
        Self { failures, ..self }
    }

    /// With so many attempts allowed.
    pub(crate) fn of_attempts(self, attempts: usize) -> Self {
        Self { attempts: Some(attempts), ..self }
    }

    pub(crate) fn at_an_aggregator(self) -> Self {
        Self { is_aggregator: true, ..self }
    }

    /// In a conversation of so many messages.
    pub(crate) fn after(self, earlier: usize) -> Self {
        Self { earlier, ..self }
    }

    pub(crate) fn ending_as(self, exit_reason: &'static str) -> Self {
        Self { exit_reason: Some(exit_reason), ..self }
    }

    /// The expected `turn_exit_reason` of a lasting fault.
    pub(crate) fn exit_reason(&self) -> String {
        self.exit_reason.unwrap_or("all_retries_exhausted_no_response").to_owned()
    }

    pub(crate) fn is_about_certificates(&self) -> bool {
        matches!(self.how, How::IsUntrusted | How::NobodyIsTrusted)
    }

    /// Returns true if the server can call a tool before it fails.
    pub(crate) fn calls_first(&self) -> bool {
        !self.is_about_certificates() && self.how != How::IsNotThere
    }

    /// The number of replies that are retracted because they had started.
    pub(crate) fn retractions(&self) -> usize {
        match self.how {
            How::Spoils(_) | How::BreaksOff { .. } => self.failures,
            _ => 0,
        }
    }

    /// The number of failures that reach a server.
    pub(crate) fn transcript(&self) -> usize {
        if matches!(self.how, How::IsNotThere | How::NobodyIsTrusted) { 0 } else { self.failures }
    }

    /// Prepares the server for a call of a tool and all failures.
    pub(crate) fn queue_after_a_call(&self, provider: &FakeProvider, mode: Mode) {
        if self.calls_first() {
            provider.reply(append("x").with_reasoning("Let me see."));
        }
        self.queue(provider, mode);
    }

    /// Prepares the server for all failures.
    pub(crate) fn queue(&self, provider: &FakeProvider, mode: Mode) {
        for _ in 0..self.failures {
            self.queue_one(provider, mode);
        }
    }

    fn queue_one(&self, provider: &FakeProvider, mode: Mode) {
        let half = || append("half").with_text(HALF).with_reasoning("Let me see.");
        match &self.how {
            How::Refuses { status, code, words } => provider.fault(Fault::Status {
                code: *status,
                headers: vec![("retry-after".into(), "0".into())],
                body: refusal(mode, code, words).to_string(),
            }),
            How::BreaksOff { code, words } => {
                provider.fault(Fault::ErrorInStream(report(mode, code, words))).reply(half())
            }
            How::Spoils(fault) => provider.fault(fault.clone()).reply(half()),
            How::Does(fault) => provider.fault(fault.clone()),
            // In a Responses stream each call ends by itself; one that is whole counts.
            How::Ends(reason) if mode == Mode::Responses => {
                provider.reply(ReplyScript::text(HALF).with_finish(*reason))
            }
            How::Ends(reason) => provider.reply(half().with_finish(*reason)),
            How::IsSilent => provider.fault(Fault::NoAnswer),
            How::IsNotThere | How::IsUntrusted | How::NobodyIsTrusted => provider,
        };
    }
}

/// A call that leaves a trace.
fn append(word: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({"command": format!("echo {word} >> ran")}))
}

/// The body of a refusal, as the vendors of each format write it.
fn refusal(mode: Mode, code: &str, words: &str) -> Value {
    match mode {
        Mode::Chat | Mode::Responses => json!({"error": {"message": words, "type": "error", "param": null,
            "code": code}}),
        Mode::Messages => json!({"type": "error", "error": {"type": code, "message": words},
            "request_id": "req_1"}),
    }
}

/// The event that ends a stream early. We may come back at once.
fn report(mode: Mode, code: &str, words: &str) -> Value {
    let error = json!({"type": code, "code": code, "message": words, "retry_after": 0});
    match mode {
        Mode::Chat => json!({"error": error}),
        Mode::Messages => json!({"type": "error", "error": error}),
        Mode::Responses => json!({"type": "response.failed", "sequence_number": 9,
            "response": {"id": "resp_1", "status": "failed", "error": error}}),
    }
}
