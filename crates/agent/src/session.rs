//! A session as the agent holds it while a turn runs.

use crate::edits::FileEdits;
use crate::fallback::FallbackState;
use crate::loop_guard::LoopGuard;
use crate::recovery::Limits;
use crate::{CacheLedger, ContextState, RequestLog};
use hermes_context::Weights;
use hermes_conversation::{
    Cost, History, Lease, Mail, OpenTurn, Quirks, SpentCall, Usage, UserMessage, join_mail,
};
use hermes_prompt::Additions;
use hermes_wire::{ApiMode, Encoder};
use std::sync::Arc;

/// The message of the user.
pub type UserInput = UserMessage;

/// The prompt that opens a turn, and the queued messages in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    pub message: UserInput,
    /// Delivered by the commit that records the message.
    pub mail: Vec<Mail>,
    /// When it was said, in seconds since 1970, where that is not now.
    pub at: Option<f64>,
}

impl From<UserInput> for Input {
    fn from(message: UserInput) -> Self {
        Self { message, mail: Vec::new(), at: None }
    }
}

impl Input {
    /// Mail as a message of its own.
    pub fn of_mail(mail: Vec<Mail>) -> Self {
        Self { message: UserMessage::text(join_mail(&mail)), mail, at: None }
    }

    /// Returns the message preceded by the queued messages.
    pub fn after_mail(mail: Vec<Mail>, message: UserInput) -> Self {
        if mail.is_empty() {
            return message.into();
        }
        Self { message: message.preceded_by(&join_mail(&mail)), mail, at: None }
    }
}

/// The state of one session between and during turns. One task owns it.
pub struct Session {
    pub lease: Lease,
    /// Frozen when the session began.
    pub system: Arc<str>,
    pub history: History,
    /// Of the session's own model; another one that steps in has its own.
    pub quirks: Quirks,
    pub limits: Limits,
    /// The state while a fallback model is in use.
    pub(crate) fallback: Option<FallbackState>,
    pub(crate) encoder: Encoder,
    pub(crate) turn: Option<OpenTurn>,
    /// The cost of the newest reply, until it is recorded with its message.
    pub(crate) unrecorded: Option<SpentCall>,
    /// Model calls of this turn that failed since the last answer.
    pub(crate) failures: u32,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<Cost>,
    pub(crate) last_prompt_tokens: Option<u64>,
    /// Of this turn.
    pub(crate) guard: LoopGuard,
    /// Of this turn.
    pub(crate) edits: FileEdits,
    /// Every call of the last reply was housekeeping.
    pub(crate) only_housekeeping: bool,
    /// Every call of the last reply ran a script.
    pub(crate) only_scripts: bool,
    /// The output cap of this turn, where replies were cut and it was raised.
    pub(crate) output_cap: Option<u64>,
    /// The prompt, if hooks need it when the turn ends.
    pub(crate) asked: Option<String>,
    /// Texts that are added to every request and are not stored.
    pub additions: Additions,
    /// The requests that providers may have cached.
    pub ledger: CacheLedger,
    /// Its size, and what compactions have come to.
    pub context: ContextState,
    /// Requests of this turn, for a look at those that failed.
    pub requests: RequestLog,
}

impl Session {
    pub fn new(lease: Lease, system: Arc<str>, history: History, quirks: Quirks, limits: Limits) -> Self {
        Self {
            context: ContextState::of(history.messages()),
            lease,
            system,
            history,
            quirks,
            limits,
            fallback: None,
            encoder: Encoder::new(ApiMode::ChatCompletions),
            turn: None,
            unrecorded: None,
            failures: 0,
            usage: Usage::default(),
            cost: None,
            last_prompt_tokens: None,
            guard: LoopGuard::default(),
            edits: FileEdits::default(),
            only_housekeeping: false,
            only_scripts: false,
            output_cap: None,
            asked: None,
            additions: Additions::default(),
            ledger: CacheLedger::default(),
            requests: RequestLog::default(),
        }
    }

    /// The prompt tokens of the newest request with a reply.
    pub fn prompt_tokens(&self) -> Option<u64> {
        self.last_prompt_tokens
    }

    /// Adds the message that opens a turn.
    pub(crate) fn hear(&mut self, message: UserMessage) {
        if self.history.push_user(message) {
            // The newest message was replaced, so what was counted with it is wrong.
            (self.context.weights, self.context.last) = (Weights::default(), None);
        }
    }

    /// Writes the session's requests. Another format begins anew: none of its bytes are there yet.
    pub(crate) fn encoder(&mut self, mode: ApiMode) -> &mut Encoder {
        if self.encoder.mode() != mode {
            self.encoder = Encoder::new(mode);
        }
        &mut self.encoder
    }

    /// The system prompt for the model that is asked now.
    pub(crate) fn spoken_system(&self) -> &Arc<str> {
        self.fallback.as_ref().map_or(&self.system, |fallback| &fallback.system)
    }

    /// The quirks of the model in use.
    pub(crate) fn quirks_mut(&mut self) -> &mut Quirks {
        self.fallback.as_mut().map_or(&mut self.quirks, |fallback| &mut fallback.quirks)
    }

    /// Forgets what earlier turns cost: a report speaks of its own turn.
    pub(crate) fn start_counting(&mut self) {
        self.usage = Usage::default();
        self.cost = None;
        self.unrecorded = None;
        self.guard = LoopGuard::default();
        self.edits = FileEdits::default();
        self.requests.clear();
        self.output_cap = None;
        self.failures = 0;
    }

    /// Adds to what the turn is reported to have cost.
    pub(crate) fn add_cost(&mut self, cost: Cost) {
        match &mut self.cost {
            Some(earlier) => *earlier += cost,
            None => self.cost = Some(cost),
        }
    }

    /// Adds what a reply cost to what is not yet recorded: several replies may share a commit.
    pub(crate) fn count(&mut self, spent: SpentCall) {
        self.usage += spent.usage;
        self.add_cost(spent.bill.cost);
        self.last_prompt_tokens = Some(spent.usage.prompt());
        match &mut self.unrecorded {
            Some(earlier) => earlier.add(spent),
            None => self.unrecorded = Some(spent),
        }
    }
}
