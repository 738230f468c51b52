//! Starts a program without copying this process.
//!
//! `fork` copies the page tables, and afterwards both processes pay for each page that they touch: a fifth of what a
//! short command costs. The child here shares the memory until it calls `exec`, and the calling thread waits for
//! that, as with `posix_spawn`, which offers neither a session with a death signal nor a hook for a sandbox.

use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::io::{Error, ErrorKind, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

/// Enough for the preparations in a child; they call the kernel and nothing else.
const STACK: usize = 64 * 1024;
/// The exit code of a child that could not become the program.
const NOT_STARTED: c_int = 127;

/// A program with all that it needs to start.
pub(crate) struct Image {
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    directory: CString,
}

impl Image {
    /// Describes a program from an ordinary command: program, arguments, explicit environment, directory.
    pub(crate) fn of(command: &std::process::Command) -> Result<Self> {
        let text =
            |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| Error::from(ErrorKind::InvalidInput));
        let program = text(command.get_program())?;
        let arguments = std::iter::once(Ok(program.clone()))
            .chain(command.get_args().map(text))
            .collect::<Result<_>>()?;
        let assignment = |(name, value): (&OsStr, Option<&OsStr>)| {
            let mut pair = name.to_owned();
            pair.push("=");
            value.map(|value| {
                pair.push(value);
                text(&pair)
            })
        };
        let environment = command.get_envs().filter_map(assignment).collect::<Result<_>>()?;
        let directory = text(command.get_current_dir().unwrap_or(".".as_ref()).as_os_str())?;
        Ok(Self { program, arguments, environment, directory })
    }

    /// Starts the program with these three streams. `prepare` runs in the child, last before the program: it may
    /// only make system calls that leave the memory of this process alone.
    pub(crate) fn start(
        &self,
        streams: [BorrowedFd<'_>; 3],
        prepare: &dyn Fn() -> Result<()>,
    ) -> Result<u32> {
        let pointers = |texts: &[CString]| -> Vec<*const c_char> {
            texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (arguments, environment) = (pointers(&self.arguments), pointers(&self.environment));
        let mut child = ChildState {
            program: &self.program,
            directory: &self.directory,
            arguments: arguments.as_ptr(),
            environment: environment.as_ptr(),
            streams: streams.map(|stream| stream.as_raw_fd()),
            prepare,
            error: 0,
        };
        let mut stack = vec![MaybeUninit::<u8>::uninit(); STACK];
        let pid = clone_sharing_memory(&mut stack, &mut child)?;
        if child.error == 0 {
            return Ok(pid.as_raw_nonzero().get().unsigned_abs());
        }
        let _ = waitpid(Some(pid), WaitOptions::empty());
        Err(Error::from_raw_os_error(child.error))
    }
}

/// The values that the child reads, and the error that it leaves.
struct ChildState<'a> {
    program: &'a CStr,
    directory: &'a CStr,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    streams: [RawFd; 3],
    prepare: &'a dyn Fn() -> Result<()>,
    error: c_int,
}

/// Runs [`child_main`] in a new process on `stack` and waits until it has become its program or ended.
fn clone_sharing_memory(stack: &mut [MaybeUninit<u8>], child: &mut ChildState<'_>) -> Result<Pid> {
    let _signals = SignalsBlocked::new();
    // SAFETY: the stack is ours, unused and outlives the call, which returns only after the child has left it
    // (CLONE_VFORK). The child runs `child_main` alone, which touches nothing but `child` and its stack; the calling
    // thread is suspended meanwhile, so `child` is not aliased. The stack grows down from its aligned end.
    #[expect(unsafe_code, reason = "no safe interface starts a child that shares memory until exec")]
    let pid = unsafe {
        let end = stack.as_mut_ptr().add(stack.len());
        let top = end.sub(end as usize % 16);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(child_main, top.cast(), flags, std::ptr::from_mut(child).cast())
    };
    if pid < 0 {
        return Err(Error::last_os_error());
    }
    Pid::from_raw(pid).ok_or_else(|| ErrorKind::NotFound.into())
}

/// The life of the child until it is the program.
extern "C" fn child_main(state: *mut c_void) -> c_int {
    // SAFETY: the pointer comes from `clone_sharing_memory`, whose thread waits.
    #[expect(unsafe_code, reason = "the value arrives as a pointer")]
    let state = unsafe { &mut *state.cast::<ChildState<'_>>() };
    // Returns only on failure.
    state.error = become_program(state).raw_os_error().unwrap_or(libc::EINVAL);
    NOT_STARTED
}

fn become_program(state: &ChildState<'_>) -> Error {
    if let Err(error) = connect_streams(state.streams)
        .and_then(|()| change_directory(state.directory))
        .and_then(|()| (state.prepare)())
    {
        return error;
    }
    reset_signals();
    // SAFETY: both arrays end with a null pointer, and all strings outlive the call.
    #[expect(unsafe_code, reason = "exec takes pointers")]
    unsafe {
        libc::execve(state.program.as_ptr(), state.arguments, state.environment);
    }
    Error::last_os_error()
}

/// Makes the three descriptors 0, 1 and 2. They are above 2, so none is overwritten: the standard library opens 0, 1
/// and 2 when a process starts.
fn connect_streams(streams: [RawFd; 3]) -> Result<()> {
    for (target, stream) in (0..).zip(streams) {
        // SAFETY: both numbers are descriptors; the table of the child is its own.
        #[expect(
            unsafe_code,
            reason = "the child has a descriptor table of its own, which no safe type describes"
        )]
        let connected = unsafe { libc::dup2(stream, target) };
        if connected < 0 {
            return Err(Error::last_os_error());
        }
    }
    Ok(())
}

fn change_directory(path: &CStr) -> Result<()> {
    rustix::process::chdir(path).map_err(Error::from)
}

/// Gives signals with a handler of this process their default action, then lets them through. A handler must
/// never run in the child: it would change the memory of this process.
fn reset_signals() {
    // SAFETY: the calls read and write only the local values; the table of the child is its own.
    #[expect(unsafe_code, reason = "signal tables have no safe interface")]
    unsafe {
        for signal in 1..libc::SIGRTMAX() {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            if libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) != 0 {
                continue;
            }
            let mut action = action.assume_init();
            // The standard library ignores SIGPIPE; programs expect it.
            let is_ours =
                !matches!(action.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) || signal == libc::SIGPIPE;
            if is_ours {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
        let mut none = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

/// All signals are blocked in this thread while the value lives.
struct SignalsBlocked(libc::sigset_t);

impl SignalsBlocked {
    fn new() -> Self {
        let (mut all, mut before) =
            (MaybeUninit::<libc::sigset_t>::zeroed(), MaybeUninit::<libc::sigset_t>::zeroed());
        // SAFETY: the calls fill the two local sets and change the mask of this thread only.
        #[expect(unsafe_code, reason = "signal masks have no safe interface")]
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Self(before.assume_init())
        }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: restores the mask that `new` found.
        #[expect(unsafe_code, reason = "signal masks have no safe interface")]
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::process::Command;

    /// Runs a shell script to its end and returns its output.
    fn output(script: &str, prepare: &dyn Fn() -> Result<()>) -> Result<String> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).env_clear().env("NAME", "a value").current_dir("/usr");
        let (mut read, write) = std::io::pipe()?;
        let input = std::fs::File::open("/dev/null")?;
        let started = Image::of(&command)?.start([input.as_fd(), write.as_fd(), write.as_fd()], prepare);
        drop(write);
        let mut text = String::new();
        read.read_to_string(&mut text)?;
        let id = Pid::from_raw(i32::try_from(started?).unwrap()).unwrap();
        waitpid(Some(id), WaitOptions::empty())?;
        Ok(text)
    }

    #[test]
    fn program_gets_environment_directory_and_streams() {
        let script = "pwd; echo \"$NAME\"; env | wc -l; echo error >&2; cat";
        // The shell adds PWD.
        assert_eq!(output(script, &|| Ok(())).unwrap(), "/usr\na value\n2\nerror\n");
    }

    #[test]
    fn program_gets_signals_and_a_broken_pipe_ends_it() {
        let text = output("grep -E 'Sig(Blk|Ign)' /proc/self/status", &|| Ok(())).unwrap();
        let mask = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        assert_eq!(mask("SigBlk:"), 0, "{text}");
        assert_eq!(mask("SigIgn:") & 1 << (libc::SIGPIPE - 1), 0, "{text}");
    }

    #[test]
    fn failed_preparation_starts_nothing() {
        let refused = || Err(Error::from_raw_os_error(libc::EPERM));
        assert_eq!(output("echo ran", &refused).unwrap_err().raw_os_error(), Some(libc::EPERM));
        let mut missing = Command::new("/nowhere/program");
        missing.env_clear();
        let streams = std::io::stderr();
        let started = Image::of(&missing).unwrap().start([streams.as_fd(); 3], &|| Ok(()));
        assert_eq!(started.unwrap_err().kind(), ErrorKind::NotFound);
    }
}
