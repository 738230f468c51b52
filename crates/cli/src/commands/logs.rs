//! `hermes logs`: prints the log, and follows it.

mod files;
mod select;

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::{launch, time_input};
use clap::Args;
use files::Tail;
use hermes_runtime::Runtime;
use hermes_runtime::clock::local_zone;
use hermes_store::StoreError;
use hermes_telemetry::LogLevel;
use hermes_terminal::term::Style;
use hermes_terminal::{print, signals, term};
use select::{Filter, Picked, Picker};
use std::collections::VecDeque;
use std::time::Duration;

/// The time between two reads of a followed log.
const PAUSE: Duration = Duration::from_millis(200);

/// Show the log: model calls, tools, retries, credentials and errors
///
/// Reads logs/agent.log of the home directory and its rotated files, oldest first. The log contains no prompts,
/// arguments or results, and secrets are redacted. The setting logging.level says how much is logged.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes logs -n 100
  hermes logs --level WARNING --since 12h
  hermes logs --follow --session latest")]
pub(crate) struct LogsArgs {
    /// Show this many of the last lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Keep printing new lines until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Show only lines of this session: its id, the start of its id, its title, or `latest`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show only lines of at least this level: DEBUG, INFO, WARNING, ERROR
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// Show only lines since this time: 30m, 12h, 7d, or a date
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
}

pub(crate) async fn run(args: &LogsArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let filter = filter(args, &runtime).await;
    let dir = runtime.home().logs_dir();
    runtime.leave().await;
    let mut picker = Picker::new(filter?, local_zone());
    // Before the first read, so that Ctrl-C is noticed from now on.
    let stopped = signals::stop_asked();
    let mut tail = Tail::open(&dir)?;
    let mut last: VecDeque<Picked> = VecDeque::new();
    tail.read(|line| {
        last.extend(picker.pick(line));
        if last.len() > args.lines {
            last.pop_front();
        }
    })?;
    let form = OutputForm { as_json: common.json, style: Style::for_stream(&std::io::stdout()) };
    if tail.is_empty() && !args.follow {
        print::notice(&format!("no log yet in {}", dir.display()));
    }
    if !last.iter().all(|picked| form.print(picked)) || !args.follow {
        return Ok(Exit::Answered);
    }
    tokio::pin!(stopped);
    loop {
        let is_over = tokio::select! {
            () = &mut stopped => true,
            () = tokio::time::sleep(PAUSE) => false,
        };
        // Once more at the end, for lines written before Ctrl-C.
        let mut is_read = true;
        tail.read(|line| is_read = is_read && picker.pick(line).is_none_or(|picked| form.print(&picked)))?;
        match (is_over, is_read) {
            (true, _) => return Ok(Exit::Interrupted),
            (false, false) => return Ok(Exit::Answered),
            (false, true) => {}
        }
    }
}

async fn filter(args: &LogsArgs, runtime: &Runtime) -> Result<Filter, Failure> {
    let level = match args.level.as_deref() {
        None => LogLevel::Debug,
        Some(word) => LogLevel::parse(word).ok_or_else(|| {
            Failure::usage(format!("unknown level `{word}`: use DEBUG, INFO, WARNING or ERROR"))
        })?,
    };
    let since = match &args.since {
        None => None,
        Some(text) => {
            Some(time_input::moment(text, &hermes_runtime::clock::zoned()).map_err(Failure::usage)?)
        }
    };
    let session = match &args.session {
        None => None,
        Some(which) => Some(session(which, runtime).await?),
    };
    Ok(Filter { session, level, since })
}

/// The id of a session; one that is not stored may still be in the log.
async fn session(which: &str, runtime: &Runtime) -> Result<String, Failure> {
    if !runtime.home().state_db().exists() {
        return Ok(which.to_owned());
    }
    match launch::store(runtime)?.resolve(which).await {
        Ok(id) => Ok(id.to_string()),
        Err(StoreError::UnknownSession { .. }) if which != "latest" => Ok(which.to_owned()),
        Err(error) => Err(error.into()),
    }
}

struct OutputForm {
    as_json: bool,
    style: Style,
}

impl OutputForm {
    /// Prints a line; `false` means that standard output is closed.
    fn print(&self, picked: &Picked) -> bool {
        if self.as_json {
            return print::json(&picked.as_json());
        }
        let Style { red, bold, dim, off } = self.style;
        let paint = match picked.level() {
            Some(LogLevel::Error) => red,
            Some(LogLevel::Warning) => bold,
            Some(LogLevel::Debug) => dim,
            Some(LogLevel::Info) | None => "",
        };
        let off = if paint.is_empty() { "" } else { off };
        term::print_line(&format!("{paint}{}{off}", term::printable(&picked.text)))
    }
}
