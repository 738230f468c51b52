//! The HTTP client of the bare client: one connection, chunked responses, events by line.

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Bytes that are read before they are passed on, while more are available.
const BATCH: usize = 16 << 10;

/// A kept-alive connection to a model.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
    path: String,
}

impl Connection {
    /// Connects to `http://HOST:PORT/PATH`.
    pub(super) fn open(base_url: &str) -> Result<Self> {
        let rest = base_url.strip_prefix("http://").context("the bare client speaks only http")?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let stream = TcpStream::connect(host).with_context(|| format!("cannot connect to {host}"))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::with_capacity(64 << 10, stream),
            host: host.to_owned(),
            path: format!("/{path}/chat/completions"),
        })
    }

    /// Sends a request.
    pub(super) fn send(&mut self, body: &[u8]) -> Result<()> {
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.path,
            self.host,
            body.len()
        );
        let stream = self.stream.get_mut();
        stream.write_all(head.as_bytes())?;
        Ok(stream.write_all(body)?)
    }

    /// Reads a response and passes on the data of new events.
    pub(super) fn events(&mut self, mut take: impl FnMut(&[&str]) -> Result<()>) -> Result<()> {
        self.skip_head()?;
        let mut unread = Vec::new();
        let mut closing = [0; 2];
        loop {
            let length = self.chunk_length()?;
            let start = unread.len();
            unread.resize(start + length, 0);
            self.stream.read_exact(&mut unread[start..])?;
            self.stream.read_exact(&mut closing)?;
            let would_wait = self.stream.buffer().is_empty();
            if length > 0 && unread.len() < BATCH && !would_wait {
                continue;
            }
            let whole = unread.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let text = std::str::from_utf8(&unread[..whole])?;
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            take(&data.filter(|data| *data != "[DONE]").collect::<Vec<_>>())?;
            unread.drain(..whole);
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn skip_head(&mut self) -> Result<()> {
        let status = self.line()?;
        ensure!(status.starts_with("HTTP/1.1 200"), "the model answered {status}");
        while !self.line()?.is_empty() {}
        Ok(())
    }

    fn chunk_length(&mut self) -> Result<usize> {
        let line = self.line()?;
        usize::from_str_radix(&line, 16).with_context(|| format!("`{line}` is not a chunk's length"))
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            bail!("the model closed the connection");
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
