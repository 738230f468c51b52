//! Starting the supervisor: this program again, as nobody's child.
//!
//! The program file was opened at start, so that the same program is started after it was
//! replaced or removed. The first process only detaches: it makes a session of its own, shuts
//! what it inherited, starts the second and leaves, so that the supervisor is no child of ours,
//! has no terminal and cannot get one.

use super::error::SuperviseError;
use super::place::Place;
use super::spec::SupervisorSettings;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::setsid;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};

/// How the report of the supervisor begins; whatever else is on its standard output is passed over.
const REPORT: &str = "hermes-supervisor:";
const READY: &str = "ready";
/// Orders and reports are short; they fit into a pipe.
const LONGEST: u64 = 32 * 1024;

/// The program that becomes the supervisor.
#[derive(Debug)]
pub struct Program {
    file: File,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Program {
    /// This program, which calls [`supervise`](super::supervise) when it is given `args`. Call this
    /// early: the file that is opened is the one that runs now.
    pub fn this(args: Vec<String>) -> Result<Self, SuperviseError> {
        let file = File::open("/proc/self/exe").map_err(SuperviseError::io("open our own program"))?;
        Ok(Self { file, args, env: Vec::new() })
    }

    /// Gives the supervisor a variable; otherwise its environment is empty.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// What a supervisor has to know.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) stage: Stage,
    pub(crate) place: Place,
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

/// Starts a supervisor and waits until it serves. Blocks; holds the start lock of the place.
pub(crate) fn launch(
    program: &Program,
    place: &Place,
    settings: SupervisorSettings,
) -> Result<(), SuperviseError> {
    let log = place.log();
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&log);
    let errors = opened.map_err(SuperviseError::io("open the supervisor's log"))?;
    let orders = Orders {
        stage: Stage::Detach,
        place: place.clone(),
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
    // The pipe is empty and this fits, so it does not wait.
    orders_in.write_all(&text).map_err(SuperviseError::io("give the supervisor its orders"))?;
    drop(orders_in);
    command.args(&orders.args).env_clear().envs(orders.env.iter().map(|(name, value)| (name, value)));
    command.current_dir("/").stdin(input).spawn().map_err(SuperviseError::io("start the supervisor"))
}

/// What the supervisor reported on its standard output.
fn verdict(text: &str) -> Result<(), String> {
    match text.split_once(REPORT).map(|(_, report)| report.lines().next().unwrap_or_default().trim()) {
        Some(READY) => Ok(()),
        Some(failure) => Err(failure.to_owned()),
        None => Err("it ended without a word".to_owned()),
    }
}

/// The first process: leaves everything behind and starts the second.
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

/// Descriptors that others left open for us do not reach the supervisor.
fn shut_on_exec() {
    let listed = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let numbers = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2).collect::<Vec<_>>() {
        // SAFETY: the number was listed as open. This process does nothing else, so nobody closes
        // it meanwhile except the listing above, and marking a closed number only fails.
        #[expect(unsafe_code, reason = "an inherited descriptor has no owner to borrow it from")]
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
}

/// Tells whoever started us how it went, and hangs up.
pub(crate) fn report(outcome: Result<(), &SuperviseError>) {
    let text = match outcome {
        Ok(()) => READY.to_owned(),
        Err(error) => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            format!("{error}{}", cause.unwrap_or_default()).replace('\n', " ")
        }
    };
    let mut output = std::io::stdout().lock();
    // Nobody may be listening any more, and that is all right.
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
    fn a_report_is_found_among_other_words() {
        for (text, want) in [
            ("\nhermes-supervisor: ready\n", Ok(())),
            ("running 1 test\ntest x ... \nhermes-supervisor: ready\n", Ok(())),
            ("\nhermes-supervisor: no room\n", Err("no room")),
            ("", Err("it ended without a word")),
        ] {
            assert_eq!(verdict(text), want.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn without_orders_the_next_step_is_told() {
        let error = read_orders(&b""[..]).unwrap_err().to_string();
        assert!(error.contains("Hermes starts its supervisor itself"), "{error}");
    }
}
