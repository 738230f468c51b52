//! A minimal HTTP/1.1 server with control over every byte.
//!
//! It uses no framework because tests must be able to stop, split or damage a response at any byte.
//! [`Connection`] does the I/O; parsing and writing heads are pure.

mod head;
mod response;

pub use response::{LAST_CHUNK, chunked_head, put_chunk, whole};

use bytes::{Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The maximum length of a request body.
pub const MAX_BODY: usize = 64 << 20;

/// The maximum length of a request head.
const MAX_HEAD: usize = 64 << 10;

/// A complete request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// In the order of arrival, names as spelled by the client.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Request {
    /// The first header with this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().find(same).map(|(_, value)| value.as_str())
    }

    /// Returns true if the client asked to close the connection after this request.
    pub fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// A failure to read a request.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("the request head cannot be read")]
    BadHead,
    #[error("the request head is larger than {MAX_HEAD} bytes")]
    HeadTooLarge,
    #[error("a request body needs a content-length")]
    LengthRequired,
    #[error("the request body is larger than {MAX_BODY} bytes")]
    BodyTooLarge,
    #[error("the connection failed")]
    Io(#[from] io::Error),
}

impl HttpError {
    /// The status of the response; `None` if the client is gone.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::BadHead => Some(400),
            Self::HeadTooLarge => Some(431),
            Self::LengthRequired => Some(411),
            Self::BodyTooLarge => Some(413),
            Self::Io(_) => None,
        }
    }
}

/// A client connection, which carries one request after the other.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    unread: BytesMut,
    number: u64,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, number: u64) -> Self {
        Self { stream, unread: BytesMut::new(), number }
    }

    /// The number of this connection of its listener, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next request, or `None` if the client disconnected between requests.
    pub async fn next_request(&mut self) -> Result<Option<Request>, HttpError> {
        let Some(length) = self.read_head().await? else {
            return Ok(None);
        };
        let head = self.unread.split_to(length);
        let mut request = head::parse(&head).ok_or(HttpError::BadHead)?;
        let length = head::body_length(&request)?;
        if request.header("expect").is_some() {
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        request.body = self.read_body(length).await?;
        Ok(Some(request))
    }

    /// Sends these bytes immediately.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Waits until the client disconnects; ignores what it sends.
    pub async fn hung_up(&mut self) {
        let mut sink = [0; 1024];
        while matches!(self.stream.read(&mut sink).await, Ok(count) if count > 0) {}
    }

    async fn read_head(&mut self) -> Result<Option<usize>, HttpError> {
        let mut searched = 0;
        loop {
            if let Some(end) = head::end(&self.unread, searched) {
                return Ok(Some(end));
            }
            if self.unread.len() > MAX_HEAD {
                return Err(HttpError::HeadTooLarge);
            }
            searched = self.unread.len();
            if self.stream.read_buf(&mut self.unread).await? == 0 {
                return match self.unread.is_empty() {
                    true => Ok(None),
                    false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                };
            }
        }
    }

    async fn read_body(&mut self, length: usize) -> Result<Bytes, HttpError> {
        self.unread.reserve(length.saturating_sub(self.unread.len()));
        while self.unread.len() < length {
            if self.stream.read_buf(&mut self.unread).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
        Ok(self.unread.split_to(length).freeze())
    }
}
