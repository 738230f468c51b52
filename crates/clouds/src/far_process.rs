//! The scripts that run a program in a sandbox, for a service that runs short commands only.
//!
//! [`FarProcess::start`] makes a private directory and a runner in it, which outlives the command of the service: it runs
//! the program with its streams in files and pipes. [`FarProcess::poll`] returns new output and waits for it at the far
//! end; [`FarProcess::input`] adds to standard input. The runner closes the standard input of the program when no `poll`
//! came for a while: the program sees the end of its connection, as with ssh. Each script may be sent twice.
//!
//! No script has single quotes, because it is the quoted argument of `bash -c`, however the service splits its command.

use crate::error::CloudError;
use crate::settings::Timing;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The directory of all runs.
const RUNS: &str = "/tmp/.hermes-run";
/// Bytes of standard input in one request: as Base64 beside the scripts, they fit into one argument of a program.
pub(crate) const MOST_INPUT: usize = 48 * 1024;

/// Seconds that the output of an ended program is kept, at most, for a client whose last answer was lost.
const LINGER: u64 = 90;

/// A program that runs in a sandbox.
#[derive(Debug, Clone)]
pub(crate) struct FarProcess {
    /// Names the directory; hex digits.
    id: String,
    /// Bytes of each stream in one answer.
    piece: usize,
    /// Seconds without a poll after which the program sees the end of its input.
    grace: u64,
    /// Seconds that a poll waits for output.
    wait: u64,
}

/// The answer to a poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Polled {
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    /// Bytes of both streams that were written so far.
    pub(crate) sizes: (u64, u64),
    pub(crate) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// The program has ended with this exit code.
    Ended(u8),
    /// The program is not there and did not end.
    Lost,
}

/// A piece of standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Bytes(Vec<u8>),
    End,
}

impl FarProcess {
    pub(crate) fn new(piece: usize, timing: Timing) -> Self {
        let id = format!("{:032x}", rand::random::<u128>());
        Self { id, piece, grace: timing.grace_s, wait: timing.wait().as_secs() }
    }

    /// Starts the program with the first input, and polls.
    pub(crate) fn start(&self, program: &[String], first: &[u8]) -> String {
        let line = program.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let files = [("program", line), ("feeder", feeder()), ("runner", runner(&self.id, self.grace))];
        let files = files.map(|(name, text)| format!("{} >{name}\n", decoded(text.as_bytes()))).concat();
        let first = if first.is_empty() { String::new() } else { format!("{} >in.0\n", decoded(first)) };
        let start = format!(
            r#"umask 077
for t in base64 mkfifo setsid tail head; do
  command -v $t >/dev/null || {{ printf "\nHX{id} needs %s\n" $t; exit 0; }}
done
mkdir -p {RUNS} && cd {RUNS} || exit 0
if mkdir {id} 2>/dev/null; then
  cd {id} || exit 0
  mkfifo in ctl feed wake
  {files}{first}HERMES_RUN={id} setsid bash runner </dev/null >/dev/null 2>&1 &
  printf "%s\n" $! >pid.new; mv pid.new pid
fi
"#,
            id = self.id
        );
        command(&(start + &self.polling(0, 0)))
    }

    /// Returns output after these numbers of bytes, and the exit code.
    pub(crate) fn poll(&self, out: u64, err: u64) -> String {
        command(&self.polling(out, err))
    }

    fn polling(&self, out: u64, err: u64) -> String {
        format!(
            r#"lost() {{ printf "\nHX{id} 0 0 lost\n\n\nHX{id} end\n"; exit 0; }}
cd {RUNS}/{id} 2>/dev/null || lost
exec 2>/dev/null
n=0 SECONDS=0
until [ -e pid ]; do [ $SECONDS -lt {wait} ] || lost; sleep 0.1 || sleep 1; done
printf "b\n" 1<>ctl
exec 8<>wake
while :; do
  c=; [ -e code ] && IFS= read -r c <code
  set -- 0 x 0; [ -e err ] && set -- $(wc -c out err)
  [ -z "$c" ] && [ "$1" -le {out} ] && [ "$3" -le {err} ] && [ $SECONDS -lt {wait} ] || break
  n=$((n + 1)); t=0.25; [ $n -lt 40 ] && t=0.02
  read -r -t $t -u 8 x
done
if [ -z "$c" ] && [ $SECONDS -ge {wait} ]; then
  r=; IFS= read -r r <pid; v=(); mapfile -d "" -t v </proc/$r/environ
  case " ${{v[*]}} " in *" HERMES_RUN={id} "*) ;; *) [ -e code ] || c=lost ;; esac
fi
printf "\nHX{id} %s %s %s\n" "$1" "$3" "${{c:--}}"
tail -c +{out_from} out | head -c {piece} | base64 | tr -d "\n"
printf "\n"
tail -c +{err_from} err | head -c {piece} | base64 | tr -d "\n"
printf "\nHX{id} end\n"
"#,
            id = self.id,
            piece = self.piece,
            wait = self.wait,
            out_from = out + 1,
            err_from = err + 1,
        )
    }

    /// Adds to standard input. Pieces are counted from 0.
    pub(crate) fn input(&self, number: u64, piece: &Piece) -> String {
        let write = match piece {
            Piece::Bytes(bytes) => {
                format!("{} >in.{number}.new && mv in.{number}.new in.{number}", decoded(bytes))
            }
            Piece::End => ": >eof".to_owned(),
        };
        command(&format!(
            "umask 077\ncd {RUNS}/{id} 2>/dev/null || exit 0\n{write}\nprintf \"x\\n\" 1<>feed\nprintf \"\\nHX{id} ok\\n\"\n",
            id = self.id
        ))
    }

    /// Reads the answer to a poll, which a service may put between other texts.
    pub(crate) fn parse(&self, text: &str) -> Result<Polled, String> {
        let mark = format!("HX{}", self.id);
        let from = text.find(&mark).ok_or_else(|| format!("no answer of bash in {:?}", beginning(text)))?;
        let mut lines = text[from..].lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().split(' ').skip(1).collect();
        let (out_size, err_size, code) = match head[..] {
            ["needs", program] => return Err(format!("needs {program}")),
            [out, err, code] => (number(out)?, number(err)?, code),
            _ => return Err(format!("unknown line {head:?}")),
        };
        let mut piece = || decode(lines.next().unwrap_or_default());
        let (out, err) = (piece()?, piece()?);
        if lines.next() != Some(format!("{mark} end").as_str()) {
            return Err("the end of the text is missing".to_owned());
        }
        let state = match code {
            "-" => State::Running,
            "lost" => State::Lost,
            code => State::Ended(code.parse().map_err(|_| format!("exit code {code:?}"))?),
        };
        Ok(Polled { out, err, sizes: (out_size, err_size), state })
    }
}

/// The program that the sandbox does not have, if the first answer says so.
pub(crate) fn missing_program(error: &str, text: &str) -> Option<CloudError> {
    let has_no_bash = error.starts_with("no answer") && text.contains("bash") && text.contains("not found");
    let program = error.strip_prefix("needs ").or(has_no_bash.then_some("bash"))?;
    Some(CloudError::NoProgram { program: program.to_owned() })
}

/// Runs the program, and ends its input when the client is gone.
fn runner(id: &str, grace: u64) -> String {
    format!(
        r#"unset HERMES_RUN
exec 5<>in 7<in 8>in 5>&- 6<>ctl
setsid bash feeder >&8 6>&- 7<&- 8>&- &
f=$!
{{
  d=$PWD; : >out; : >err
  (cd /; . "$d/program") <&7 >out 2>err 7<&-
  printf "%s\n" $? >code.new; mv code.new code
  printf "x\n" 1<>wake; printf "e\n" 1<>ctl
}} 6>&- 8>&- &
p=$!
exec 7<&- 8>&-
while [ ! -e code ] && kill -0 $p; do
  read -r -t {grace} -u 6 m
  [ $? -le 128 ] || kill -KILL -- -$f
done
kill -KILL -- -$f
[ -e code ] || printf "lost\n" >code
while read -r -t {linger} -u 6 m; do :; done
cd /; rm -rf {RUNS}/{id}
"#,
        linger = grace.min(LINGER),
    )
}

/// Writes pieces of standard input to the program, in order.
fn feeder() -> String {
    r#"exec 4<>feed
n=0
while kill -0 $PPID; do
  if [ -e in.$n ]; then cat in.$n; rm -f in.$n; n=$((n + 1)); continue; fi
  if [ -e eof ]; then [ -e in.$n ] || exit; continue; fi
  read -r -t 5 -u 4 x
done
"#
    .to_owned()
}

/// The command that runs a script, for a shell or for a service that splits it into arguments.
fn command(script: &str) -> String {
    debug_assert!(!script.contains('\''), "the script is in single quotes");
    format!("bash -c '{script}'")
}

/// A command that prints these bytes.
fn decoded(bytes: &[u8]) -> String {
    format!("printf %s {} | base64 -d", STANDARD.encode(bytes))
}

fn decode(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| format!("Base64: {error}"))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("number {text:?}"))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The beginning of a text, for messages.
fn beginning(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
#[path = "far_process_tests.rs"]
mod tests;
