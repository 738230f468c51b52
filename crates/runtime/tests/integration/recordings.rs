//! Recorded runs, by seed: all formats, faults of the connection, stops at any moment, denied approvals,
//! fallbacks and key changes. Every recording is replayed and must be identical.
//!
//! `HERMES_REPLAY_SEEDS=100 cargo test -p hermes-runtime --test integration recordings` plays more;
//! `HERMES_REPLAY_SEED=N` plays one again.

use crate::opened::opened;
use hermes_conversation::{BoxFuture, FinishReason, MailMode, UserMessage, events};
use hermes_recording::{Recording, Verdict, replay, steps};
use hermes_runtime::{Input, Parting, Resuming, Runtime, Session};
use hermes_testkit::{CallScript, FakeProvider, Fault, Random, ReplyScript, TempHome};
use hermes_tools::{Approval, ApprovalRequest, AskUser, Clarified, Question};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const MODES: [&str; 3] = ["chat_completions", "anthropic_messages", "codex_responses"];
const KEYS: [&str; 3] = ["sk-one-0123456789abcdef", "sk-two-0123456789abcdef", "sk-three-0123456789abc"];

/// A user whose answers are random.
struct Moody(Mutex<Random>);

impl AskUser for Moody {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        let answer = match self.0.lock().unwrap().below(8) {
            0 | 1 => Approval::DENIED,
            2 => Approval::NoUser,
            3 => Approval::Stopped,
            _ => Approval::ONCE,
        };
        Box::pin(async move { answer })
    }

    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified> {
        let word = self.0.lock().unwrap().below(4);
        Box::pin(async move {
            match word {
                0 => Clarified::NoUser,
                // No answer; a turn that is silent for long is stopped.
                1 => std::future::pending().await,
                _ => Clarified::Answered(question.choices[0].clone()),
            }
        })
    }
}

fn call(dice: &mut Random) -> CallScript {
    let (name, arguments) = match dice.below(12) {
        0 | 1 => ("todo", json!({}).to_string()),
        2 => ("write_file", json!({"path": format!("f{}", dice.below(3)), "content": "x\n"}).to_string()),
        3 | 4 => ("read_file", json!({"path": format!("f{}", dice.below(3))}).to_string()),
        5 => ("nobody_has_it", "{}".to_owned()),
        6 => ("read_file", "{\"path\": \"f".to_owned()),
        7 => ("terminal", json!({"command": "mkdir -p d && cd d && pwd"}).to_string()),
        8 => ("terminal", json!({"command": format!("echo {}", KEYS[0])}).to_string()),
        9 | 10 => ("clarify", json!({"question": "Which?", "choices": ["this one", "that"]}).to_string()),
        _ => ("terminal", json!({"command": "date +%N"}).to_string()),
    };
    CallScript { id: None, name: name.to_owned(), arguments }
}

fn reply(dice: &mut Random) -> ReplyScript {
    let mut reply = match dice.below(7) {
        0 => ReplyScript::default(),
        1 => ReplyScript::pieces(["Some ", "words: ", "ü中."]),
        // The key is repeated in pieces.
        2 => ReplyScript::pieces(["It is ", &KEYS[0][..7], &KEYS[0][7..], "."]),
        _ => (0..=dice.below(3)).fold(ReplyScript::default(), |reply, _| reply.and_raw_call(call(dice))),
    };
    if dice.once_in(3) {
        reply = reply.with_text("Beside it. ");
    }
    if dice.once_in(3) {
        reply = reply.with_reasoning("Hm.");
    }
    match dice.below(12) {
        0 => reply.with_finish(FinishReason::Length),
        1 => reply.with_finish(FinishReason::ContentFilter),
        _ => reply,
    }
}

fn status(code: u16, words: &str) -> Fault {
    let body = json!({"error": {"message": words, "type": "error", "code": null}}).to_string();
    Fault::Status { code, headers: vec![("retry-after".into(), "0".into())], body }
}

fn fault(dice: &mut Random) -> Fault {
    match dice.below(16) {
        0 | 1 => status(500, "broken"),
        2 | 3 => status(429, "slow down"),
        4 => status(503, "overloaded"),
        5 => status(401, &format!("the key {} is wrong", KEYS[0])),
        6 => status(400, "stream is not supported for this model"),
        7 => Fault::HangUp,
        8 => Fault::Garbage("data: {oops\n\n".into()),
        9 | 10 => Fault::DropAtByte(150 + dice.below(200)),
        11 => Fault::ErrorInStream(json!({"error": {"message": "overloaded", "code": 503}})),
        12 => Fault::SplitUtf8,
        13 => Fault::JsonInsteadOfStream,
        14 => Fault::MissingToolIds,
        _ => Fault::DuplicateToolIds,
    }
}

/// Scripts the server's replies to the next requests.
fn script(dice: &mut Random, provider: &FakeProvider) {
    for _ in 0..1 + dice.below(5) {
        if dice.once_in(3) {
            let fault = fault(dice);
            let spoils = fault.spoils();
            provider.fault(fault);
            if !spoils {
                continue;
            }
        }
        provider.reply(reply(dice));
    }
}

struct Scene {
    home: TempHome,
    folder: PathBuf,
    dice: Random,
    own: FakeProvider,
    other: FakeProvider,
}

impl Scene {
    async fn new(seed: u64) -> Self {
        let mut dice = Random::new(seed);
        let (home, own, other) = (TempHome::new(), FakeProvider::start().await, FakeProvider::start().await);
        for provider in [&own, &other] {
            provider.answer_with(|_| ReplyScript::text("That is all."));
        }
        let (first, second) = (MODES[seed as usize % 3], *dice.pick(&MODES));
        let approvals = dice.pick(&["off", "manual"]);
        let fallback = match dice.once_in(2) {
            true => {
                format!("fallback_providers:\n- {{provider: spare, model: gpt-5, api_key: {}}}\n", KEYS[2])
            }
            false => String::new(),
        };
        home.write_config(&format!(
            "model: {{provider: box, default: claude-m, max_tokens: 4000}}\n\
             custom_providers:\n- {{name: box, base_url: '{}', api_mode: {first}}}\n\
             - {{name: spare, base_url: '{}', api_mode: {second}}}\n{fallback}\
             agent: {{api_max_retries: 2, max_turns: 6}}\napprovals: {{mode: {approvals}}}\n\
             auxiliary: {{title_generation: {{enabled: false}}}}\n",
            own.base_url(),
            other.base_url()
        ));
        let entry = |place: usize| json!({"id": KEYS[place], "priority": place, "access_token": KEYS[place], "base_url": own.base_url()});
        home.write(
            "auth.json",
            &json!({"credential_pool": {"custom:box": [entry(0), entry(1)]}}).to_string(),
        );
        let folder = home.path().join("work");
        std::fs::create_dir(&folder).unwrap();
        Self { home, folder, dice, own, other }
    }

    fn runtime(&self, recording: &Path) -> Runtime {
        let runtime = opened(self.home.path(), &self.folder);
        runtime.record(recording).unwrap();
        runtime
    }

    /// A session of some turns, in one process.
    async fn converse(&mut self, recording: &Path, resumes: bool) {
        let runtime = self.runtime(recording);
        let ask: Arc<dyn AskUser> = Arc::new(Moody(Mutex::new(Random::new(self.dice.below(1_000) as u64))));
        let mut session = match resumes {
            true => {
                let how = Resuming { restores_cwd: true, stop: &CancellationToken::new(), tell: &|_| {} };
                runtime.resume("latest", ask, how).await.unwrap()
            }
            false => runtime.start(ask).unwrap(),
        };
        for number in 0..=self.dice.below(3) {
            script(&mut self.dice, &self.own);
            script(&mut self.dice, &self.other);
            let words = match self.dice.below(4) {
                0 => format!("My key is {}, and ü中 {number}", KEYS[1]),
                _ => format!("Question {number}"),
            };
            if self.dice.once_in(8) {
                session.set_model("claude-n").await.unwrap();
            }
            self.turn(&mut session, &words).await;
        }
        session.close(Parting::Left).await;
        runtime.leave().await;
        assert_eq!(runtime.recording_failure(), None);
    }

    /// One turn, which may be stopped after so many events, or while a server is silent.
    async fn turn(&mut self, session: &mut Session, words: &str) {
        let cancel = CancellationToken::new();
        let (sink, mut stream) = events();
        let stop_after = if self.dice.once_in(3) { self.dice.below(12) } else { usize::MAX };
        if self.dice.once_in(10) {
            // The server sends nothing more until the client has disconnected.
            match self.dice.once_in(2) {
                true => self.own.fault(Fault::NoAnswer),
                false => {
                    self.own.fault(Fault::StallAfterByte(200)).reply(ReplyScript::pieces(["Half ", "of"]))
                }
            };
        }
        let quiet = cancel.clone();
        let reading = tokio::spawn(async move {
            let mut seen = 0;
            loop {
                // A turn that is silent for long is stopped, as a user would do.
                let next = tokio::time::timeout(std::time::Duration::from_secs(8), stream.next()).await;
                match next {
                    Ok(None) => return,
                    Ok(Some(_)) => seen += 1,
                    Err(_) => quiet.cancel(),
                }
                if seen > stop_after {
                    quiet.cancel();
                }
            }
        });
        let waiting = session.waiting().await.unwrap();
        if self.dice.once_in(3) {
            let mode = if self.dice.once_in(3) { MailMode::Queue } else { MailMode::Steer };
            let mailbox = session.mailbox().await.unwrap();
            mailbox.post(mode, &format!("also {words}")).await.unwrap();
        }
        let input = Input::after_mail(waiting, UserMessage::text(words));
        session.submit(input, &cancel, sink).await.unwrap();
        reading.await.unwrap();
    }
}

/// Contents that the recordings must have somewhere, or the runs do not cover what they should.
const MARKS: [&str; 20] = [
    "\"mail\":[{\"mode\":\"steer\"",
    "\"mail_delivered\":{\"mode\":\"queue\"",
    "\"failed\":{\"http\":",
    "\"failed\":{\"cut\":",
    "\"decoded\":",
    "\"end\":{\"dropped\":",
    "\"stopped\":true",
    "\"key\":{\"found\":true}",
    "\"key\":{\"found\":false}",
    "\"answer\":\"denied\"",
    "\"answer\":\"stopped\"",
    "\"waited\":{}",
    "\"waited\":{\"dropped\":true}",
    "\"refuse\":",
    "\"retracted\"",
    "work/d\"}}",
    "going on with custom:spare/gpt-5",
    "{{secret:",
    "user_response\\\":\\\"this one",
    "Not answered: the user stopped the turn.",
];

/// Contents that depend on the time of a stop; most runs have them.
const BY_CHANCE: [&str; 3] =
    ["\"end\":{\"dropped\":", "\"waited\":{\"dropped\":true}", "\"answer\":\"stopped\""];

/// The number of occurrences of each content.
type Seen = [usize; MARKS.len()];

/// Plays a seed, and returns the number of replayed requests and the contents of the recordings.
async fn play(seed: u64) -> (u64, Seen) {
    let mut scene = Scene::new(seed).await;
    let (mut requests, mut seen) = (0, Seen::default());
    let runs = 1 + scene.dice.below(2);
    for run in 0..runs {
        let path = scene.home.path().join(format!("run-{run}.jsonl"));
        scene.converse(&path, run > 0).await;
        let text = std::fs::read_to_string(&path).unwrap();
        for key in KEYS {
            assert!(!text.contains(key), "seed {seed}, run {run}: a key is in the recording");
        }
        let recording = Arc::new(Recording::read(&path).unwrap());
        let asked = steps(&recording).len() as u64;
        let verdict = replay(recording).await.unwrap();
        if verdict.difference.is_some() || verdict.requests != asked || verdict.is_cut {
            let kept = std::env::temp_dir().join(format!("hermes-replay-seed-{seed}-{run}.jsonl"));
            std::fs::write(&kept, &text).unwrap();
            panic!("seed {seed}, run {run} ({asked} requests), kept as {}: {verdict:#?}", kept.display());
        }
        cut_anywhere(&mut scene.dice, &text, &path).await;
        requests += verdict.requests;
        for (count, mark) in seen.iter_mut().zip(MARKS) {
            *count += text.matches(mark).count();
        }
    }
    (requests, seen)
}

/// A recording that is cut anywhere is replayed up to the cut.
async fn cut_anywhere(dice: &mut Random, text: &str, path: &Path) {
    let header = text.find('\n').unwrap() + 1;
    let place = header + dice.below(text.len() - header);
    std::fs::write(path, &text.as_bytes()[..place]).unwrap();
    let Verdict { difference, .. } = replay(Arc::new(Recording::read(path).unwrap())).await.unwrap();
    assert_eq!(difference, None, "cut at {place}");
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_runs_are_replayed_identically() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("HERMES_REPLAY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HERMES_REPLAY_SEEDS").unwrap_or(30),
    };
    // Runs that wait for a retry wait at the same time.
    let stages = Arc::new(Semaphore::new(16));
    let mut playing = JoinSet::new();
    for seed in seeds.clone() {
        let stages = stages.clone();
        playing.spawn(async move {
            let _stage = stages.acquire_owned().await.unwrap();
            play(seed).await
        });
    }
    let (mut requests, mut failed, mut seen) = (0, 0, Seen::default());
    while let Some(end) = playing.join_next().await {
        let Ok((count, more)) = end else {
            failed += 1;
            continue;
        };
        requests += count;
        seen.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    let count = seeds.end - seeds.start;
    println!("{count} seeds, {requests} requests replayed");
    assert_eq!(failed, 0, "seeds failed; each has said how");
    for (mark, times) in MARKS.into_iter().zip(seen) {
        println!("{times:>6}  {mark}");
        assert!(times > 0 || count < 30 || BY_CHANCE.contains(&mark), "no run has {mark}");
    }
}
