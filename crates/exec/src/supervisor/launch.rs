//! Starts the supervisor: this program again, as a detached process.
//!
//! The program file was opened at the start of this process, so that the same program runs even if the file was
//! replaced or removed. The first process only detaches: it creates a new session, closes inherited
//! descriptors, starts the second process and exits, so that the supervisor is not our child and has no
//! terminal.

use super::error::SuperviseError;
use super::paths::SupervisorPaths;
use super::spec::SupervisorSettings;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::setsid;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};

/// The prefix of the supervisor's report; other lines on its standard output are skipped.
const REPORT: &str = "hermes-supervisor:";
const READY: &str = "ready";
/// The maximum length of orders and reports, which fits into a pipe.
const LONGEST: u64 = 32 * 1024;

/// The program that becomes the supervisor.
#[derive(Debug)]
pub struct Program {
    file: File,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Program {
    /// This program, which must call [`supervise`](super::supervise) when it is started with `args`. Must be
    /// called early: it opens the file of the running program.
    pub fn this(args: Vec<String>) -> Result<Self, SuperviseError> {
        let file = File::open("/proc/self/exe").map_err(SuperviseError::io("open our own program"))?;
        Ok(Self { file, args, env: Vec::new() })
    }

    /// Adds a variable to the environment of the supervisor, which is empty by default.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The orders of a supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) stage: Stage,
    pub(crate) paths: SupervisorPaths,
    pub(crate) settings: SupervisorSettings,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    Detach,
    Serve,
}

pub(crate) fn read_orders(input: impl Read) -> Result<Orders, SuperviseError> {
    let mut text = Vec::new();
    input.take(LONGEST).read_to_end(&mut text).map_err(SuperviseError::io("read the supervisor's orders"))?;
    serde_json::from_slice(&text).map_err(|error| {
        let what =
            format!("there are no orders on standard input ({error}); Hermes starts its supervisor itself");
        SuperviseError::Protocol { what }
    })
}

/// Starts a supervisor and waits until it serves. Blocks; the caller holds the start lock.
pub(crate) fn launch(
    program: &Program,
    paths: &SupervisorPaths,
    settings: SupervisorSettings,
) -> Result<(), SuperviseError> {
    let log = paths.log();
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&log);
    let errors = opened.map_err(SuperviseError::io("open the supervisor's log"))?;
    let orders = Orders {
        stage: Stage::Detach,
        paths: paths.clone(),
        settings,
        args: program.args.clone(),
        env: program.env.clone(),
    };
    let (mut reports, output) = std::io::pipe().map_err(SuperviseError::io("make a pipe"))?;
    let path = format!("/proc/self/fd/{}", program.file.as_raw_fd());
    let mut first = Command::new(path);
    first.stdout(output).stderr(errors);
    let mut first = spawn(first, &orders)?;
    let mut text = Vec::new();
    let read = reports.by_ref().take(LONGEST).read_to_end(&mut text);
    let _ = first.wait();
    read.map_err(SuperviseError::io("hear from the supervisor"))?;
    verdict(&String::from_utf8_lossy(&text)).map_err(|cause| SuperviseError::NotStarted { cause, log })
}

fn spawn(mut command: Command, orders: &Orders) -> Result<std::process::Child, SuperviseError> {
    let (input, mut orders_in) = std::io::pipe().map_err(SuperviseError::io("make a pipe"))?;
    let text = serde_json::to_vec(orders).map_err(|error| SuperviseError::protocol(error.to_string()))?;
    if text.len() as u64 >= LONGEST {
        return Err(SuperviseError::protocol("the supervisor's orders are too long"));
    }
    // The pipe is empty and this fits, so it does not block.
    orders_in.write_all(&text).map_err(SuperviseError::io("give the supervisor its orders"))?;
    drop(orders_in);
    command.args(&orders.args).env_clear().envs(orders.env.iter().map(|(name, value)| (name, value)));
    command.current_dir("/").stdin(input).spawn().map_err(SuperviseError::io("start the supervisor"))
}

/// Parses the report on the supervisor's standard output.
fn verdict(text: &str) -> Result<(), String> {
    match text.split_once(REPORT).map(|(_, report)| report.lines().next().unwrap_or_default().trim()) {
        Some(READY) => Ok(()),
        Some(failure) => Err(failure.to_owned()),
        None => Err("it exited without a report".to_owned()),
    }
}

/// The first process: detaches and starts the second.
pub(crate) fn detach(orders: Orders) -> Result<(), SuperviseError> {
    // Fails only for the leader of a group, which has no terminal to lose by staying one.
    let _ = setsid();
    shut_on_exec();
    let mut second = Command::new("/proc/self/exe");
    second.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let spawned = spawn(second, &Orders { stage: Stage::Serve, ..orders });
    if let Err(error) = &spawned {
        report(Err(error));
    }
    spawned.map(drop)
}

/// Marks inherited descriptors as close-on-exec.
fn shut_on_exec() {
    let listed = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let numbers = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2).collect::<Vec<_>>() {
        // SAFETY: the number was listed as open. This process does nothing else, so the descriptor is not
        // closed meanwhile except by the listing above, and marking a closed number only fails.
        #[expect(unsafe_code, reason = "an inherited descriptor has no owner to borrow it from")]
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
}

/// Reports the start to the parent process, and closes the pipe.
pub(crate) fn report(outcome: Result<(), &SuperviseError>) {
    let text = match outcome {
        Ok(()) => READY.to_owned(),
        Err(error) => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            format!("{error}{}", cause.unwrap_or_default()).replace('\n', " ")
        }
    };
    let mut output = std::io::stdout().lock();
    // The parent may be gone already, which is fine.
    let _ = output.write_all(format!("\n{REPORT} {text}\n").as_bytes()).and_then(|()| output.flush());
    drop(output);
    if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_is_found_among_other_lines() {
        for (text, want) in [
            ("\nhermes-supervisor: ready\n", Ok(())),
            ("running 1 test\ntest x ... \nhermes-supervisor: ready\n", Ok(())),
            ("\nhermes-supervisor: no space\n", Err("no space")),
            ("", Err("it exited without a report")),
        ] {
            assert_eq!(verdict(text), want.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn missing_orders_are_explained() {
        let error = read_orders(&b""[..]).unwrap_err().to_string();
        assert!(error.contains("Hermes starts its supervisor itself"), "{error}");
    }
}
