//! The session store with a sink for its commits and their checksums.

use super::digest::{StateDigest, Sum};
use super::outcome_sink::OutcomeSink;
use hermes_conversation::{
    AssistantMessage, BoxFuture, Closing, Compaction, FileChange, InnerCall, InnerEnd, Intent, IntentId,
    Lease, Message, Node, OpenTurn, Opening, Permits, ProcessMark, RecordError, Settlement, SpentCall,
    StartPermit, TraceSpan, Transcript,
};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct WatchedTranscript {
    pub(crate) inner: Arc<dyn Transcript>,
    pub(crate) sink: Arc<dyn OutcomeSink>,
    pub(crate) state: Arc<Mutex<StateDigest>>,
}

impl WatchedTranscript {
    /// Runs a commit and adds it to the sink. Its checksum is computed first: the commit consumes the data.
    async fn noted<T>(
        &self,
        name: &'static str,
        sum: u64,
        commit: BoxFuture<'_, Result<T, RecordError>>,
    ) -> Result<T, RecordError> {
        let sum = self.state.lock().unwrap_or_else(PoisonError::into_inner).with_news(sum);
        if let Some(error) = self.sink.commit_fails() {
            return Err(error);
        }
        let done = commit.await;
        if done.is_ok() {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).add(sum);
        }
        self.sink.commit(name, sum, done.as_ref().err().cloned());
        done
    }

    /// The checksum of the data of a commit.
    fn sum(&self, of: impl FnOnce(Sum<'_>) -> u64) -> u64 {
        of(Sum::on(&*self.sink))
    }
}

impl Transcript for WatchedTranscript {
    fn open_turn<'a>(
        &'a self,
        lease: &'a Lease,
        opening: Opening,
    ) -> BoxFuture<'a, Result<OpenTurn, RecordError>> {
        let sum = self.sum(|sum| sum.opened(&opening.message));
        Box::pin(self.noted("open_turn", sum, self.inner.open_turn(lease, opening)))
    }

    fn annotate<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        sent: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let sum = self.sum(|sum| sum.annotated(sent));
        Box::pin(self.noted("annotate", sum, self.inner.annotate(lease, turn, sent)))
    }

    fn plan<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        reply: &'a AssistantMessage,
        spent: Option<&'a SpentCall>,
        intents: &'a [Intent],
    ) -> BoxFuture<'a, Result<Permits, RecordError>> {
        let sum = self.sum(|sum| sum.planned(reply, intents, spent));
        Box::pin(self.noted("plan", sum, self.inner.plan(lease, turn, reply, spent, intents)))
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        settlement: Settlement,
    ) -> BoxFuture<'a, Result<Vec<StartPermit>, RecordError>> {
        let sum = self.sum(|sum| sum.settled(&settlement));
        Box::pin(self.noted("settle", sum, self.inner.settle(lease, turn, settlement)))
    }

    fn extend<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        messages: &'a [Message],
        spent: Option<&'a SpentCall>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let sum = self.sum(|sum| sum.extended(messages, spent));
        Box::pin(self.noted("extend", sum, self.inner.extend(lease, turn, messages, spent)))
    }

    /// Calls of scripts are not replayed, so they are not part of the checksum.
    fn begin_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        call: InnerCall,
    ) -> BoxFuture<'a, Result<(IntentId, Option<StartPermit>), RecordError>> {
        self.inner.begin_inner(lease, turn, call)
    }

    fn end_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        end: InnerEnd,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        self.inner.end_inner(lease, turn, end)
    }

    fn note_process<'a>(
        &'a self,
        intent: IntentId,
        mark: &'a ProcessMark,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        self.inner.note_process(intent, mark)
    }

    fn note_change<'a>(
        &'a self,
        intent: IntentId,
        change: &'a FileChange,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        self.inner.note_change(intent, change)
    }

    fn lock_compaction<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, RecordError>> {
        self.inner.lock_compaction(lease)
    }

    fn unlock_compaction<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        self.inner.unlock_compaction(lease)
    }

    fn compact<'a>(
        &'a self,
        lease: &'a Lease,
        turn: Option<&'a OpenTurn>,
        compaction: &'a Compaction,
    ) -> BoxFuture<'a, Result<Vec<Node>, RecordError>> {
        let sum = self.sum(|sum| sum.compacted(compaction));
        let noted = self.noted("compact", sum, self.inner.compact(lease, turn, compaction));
        Box::pin(async { noted.await.map(|nodes| self.sink.originals(nodes)) })
    }

    fn close<'a>(
        &'a self,
        lease: &'a Lease,
        turn: OpenTurn,
        closing: Closing,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let sum = self.sum(|sum| sum.closed(&closing));
        Box::pin(self.noted("close", sum, self.inner.close(lease, turn, closing)))
    }

    fn note_span(&self, span: TraceSpan) {
        self.inner.note_span(span);
    }
}
