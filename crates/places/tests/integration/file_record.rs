//! A record for calls without a session: it accepts all that tools note.

use hermes_conversation::{
    AssistantMessage, BoxFuture, Closing, Compaction, FileChange, InnerCall, InnerEnd, Intent, IntentId,
    Lease, Message, Node, OpenTurn, Opening, Permits, ProcessMark, RecordError, Settlement, SpentCall,
    StartPermit, Transcript,
};

pub(crate) struct Record;

type Answer<'a, T> = BoxFuture<'a, Result<T, RecordError>>;

impl Transcript for Record {
    fn open_turn<'a>(&'a self, _: &'a Lease, _: Opening) -> Answer<'a, OpenTurn> {
        unimplemented!("tools open no turns")
    }

    fn annotate<'a>(&'a self, _: &'a Lease, _: &'a OpenTurn, _: &'a str) -> Answer<'a, ()> {
        unimplemented!("tools open no turns")
    }

    fn plan<'a>(
        &'a self,
        _: &'a Lease,
        _: &'a OpenTurn,
        _: &'a AssistantMessage,
        _: Option<&'a SpentCall>,
        _: &'a [Intent],
    ) -> Answer<'a, Permits> {
        unimplemented!("tools plan nothing")
    }

    fn settle<'a>(&'a self, _: &'a Lease, _: &'a OpenTurn, _: Settlement) -> Answer<'a, Vec<StartPermit>> {
        unimplemented!("tools settle nothing")
    }

    fn extend<'a>(
        &'a self,
        _: &'a Lease,
        _: &'a OpenTurn,
        _: &'a [Message],
        _: Option<&'a SpentCall>,
    ) -> Answer<'a, ()> {
        unimplemented!("tools say nothing")
    }

    fn compact<'a>(
        &'a self,
        _: &'a Lease,
        _: Option<&'a OpenTurn>,
        _: &'a Compaction,
    ) -> Answer<'a, Vec<Node>> {
        unimplemented!("tools compact nothing")
    }

    fn begin_inner<'a>(
        &'a self,
        _: &'a Lease,
        _: &'a OpenTurn,
        _: InnerCall,
    ) -> Answer<'a, (IntentId, Option<StartPermit>)> {
        unimplemented!("tools record no calls")
    }

    fn end_inner<'a>(&'a self, _: &'a Lease, _: &'a OpenTurn, _: InnerEnd) -> Answer<'a, ()> {
        unimplemented!("tools record no calls")
    }

    fn note_process<'a>(&'a self, _: IntentId, _: &'a ProcessMark) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn note_change<'a>(&'a self, _: IntentId, _: &'a FileChange) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn close<'a>(&'a self, _: &'a Lease, _: OpenTurn, _: Closing) -> Answer<'a, ()> {
        unimplemented!("tools close no turns")
    }
}
