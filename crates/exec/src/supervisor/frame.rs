//! Frames on a stream: a length, a kind, and the bytes.

use super::error::SuperviseError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The maximum length: the longest script with a large environment fits.
const LONGEST: usize = 2 << 20;
const HEADER: usize = 5;
/// Bytes of output in one frame.
pub(crate) const CHUNK: usize = 64 * 1024;

const MESSAGE: u8 = 0;
const OUTPUT: u8 = 1;

/// The content of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Message(Vec<u8>),
    Output(Vec<u8>),
}

impl Frame {
    /// Parses the message in it.
    pub(crate) fn message<T: DeserializeOwned>(&self) -> Result<T, SuperviseError> {
        match self {
            Self::Message(text) => serde_json::from_slice(text)
                .map_err(|error| SuperviseError::protocol(format!("a message makes no sense: {error}"))),
            Self::Output(_) => Err(SuperviseError::protocol("output where a message was expected")),
        }
    }
}

/// Encodes a message as a frame.
pub(crate) fn encoded(message: &impl Serialize) -> Result<Vec<u8>, SuperviseError> {
    let body = serde_json::to_vec(message)
        .map_err(|error| SuperviseError::Refused { reason: format!("this cannot be sent ({error})") })?;
    if body.len() > LONGEST {
        let reason = format!("a message of {} bytes is too long; at most {LONGEST} can be sent", body.len());
        return Err(SuperviseError::Refused { reason });
    }
    Ok(framed(MESSAGE, &body))
}

fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    // Both callers limit the length.
    bytes.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.push(kind);
    bytes.extend(body);
    bytes
}

pub(crate) async fn send(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> Result<(), SuperviseError> {
    let bytes = encoded(message)?;
    stream.write_all(&bytes).await.map_err(SuperviseError::io("write to the supervisor's socket"))
}

pub(crate) async fn send_output(
    stream: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> Result<(), SuperviseError> {
    for chunk in bytes.chunks(CHUNK) {
        let sent = stream.write_all(&framed(OUTPUT, chunk)).await;
        sent.map_err(SuperviseError::io("write to the supervisor's socket"))?;
    }
    Ok(())
}

/// Reads frames from a stream. Waiting for a frame is cancel-safe.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    stream: R,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// The next frame; `None` if the peer has disconnected.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>, SuperviseError> {
        loop {
            if let Some((frame, used)) = parse(&self.buffer)? {
                self.buffer.drain(..used);
                return Ok(Some(frame));
            }
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if is_hangup(&error) => return Ok(None),
                Err(error) => return Err(SuperviseError::io("read from the supervisor's socket")(error)),
            }
        }
    }
}

/// Returns true if the peer has disconnected, which is not an error.
pub(crate) fn is_hangup(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    matches!(error.kind(), ConnectionReset | BrokenPipe | ConnectionAborted | NotConnected | UnexpectedEof)
}

/// The first frame of `bytes` and its length; `None` while it is incomplete.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Frame, usize)>, SuperviseError> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let [a, b, c, d, kind] = *header;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if length > LONGEST {
        return Err(SuperviseError::protocol(format!(
            "a message of {length} bytes; at most {LONGEST} are read"
        )));
    }
    let Some(body) = rest.get(..length) else {
        return Ok(None);
    };
    let frame = match kind {
        MESSAGE => Frame::Message(body.to_vec()),
        OUTPUT => Frame::Output(body.to_vec()),
        other => return Err(SuperviseError::protocol(format!("a message of the unknown kind {other}"))),
    };
    Ok(Some((frame, HEADER + length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_survive_any_split() {
        let mut bytes = encoded(&"hello").unwrap();
        send_output(&mut bytes, b"\0out").await.unwrap();
        for piece in 1..bytes.len() {
            let (mut writer, reader) = tokio::io::duplex(piece);
            let sent = bytes.clone();
            let write = async move { writer.write_all(&sent).await };
            let mut frames = Frames::new(reader);
            let read = async {
                let first = frames.next().await.unwrap().unwrap().message::<String>().unwrap();
                (first, frames.next().await.unwrap().unwrap(), frames.next().await.unwrap())
            };
            let (wrote, got) = tokio::join!(write, read);
            wrote.unwrap();
            assert_eq!(got, ("hello".to_owned(), Frame::Output(b"\0out".to_vec()), None), "{piece}");
        }
    }

    #[test]
    fn long_or_unknown_frames_are_rejected_before_they_are_read() {
        assert!(parse(&[0xff, 0xff, 0xff, 0xff, 0]).is_err());
        assert!(parse(&[0, 0, 0, 0, 9]).is_err());
        assert_eq!(parse(&[0, 0, 0, 1, 0]).unwrap(), None);
        assert!(encoded(&"x".repeat(LONGEST)).is_err());
    }
}
