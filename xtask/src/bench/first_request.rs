//! The cost up to the first byte of the first request.
//!
//! This process acts as the model: at that byte it reads the CPU clock of the client.

use crate::home::Home;
use crate::resource_usage::process_cpu;
use anyhow::{Context, Result, ensure};
use hermes_scripted::http::{LAST_CHUNK, chunked_head, put_chunk};
use hermes_scripted::{Rendering, ReplyScript, sse};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::runtime::Runtime;

const PATIENCE: Duration = Duration::from_secs(30);

/// The measurements up to the first request.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstRequest {
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
    /// The length of its body.
    pub(super) bytes: usize,
}

/// A model that measures its client, with a home directory that points to it.
pub(super) struct Watcher {
    runtime: Runtime,
    listener: TcpListener,
    pub(super) home: Home,
    hermes: PathBuf,
}

impl Watcher {
    pub(super) fn new(hermes: &Path) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let home = Home::new(&format!("http://{}/v1", listener.local_addr()?))?;
        let watcher = Self { runtime, listener, home, hermes: hermes.to_owned() };
        // The first run creates the home directory; only later ones find an existing one.
        watcher.look()?;
        Ok(watcher)
    }

    /// Runs a one-shot and measures it up to its first request.
    pub(super) fn look(&self) -> Result<FirstRequest> {
        let command = self.home.command(&self.hermes, ["-z", "hi"]);
        let looked = async { tokio::time::timeout(PATIENCE, self.answer_one(command.into())).await };
        self.runtime.block_on(looked).context("hermes sent no request in time")?
    }

    async fn answer_one(&self, mut command: Command) -> Result<FirstRequest> {
        command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let start = Instant::now();
        let mut hermes = command.spawn()?;
        let process = hermes.id().context("hermes ended at once")?;
        let mut stream = tokio::select! {
            accepted = self.listener.accept() => accepted?.0,
            status = hermes.wait() => anyhow::bail!("hermes ended before its first request: {}", status?),
        };
        let mut request = vec![stream.read_u8().await?];
        let (cpu, wall) = (process_cpu(process)?, start.elapsed());
        let bytes = read_request(&mut stream, &mut request).await?;
        stream.write_all(&answer()).await?;
        // The stream stays open until the client has exited.
        let status = hermes.wait().await?;
        ensure!(status.success(), "hermes -z failed: {status}");
        Ok(FirstRequest { cpu, wall, bytes })
    }
}

/// Reads the rest of a request and returns the length of its body.
async fn read_request(stream: &mut TcpStream, request: &mut Vec<u8>) -> Result<usize> {
    loop {
        if let Some((head, body)) = split(request)
            && body >= length(head)?
        {
            return Ok(body);
        }
        ensure!(stream.read_buf(request).await? > 0, "the request was cut off");
    }
}

/// The head, and the length of the received part of the body.
fn split(request: &[u8]) -> Option<(&[u8], usize)> {
    let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    Some((&request[..end], request.len() - end - 4))
}

fn length(head: &[u8]) -> Result<usize> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let value = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    Ok(value.context("the request has no length")?.trim().parse()?)
}

fn answer() -> Vec<u8> {
    let rendering = Rendering { number: 1, model: "scripted", include_usage: true };
    let mut answer = chunked_head(200, &[("content-type", "text/event-stream")]);
    put_chunk(&mut answer, &sse(&ReplyScript::text("ok"), &rendering));
    answer.extend_from_slice(LAST_CHUNK);
    answer
}
