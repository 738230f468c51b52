//! Speaking JSON-RPC with an engine that is a program of its own, one request after the other.
//!
//! A task owns the program. Whoever asked and went away again, because the turn was stopped, leaves the
//! exchange to the task; so the two sides never lose count. After the first thing that goes wrong the
//! program is ended and every later request gets the same reason.

use hermes_conversation::RawJson;
use hermes_exec::{LineProgram, LineProgramSpec};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long an engine may take to end when it is told to.
const GOODBYE: Duration = Duration::from_secs(2);
/// How long is waited for the exit code of one that closed its output.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Characters of what an engine says about an error that are told on.
const MOST_WORDS: usize = 300;

/// What an engine answers to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Result(RawJson),
    /// It says that it could not do it.
    Refused(String),
}

/// Why an engine is not asked any more, to go behind its name: "did not answer within 5 s".
pub(super) type Broken = String;

/// A way to speak with an engine. It ends when the last one is dropped.
#[derive(Clone)]
pub(super) struct Talk {
    orders: mpsc::UnboundedSender<Order>,
    /// The session ends: whoever still waits for an answer waits no longer than for a goodbye.
    leaving: CancellationToken,
}

enum Order {
    Ask { method: &'static str, params: String, reply: oneshot::Sender<Result<Reply, Broken>> },
    Tell { method: &'static str, params: String },
    Leave(oneshot::Sender<()>),
}

impl Talk {
    /// Starts a program; `complain` is given what it says on standard error.
    pub(super) fn start(
        program: LineProgramSpec,
        patience: Duration,
        complain: impl Fn(&str) + Send + 'static,
    ) -> Self {
        let (orders, taken) = mpsc::unbounded_channel();
        let leaving = CancellationToken::new();
        let talk = Self { orders, leaving: leaving.clone() };
        tokio::spawn(async move {
            let child = LineProgram::start(&program, complain).await.map_err(|error| {
                let cause =
                    std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
                format!("could not be started: {error}{cause}")
            });
            Line { child, patience, number: 0, leaving }.serve(taken).await;
        });
        talk
    }

    /// Asks something, at once: what comes is the wait for the answer. The exchange goes on when nobody
    /// waits for it any more.
    pub(super) fn ask<P: Serialize>(
        &self,
        method: &'static str,
        params: &P,
    ) -> impl Future<Output = Result<Reply, Broken>> + Send + use<P> {
        let (reply, replied) = oneshot::channel();
        let asked = serde_json::to_string(params).map(|params| {
            // A task that is gone drops the other end.
            let _ = self.orders.send(Order::Ask { method, params, reply });
        });
        async move {
            asked.map_err(|error| format!("could not be asked: {error}"))?;
            replied.await.unwrap_or_else(|_| Err("is gone".to_owned()))
        }
    }

    /// Says something that is not answered.
    pub(super) fn tell(&self, method: &'static str, params: &impl Serialize) {
        if let Ok(params) = serde_json::to_string(params) {
            let _ = self.orders.send(Order::Tell { method, params });
        }
    }

    /// Ends it when this is dropped, as [`Talk::leave`] does, without waiting for it.
    pub(super) fn ends_unless_kept(&self) -> DropGuard {
        self.leaving.clone().drop_guard()
    }

    /// Ends it, and waits for the end.
    pub(super) async fn leave(&self) {
        self.leaving.cancel();
        let (done, is_done) = oneshot::channel();
        let _ = self.orders.send(Order::Leave(done));
        let _ = is_done.await;
    }
}

/// The program's side of it.
struct Line {
    child: Result<LineProgram, Broken>,
    /// For one answer.
    patience: Duration,
    number: u64,
    leaving: CancellationToken,
}

impl Line {
    async fn serve(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        let mut left = None;
        while let Some(order) = orders.recv().await {
            match order {
                Order::Ask { method, params, reply } => {
                    // Whoever asked may be gone.
                    let _ = reply.send(self.ask(method, &params).await);
                }
                Order::Tell { method, params } => self.tell(method, &params).await,
                Order::Leave(done) => {
                    left = Some(done);
                    break;
                }
            }
        }
        self.tell("session_end", "{}").await;
        if let Ok(child) = self.child {
            child.end(GOODBYE).await;
        }
        drop(left);
    }

    async fn ask(&mut self, method: &str, params: &str) -> Result<Reply, Broken> {
        self.number += 1;
        let child = match &mut self.child {
            Ok(child) => child,
            Err(why) => return Err(why.clone()),
        };
        let leaving = self.leaving.clone();
        let leaving = async move {
            leaving.cancelled().await;
            sleep(GOODBYE).await;
        };
        let answered = tokio::select! {
            answered = exchange(child, self.number, method, params, self.patience) => answered,
            () = leaving => Err(format!("did not answer `{method}` before the session ended")),
        };
        match answered {
            Ok(reply) => Ok(reply),
            Err(why) => {
                self.give_up(why.clone()).await;
                Err(why)
            }
        }
    }

    async fn tell(&mut self, method: &str, params: &str) {
        let Ok(child) = &mut self.child else { return };
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        // One that does not listen shows with the next request.
        if timeout(self.patience.min(GOODBYE), child.write_line(&line)).await.is_err() {
            self.give_up("does not read what it is told".to_owned()).await;
        }
    }

    async fn give_up(&mut self, why: Broken) {
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
    patience: Duration,
) -> Result<Reply, Broken> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#);
    let deadline = Instant::now() + patience;
    let late = || format!("did not answer `{method}` within {} s", patience.as_secs());
    let mut heard = timeout_at(deadline, child.exchange(&line)).await.map_err(|_| late())?;
    loop {
        let said = match heard {
            Ok(said) => said,
            Err(error) => return Err(lost(child, &error).await),
        };
        match read(&said, number)? {
            Some(reply) => return Ok(reply),
            None => heard = timeout_at(deadline, child.read_line()).await.map_err(|_| late())?,
        }
    }
}

async fn lost(child: &mut LineProgram, error: &std::io::Error) -> Broken {
    match error.kind() {
        ErrorKind::InvalidData => "said a line that is too long".to_owned(),
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => match child.exit_code(LAST_WORDS).await {
            Some(code) => format!("ended with exit code {code}"),
            None => "closed its output".to_owned(),
        },
        _ => format!("cannot be heard: {error}"),
    }
}

#[derive(Deserialize)]
struct Said {
    id: Option<u64>,
    method: Option<String>,
    result: Option<RawJson>,
    error: Option<Complaint>,
}

#[derive(Deserialize)]
struct Complaint {
    message: String,
}

/// What a line says; `None` for news that nobody asked for.
fn read(line: &[u8], number: u64) -> Result<Option<Reply>, Broken> {
    let said: Said =
        serde_json::from_slice(line).map_err(|error| format!("said something that is no answer: {error}"))?;
    match said {
        Said { id: None, method: Some(_), .. } => Ok(None),
        Said { id: Some(id), method: None, result, error } if id == number => match (result, error) {
            (Some(result), None) => Ok(Some(Reply::Result(result))),
            (None, Some(complaint)) => Ok(Some(Reply::Refused(short(&complaint.message)))),
            _ => Err("gave an answer without a result".to_owned()),
        },
        Said { id: Some(_), method: Some(_), .. } => Err("asked something instead of answering".to_owned()),
        Said { id: Some(id), .. } => Err(format!("answered request {id} instead of {number}")),
        Said { id: None, .. } => Err("gave an answer without an id".to_owned()),
    }
}

/// Words of an engine on one line of bounded length.
pub(super) fn short(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(MOST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_strictly() {
        let result = |text: &str| Ok(Some(Reply::Result(RawJson::parse(text).unwrap())));
        for (line, want) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#, result(r#"{"a":1}"#)),
            (r#"{"id":7,"result":3,"more":[]}"#, result("3")),
            (
                r#"{"id":7,"error":{"code":1,"message":"no\n such  thing"}}"#,
                Ok(Some(Reply::Refused("no such thing".into()))),
            ),
            (r#"{"method":"log","params":{}}"#, Ok(None)),
            (r#"{"id":6,"result":1}"#, Err("answered request 6 instead of 7".into())),
            (r#"{"id":7,"method":"plan"}"#, Err("asked something instead of answering".into())),
            (r#"{"result":1}"#, Err("gave an answer without an id".into())),
            (r#"{"id":7}"#, Err("gave an answer without a result".into())),
            (r#"{"id":7,"result":1,"error":{"message":""}}"#, Err("gave an answer without a result".into())),
        ] {
            assert_eq!(read(line.as_bytes(), 7), want, "{line}");
        }
        for line in [&b"oops"[..], b"", b"\xff", b"[]", br#"{"id":"7","result":1}"#] {
            assert!(read(line, 7).unwrap_err().starts_with("said something that is no answer"), "{line:?}");
        }
    }
}
