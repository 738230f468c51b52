//! The measured programs, and one round through all of them.

use super::first_request::{FirstRequest, Watcher};
use super::hello::{GREETING, Hello};
use super::long_sessions;
use super::supervisor::Supervisor;
use crate::home::Home;
use crate::measure::{self, Sample};
use crate::serve::{Scenario, Served};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

/// A few and many calls; the cost of one call is the slope between them.
pub(super) const FEW: usize = 20;
pub(super) const MANY: usize = 80;

/// The length of the history of a resumed session.
pub(super) const SHORT_PAST: u32 = 10;
pub(super) const LONG_PAST: u32 = 5_000;

/// The samples of hermes and of its comparison.
#[derive(Debug, Default)]
pub(super) struct Pair {
    pub(super) hermes: Vec<Sample>,
    pub(super) other: Vec<Sample>,
}

/// All samples of the rounds.
#[derive(Default)]
pub(super) struct Series {
    pub(super) version: Pair,
    pub(super) one_shot: Pair,
    pub(super) fresh_home: Vec<Sample>,
    pub(super) first_request: Vec<FirstRequest>,
    pub(super) few_calls: Pair,
    pub(super) many_calls: Pair,
    pub(super) sleeps: Pair,
    pub(super) stream: Pair,
    pub(super) short_past: Pair,
    pub(super) long_past: Pair,
}

/// One scenario: a model, and a home directory that points to it.
pub(super) struct Stage {
    scenario: Scenario,
    model: Rc<Served>,
    home: Home,
}

/// All programs, ready to run.
pub(super) struct Rounds {
    pub(super) hermes: PathBuf,
    pub(super) series: Series,
    watcher: Watcher,
    few_calls: Stage,
    many_calls: Stage,
    hello: Hello,
    bare: PathBuf,
    one_shot: Stage,
    sleeps: Stage,
    stream: Stage,
    short_past: Stage,
    long_past: Stage,
}

impl Stage {
    /// Starts the model and runs a one-shot, so that the home directory exists.
    pub(super) fn set(scenario: Scenario, hermes: &Path) -> Result<Self> {
        let model = Rc::new(Served::start(scenario)?);
        let home = Home::new(&model.base_url)?;
        let stage = Self { scenario, model, home };
        stage.measure(&stage.one_shot(hermes))?;
        Ok(stage)
    }

    /// A stage whose home directory has one short session, for any scenario.
    pub(super) fn with_short_session(scenario: Scenario, hermes: &Path) -> Result<Self> {
        let home = Self::set(Scenario::Text, hermes)?.home;
        let model = Rc::new(Served::start(scenario)?);
        home.lead_to(&model.base_url)?;
        Ok(Self { scenario, model, home })
    }

    /// A stage whose only session has a long history.
    fn with_past(messages: u32, hermes: &Path) -> Result<Self> {
        let stage = Self::set(Scenario::Text, hermes)?;
        long_sessions::fill(&stage.home, messages).context("a stored session could not be made")?;
        Ok(stage)
    }

    /// The same model with a copy of the home directory, for a run that must find it unchanged.
    pub(super) fn copy(&self) -> Result<Self> {
        Ok(Self { scenario: self.scenario, model: self.model.clone(), home: self.home.copy()? })
    }

    /// `hermes -z`, with a budget for any number of calls.
    pub(super) fn one_shot(&self, hermes: &Path) -> Command {
        self.home.command(hermes, ["--max-turns", "1000", "-z", "hi"])
    }

    /// The same, with a recording.
    pub(super) fn recorded(&self, hermes: &Path) -> Command {
        let file = self.home.work().join("run.jsonl").display().to_string();
        self.home.command(hermes, ["--record", &file, "--max-turns", "1000", "-z", "hi"])
    }

    /// Runs a command that must complete the scenario.
    pub(super) fn measure(&self, command: &Command) -> Result<Sample> {
        let measured = measure::run(command, &self.scenario.ending());
        measured.with_context(|| format!("in scenario {}", self.scenario))
    }

    /// The same for hermes, with the CPU time of its supervisor and its commands.
    fn measure_with_commands(&self, command: &Command) -> Result<Sample> {
        let before = Supervisor::of(&self.home);
        let sample = self.measure(command)?;
        let used = Supervisor::used(before, Supervisor::of(&self.home));
        Ok(Sample { cpu: sample.cpu + used, ..sample })
    }

    fn bare(&self, program: &Path, history: u32) -> Command {
        let history = history.to_string();
        self.home.command(program, ["__bare", "--url", &self.model.base_url, "--history", &history])
    }
}

impl Rounds {
    pub(super) fn prepare(hermes: &Path) -> Result<Self> {
        Ok(Self {
            hello: Hello::build()?,
            bare: std::env::current_exe()?,
            watcher: Watcher::new(hermes)?,
            one_shot: Stage::set(Scenario::Text, hermes)?,
            few_calls: Stage::set(Scenario::Calls(FEW), hermes)?,
            many_calls: Stage::set(Scenario::Calls(MANY), hermes)?,
            sleeps: Stage::set(Scenario::Sleeps, hermes)?,
            stream: Stage::set(Scenario::Stream, hermes)?,
            short_past: Stage::with_past(SHORT_PAST, hermes)?,
            long_past: Stage::with_past(LONG_PAST, hermes)?,
            hermes: hermes.to_owned(),
            series: Series::default(),
        })
    }

    /// Runs every program once, hermes and its comparison next to each other.
    pub(super) fn run(&mut self) -> Result<()> {
        let Self { hermes, bare, series, .. } = self;
        let (home, hello) = (&self.one_shot.home, self.hello.path());
        series.version.other.push(measure::run(&home.command(&hello, [""; 0]), GREETING)?);
        series.version.hermes.push(measure::run(&home.command(hermes, ["--version"]), "Hermes")?);

        let fresh = Home::new(&self.one_shot.model.base_url)?;
        let one_shot = fresh.command(hermes, ["-z", "hi"]);
        series.fresh_home.push(self.one_shot.measure(&one_shot)?);
        series.first_request.push(self.watcher.look()?);

        for (stage, pair) in [
            (&self.one_shot, &mut series.one_shot),
            (&self.few_calls, &mut series.few_calls),
            (&self.many_calls, &mut series.many_calls),
            (&self.sleeps, &mut series.sleeps),
        ] {
            pair.other.push(stage.measure(&stage.bare(bare, 0))?);
            pair.hermes.push(stage.measure_with_commands(&stage.one_shot(hermes))?);
        }

        let stage = &self.stream;
        series.stream.other.push(stage.measure(&stage.bare(bare, 0))?);
        let chat = stage.home.command(hermes, ["chat", "-q", "hi"]);
        series.stream.hermes.push(stage.measure(&chat)?);

        for (stage, pair, past) in [
            (&self.short_past, &mut series.short_past, SHORT_PAST),
            (&self.long_past, &mut series.long_past, LONG_PAST),
        ] {
            pair.other.push(stage.measure(&stage.bare(bare, past))?);
            // A copy, because every resume adds to the session.
            let copy = stage.copy()?;
            let resume = copy.home.command(hermes, ["--resume", "latest", "-z", "hi"]);
            pair.hermes.push(stage.measure(&resume)?);
        }
        Ok(())
    }
}
