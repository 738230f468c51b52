//! The operations on one file.

use crate::reply::{Reply, encoded, quoted};
use hermes_exec::{Backend, Ended, Exchange, Exchanged, ExecError};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

/// The timeout of an operation on one file.
const PATIENCE: Duration = Duration::from_secs(30);
/// The timeout of a transfer of a whole file.
const TRANSFER: Duration = Duration::from_secs(120);
/// The timeout of the question whether a write was made.
const AFTERWARDS: Duration = Duration::from_secs(15);
/// Bytes of a reply without the text of a file.
pub(crate) const MOST_FACTS: usize = 512 * 1024;
/// Bytes of the lines of a page, at least.
const PAGE: usize = 1 << 20;

const COMMON: &str = include_str!("common.sh");

/// The facts about the shell of a place.
#[derive(Debug, Clone)]
pub struct FarShell {
    /// The real path of the home directory of the user there.
    pub home: PathBuf,
    has_base64: bool,
}

/// The file at a path of the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The path after all links.
    pub real: PathBuf,
    pub facts: Option<Facts>,
    /// The directory above exists.
    pub has_parent: bool,
    /// Names beside a missing file.
    pub near: Vec<String>,
}

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub size: u64,
    pub inode: u64,
    pub modified: Option<SystemTime>,
    /// As `stat` names it, for instance `regular file`.
    pub(crate) kind: String,
}

/// The lines of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    Binary,
    Text {
        /// The wanted lines, each cut to length.
        lines: Vec<String>,
        total_lines: usize,
    },
}

/// The lines that are wanted of a file.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The first line, counting from 1.
    pub offset: usize,
    pub limit: usize,
    /// Bytes after which a line is cut.
    pub line_bytes: usize,
    /// Bytes after which the page ends, at least a megabyte.
    pub bytes: usize,
}

/// The reason why an operation failed, as a sentence for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FarError {
    pub text: String,
    /// It was to change something, and its end was not reported.
    is_unknown: bool,
}

impl FarError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_unknown: false }
    }
}

impl Facts {
    pub fn is_directory(&self) -> bool {
        self.kind == "directory"
    }

    /// The name of the kind for messages; `None` for a regular file.
    pub fn other_kind(&self) -> Option<&'static str> {
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
pub struct FarFiles<'a> {
    pub backend: &'a dyn Backend,
    /// The name of the place for messages.
    pub label: &'a str,
    /// Asked for once by the calls of a session.
    pub shell: &'a OnceLock<FarShell>,
    /// Ends the call.
    pub cancel: CancellationToken,
}

/// An operation of a script.
pub(crate) struct Work<'a> {
    script: &'a str,
    arguments: Vec<&'a [u8]>,
    /// Bytes for its standard input.
    input: Option<&'a [u8]>,
    pub(crate) timeout: Duration,
    pub(crate) most_output: usize,
    /// For messages, as in "reading /a".
    doing: String,
}

impl<'a> Work<'a> {
    pub(crate) fn new(script: &'a str, arguments: Vec<&'a [u8]>, doing: String) -> Self {
        Self { script, arguments, input: None, timeout: PATIENCE, most_output: MOST_FACTS, doing }
    }
}

pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

impl<'a> FarFiles<'a> {
    /// The facts about the shell there, asked for once.
    pub async fn shell(&self) -> Result<&'a FarShell, FarError> {
        if let Some(shell) = self.shell.get() {
            return Ok(shell);
        }
        let doing = format!("looking at {}", self.label);
        let reply = self.run(Work::new(include_str!("look.sh"), vec![b"", b""], doing.clone()), None).await?;
        let home = reply.path("home").filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| FarError::new(format!("{doing}: it has no home directory")))?;
        let has_base64 = reply.word("coder") == Some("base64");
        Ok(self.shell.get_or_init(|| FarShell { home, has_base64 }))
    }

    /// Looks at a path that is absolute; with `near`, a missing file is looked for under similar names.
    pub async fn look(&self, path: &Path, near: bool) -> Result<Look, FarError> {
        let near: &[u8] = if near { b"near" } else { b"" };
        let doing = format!("looking at {}", path.display());
        let work = Work::new(include_str!("look.sh"), vec![bytes(path), near], doing);
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

    /// Reads the lines of a window, which are counted and cut there.
    pub async fn page(&self, path: &Path, window: Window) -> Result<(Facts, Page), FarError> {
        let most = PAGE.max(window.bytes);
        let numbers =
            [window.offset, window.limit, window.line_bytes, most + 1].map(|number| number.to_string());
        let arguments = std::iter::once(bytes(path)).chain(numbers.iter().map(String::as_bytes)).collect();
        let doing = format!("reading {}", path.display());
        let mut work = Work::new(include_str!("page.sh"), arguments, doing);
        work.most_output = MOST_FACTS + most * 2;
        let reply = self.run(work, Some((path, "read"))).await?;
        if reply.status() == "missing" {
            return Err(FarError::new(format!("{} does not exist", path.display())));
        }
        let facts = reply.facts().ok_or_else(|| self.garbled(path))?;
        if reply.status() == "binary" {
            return Ok((facts, Page::Binary));
        }
        let (total_lines, data) = (reply.number("lines"), reply.bytes("data"));
        let (Some(total_lines), Some(data)) = (total_lines, data) else { return Err(self.garbled(path)) };
        Ok((facts, Page::Text { lines: lines(&data, window, most), total_lines }))
    }

    /// Reads a whole file; `None` if there is none. One of more than `most` bytes is an error.
    pub async fn fetch(&self, path: &Path, most: u64) -> Result<Option<(Facts, Vec<u8>)>, FarError> {
        let limit = most.to_string();
        let doing = format!("reading {}", path.display());
        let mut work = Work::new(include_str!("fetch.sh"), vec![bytes(path), limit.as_bytes()], doing);
        let room = usize::try_from(most).unwrap_or(usize::MAX / 4);
        (work.timeout, work.most_output) = (TRANSFER, MOST_FACTS + room * 2);
        let reply = self.run(work, Some((path, "read"))).await?;
        if reply.status() == "missing" {
            return Ok(None);
        }
        let facts = reply.facts().ok_or_else(|| self.garbled(path))?;
        match reply.bytes("data") {
            Some(data) if data.len() as u64 <= most => Ok(Some((facts, data))),
            None if reply.status() != "large" => Err(self.garbled(path)),
            data => {
                let size = data.map_or(facts.size, |data| data.len() as u64);
                Err(FarError::new(format!(
                    "{} has {size} bytes; files above {most} are not fetched",
                    path.display()
                )))
            }
        }
    }

    /// Writes a file whose digest (SHA-256 in hex) is `before`; `None` for one that must not exist. `after` is the digest
    /// of the content.
    pub async fn store(
        &self,
        path: &Path,
        before: Option<&str>,
        after: &str,
        content: &[u8],
    ) -> Result<Option<Facts>, FarError> {
        let input = encoded(content, self.shell().await?.has_base64);
        let length = input.len().to_string();
        let arguments =
            vec![bytes(path), before.unwrap_or("none").as_bytes(), after.as_bytes(), length.as_bytes()];
        let doing = format!("writing {}", path.display());
        let mut work = Work::new(include_str!("store.sh"), arguments, doing);
        (work.input, work.timeout) = (Some(input.as_slice()), TRANSFER);
        match self.run(work, Some((path, "write"))).await {
            Ok(reply) => Ok(reply.facts()),
            Err(error) if error.is_unknown => self.found_again(path, before, after, error).await,
            Err(error) => Err(error),
        }
    }

    /// Deletes the file with this digest.
    pub async fn remove(&self, path: &Path, digest: &str) -> Result<(), FarError> {
        let doing = format!("deleting {}", path.display());
        let mut work = Work::new(include_str!("remove.sh"), vec![bytes(path), digest.as_bytes()], doing);
        work.input = Some(b"\n");
        self.run(work, Some((path, "delete"))).await.map(|_| ()).map_err(unknown)
    }

    /// Moves the file with this digest to a free path.
    pub async fn rename(&self, from: &Path, to: &Path, digest: &str) -> Result<Option<Facts>, FarError> {
        let doing = format!("moving {}", from.display());
        let arguments = vec![bytes(from), bytes(to), digest.as_bytes()];
        let mut work = Work::new(include_str!("rename.sh"), arguments, doing);
        work.input = Some(b"\n");
        let reply = self.run(work, Some((from, "move"))).await.map_err(unknown)?;
        Ok(reply.facts())
    }

    /// Returns the digest of a file, or `None` if the file does not exist.
    pub async fn digest(&self, path: &Path) -> Result<Option<String>, FarError> {
        let doing = format!("looking at {}", path.display());
        let mut work = Work::new(include_str!("digest.sh"), vec![bytes(path)], doing);
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
        error: FarError,
    ) -> Result<Option<Facts>, FarError> {
        let patient = Self { cancel: CancellationToken::new(), ..self.clone() };
        let FarError { text, .. } = &error;
        match patient.digest(path).await {
            Ok(Some(digest)) if digest == after => Ok(None),
            Ok(digest) if digest.as_deref() == before => {
                Err(FarError::new(format!("{text}; the file was not changed")))
            }
            Ok(_) | Err(_) => Err(unknown(error)),
        }
    }

    pub(crate) fn garbled(&self, path: &Path) -> FarError {
        let text = format!("{}: {} sent no answer that can be read", path.display(), self.label);
        FarError::new(text)
    }

    /// Runs a script. `about` names the file and the verb of its errors.
    async fn run(&self, work: Work<'_>, about: Option<(&Path, &str)>) -> Result<Reply, FarError> {
        let reply = self.reply(&work).await?;
        match about {
            Some((path, verb)) => self.checked(reply, path, verb),
            None if reply.status() == "ok" => Ok(reply),
            None => Err(FarError::new(format!("{} failed at {}", work.doing, self.label))),
        }
    }

    pub(crate) async fn reply(&self, work: &Work<'_>) -> Result<Reply, FarError> {
        let arguments: Vec<String> = work.arguments.iter().map(|argument| quoted(argument)).collect();
        let exchange = Exchange {
            script: format!("{COMMON}{}", work.script),
            arguments: arguments.join(" "),
            input: work.input.map(|input| String::from_utf8_lossy(input).into_owned()).unwrap_or_default(),
            timeout: work.timeout,
            most_output: work.most_output,
        };
        let text = match self.backend.exchange(exchange, &self.cancel).await {
            Ok(Exchanged::Done(text)) => text,
            Ok(Exchanged::Lost(ended)) => return Err(self.lost(ended, work)),
            Ok(Exchanged::NotStarted(why)) => return Err(self.unreachable(work, &why)),
            Err(ExecError::Unreachable(why)) => return Err(self.unreachable(work, &why)),
            Err(error) => return Err(self.unreachable(work, &error.to_string())),
        };
        Ok(Reply::read(&text))
    }

    fn unreachable(&self, work: &Work<'_>, why: &str) -> FarError {
        FarError::new(format!("{} failed: {} cannot be used: {why}", work.doing, self.label))
    }

    fn lost(&self, ended: Ended, work: &Work<'_>) -> FarError {
        let text = match ended {
            Ended::Cancelled => format!("{} was interrupted", work.doing),
            Ended::TimedOut => {
                format!("{} did not end within {} seconds", work.doing, work.timeout.as_secs())
            }
            Ended::Exited => format!("the connection to {} was lost while {}", self.label, work.doing),
        };
        FarError { text, is_unknown: work.input.is_some() }
    }

    /// The reply, or the error that its status means.
    fn checked(&self, reply: Reply, path: &Path, verb: &str) -> Result<Reply, FarError> {
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
        Err(FarError::new(text))
    }
}

/// The error of a change whose outcome is not known.
fn unknown(error: FarError) -> FarError {
    match error.is_unknown {
        true => FarError::new(format!(
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
