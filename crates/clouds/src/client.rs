//! The client program: runs a program in a sandbox, with its streams and its exit code.

use crate::api::Api;
use crate::error::CloudError;
use crate::far_process::{FarProcess, MOST_INPUT, Piece, Polled, State, missing_program};
use crate::service::{Cloud, Found};
use crate::settings::{CloudSettings, Timing, key};
use hermes_config::Config;
use std::io::Error;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Stdin};
use tokio::time::timeout;

/// The exit code of a client that could not run the program, or lost it.
const FAILED: u8 = 255;
/// The line that tells the shell around the client that the program may have run.
const UNKNOWN: &str = "the outcome of the command is not known";
/// The time in which the program on standard input arrives.
const FIRST_INPUT: Duration = Duration::from_secs(1);
/// The time between two parts of it.
const NEXT_INPUT: Duration = Duration::from_millis(20);

/// The end of a run without an exit code.
enum Failed {
    NotRun(CloudError),
    Unknown(CloudError),
    /// The output cannot be written.
    Output,
}

/// Serves one call: `ready SETTINGS`, `stop SETTINGS`, or `run SETTINGS SANDBOX PROGRAM...`. Returns the exit code.
///
/// `home` is the home directory of Hermes.
pub async fn place_client(config: &Config, home: &Path, arguments: &[String]) -> u8 {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (cloud, timing) = match arguments.get(1).map(|settings| cloud(config, home, settings)) {
        Some(Ok(opened)) => opened,
        Some(Err(error)) => return not_done(&error).await,
        None => return not_done(&CloudError::Arguments("no settings".to_owned())).await,
    };
    match arguments[..] {
        ["ready", _] => match cloud.ready().await {
            Ok(found) => print(&format!("{}\n", serde_json::json!(found))).await,
            Err(error) => not_done(&error).await,
        },
        ["stop", _] => match cloud.stop().await {
            Ok(true) => print("stopped\n").await,
            Ok(false) => print("there is none\n").await,
            Err(error) => not_done(&error).await,
        },
        ["run", _, found, ..] => {
            let program: Vec<String> = arguments[3..].iter().map(|&word| word.to_owned()).collect();
            match serde_json::from_str(found) {
                Ok(found) => run(&cloud, found, &program, timing).await,
                Err(error) => not_done(&CloudError::Arguments(error.to_string())).await,
            }
        }
        _ => not_done(&CloudError::Arguments("unknown call".to_owned())).await,
    }
}

fn cloud(config: &Config, home: &Path, settings: &str) -> Result<(Cloud, Timing), CloudError> {
    let settings = CloudSettings::of_argument(settings)?;
    let fetcher = hermes_models::model_choice::fetcher(config, settings.timing.request())
        .map_err(|error| CloudError::Settings(error.to_string()))?;
    let api = Api::new(&settings, key(config, settings.service)?, fetcher);
    let timing = settings.timing;
    Ok((Cloud::new(settings, api, home.to_owned())?, timing))
}

async fn print(text: &str) -> u8 {
    match write(&mut tokio::io::stdout(), text.as_bytes()).await {
        Ok(()) => 0,
        Err(_) => FAILED,
    }
}

async fn not_done(error: &CloudError) -> u8 {
    say(&format!("{error}\n")).await;
    FAILED
}

/// Writes to standard error, which may be closed.
async fn say(text: &str) {
    let _ = write(&mut tokio::io::stderr(), text.as_bytes()).await;
}

async fn write(stream: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) -> Result<(), Error> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

async fn run(cloud: &Cloud, found: Found, program: &[String], timing: Timing) -> u8 {
    let far = FarProcess::new(cloud.piece(), timing);
    let mut input = Input { stdin: tokio::io::stdin(), is_over: false };
    let ended = async {
        let first = input.first().await;
        let (found, answer) = start(cloud, found, &far, program, &first).await?;
        tokio::select! {
            ended = follow(cloud, &found, &far, answer) => ended,
            error = feed(cloud, &found, &far, &mut input, u64::from(!first.is_empty())) => {
                Err(Failed::Unknown(error))
            }
        }
    };
    match ended.await {
        Ok(code) => code,
        Err(Failed::NotRun(error)) => not_done(&error).await,
        Err(Failed::Unknown(error)) => {
            say(&format!("{error}\n{UNKNOWN}\n")).await;
            FAILED
        }
        Err(Failed::Output) => FAILED,
    }
}

/// Starts the program. A sandbox that went away since it was found is found or made again.
async fn start(
    cloud: &Cloud,
    found: Found,
    far: &FarProcess,
    program: &[String],
    first: &[u8],
) -> Result<(Found, Polled), Failed> {
    let command = far.start(program, first);
    let (found, text) = match cloud.run(&found, &command).await {
        Err(CloudError::Gone { .. } | CloudError::Refused { .. }) => {
            let found = cloud.ready().await.map_err(Failed::NotRun)?;
            let text = cloud.run(&found, &command).await;
            (found, text)
        }
        text => (found, text),
    };
    let text = text.map_err(|error| match error {
        CloudError::NoAnswer { .. } | CloudError::Garbled { .. } | CloudError::Taken { .. } => {
            Failed::Unknown(error)
        }
        // The service refused it.
        error => Failed::NotRun(error),
    })?;
    let answer = far.parse(&text).map_err(|error| match missing_program(&error, &text) {
        Some(missing) => Failed::NotRun(missing),
        None => Failed::Unknown(garbled(error)),
    })?;
    Ok((found, answer))
}

fn garbled(what: String) -> CloudError {
    CloudError::Garbled { service: "the sandbox", what }
}

/// Copies output until the program has ended. Returns its exit code.
async fn follow(cloud: &Cloud, found: &Found, far: &FarProcess, first: Polled) -> Result<u8, Failed> {
    let (mut stdout, mut stderr) = (tokio::io::stdout(), tokio::io::stderr());
    let (mut out, mut err) = (0_u64, 0_u64);
    let mut answer = first;
    loop {
        write(&mut stdout, &answer.out).await.map_err(|_| Failed::Output)?;
        write(&mut stderr, &answer.err).await.map_err(|_| Failed::Output)?;
        out += answer.out.len() as u64;
        err += answer.err.len() as u64;
        let is_empty = answer.out.is_empty() && answer.err.is_empty();
        match answer.state {
            State::Ended(code) if out >= answer.sizes.0 && err >= answer.sizes.1 => return Ok(code),
            State::Ended(_) if is_empty => {
                return Err(Failed::Unknown(garbled("output is missing".to_owned())));
            }
            State::Lost => {
                let what = "the program is not there any more".to_owned();
                return Err(Failed::Unknown(garbled(what)));
            }
            State::Ended(_) | State::Running => {}
        }
        let text = cloud.run(found, &far.poll(out, err)).await.map_err(Failed::Unknown)?;
        answer = far.parse(&text).map_err(|error| Failed::Unknown(garbled(error)))?;
    }
}

/// Sends standard input. Ends only with an error.
async fn feed(
    cloud: &Cloud,
    found: &Found,
    far: &FarProcess,
    input: &mut Input,
    mut number: u64,
) -> CloudError {
    while !input.is_over {
        let bytes = input.read(MOST_INPUT).await;
        let piece = if bytes.is_empty() { Piece::End } else { Piece::Bytes(bytes) };
        if let Err(error) = cloud.run(found, &far.input(number, &piece)).await {
            return error;
        }
        number += 1;
    }
    std::future::pending().await
}

/// The standard input of this process.
struct Input {
    stdin: Stdin,
    /// Its end was read and sent.
    is_over: bool,
}

impl Input {
    /// Reads the input that is there at once, so that it goes with the first request.
    async fn first(&mut self) -> Vec<u8> {
        let (mut all, mut patience) = (Vec::new(), FIRST_INPUT);
        while all.len() < MOST_INPUT {
            let mut part = vec![0; MOST_INPUT - all.len()];
            match timeout(patience, self.stdin.read(&mut part)).await {
                Ok(Ok(count)) if count > 0 => all.extend_from_slice(&part[..count]),
                // The end is read again, and sent then.
                _ => break,
            }
            patience = NEXT_INPUT;
        }
        all
    }

    async fn read(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let count = self.stdin.read(&mut bytes).await.unwrap_or_default();
        self.is_over = count == 0;
        bytes.truncate(count);
        bytes
    }
}
