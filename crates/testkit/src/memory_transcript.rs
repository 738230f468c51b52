//! An in-memory transcript that records all operations in order.

use hermes_conversation::{
    AssistantMessage, BoxFuture, Closing, Compaction, DeliveryPoint, FileChange, InnerCall, InnerEnd, Intent,
    IntentId, IntentState, Lease, Mail, MailId, MailMode, Mailbox, Message, MessageId, Node, OpenTurn,
    Opening, Owner, Permits, ProcessMark, RecordError, SessionId, Settlement, SpentCall, StartPermit,
    Transcript, TurnId,
};
use std::sync::{Mutex, PoisonError};

/// A recorded operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Open(Opening),
    Annotate { turn: TurnId, sent: String },
    Plan { turn: TurnId, reply: AssistantMessage, spent: Option<SpentCall>, intents: Vec<Intent> },
    Settle { turn: TurnId, settlement: Settlement },
    Extend { turn: TurnId, messages: Vec<Message>, spent: Option<SpentCall> },
    BeginInner { turn: TurnId, call: InnerCall },
    EndInner { turn: TurnId, end: InnerEnd },
    NoteProcess { intent: IntentId, mark: ProcessMark },
    NoteChange { intent: IntentId, change: FileChange },
    Compact { turn: Option<TurnId>, compaction: Compaction },
    Close { turn: TurnId, closing: Closing },
}

impl Operation {
    /// A short name, for comparing whole sequences.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open(_) => "open",
            Self::Annotate { .. } => "annotate",
            Self::Plan { .. } => "plan",
            Self::Settle { .. } => "settle",
            Self::Extend { .. } => "extend",
            Self::BeginInner { .. } => "begin_inner",
            Self::EndInner { .. } => "end_inner",
            Self::NoteProcess { .. } => "note_process",
            Self::NoteChange { .. } => "note_change",
            Self::Compact { .. } => "compact",
            Self::Close { .. } => "close",
        }
    }

    /// The messages that it adds to the history.
    fn messages(&self) -> Vec<Message> {
        match self {
            Self::Open(opening) => vec![Message::User(opening.message.clone())],
            Self::Plan { reply, .. } => vec![Message::Assistant(reply.clone())],
            Self::Settle { settlement, .. } => {
                settlement.results.iter().map(|settled| Message::Tool(settled.message.clone())).collect()
            }
            Self::Extend { messages, .. } => messages.clone(),
            Self::Annotate { .. }
            | Self::BeginInner { .. }
            | Self::EndInner { .. }
            | Self::NoteProcess { .. }
            | Self::NoteChange { .. } => Vec::new(),
            Self::Compact { compaction, .. } => {
                compaction.messages.iter().map(|message| Message::clone(message)).collect()
            }
            Self::Close { closing, .. } => {
                closing.message.clone().map(Message::Assistant).into_iter().collect()
            }
        }
    }
}

/// A [`Transcript`] in memory.
///
/// It panics on violations of the contract: starting a call that is not planned, settling one that is unknown
/// or settled, recording in a turn that is not open.
#[derive(Debug, Default)]
pub struct MemoryTranscript(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    operations: Vec<Operation>,
    attempts: usize,
    fail_at: Option<usize>,
    fenced: bool,
    turns: i64,
    open: Vec<TurnId>,
    /// The queued messages so far and their delivery; ids are positions, from 1.
    mail: Vec<(Mail, bool)>,
    /// The summaries so far.
    nodes: Vec<Node>,
    compacting: CompactionLock,
    /// The intents so far; their ids are positions, from 1.
    intents: Vec<IntentEntry>,
}

/// The state of the compaction lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompactionLock {
    #[default]
    Free,
    /// Held by the agent, with the number of renewals.
    Held(usize),
    /// Held by another program.
    Elsewhere,
}

#[derive(Debug)]
struct IntentEntry {
    state: IntentState,
    settled: bool,
}

impl MemoryTranscript {
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the `count`-th operation, from 1, fail without being recorded. Later ones succeed.
    pub fn fail_at(&self, count: usize) {
        self.with(|state| state.fail_at = Some(count));
    }

    /// Makes every later operation under a lease fail as if another process had taken over.
    pub fn fence(&self) {
        self.with(|state| state.fenced = true);
    }

    /// Sets the lock, as another program may.
    pub fn set_compaction_lock(&self, compacting: CompactionLock) {
        self.with(|state| state.compacting = compacting);
    }

    /// The current state of the compaction lock.
    pub fn compaction_lock(&self) -> CompactionLock {
        self.with(|state| state.compacting)
    }

    /// All operations so far, in order.
    pub fn operations(&self) -> Vec<Operation> {
        self.with(|state| state.operations.clone())
    }

    /// The names of all operations so far, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.with(|state| state.operations.iter().map(Operation::name).collect())
    }

    /// The history of a resumed session.
    pub fn messages(&self) -> Vec<Message> {
        self.with(|state| {
            let mut messages = Vec::new();
            for operation in &state.operations {
                match (operation, messages.last_mut()) {
                    (Operation::Annotate { sent, .. }, Some(Message::User(said))) => {
                        said.api_content = Some(sent.clone());
                    }
                    (Operation::Compact { .. }, _) => messages = operation.messages(),
                    _ => messages.extend(operation.messages()),
                }
            }
            messages
        })
    }

    /// The state of every intent, in the order of planning.
    pub fn intent_states(&self) -> Vec<IntentState> {
        self.with(|state| state.intents.iter().map(|kept| kept.state).collect())
    }

    /// Queues a message to the busy session.
    pub fn post(&self, mode: MailMode, text: &str) -> MailId {
        self.with(|state| {
            let id = MailId(state.mail.len() as i64 + 1);
            state.mail.push((Mail { id, mode, text: text.to_owned() }, false));
            id
        })
    }

    /// The undelivered messages.
    pub fn mail(&self) -> Vec<Mail> {
        self.with(|state| {
            state.mail.iter().filter(|(_, delivered)| !delivered).map(|(mail, _)| mail.clone()).collect()
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fails if the test requested that; otherwise carries the operation out and records it.
    fn record<T>(
        &self,
        lease: Option<&Lease>,
        operation: Operation,
        act: impl FnOnce(&mut State) -> T,
    ) -> Result<T, RecordError> {
        self.with(|state| {
            state.attempts += 1;
            if let (true, Some(lease)) = (state.fenced, lease) {
                return Err(RecordError::Fenced { session: lease.session.clone() });
            }
            if state.fail_at == Some(state.attempts) {
                let cause = format!("operation {} was set to fail", state.attempts);
                return Err(RecordError::Store { cause });
            }
            let done = act(state);
            state.operations.push(operation);
            Ok(done)
        })
    }
}

impl State {
    fn open_turn(&mut self, session: SessionId) -> OpenTurn {
        self.turns += 1;
        let id = TurnId(self.turns);
        self.open.push(id);
        OpenTurn { id, session }
    }

    fn in_turn(&mut self, turn: TurnId) -> &mut Self {
        assert!(self.open.contains(&turn), "MemoryTranscript: turn {turn} is not open");
        self
    }

    fn plan(&mut self, states: &[IntentState]) -> Permits {
        let mut permits = Permits::default();
        for state in states {
            self.intents.push(IntentEntry { state: *state, settled: false });
            let id = IntentId(self.intents.len() as i64);
            permits.ids.push(id);
            permits.started.push((*state == IntentState::Started).then(|| StartPermit::issue(id)));
        }
        permits
    }

    fn deliver(&mut self, mail: &[MailId]) {
        for id in mail {
            let place = usize::try_from(id.0 - 1).ok();
            let kept = place.and_then(|place| self.mail.get_mut(place));
            let (_, delivered) = kept.unwrap_or_else(|| panic!("MemoryTranscript: there is no mail {id}"));
            assert!(!std::mem::replace(delivered, true), "MemoryTranscript: mail {id} is delivered twice");
        }
    }

    /// Steering messages that were not delivered stay queued for the next turn.
    fn queue_steering(&mut self) {
        for (mail, _) in self.mail.iter_mut().filter(|(_, delivered)| !delivered) {
            if mail.mode == MailMode::Steer {
                mail.mode = MailMode::Queue;
            }
        }
    }

    fn settle(&mut self, settlement: &Settlement) -> Vec<StartPermit> {
        assert!(
            settlement.mail.is_empty() || !settlement.results.is_empty(),
            "MemoryTranscript: mail needs a result to join"
        );
        self.deliver(&settlement.mail);
        for settled in &settlement.results {
            let kept = self.kept(settled.intent);
            assert!(!kept.settled, "MemoryTranscript: intent {} is settled twice", settled.intent);
            *kept = IntentEntry { state: settled.state, settled: true };
        }
        for decided in &settlement.decided {
            self.kept(decided.intent);
        }
        settlement.start.iter().map(|intent| self.start(*intent)).collect()
    }

    fn start(&mut self, intent: IntentId) -> StartPermit {
        let kept = self.kept(intent);
        let state = kept.state;
        assert_eq!(state, IntentState::Planned, "MemoryTranscript: intent {intent} cannot be started");
        kept.state = IntentState::Started;
        StartPermit::issue(intent)
    }

    fn remember(&mut self, compaction: &Compaction) -> Vec<Node> {
        let covered = self.nodes.iter().map(|node| node.last.0).max().unwrap_or(0);
        let said: i64 = self
            .operations
            .iter()
            .map(|operation| match operation {
                Operation::Compact { .. } => 0,
                other => other.messages().len() as i64,
            })
            .sum();
        let mut added = Vec::new();
        for new in &compaction.nodes {
            let children: Vec<&Node> =
                self.nodes.iter().filter(|node| new.children.contains(&node.number)).collect();
            let first = children.iter().map(|node| node.first.0).min().unwrap_or(covered + 1);
            let last = children.iter().map(|node| node.last.0).max().unwrap_or(said - compaction.tail as i64);
            // A leaf that covers no new message is not created.
            if last < first {
                continue;
            }
            let node = Node {
                number: self.nodes.len() as u32 + 1,
                level: children.iter().map(|node| node.level + 1).max().unwrap_or(0),
                children: new.children.clone(),
                first: MessageId(first),
                last: MessageId(last),
                messages: (last - first + 1).max(0) as u64,
                text: new.text.clone(),
            };
            self.nodes.push(node.clone());
            added.push(node);
        }
        added
    }

    fn kept(&mut self, intent: IntentId) -> &mut IntentEntry {
        let place = usize::try_from(intent.0 - 1).ok();
        let kept = place.and_then(|place| self.intents.get_mut(place));
        kept.unwrap_or_else(|| panic!("MemoryTranscript: there is no intent {intent}"))
    }
}

impl Transcript for MemoryTranscript {
    fn open_turn<'a>(
        &'a self,
        lease: &'a Lease,
        opening: Opening,
    ) -> BoxFuture<'a, Result<OpenTurn, RecordError>> {
        let session = lease.session.clone();
        Box::pin(async move {
            let mail = opening.mail.clone();
            self.record(Some(lease), Operation::Open(opening), |state| {
                state.deliver(&mail);
                state.open_turn(session)
            })
        })
    }

    fn annotate<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        sent: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let operation = Operation::Annotate { turn: turn.id, sent: sent.to_owned() };
            self.record(Some(lease), operation, |state| {
                state.in_turn(turn.id);
            })
        })
    }

    fn plan<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        reply: &'a AssistantMessage,
        spent: Option<&'a SpentCall>,
        intents: &'a [Intent],
    ) -> BoxFuture<'a, Result<Permits, RecordError>> {
        Box::pin(async move {
            let operation = Operation::Plan {
                turn: turn.id,
                reply: reply.clone(),
                spent: spent.cloned(),
                intents: intents.to_vec(),
            };
            let states: Vec<IntentState> = intents.iter().map(|intent| intent.state).collect();
            self.record(Some(lease), operation, |state| state.in_turn(turn.id).plan(&states))
        })
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        settlement: Settlement,
    ) -> BoxFuture<'a, Result<Vec<StartPermit>, RecordError>> {
        Box::pin(async move {
            let operation = Operation::Settle { turn: turn.id, settlement: settlement.clone() };
            self.record(Some(lease), operation, |state| state.in_turn(turn.id).settle(&settlement))
        })
    }

    fn extend<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        messages: &'a [Message],
        spent: Option<&'a SpentCall>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let operation =
                Operation::Extend { turn: turn.id, messages: messages.to_vec(), spent: spent.cloned() };
            self.record(Some(lease), operation, |state| {
                state.in_turn(turn.id);
            })
        })
    }

    fn begin_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        call: InnerCall,
    ) -> BoxFuture<'a, Result<(IntentId, Option<StartPermit>), RecordError>> {
        Box::pin(async move {
            let (parent, state) = (call.parent, call.intent.state);
            self.record(Some(lease), Operation::BeginInner { turn: turn.id, call }, |state_of| {
                let outer = state_of.in_turn(turn.id).kept(parent).state;
                assert_eq!(outer, IntentState::Started, "MemoryTranscript: the script {parent} does not run");
                let mut permits = state_of.plan(&[state]);
                (permits.ids[0], permits.started.remove(0))
            })
        })
    }

    fn end_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        end: InnerEnd,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let (intent, ended) = (end.intent, end.state);
            self.record(Some(lease), Operation::EndInner { turn: turn.id, end }, |state| {
                let kept = state.in_turn(turn.id).kept(intent);
                assert!(!kept.settled, "MemoryTranscript: intent {intent} is settled twice");
                *kept = IntentEntry { state: ended, settled: true };
            })
        })
    }

    fn note_process<'a>(
        &'a self,
        intent: IntentId,
        mark: &'a ProcessMark,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let operation = Operation::NoteProcess { intent, mark: mark.clone() };
            self.record(None, operation, |state| {
                state.kept(intent);
            })
        })
    }

    fn note_change<'a>(
        &'a self,
        intent: IntentId,
        change: &'a FileChange,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let operation = Operation::NoteChange { intent, change: change.clone() };
            self.record(None, operation, |state| {
                state.kept(intent);
            })
        })
    }

    /// Its nodes refer to messages by position, from 1.
    fn lock_compaction<'a>(&'a self, _: &'a Lease) -> BoxFuture<'a, Result<bool, RecordError>> {
        Box::pin(async move {
            Ok(self.with(|state| {
                state.compacting = match state.compacting {
                    CompactionLock::Free => CompactionLock::Held(1),
                    CompactionLock::Held(times) => CompactionLock::Held(times + 1),
                    CompactionLock::Elsewhere => return false,
                };
                true
            }))
        })
    }

    fn unlock_compaction<'a>(&'a self, _: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            self.with(|state| state.compacting = CompactionLock::Free);
            Ok(())
        })
    }

    fn compact<'a>(
        &'a self,
        lease: &'a Lease,
        turn: Option<&'a OpenTurn>,
        compaction: &'a Compaction,
    ) -> BoxFuture<'a, Result<Vec<Node>, RecordError>> {
        Box::pin(async move {
            let operation =
                Operation::Compact { turn: turn.map(|turn| turn.id), compaction: compaction.clone() };
            self.record(Some(lease), operation, |state| {
                if let Some(turn) = turn {
                    state.in_turn(turn.id);
                }
                state.compacting = CompactionLock::Free;
                state.remember(compaction)
            })
        })
    }

    fn close<'a>(
        &'a self,
        lease: &'a Lease,
        turn: OpenTurn,
        closing: Closing,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let operation = Operation::Close { turn: turn.id, closing };
            self.record(Some(lease), operation, |state| {
                state.in_turn(turn.id).open.retain(|id| *id != turn.id);
                state.queue_steering();
            })
        })
    }
}

impl Mailbox for MemoryTranscript {
    fn waiting<'a>(
        &'a self,
        _: &'a Lease,
        point: DeliveryPoint,
    ) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>> {
        Box::pin(async move {
            let mut mail = self.mail();
            mail.retain(|mail| point.takes(mail.mode));
            Ok(mail)
        })
    }
}

/// A lease of this process on a session.
pub fn lease(session: &str) -> Lease {
    let owner = Owner { pid: std::process::id(), started: 1, boot: "test".into() };
    Lease { session: SessionId::new(session), owner, generation: 1 }
}

#[cfg(test)]
#[path = "memory_transcript_tests.rs"]
mod tests;
