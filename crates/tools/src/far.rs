//! Files of the place of commands, where that is not this machine.
//!
//! Every operation is one bash script there (`far/*.sh`), which opens the file, compares what is open with the path
//! that was checked, and acts on what is open. Texts travel encoded, with limits on each transfer. The decision about
//! an access is in [`access`]; the scripts decide nothing about paths.

pub(crate) mod access;
pub(crate) mod ere;
#[cfg(test)]
pub(crate) mod loopback;
mod reply;
pub(crate) mod search;

use crate::builtin::page::{Found, Window};
use crate::reads::Version;
use crate::{ToolContext, ToolError};
use hermes_conversation::FileChange;
use hermes_exec::{Ended, Exchange, Exchanged, ExecError};
use reply::{Reply, encoded, quoted};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The timeout of an operation on one file.
const PATIENCE: Duration = Duration::from_secs(30);
/// The timeout of a transfer of a whole file.
const TRANSFER: Duration = Duration::from_secs(120);
/// The timeout of the question whether a write was made.
const AFTERWARDS: Duration = Duration::from_secs(15);
/// Bytes of a reply without the text of a file.
const MOST_FACTS: usize = 512 * 1024;
/// Bytes of the lines of a page, at least.
const PAGE: usize = 1 << 20;

const COMMON: &str = include_str!("far/common.sh");

/// The facts about the shell of a place.
#[derive(Debug, Clone)]
pub(crate) struct FarShell {
    /// The real path of the home directory of the user there.
    pub(crate) home: PathBuf,
    has_base64: bool,
}

/// What is at a path of the place.
#[derive(Debug)]
pub(crate) struct Look {
    /// The path after all links.
    pub(crate) real: PathBuf,
    pub(crate) facts: Option<Facts>,
    /// The directory above exists.
    pub(crate) has_parent: bool,
    /// Names beside a missing file.
    pub(crate) near: Vec<String>,
}

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) version: Version,
    /// As `stat` names it, for instance `regular file`.
    kind: String,
}

impl Facts {
    pub(crate) fn is_directory(&self) -> bool {
        self.kind == "directory"
    }

    /// The name of the kind for messages; `None` for a regular file.
    pub(crate) fn other_kind(&self) -> Option<&'static str> {
        Some(match self.kind.as_str() {
            kind if kind.starts_with("regular") => return None,
            "directory" => "a directory",
            "fifo" => "a named pipe",
            "socket" => "a socket",
            _ => "a device",
        })
    }
}

/// The files of a place, for one call.
#[derive(Clone)]
pub(crate) struct FarFiles<'a> {
    cx: &'a ToolContext,
    cancel: CancellationToken,
    label: &'a str,
}

/// An operation of a script.
struct Work<'a> {
    script: &'a str,
    arguments: Vec<&'a [u8]>,
    /// Bytes for its standard input.
    input: Option<&'a [u8]>,
    timeout: Duration,
    most_output: usize,
    /// For messages, as in "reading /a".
    doing: String,
}

impl<'a> Work<'a> {
    fn new(script: &'a str, arguments: Vec<&'a [u8]>, doing: String) -> Self {
        Self { script, arguments, input: None, timeout: PATIENCE, most_output: MOST_FACTS, doing }
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

impl<'a> FarFiles<'a> {
    /// The files of the place of commands; `None` if that is this machine.
    pub(crate) fn of(cx: &'a ToolContext, cancel: &CancellationToken) -> Option<Self> {
        let far = cx.far()?;
        Some(Self { cx, cancel: cancel.clone(), label: &far.label })
    }

    /// The name of a file in logs and locks, which differs from that of a file of this machine with the same path.
    pub(crate) fn key(&self, path: &Path) -> PathBuf {
        Path::new(self.label).join(path.strip_prefix("/").unwrap_or(path))
    }

    pub(crate) fn label(&self) -> &str {
        self.label
    }

    /// The facts about the shell there, asked for once.
    pub(crate) async fn shell(&self) -> Result<&'a FarShell, ToolError> {
        if let Some(shell) = self.cx.far_shell() {
            return Ok(shell);
        }
        let doing = format!("looking at {}", self.label);
        let reply =
            self.run(Work::new(include_str!("far/look.sh"), vec![b"", b""], doing.clone()), None).await?;
        let home = reply.path("home").filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| ToolError::failed(format!("{doing}: it has no home directory")))?;
        Ok(self.cx.set_far_shell(FarShell { home, has_base64: reply.word("coder") == Some("base64") }))
    }

    /// Looks at a path that is absolute; with `near`, a missing file is looked for under similar names.
    pub(crate) async fn look(&self, path: &Path, near: bool) -> Result<Look, ToolError> {
        let near: &[u8] = if near { b"near" } else { b"" };
        let doing = format!("looking at {}", path.display());
        let work = Work::new(include_str!("far/look.sh"), vec![bytes(path), near], doing);
        let reply = self.run(work, None).await?;
        let real = reply.path("real").ok_or_else(|| self.garbled(path))?;
        let names = reply.bytes("near").unwrap_or_default();
        let names = names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        Ok(Look {
            real,
            facts: reply.facts(),
            has_parent: reply.word("parent").is_some(),
            near: names.filter_map(|name| name.strip_prefix("./")).map(str::to_owned).collect(),
        })
    }

    /// Reads the lines of a window, which are counted and cut there. `chars` is the most that is shown of them.
    pub(crate) async fn page(
        &self,
        path: &Path,
        window: Window,
        chars: usize,
    ) -> Result<(Version, Found), ToolError> {
        let width = ((window.line_chars + 1) * 4).to_string();
        let most = PAGE.max(chars.saturating_mul(4));
        let (offset, limit, all) =
            (window.offset.to_string(), window.limit.to_string(), (most + 1).to_string());
        let arguments =
            vec![bytes(path), offset.as_bytes(), limit.as_bytes(), width.as_bytes(), all.as_bytes()];
        let doing = format!("reading {}", path.display());
        let mut work = Work::new(include_str!("far/page.sh"), arguments, doing);
        work.most_output = MOST_FACTS + most * 2;
        let reply = self.run(work, Some((path, "read"))).await?;
        if reply.status() == "missing" {
            return Err(ToolError::failed(format!("{} does not exist", path.display())));
        }
        let version = reply.facts().ok_or_else(|| self.garbled(path))?.version;
        if reply.status() == "binary" {
            return Ok((version, Found::Binary));
        }
        let (total_lines, data) = (reply.number("lines"), reply.bytes("data"));
        let (Some(total_lines), Some(data)) = (total_lines, data) else { return Err(self.garbled(path)) };
        Ok((version, Found::Text { lines: lines(&data, window, most), total_lines }))
    }

    /// Reads a whole file; `None` if there is none. The digest of more than `most` bytes is an error.
    pub(crate) async fn fetch(
        &self,
        path: &Path,
        most: u64,
    ) -> Result<Option<(Version, Vec<u8>)>, ToolError> {
        let limit = most.to_string();
        let doing = format!("reading {}", path.display());
        let mut work = Work::new(include_str!("far/fetch.sh"), vec![bytes(path), limit.as_bytes()], doing);
        let room = usize::try_from(most).unwrap_or(usize::MAX / 4);
        (work.timeout, work.most_output) = (TRANSFER, MOST_FACTS + room * 2);
        let reply = self.run(work, Some((path, "read"))).await?;
        if reply.status() == "missing" {
            return Ok(None);
        }
        let version = reply.facts().ok_or_else(|| self.garbled(path))?.version;
        match reply.bytes("data") {
            Some(data) if data.len() as u64 <= most => Ok(Some((version, data))),
            None if reply.status() != "large" => Err(self.garbled(path)),
            data => {
                let size = data.map_or(version.size, |data| data.len() as u64);
                Err(ToolError::failed(format!(
                    "{} has {size} bytes; files above {most} are not fetched",
                    path.display()
                )))
            }
        }
    }

    /// Writes a file whose digest is `before`; `None` for one that must not exist.
    pub(crate) async fn store(
        &self,
        path: &Path,
        before: Option<&str>,
        content: &[u8],
    ) -> Result<Option<Version>, ToolError> {
        let after = FileChange::digest(content);
        let input = encoded(content, self.shell().await?.has_base64);
        let length = input.len().to_string();
        let arguments =
            vec![bytes(path), before.unwrap_or("none").as_bytes(), after.as_bytes(), length.as_bytes()];
        let doing = format!("writing {}", path.display());
        let mut work = Work::new(include_str!("far/store.sh"), arguments, doing);
        (work.input, work.timeout) = (Some(input.as_slice()), TRANSFER);
        match self.run(work, Some((path, "write"))).await {
            Ok(reply) => Ok(reply.facts().map(|facts| facts.version)),
            Err(error) if error.details.contains_key(LOST) => {
                self.found_again(path, before, &after, error).await
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes the file with this digest.
    pub(crate) async fn remove(&self, path: &Path, digest: &str) -> Result<(), ToolError> {
        let doing = format!("deleting {}", path.display());
        let mut work = Work::new(include_str!("far/remove.sh"), vec![bytes(path), digest.as_bytes()], doing);
        work.input = Some(b"\n");
        self.run(work, Some((path, "delete"))).await.map(|_| ()).map_err(unknown)
    }

    /// Moves the file with this digest to a free path.
    pub(crate) async fn rename(
        &self,
        from: &Path,
        to: &Path,
        digest: &str,
    ) -> Result<Option<Version>, ToolError> {
        let doing = format!("moving {}", from.display());
        let arguments = vec![bytes(from), bytes(to), digest.as_bytes()];
        let mut work = Work::new(include_str!("far/rename.sh"), arguments, doing);
        work.input = Some(b"\n");
        let reply = self.run(work, Some((from, "move"))).await.map_err(unknown)?;
        Ok(reply.facts().map(|facts| facts.version))
    }

    /// The digest of a file; the inner `None` means that there is no file.
    pub(crate) async fn digest(&self, path: &Path) -> Result<Option<String>, ToolError> {
        let doing = format!("looking at {}", path.display());
        let mut work = Work::new(include_str!("far/digest.sh"), vec![bytes(path)], doing);
        work.timeout = AFTERWARDS;
        let reply = self.run(work, Some((path, "read"))).await?;
        match (reply.status(), reply.word("digest")) {
            ("missing", _) => Ok(None),
            (_, Some(digest)) => Ok(Some(digest.to_owned())),
            _ => Err(self.garbled(path)),
        }
    }

    /// The end of a write whose script did not report it: the file shows which content it has.
    async fn found_again(
        &self,
        path: &Path,
        before: Option<&str>,
        after: &str,
        error: ToolError,
    ) -> Result<Option<Version>, ToolError> {
        let patient = Self { cancel: CancellationToken::new(), ..self.clone() };
        let ToolError { text, .. } = error;
        match patient.digest(path).await {
            Ok(Some(digest)) if digest == after => Ok(None),
            Ok(digest) if digest.as_deref() == before => {
                Err(ToolError::failed(format!("{text}; the file was not changed")))
            }
            Ok(_) | Err(_) => Err(unknown(ToolError::failed(text).with(LOST, true))),
        }
    }

    fn garbled(&self, path: &Path) -> ToolError {
        let text = format!("{}: {} sent no answer that can be read", path.display(), self.label);
        ToolError::failed(text)
    }

    /// Runs a script. `about` names the file and the verb of its errors.
    async fn run(&self, work: Work<'_>, about: Option<(&Path, &str)>) -> Result<Reply, ToolError> {
        let reply = self.reply(&work).await?;
        match about {
            Some((path, verb)) => self.checked(reply, path, verb),
            None if reply.status() == "ok" => Ok(reply),
            None => Err(ToolError::failed(format!("{} failed at {}", work.doing, self.label))),
        }
    }

    async fn reply(&self, work: &Work<'_>) -> Result<Reply, ToolError> {
        let arguments: Vec<String> = work.arguments.iter().map(|argument| quoted(argument)).collect();
        let exchange = Exchange {
            script: format!("{COMMON}{}", work.script),
            arguments: arguments.join(" "),
            input: work.input.map(|input| String::from_utf8_lossy(input).into_owned()).unwrap_or_default(),
            timeout: work.timeout,
            most_output: work.most_output,
        };
        let text = match self.cx.backend().exchange(exchange, &self.cancel).await {
            Ok(Exchanged::Done(text)) => text,
            Ok(Exchanged::Lost(ended)) => return Err(self.lost(ended, work)),
            Ok(Exchanged::NotStarted(why)) => return Err(self.unreachable(work, &why)),
            Err(ExecError::Unreachable(why)) => return Err(self.unreachable(work, &why)),
            Err(error) => return Err(self.unreachable(work, &error.to_string())),
        };
        Ok(Reply::read(&text))
    }

    fn unreachable(&self, work: &Work<'_>, why: &str) -> ToolError {
        ToolError::failed(format!("{} failed: {} cannot be used: {why}", work.doing, self.label))
    }

    fn lost(&self, ended: Ended, work: &Work<'_>) -> ToolError {
        let text = match ended {
            Ended::Cancelled => format!("{} was interrupted", work.doing),
            Ended::TimedOut => {
                format!("{} was given up after {} seconds", work.doing, work.timeout.as_secs())
            }
            Ended::Exited => format!("the connection to {} was lost while {}", self.label, work.doing),
        };
        match work.input {
            Some(_) => ToolError::failed(text).with(LOST, true),
            None => ToolError::failed(text),
        }
    }

    /// The reply, or the error that its status means.
    fn checked(&self, reply: Reply, path: &Path, verb: &str) -> Result<Reply, ToolError> {
        let shown = path.display();
        let text = match reply.status() {
            "ok" | "binary" | "large" => return Ok(reply),
            "missing" if verb == "read" => return Ok(reply),
            "missing" => format!("{shown} does not exist"),
            "kind" => {
                let kind = reply.facts().and_then(|facts| facts.other_kind()).unwrap_or("a device");
                format!("{shown} is {kind}, not a regular file")
            }
            "moved" => format!("{shown} became a link to another place meanwhile"),
            "changed" => format!("{shown} was changed by someone else meanwhile; read it again"),
            "exists" => format!("{shown} exists meanwhile"),
            "raced" => format!("{shown} was changed by someone else while it was written"),
            "lost" => format!("the connection to {} was lost; {shown} was not changed", self.label),
            "failed" => {
                let why = reply.bytes("why").unwrap_or_default();
                format!("could not {verb} {shown}: {}", String::from_utf8_lossy(&why).trim())
            }
            _ => return Err(self.garbled(path)),
        };
        Err(ToolError::failed(text))
    }
}

/// A detail of an error that is not for the model: the outcome is not known yet.
const LOST: &str = "outcome_unknown";

/// The error of a change whose outcome is not known.
fn unknown(error: ToolError) -> ToolError {
    match error.details.contains_key(LOST) {
        true => ToolError::failed(format!(
            "{}; the change may or may not have been made: look at the file before you try again",
            error.text
        )),
        false => error,
    }
}

/// The lines of a window from their bytes. Of more than `most` bytes, the last line is incomplete and left out.
fn lines(data: &[u8], window: Window, most: usize) -> Vec<String> {
    let mark: &[u8] = if window.offset == 1 { b"\xef\xbb\xbf" } else { b"" };
    let mut text = data.strip_prefix(mark).unwrap_or(data);
    if data.len() > most {
        text = text.rsplitn(2, |byte| *byte == b'\n').nth(1).unwrap_or(text);
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if data.is_empty() {
        return Vec::new();
    }
    let lines = text.split(|byte| *byte == b'\n');
    lines.map(|line| String::from_utf8_lossy(line).trim_end_matches('\r').to_owned()).collect()
}

#[cfg(test)]
#[path = "far_tests.rs"]
mod tests;
