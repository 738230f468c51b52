//! The private socket through which a script calls tools.
//!
//! Only processes of the script are admitted, and only requests with its token are read. The calls themselves are
//! judged, recorded and run by [`InnerCalls`].

use super::lines::{LONGEST, Lines, Next};
use super::request::{self, Refused};
use crate::{InnerCalls, Origin, ToolError};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hermes_conversation::{CallId, RecordError, ToolCall};
use hermes_exec::Group;
use rustix::fs::{Mode, OFlags, open};
use serde_json::{Value, json};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Connections that are served at the same time; further ones wait. Each thread of a script has one.
const MOST_CONNECTIONS: usize = 256;
/// Long lines that are read at the same time.
const MOST_LONG_LINES: usize = 4;
/// Bytes of a path that fit into the address of a socket, with room to spare.
const LONGEST_ADDRESS: usize = 100;
/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// The rights of a script.
pub(super) struct Rights {
    pub(super) tools: Vec<&'static str>,
    /// Calls at most.
    pub(super) most_calls: u64,
    pub(super) token: String,
    /// The call of the script, whose id begins the ids of its calls.
    pub(super) call_id: CallId,
}

pub(super) struct Server {
    listener: UnixListener,
    rights: Rights,
    calls: Arc<dyn InnerCalls>,
    /// The processes of the script; nothing is admitted before it is known.
    group: Mutex<Option<Group>>,
    long_lines: Semaphore,
    asked: AtomicU64,
    made: AtomicU64,
    is_untrusted: AtomicBool,
    failure: OnceLock<RecordError>,
    /// Ends the script where nothing can be recorded any more.
    failed: CancellationToken,
}

impl Server {
    /// Listens on a new socket. `failed` is cancelled if a call cannot be recorded.
    pub(super) fn bind(
        path: &Path,
        rights: Rights,
        calls: Arc<dyn InnerCalls>,
        failed: CancellationToken,
    ) -> Result<Self, ToolError> {
        let listener = listen(path).map_err(|error| ToolError::io("listen on", path, &error))?;
        Ok(Self {
            listener,
            rights,
            calls,
            group: Mutex::default(),
            long_lines: Semaphore::new(MOST_LONG_LINES),
            asked: AtomicU64::new(0),
            made: AtomicU64::new(0),
            is_untrusted: AtomicBool::new(false),
            failure: OnceLock::new(),
            failed,
        })
    }

    /// The number of calls that were carried out or refused by a rule.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// The origin of the text that the script has seen.
    pub(super) fn origin(&self) -> Origin {
        if self.is_untrusted.load(Ordering::Relaxed) { Origin::Outside } else { Origin::Here }
    }

    pub(super) fn failure(&self) -> Option<&RecordError> {
        self.failure.get()
    }

    /// Serves the script until `stop`, then waits for the calls that run: their ends must be recorded.
    pub(super) async fn serve(&self, stop: &CancellationToken) {
        let mut open = FuturesUnordered::new();
        loop {
            let has_room = open.len() < MOST_CONNECTIONS;
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(()) = open.next(), if !open.is_empty() => {}
                accepted = self.listener.accept(), if has_room => match accepted {
                    Ok((stream, _)) if self.admits(&stream) => open.push(self.converse(stream, stop)),
                    Ok(_) => tracing::warn!("a process that is not of the script connected to its socket"),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection of a script");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
            }
        }
        while open.next().await.is_some() {}
    }

    /// Returns true for processes of the script.
    fn admits(&self, stream: &UnixStream) -> bool {
        let Ok(peer) = stream.peer_cred() else { return false };
        let is_mine = peer.uid() == rustix::process::geteuid().as_raw();
        let process = peer.pid().and_then(|pid| u32::try_from(pid).ok());
        let is_of = |group: &Group| process.is_some_and(|process| group.has_started(process));
        is_mine && self.group.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(is_of)
    }

    /// Admits the processes of this group, and no others. A backend may start a script again if nothing ran.
    pub(super) fn admit(&self, group: &Group) {
        *self.group.lock().unwrap_or_else(PoisonError::into_inner) = Some(group.clone());
    }

    /// Answers the requests of one connection in their order.
    async fn converse(&self, stream: UnixStream, stop: &CancellationToken) {
        let (reader, mut writer) = stream.into_split();
        let mut lines = Lines::new(reader, &self.long_lines);
        loop {
            let Some(next) = stop.run_until_cancelled(lines.next()).await else { return };
            let (reply, goes_on) = match next {
                Next::Line(line) => match self.answer(&line, stop).await {
                    Some(reply) => (reply, true),
                    None => (refusal("This is not a request of the script.", None), false),
                },
                Next::TooLong => {
                    (refusal(&format!("The request is longer than {LONGEST} bytes."), None), false)
                }
                Next::End => return,
            };
            let sent = stop.run_until_cancelled(writer.write_all(&reply)).await;
            if !goes_on || !matches!(sent, Some(Ok(()))) {
                return;
            }
        }
    }

    /// The reply to a request; `None` for one without the token.
    async fn answer(&self, line: &[u8], stop: &CancellationToken) -> Option<Vec<u8>> {
        let asked = match request::read(line, &self.rights.token, &self.rights.tools) {
            Ok(asked) => asked,
            Err(Refused::Foreign) => return None,
            Err(Refused::Answer { seq, text }) => return Some(refusal(&text, seq)),
        };
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let most = self.rights.most_calls;
        if number > most {
            let text = format!(
                "The script has made {most} calls, the most that code_execution.max_tool_calls allows."
            );
            return Some(refusal(&text, asked.seq));
        }
        if stop.is_cancelled() {
            return Some(refusal("The script has ended.", asked.seq));
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        let id = CallId::new(format!("{}.{number}", self.rights.call_id));
        let call = ToolCall::new(id, asked.tool, asked.arguments);
        match self.calls.call(number, call, stop).await {
            Ok(reply) => {
                self.is_untrusted.fetch_or(reply.origin == Origin::Outside, Ordering::Relaxed);
                let result = serde_json::from_str(&reply.text).unwrap_or(Value::String(reply.text));
                Some(request::reply(result, asked.seq))
            }
            Err(error) => {
                let reply = refusal(&format!("The call was not run: {error}."), asked.seq);
                // The first failure is the cause of the others.
                let _ = self.failure.set(error);
                self.failed.cancel();
                Some(reply)
            }
        }
    }
}

fn refusal(text: &str, seq: Option<u64>) -> Vec<u8> {
    request::reply(json!({ "error": text }), seq)
}

/// Creates a socket that only its owner can use. A path may be longer than the address of a socket.
fn listen(path: &Path) -> std::io::Result<UnixListener> {
    let listener = if path.as_os_str().len() <= LONGEST_ADDRESS {
        UnixListener::bind(path)?
    } else {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let folder = open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        UnixListener::bind(PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))?
    };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}
