//! The bytes of replies: observed as they arrive, and played back later.

use crate::receive::{self, Incoming};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use hermes_wire::{ApiMode, Decoder, Failure, ModelEvent, ModelEvents};
use secrecy::SecretString;

/// Observes the bytes of replies before they are parsed.
pub trait Tap: Send + Sync {
    /// Called before a request of this session is sent with this key.
    fn sending(&self, session: Option<&str>, key: Option<&SecretString>);

    /// Called when a reply begins with this status. `streamed` is true if it is parsed as a stream of events.
    fn begun(&self, session: Option<&str>, status: u16, streamed: bool) -> Box<dyn CallTap>;
}

/// Observes the body of one reply. It is dropped when reading stops.
pub trait CallTap: Send + Sync {
    fn chunk(&self, bytes: &Bytes);

    /// Called after the last bytes: the body has ended, or reading it failed.
    fn ended(&self, failure: Option<&Failure>);
}

/// Parses a streamed reply from stored bytes, as it was parsed from the connection.
pub fn read_stream(mode: ApiMode, body: BoxStream<'static, Result<Bytes, Failure>>) -> ModelEvents {
    receive::events(StoredBytes(body), Decoder::new(mode))
}

/// Parses a reply in one piece from stored bytes.
pub fn read_whole(mode: ApiMode, body: &[u8]) -> Result<ModelEvents, Failure> {
    let reply = Decoder::plain(mode, &String::from_utf8_lossy(body))?;
    let finished = Ok(ModelEvent::Finished(Box::new(reply)));
    Ok(futures::stream::iter([finished]).boxed())
}

struct StoredBytes(BoxStream<'static, Result<Bytes, Failure>>);

impl Incoming for StoredBytes {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        self.0.next().await.transpose()
    }

    fn left_over(self) {}
}
