//! The bytes of replies, seen as they come off the line and given again later.

use crate::receive::{self, Incoming};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use hermes_wire::{ApiMode, Decoder, Failure, ModelEvent, ModelEvents};
use secrecy::SecretString;

/// Sees what comes off the line, before anything reads it.
pub trait Tap: Send + Sync {
    /// A request of this session is about to be sent with this key.
    fn sending(&self, session: Option<&str>, key: Option<&SecretString>);

    /// A reply begins with this status. `streamed` says whether it is read as a stream of events.
    fn begun(&self, session: Option<&str>, status: u16, streamed: bool) -> Box<dyn CallTap>;
}

/// Sees the body of one reply. It is dropped when nobody reads on.
pub trait CallTap: Send + Sync {
    fn chunk(&self, bytes: &Bytes);

    /// There are no more bytes: the body has ended, or reading it failed.
    fn ended(&self, failure: Option<&Failure>);
}

/// Reads a streamed reply from bytes that were kept, as it was read off the line.
pub fn read_stream(mode: ApiMode, body: BoxStream<'static, Result<Bytes, Failure>>) -> ModelEvents {
    receive::events(Kept(body), Decoder::new(mode))
}

/// Reads a reply in one piece from bytes that were kept.
pub fn read_whole(mode: ApiMode, body: &[u8]) -> Result<ModelEvents, Failure> {
    let reply = Decoder::plain(mode, &String::from_utf8_lossy(body))?;
    let finished = Ok(ModelEvent::Finished(Box::new(reply)));
    Ok(futures::stream::iter([finished]).boxed())
}

struct Kept(BoxStream<'static, Result<Bytes, Failure>>);

impl Incoming for Kept {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        self.0.next().await.transpose()
    }

    fn left_over(self) {}
}
