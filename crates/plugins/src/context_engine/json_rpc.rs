//! JSON-RPC with an engine that runs as a program, one request at a time.
//!
//! A task owns the program. It completes an exchange even if the caller was cancelled, so that request ids
//! stay in step. After the first failure the program is stopped and every later request fails with the same
//! reason.

use hermes_conversation::RawJson;
use hermes_exec::{LineProgram, LineProgramSpec};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Time for an engine to end after `session_end`.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Time to wait for the exit code of a program that closed its output.
const EXIT_CODE_TIMEOUT: Duration = Duration::from_millis(200);
/// Maximum characters of an error message of an engine.
const MOST_ERROR_CHARS: usize = 300;

/// The reply of an engine to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Result(RawJson),
    /// The error message of the engine.
    Refused(String),
}

/// The reason for which an engine is not used any more, as the rest of a sentence that begins with its name:
/// "did not answer within 5 s".
pub(super) type Failure = String;

/// A handle of a running engine. The program ends when the last handle is dropped.
#[derive(Clone)]
pub(super) struct Connection {
    orders: mpsc::UnboundedSender<Command>,
    /// Cancelled at the end of the session; a pending request then fails after [`SHUTDOWN_TIMEOUT`].
    closing: CancellationToken,
}

enum Command {
    Request { method: &'static str, params: String, reply: oneshot::Sender<Result<Reply, Failure>> },
    Notify { method: &'static str, params: String },
    Shutdown(oneshot::Sender<()>),
}

impl Connection {
    /// Starts a program; `on_stderr` receives the lines of its standard error.
    pub(super) fn start(
        program: LineProgramSpec,
        reply_timeout: Duration,
        on_stderr: impl Fn(&str) + Send + 'static,
    ) -> Self {
        let (orders, taken) = mpsc::unbounded_channel();
        let closing = CancellationToken::new();
        let connection = Self { orders, closing: closing.clone() };
        tokio::spawn(async move {
            let child = LineProgram::start(&program, on_stderr).await.map_err(|error| {
                let cause =
                    std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
                format!("could not be started: {error}{cause}")
            });
            Worker { child, reply_timeout, number: 0, closing }.serve(taken).await;
        });
        connection
    }

    /// Sends a request immediately; the future waits for the reply. The exchange completes even if the future
    /// is dropped.
    pub(super) fn request<P: Serialize>(
        &self,
        method: &'static str,
        params: &P,
    ) -> impl Future<Output = Result<Reply, Failure>> + Send + use<P> {
        let (reply, replied) = oneshot::channel();
        let asked = serde_json::to_string(params).map(|params| {
            // A task that has ended drops the other end.
            let _ = self.orders.send(Command::Request { method, params, reply });
        });
        async move {
            asked.map_err(|error| format!("request cannot be encoded: {error}"))?;
            replied.await.unwrap_or_else(|_| Err("has ended".to_owned()))
        }
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &'static str, params: &impl Serialize) {
        if let Ok(params) = serde_json::to_string(params) {
            let _ = self.orders.send(Command::Notify { method, params });
        }
    }

    /// Shuts the program down when the guard is dropped, as [`Connection::shutdown`] does, without waiting.
    pub(super) fn shutdown_on_drop(&self) -> DropGuard {
        self.closing.clone().drop_guard()
    }

    /// Stops the program, and waits for its end.
    pub(super) async fn shutdown(&self) {
        self.closing.cancel();
        let (done, is_done) = oneshot::channel();
        let _ = self.orders.send(Command::Shutdown(done));
        let _ = is_done.await;
    }
}

/// The task that owns the program.
struct Worker {
    child: Result<LineProgram, Failure>,
    /// Maximum time for one reply.
    reply_timeout: Duration,
    number: u64,
    closing: CancellationToken,
}

impl Worker {
    async fn serve(mut self, mut orders: mpsc::UnboundedReceiver<Command>) {
        let mut done_sender = None;
        while let Some(order) = orders.recv().await {
            match order {
                Command::Request { method, params, reply } => {
                    // The caller may have been cancelled.
                    let _ = reply.send(self.request(method, &params).await);
                }
                Command::Notify { method, params } => self.notify(method, &params).await,
                Command::Shutdown(done) => {
                    done_sender = Some(done);
                    break;
                }
            }
        }
        self.notify("session_end", "{}").await;
        if let Ok(child) = self.child {
            child.end(SHUTDOWN_TIMEOUT).await;
        }
        drop(done_sender);
    }

    async fn request(&mut self, method: &str, params: &str) -> Result<Reply, Failure> {
        self.number += 1;
        let child = match &mut self.child {
            Ok(child) => child,
            Err(why) => return Err(why.clone()),
        };
        let closing = self.closing.clone();
        let closing = async move {
            closing.cancelled().await;
            sleep(SHUTDOWN_TIMEOUT).await;
        };
        let answered = tokio::select! {
            answered = exchange(child, self.number, method, params, self.reply_timeout) => answered,
            () = closing => Err(format!("did not answer `{method}` before the session ended")),
        };
        match answered {
            Ok(reply) => Ok(reply),
            Err(why) => {
                self.fail(why.clone()).await;
                Err(why)
            }
        }
    }

    async fn notify(&mut self, method: &str, params: &str) {
        let Ok(child) = &mut self.child else { return };
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        // A write error shows with the next request.
        if timeout(self.reply_timeout.min(SHUTDOWN_TIMEOUT), child.write_line(&line)).await.is_err() {
            self.fail("does not read its input".to_owned()).await;
        }
    }

    async fn fail(&mut self, why: Failure) {
        if let Ok(child) = std::mem::replace(&mut self.child, Err(why)) {
            child.end(Duration::ZERO).await;
        }
    }
}

async fn exchange(
    child: &mut LineProgram,
    number: u64,
    method: &str,
    params: &str,
    reply_timeout: Duration,
) -> Result<Reply, Failure> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#);
    let deadline = Instant::now() + reply_timeout;
    let late = || format!("did not answer `{method}` within {} s", reply_timeout.as_secs());
    let mut read_result = timeout_at(deadline, child.exchange(&line)).await.map_err(|_| late())?;
    loop {
        let line = match read_result {
            Ok(line) => line,
            Err(error) => return Err(lost(child, &error).await),
        };
        match read(&line, number)? {
            Some(reply) => return Ok(reply),
            None => read_result = timeout_at(deadline, child.read_line()).await.map_err(|_| late())?,
        }
    }
}

async fn lost(child: &mut LineProgram, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::InvalidData => "wrote a line that is too long".to_owned(),
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => match child.exit_code(EXIT_CODE_TIMEOUT).await {
            Some(code) => format!("ended with exit code {code}"),
            None => "closed its output".to_owned(),
        },
        _ => format!("cannot be read: {error}"),
    }
}

#[derive(Deserialize)]
struct Incoming {
    id: Option<u64>,
    method: Option<String>,
    result: Option<RawJson>,
    error: Option<ErrorObject>,
}

#[derive(Deserialize)]
struct ErrorObject {
    message: String,
}

/// Parses a line; `None` for a notification.
fn read(line: &[u8], number: u64) -> Result<Option<Reply>, Failure> {
    let incoming: Incoming =
        serde_json::from_slice(line).map_err(|error| format!("wrote an invalid reply: {error}"))?;
    match incoming {
        Incoming { id: None, method: Some(_), .. } => Ok(None),
        Incoming { id: Some(id), method: None, result, error } if id == number => match (result, error) {
            (Some(result), None) => Ok(Some(Reply::Result(result))),
            (None, Some(error)) => Ok(Some(Reply::Refused(short(&error.message)))),
            _ => Err("sent a reply without a result".to_owned()),
        },
        Incoming { id: Some(_), method: Some(_), .. } => Err("sent a request instead of a reply".to_owned()),
        Incoming { id: Some(id), .. } => Err(format!("replied to request {id} instead of {number}")),
        Incoming { id: None, .. } => Err("sent a reply without an id".to_owned()),
    }
}

/// A text of an engine on one line of bounded length.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_ERROR_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_parsed_strictly() {
        let result = |text: &str| Ok(Some(Reply::Result(RawJson::parse(text).unwrap())));
        for (line, want) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#, result(r#"{"a":1}"#)),
            (r#"{"id":7,"result":3,"more":[]}"#, result("3")),
            (
                r#"{"id":7,"error":{"code":1,"message":"no\n such  thing"}}"#,
                Ok(Some(Reply::Refused("no such thing".into()))),
            ),
            (r#"{"method":"log","params":{}}"#, Ok(None)),
            (r#"{"id":6,"result":1}"#, Err("replied to request 6 instead of 7".into())),
            (r#"{"id":7,"method":"plan"}"#, Err("sent a request instead of a reply".into())),
            (r#"{"result":1}"#, Err("sent a reply without an id".into())),
            (r#"{"id":7}"#, Err("sent a reply without a result".into())),
            (r#"{"id":7,"result":1,"error":{"message":""}}"#, Err("sent a reply without a result".into())),
        ] {
            assert_eq!(read(line.as_bytes(), 7), want, "{line}");
        }
        for line in [&b"oops"[..], b"", b"\xff", b"[]", br#"{"id":"7","result":1}"#] {
            assert!(read(line, 7).unwrap_err().starts_with("wrote an invalid reply"), "{line:?}");
        }
    }
}
