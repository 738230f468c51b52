//! The binary in a real terminal, for tests that type and look.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The binary in a terminal of its own.
pub(crate) struct Terminal {
    pub(crate) child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    pub(crate) seen: Arc<Mutex<String>>,
    /// The length of `seen` that was already expected.
    read: usize,
    pub(crate) master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// With a home directory that is also that of Hermes, and without a sandbox.
    pub(crate) fn start(home: &Path, cwd: &Path, args: &[&str]) -> Self {
        let home = home.to_str().unwrap();
        Self::start_with(cwd, args, &[("HOME", home), ("HERMES_HOME", home), ("HERMES_SANDBOX", "full")])
    }

    pub(crate) fn start_with(cwd: &Path, args: &[&str], env: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_hermes"));
        command.args(args);
        command.cwd(cwd);
        command.env_clear();
        let path = std::env::var("PATH").unwrap_or_default();
        for (name, value) in [("PATH", path.as_str()), ("TERM", "xterm-256color")].iter().chain(env) {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let (mut output, into) = (pair.master.try_clone_reader().unwrap(), seen.clone());
        std::thread::spawn(move || {
            let (mut buffer, mut all) = ([0; 4096], Vec::new());
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                all.extend_from_slice(&buffer[..count]);
                // The editor's thread switches this mode on at a moment of its own, also inside a word.
                *into.lock().unwrap() = String::from_utf8_lossy(&all).replace("\x1b[?2004h", "");
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { child, keys, seen, read: 0, master: pair.master }
    }

    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until `text` has appeared after everything that was waited for before.
    pub(crate) async fn expect(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            let seen = self.seen.lock().unwrap()[self.read..].to_owned();
            if let Some(place) = seen.find(text) {
                self.read += place + text.len();
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "no {text:?} on the screen:\n{seen}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) async fn ended(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "it did not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
