//! A response as a list of writes, valid or damaged, determined before anything is sent.

use super::{Fault, spoil};
use hermes_scripted::http::{LAST_CHUNK, chunked_head, put_chunk, whole};
use hermes_scripted::{Rendering, ReplyScript, ResponsesRendering};
use std::time::Duration;

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
const EVENTS: &[(&str, &str)] = &[("content-type", "text/event-stream")];

/// The format of a reply and the inputs of its rendering.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReplyFormat<'a> {
    Chat(Rendering<'a>),
    Messages(Rendering<'a>),
    Responses(ResponsesRendering<'a>),
}

/// The writes of a response, and the end of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) writes: Vec<Vec<u8>>,
    pub(crate) delay: Duration,
    pub(crate) ending: Ending,
}

/// The state of the connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    KeepAlive,
    Close,
    /// Open and silent until the client disconnects.
    Stall,
}

impl Outgoing {
    /// A complete response with a JSON body.
    pub(crate) fn json(status: u16, body: &[u8]) -> Self {
        Self::once(whole(status, JSON, body))
    }

    /// The response of a fault that replaces one; see [`Fault::spoils`].
    pub(crate) fn of_fault(fault: &Fault) -> Self {
        match fault {
            Fault::Status { code, headers, body } => {
                let mut all = JSON.to_vec();
                if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                    all.clear();
                }
                all.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
                Self::once(whole(*code, &all, body.as_bytes()))
            }
            Fault::Redirect(location) => Self::once(whole(307, &[("location", location)], b"")),
            Fault::Garbage(bytes) => Self::chunked(EVENTS, vec![bytes.to_vec()], Ending::KeepAlive),
            Fault::HangUp => Self { ending: Ending::Close, ..Self::once(Vec::new()) },
            Fault::NoAnswer => Self { ending: Ending::Stall, ..Self::once(Vec::new()) },
            spoiling => unreachable!("{spoiling:?} is queued with the reply it spoils"),
        }
    }

    /// A reply with all faults applied.
    pub(crate) fn of_reply(
        reply: &ReplyScript,
        faults: &[Fault],
        speech: &ReplyFormat<'_>,
        stream: bool,
    ) -> Self {
        let mut pieces = spoil::pieces(reply, faults, speech, stream);
        let mut ending = Ending::KeepAlive;
        for fault in faults {
            match fault {
                Fault::SplitUtf8 => pieces = pieces.concat().into_iter().map(|byte| vec![byte]).collect(),
                Fault::DropAtByte(bytes) => (pieces, ending) = (first(pieces, *bytes), Ending::Close),
                Fault::StallAfterByte(bytes) => (pieces, ending) = (first(pieces, *bytes), Ending::Stall),
                _ => {}
            }
        }
        let is_stream = stream && !faults.contains(&Fault::JsonInsteadOfStream);
        let mut out = Self::chunked(if is_stream { EVENTS } else { JSON }, pieces, ending);
        out.delay = reply.delay;
        if reply.delay.is_zero() && !faults.contains(&Fault::SplitUtf8) {
            out.writes = vec![out.writes.concat()];
        }
        out
    }

    fn once(bytes: Vec<u8>) -> Self {
        Self { writes: vec![bytes], delay: Duration::ZERO, ending: Ending::KeepAlive }
    }

    /// One chunk and one write for each piece; the body is complete only if the connection stays open.
    fn chunked(headers: &[(&str, &str)], pieces: Vec<Vec<u8>>, ending: Ending) -> Self {
        let mut writes = vec![chunked_head(200, headers)];
        for piece in pieces {
            let mut write = Vec::with_capacity(piece.len() + 8);
            put_chunk(&mut write, &piece);
            writes.push(write);
        }
        if ending == Ending::KeepAlive {
            writes.push(LAST_CHUNK.to_vec());
        }
        Self { writes, delay: Duration::ZERO, ending }
    }
}

/// The pieces up to this many bytes.
fn first(pieces: Vec<Vec<u8>>, bytes: usize) -> Vec<Vec<u8>> {
    let mut left = bytes;
    let shortened = pieces.into_iter().map(|mut piece| {
        piece.truncate(left);
        left -= piece.len();
        piece
    });
    shortened.filter(|piece| !piece.is_empty()).collect()
}
