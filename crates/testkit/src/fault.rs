//! Ways in which a provider misbehaves.
//!
//! A fault either answers a request by itself or spoils the reply that is queued after it;
//! [`Fault::spoils`] says which. Several spoiling faults may precede one reply.

mod outgoing;
mod spoil;
mod spoil_messages;
mod spoil_responses;

pub(crate) use outgoing::{Ending, Outgoing, Speech};

use bytes::Bytes;
use serde_json::Value;
use std::net::Ipv4Addr;
use tokio::net::TcpSocket;

/// One kind of misbehaviour.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Answers with this status.
    Status { code: u16, headers: Vec<(String, String)>, body: String },
    /// Answers with `307` to this location.
    Redirect(String),
    /// Answers `200` with these bytes as the event stream.
    Garbage(Bytes),
    /// Reads the request and closes the connection without a word.
    HangUp,
    /// Reads the request and says nothing until the client goes away.
    NoAnswer,

    /// Closes the connection after this many bytes of the next reply's body.
    DropAtByte(usize),
    /// Sends this many bytes of the next reply's body, then nothing until the client goes away.
    StallAfterByte(usize),
    /// Sends the body byte by byte, so that every character is split wherever it can be.
    SplitUtf8,
    /// Ends every line of the stream with CR LF.
    Crlf,
    /// Puts comments and `event:`, `id:` and `retry:` lines between the data lines.
    Comments,
    /// Leaves out the finish reason, or the event that ends a Responses stream.
    NoFinishReason,
    /// Leaves out `[DONE]`, which a Responses stream does not have anyway.
    NoDone,
    /// Gives every call the first call's id.
    DuplicateToolIds,
    /// Gives no call an id.
    MissingToolIds,
    /// Answers a request for a stream with one JSON body.
    JsonInsteadOfStream,
    /// Ends the stream with this object in place of the finish reason, usage and `[DONE]`.
    ErrorInStream(Value),
    /// Puts every call at index 0, each with its own id, as Ollama does.
    ReusedIndex,
    /// Cuts the last call's arguments to this many bytes and finishes with `length`.
    CutArguments(usize),
}

impl Fault {
    /// A status with an OpenAI-like error body.
    pub fn status(code: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"message": message, "type": "error", "code": null}});
        Self::Status { code, headers: Vec::new(), body: body.to_string() }
    }

    /// Whether the fault spoils the next reply instead of being an answer.
    pub fn spoils(&self) -> bool {
        match self {
            Self::Status { .. } | Self::Redirect(_) | Self::Garbage(_) | Self::HangUp | Self::NoAnswer => {
                false
            }
            Self::DropAtByte(_)
            | Self::StallAfterByte(_)
            | Self::SplitUtf8
            | Self::Crlf
            | Self::Comments
            | Self::NoFinishReason
            | Self::NoDone
            | Self::DuplicateToolIds
            | Self::MissingToolIds
            | Self::JsonInsteadOfStream
            | Self::ErrorInStream(_)
            | Self::ReusedIndex
            | Self::CutArguments(_) => true,
        }
    }
}

/// A base URL at which connections are refused for as long as this process lives.
pub fn refused_base_url() -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    // A port that is bound and not listening refuses, and nobody else can be given it.
    std::mem::forget(socket);
    format!("http://{address}/v1")
}
