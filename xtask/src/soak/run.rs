//! One run: a turn that is killed, resumed and checked.

use super::attempt::{Attempt, Ended, Request, attempt};
use super::checks::{self, CheckedMessage};
use super::processes::marked;
use super::script::{Script, unknown_results};
use super::tally::{Kind, Outcome};
use crate::home::Home;
use crate::random::Random;
use anyhow::{Context, Result};
use hermes_testkit::FakeProvider;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The maximum number of kills of a resumed turn.
const AGAIN: f64 = 0.3;

/// The maximum number of processes of a turn.
const MOST_ATTEMPTS: u32 = 12;

/// The time limit for killed processes to disappear.
const GRACE: Duration = Duration::from_millis(500);

pub(super) struct Run {
    hermes: PathBuf,
    home: Home,
    script: Script,
    provider: FakeProvider,
    /// The duration of an undisturbed turn.
    turn: Duration,
    /// Prompts that hermes acknowledged.
    accepted: Vec<String>,
    outcome: Outcome,
}

/// The result of a turn: the counted calls, the notes, and the answer.
pub(super) type Left = ((Vec<String>, String), Option<String>);

impl Run {
    pub(super) async fn new(hermes: &Path, number: u32, turn: Duration) -> Result<Self> {
        let provider = FakeProvider::start().await;
        let home = Home::new(&provider.base_url())?;
        let script = Script::new(&home.work(), number);
        let answering = script.clone();
        provider.answer_with(move |body| answering.reply(body));
        Ok(Self {
            hermes: hermes.to_owned(),
            home,
            script,
            provider,
            turn,
            accepted: Vec::new(),
            outcome: Outcome::default(),
        })
    }

    /// Runs the turn without a kill; returns its duration and result.
    pub(super) async fn undisturbed(mut self) -> Result<(Outcome, Duration, Left)> {
        let start = Instant::now();
        let Attempt { ended, answer, .. } = self.attempt("go", false, None, 0).await?;
        let took = start.elapsed();
        let left = (self.script.files(), answer);
        if ended != Ended::Exited(Some(0)) {
            self.outcome.violated(Kind::Stuck, format!("hermes ended with {ended:?}"));
        }
        Ok((self.close().await?, took, left))
    }

    /// Kills the turn, resumes it until it is done, and checks it.
    pub(super) async fn play(mut self, random: &mut Random, want: &Left) -> Result<Outcome> {
        let mut kill_after = Some(random.within(self.turn));
        let mut is_resume = false;
        for number in 0..MOST_ATTEMPTS {
            let prompt = if is_resume { format!("go on, {number}") } else { "go".to_owned() };
            let attempt = self.attempt(&prompt, is_resume, kill_after, number).await?;
            match attempt.ended {
                Ended::Exited(Some(0)) => {
                    self.compare(attempt.answer, want);
                    return self.close().await;
                }
                Ended::Killed => {
                    self.outcome.kills += 1;
                    self.outcome.outlived += marked(&self.script.marker).len();
                }
                ended => {
                    let what = format!("hermes ended with {ended:?}: {}", attempt.errors.trim());
                    self.outcome.violated(Kind::Stuck, what);
                    return self.close().await;
                }
            }
            // After a kill before the message was recorded there is nothing to resume.
            is_resume = !self.history().await?.is_empty();
            self.check_stored().await?;
            kill_after = random.chance(AGAIN).then(|| random.within(self.turn));
        }
        self.outcome.violated(Kind::Stuck, "too many attempts");
        self.close().await
    }

    /// The result equals that of an undisturbed turn.
    fn compare(&mut self, answer: Option<String>, want: &Left) {
        let left = (self.script.files(), answer);
        if left != *want {
            self.outcome.violated(Kind::Different, format!("{left:?} instead of {want:?}"));
        }
        let unknown = self.provider.bodies().last().map_or(0, unknown_results);
        self.outcome.unknown += unknown;
    }

    async fn attempt(
        &mut self,
        prompt: &str,
        is_resume: bool,
        kill_after: Option<Duration>,
        number: u32,
    ) -> Result<Attempt> {
        self.outcome.resumes += u32::from(is_resume);
        let request = Request { prompt, is_resume, kill_after, number };
        let attempt = attempt(&self.hermes, &self.home, request).await?;
        if attempt.accepted {
            self.accepted.push(prompt.to_owned());
        }
        Ok(attempt)
    }

    /// No seen or acknowledged message may be missing.
    async fn check_stored(&mut self) -> Result<()> {
        let stored = self.history().await?;
        for prompt in &self.accepted {
            if !checks::holds_prompt(&stored, prompt) {
                self.outcome.violated(Kind::Lost, format!("the accepted message `{prompt}`"));
            }
        }
        for body in self.provider.bodies() {
            if let Some(message) = checks::first_lost(&checks::asked(&body), &stored) {
                self.outcome.violated(Kind::Lost, format!("{message:?}"));
                break;
            }
        }
        Ok(())
    }

    /// The stored session, exported by hermes itself.
    async fn history(&mut self) -> Result<Vec<CheckedMessage>> {
        let command = self.home.command(&self.hermes, ["sessions", "export", "-"]);
        let output =
            tokio::process::Command::from(command).output().await.context("hermes could not be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let sessions: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        match sessions {
            Ok(sessions) if output.status.success() => {
                let histories = sessions.iter().map(checks::stored);
                Ok(histories.max_by_key(Vec::len).unwrap_or_default())
            }
            Ok(_) | Err(_) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                self.outcome.violated(Kind::Store, format!("{}; {}", output.status, errors.trim()));
                Ok(Vec::new())
            }
        }
    }

    /// All checks of a finished turn.
    async fn close(mut self) -> Result<Outcome> {
        self.check_stored().await?;
        let stored = self.history().await?;
        for wrong in checks::unanswered(&stored) {
            self.outcome.violated(Kind::Results, wrong);
        }
        let counter = std::fs::read_to_string(&self.script.counter).unwrap_or_default();
        for twice in checks::doubled(&counter) {
            self.outcome.violated(Kind::Doubled, twice);
        }
        for broken in checks::broken_prefixes(&self.provider.bodies()) {
            self.outcome.violated(Kind::Prefix, broken);
        }
        self.check_processes().await;
        self.end()
    }

    async fn check_processes(&mut self) {
        if marked(&self.script.marker).is_empty() {
            return;
        }
        tokio::time::sleep(GRACE).await;
        for (id, line) in marked(&self.script.marker) {
            self.outcome.violated(Kind::Orphan, format!("process {id} is left: {line}"));
            // It sleeps for minutes and has a marker that is unique to this run.
            let _ = std::process::Command::new("kill").arg(id.to_string()).status();
        }
    }

    /// Stops the provider, and keeps the directory of a failed run.
    fn end(self) -> Result<Outcome> {
        let Self { mut outcome, provider, home, .. } = self;
        let bodies: Vec<String> = provider.bodies().iter().map(Value::to_string).collect();
        // It panics on rejected requests, which is a violation here.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| provider.finish())) {
            let words = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            outcome.violated(Kind::Rejected, words);
        }
        if !outcome.violations.is_empty() {
            std::fs::write(home.work().join("requests.jsonl"), bodies.join("\n"))?;
            outcome.kept = Some(home.keep());
        }
        Ok(outcome)
    }
}
