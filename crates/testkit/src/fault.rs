//! Faults of a provider.
//!
//! A fault either replaces a response or damages the next queued reply; [`Fault::spoils`] says which. Several
//! damaging faults may precede one reply.

mod outgoing;
mod spoil;
mod spoil_messages;
mod spoil_responses;

pub(crate) use outgoing::{Ending, Outgoing, ReplyFormat};

use bytes::Bytes;
use serde_json::Value;
use std::net::Ipv4Addr;
use tokio::net::TcpSocket;

/// One kind of fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Answers with this status.
    Status { code: u16, headers: Vec<(String, String)>, body: String },
    /// Answers with `307` to this location.
    Redirect(String),
    /// Answers `200` with these bytes as the event stream.
    Garbage(Bytes),
    /// Reads the request and closes the connection without a response.
    HangUp,
    /// Reads the request and sends nothing until the client disconnects.
    NoAnswer,

    /// Closes the connection after this many bytes of the next reply's body.
    DropAtByte(usize),
    /// Sends this many bytes of the next reply's body, then nothing until the client disconnects.
    StallAfterByte(usize),
    /// Sends the body byte by byte, so that every character is split.
    SplitUtf8,
    /// Ends every line of the stream with CR LF.
    Crlf,
    /// Inserts comments and `event:`, `id:` and `retry:` lines between the data lines.
    Comments,
    /// Omits the finish reason, or the final event of a Responses stream.
    NoFinishReason,
    /// Omits `[DONE]`, which a Responses stream does not have anyway.
    NoDone,
    /// Gives every call the id of the first one.
    DuplicateToolIds,
    /// Omits the ids of calls.
    MissingToolIds,
    /// Answers a streaming request with one JSON body.
    JsonInsteadOfStream,
    /// Ends the stream with this object instead of the finish reason, usage and `[DONE]`.
    ErrorInStream(Value),
    /// Puts every call at index 0, each with its own id, as Ollama does.
    ReusedIndex,
    /// Truncates the last call's arguments to this many bytes and finishes with `length`.
    CutArguments(usize),
}

impl Fault {
    /// A status with an OpenAI-like error body.
    pub fn status(code: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"message": message, "type": "error", "code": null}});
        Self::Status { code, headers: Vec::new(), body: body.to_string() }
    }

    /// Returns true if the fault damages the next reply instead of replacing a response.
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

/// A base URL at which connections are refused while this process lives.
pub fn refused_base_url() -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    // A port that is bound and not listening refuses connections, and no other process can get it.
    std::mem::forget(socket);
    format!("http://{address}/v1")
}
