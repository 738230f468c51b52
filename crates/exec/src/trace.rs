//! Runs a program in the sandbox and lists each denial, for `hermes sandbox run`.

use crate::backend::ExecError;
use crate::confine::{self, Confined};
use crate::exports::EnvChanges;
use crate::local::Guard;
use crate::shell::{self, SpawnOptions};
use crate::tracer::{self, Failed};
use crate::vfork::Image;
use crate::{Group, group};
use hermes_sandbox::{Denial, Grant, Judge, Policy};
use rustix::process::{WaitOptions, waitpid};
use std::io::{ErrorKind, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};

/// A program to run under observation.
#[derive(Debug, Clone)]
pub struct Traced {
    /// The program and its arguments. A program without `/` is searched for in the `PATH` of `env`.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    pub policy: Policy,
}

/// A system call that was denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The operation, for instance `open`.
    pub call: String,
    /// The path, or the address of a socket.
    pub path: Option<PathBuf>,
    /// The name of the error, for instance `EACCES`.
    pub error: &'static str,
    /// The sentence of the sandbox; `None` if ordinary permissions explain the error.
    pub sentence: Option<String>,
    /// The grant that would permit it.
    pub grant: Option<Grant>,
}

/// The result of an observed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceReport {
    pub exit_code: i32,
    /// Each denial once, in the order of the first occurrence.
    pub refusals: Vec<Refusal>,
    /// The reason for which the program could not be observed; then `refusals` comes from its output.
    pub untraced: Option<String>,
}

/// Output kept for a run that cannot be observed.
const KEPT: usize = 64 * 1024;

/// Runs a program to its end with the standard input of this process. `on_output` gets both of its output streams.
/// Blocks.
pub fn run_traced(program: Traced, on_output: impl FnMut(&[u8]) + Send) -> Result<TraceReport, ExecError> {
    if !confine::is_directory(Some(&program.policy), &program.cwd) {
        return Err(ExecError::NoDirectory { path: program.cwd });
    }
    let (read, write) = std::io::pipe().map_err(|source| ExecError::Io { doing: "make a pipe", source })?;
    let policy = program.policy.clone();
    let (done, output) = std::thread::scope(|scope| {
        let reader = scope.spawn(move || pass_on(read, on_output));
        // A thread of its own: only the one that starts a program can follow it.
        let done = scope.spawn(move || run(program, write)).join();
        (done, reader.join().unwrap_or_default())
    });
    let lost = || ExecError::Io { doing: "follow the program", source: ErrorKind::Other.into() };
    let mut report = done.map_err(|_| lost())??;
    if report.untraced.is_some() {
        report.refusals = hermes_sandbox::explain(&output, report.exit_code, &policy)
            .map(from_output)
            .into_iter()
            .collect();
    }
    Ok(report)
}

/// Passes output on, and returns the end of it.
fn pass_on(mut read: PipeReader, mut on_output: impl FnMut(&[u8])) -> String {
    let (mut kept, mut chunk) = (Vec::new(), vec![0; KEPT]);
    while let Ok(count @ 1..) = read.read(&mut chunk) {
        on_output(&chunk[..count]);
        kept.extend_from_slice(&chunk[..count]);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn from_output(denial: Denial) -> Refusal {
    let call = format!("{:?}", denial.operation).to_lowercase();
    let (path, sentence, grant) = (denial.path, Some(denial.sentence), denial.grant);
    Refusal { call, path, error: "EACCES", sentence, grant }
}

fn run(program: Traced, output: PipeWriter) -> Result<TraceReport, ExecError> {
    let failed = |source| ExecError::Io { doing: "start the program", source };
    let Traced { argv, cwd, mut env, policy } = program;
    let confined = Confined::new(Some(&policy), &cwd, &mut env, &EnvChanges::default())?;
    let mut command =
        std::process::Command::new(found(&argv, &env).ok_or_else(|| failed(ErrorKind::NotFound.into()))?);
    command.args(argv.iter().skip(1)).current_dir("/").env_clear().envs(env);
    let image = Image::of(&command).map_err(failed)?;
    let ties = SpawnOptions { dies_with_parent: true, ..SpawnOptions::DETACHED };
    let start = |is_traced: bool| {
        // The child shares this memory until it is the program, so it can say what failed.
        let refused = AtomicBool::new(false);
        let prepare = || {
            shell::prepare(ties)?;
            if is_traced {
                tracer::trace_me().inspect_err(|_| refused.store(true, Ordering::Relaxed))?;
            }
            shell::enter(confined.as_ref())
        };
        let input = std::io::stdin();
        let started = image.start([input.as_fd(), output.as_fd(), output.as_fd()], &prepare);
        (started, refused.into_inner())
    };
    let (started, untraced) = match start(true) {
        (Err(error), true) => (start(false).0, Some(format!("the kernel does not permit tracing: {error}"))),
        (started, _) => (started, None),
    };
    let id = started.map_err(failed)?;
    let mut guard = Guard::new(Group::led_by(id).map_err(failed)?);
    let pid = group::pid(id).ok_or_else(|| failed(ErrorKind::NotFound.into()))?;
    let mut refusals = Refusals { judge: Judge::new(&policy), found: Vec::new() };
    let status = match untraced {
        None => tracer::follow(pid, &mut |denied| refusals.add(denied)).map_err(failed)?,
        Some(_) => {
            waitpid(Some(pid), WaitOptions::empty()).ok().flatten().map_or(0, |(_, status)| status.as_raw())
        }
    };
    guard.group.signal(rustix::process::Signal::KILL);
    guard.armed = false;
    let exit_code = crate::local::exit_code(ExitStatus::from_raw(status));
    Ok(TraceReport { exit_code, refusals: refusals.found, untraced })
}

/// The path of the program.
fn found(argv: &[String], env: &[(String, String)]) -> Option<PathBuf> {
    let name = argv.first().filter(|name| !name.is_empty())?;
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    let path =
        env.iter().rfind(|(name, _)| name == "PATH").map_or("/usr/bin:/bin", |(_, value)| value.as_str());
    std::env::split_paths(path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// The denials so far.
struct Refusals<'a> {
    judge: Judge<'a>,
    found: Vec<Refusal>,
}

impl Refusals<'_> {
    fn add(&mut self, failed: Failed) {
        let Some(error) = error_name(&failed) else { return };
        let paths: Vec<Option<PathBuf>> = if failed.paths.is_empty() {
            vec![None]
        } else {
            failed.paths.iter().cloned().map(Some).collect()
        };
        for path in paths {
            let denial = match &path {
                Some(path) if error == "ENOENT" => match self.judge.missing(path) {
                    Some(denial) => Some(denial),
                    None => continue,
                },
                Some(path) if path.is_absolute() => {
                    self.judge.path(path, failed.is_change() || error == "EROFS")
                }
                Some(_) => self.judge.network(),
                None => None,
            };
            let is_filtered = path.is_none() && failed.error == libc::EPERM;
            let sentence = denial.as_ref().map(|denial| denial.sentence.clone());
            let sentence = sentence
                .or_else(|| is_filtered.then(|| format!("the sandbox does not permit {}", failed.call.name)));
            let refusal = Refusal {
                call: failed.call.name.to_owned(),
                path,
                error,
                sentence,
                grant: denial.and_then(|denial| denial.grant),
            };
            if !self.found.contains(&refusal) {
                self.found.push(refusal);
            }
        }
    }
}

/// The name of an error that may be a denial. Programs try calls that are missing and take another way, so only the
/// absence of a whole interface is reported.
fn error_name(failed: &Failed) -> Option<&'static str> {
    match failed.error {
        libc::EACCES => Some("EACCES"),
        libc::EPERM => Some("EPERM"),
        libc::EROFS => Some("EROFS"),
        libc::ENOENT if !failed.paths.is_empty() => Some("ENOENT"),
        libc::ENOSYS if failed.call.name == "io_uring_setup" => Some("ENOSYS"),
        _ => None,
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
