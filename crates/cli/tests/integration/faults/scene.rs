//! A home and a server for one line of the table, and the conversation that is held there.

use super::row::{HALF, How, Mode, Row};
use super::table::next_step;
use super::transcript::{role_and_text, shown};
use super::untrusted::{Untrusted, other_root};
use crate::process::{self, code, hermes, json_lines, stderr, stdout};
use hermes_runtime::FaultClass;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome, refused_base_url};
use serde_json::{Value, json};
use std::process::Output;

/// The message that closes a turn without a reply.
const CLOSING: &str = "[No answer: the model could not be reached or refused the request.]";

pub(crate) struct Scene {
    row: Row,
    mode: Mode,
    home: TempHome,
    provider: FakeProvider,
    untrusted: Option<Untrusted>,
    /// The expected record, in order: role and text.
    said: Vec<(&'static str, String)>,
    name: String,
}

impl Scene {
    /// With an answered question in it, whose reasoning is sent back with every request.
    pub(crate) async fn new(row: Row, mode: Mode) -> Self {
        let provider = FakeProvider::start().await;
        provider.strict_end();
        let untrusted = row.is_about_certificates().then(Untrusted::start);
        let name = format!("{:?} as {:?} in {}", row.class, row.how, mode.as_str());
        let home = TempHome::new();
        std::fs::write(home.path().join("dot.png"), hermes_testkit::png(2, 2)).unwrap();
        let mut scene = Self { row, mode, home, provider, untrusted, said: Vec::new(), name };
        scene.configure(&scene.provider.base_url(), "");
        match scene.row.earlier {
            0 => scene.begin().await,
            count => scene.import(count).await,
        }
        scene
    }

    async fn begin(&mut self) {
        self.provider.reply(ReplyScript::text("Earlier.").with_reasoning("Let me see."));
        let out = self.ask(&["-z", "Question one"]).await;
        assert_eq!((stdout(&out).as_str(), code(&out)), ("Earlier.\n", 0), "{}: {}", self.name, stderr(&out));
        self.note("Question one", "Earlier.");
    }

    /// A conversation of so many messages, without having to hold it.
    async fn import(&mut self, count: usize) {
        for number in 0..count / 2 {
            self.note(&format!("Question no. {number:03}"), &format!("Answer no. {number:03}"));
        }
        let message = |((role, text), time): (&(&str, String), u32)| {
            let (role, text) = (*role, text.as_str());
            json!({"role": role, "content": text, "timestamp": time})
        };
        let messages: Vec<Value> = self.said.iter().zip(1..).map(message).collect();
        let session = json!({"id": "long", "source": "cli", "started_at": 1, "messages": messages});
        let file = self.home.write("long.jsonl", &format!("{session}\n"));
        let out = self.ask(&["sessions", "import", file.to_str().unwrap()]).await;
        assert_eq!(code(&out), 0, "{}: {}", self.name, stderr(&out));
    }

    /// The fault stays: two turns end without an answer, then the server is well again.
    pub(crate) async fn fails(mut self) {
        self.trouble();
        self.row.queue_after_a_call(&self.provider, self.mode);
        let before = self.seen();
        let out = self.ask(&self.with_image(&["--json", "--resume", "latest", "-z", "Question two"])).await;
        self.reports_the_fault(&out);
        let calls = usize::from(self.row.calls_first());
        assert_eq!(self.seen() - before, calls + self.row.transcript(), "{}: requests", self.name);
        self.note_with_call("Question two", CLOSING);

        self.row.queue(&self.provider, self.mode);
        let before = self.seen();
        let out = self.ask(&self.with_image(&["--resume", "latest", "-z", "Question three"])).await;
        self.explains_the_fault(&out);
        assert_eq!(self.seen() - before, self.row.transcript(), "{}: requests", self.name);
        self.note("Question three", CLOSING);

        self.configure(&self.provider.base_url(), "");
        self.goes_on("Question four").await;
        self.check_the_record().await;
    }

    /// The fault passes: the same turn is answered.
    pub(crate) async fn recovers(mut self) {
        self.trouble();
        self.row.queue_after_a_call(&self.provider, self.mode);
        self.provider.reply(ReplyScript::text("At last.").with_reasoning("Now."));
        let before = self.seen();
        let out = self.ask(&["--json", "--resume", "latest", "-z", "Question two"]).await;
        let (name, lines) = (&self.name, json_lines(&out));
        let result = lines.last().unwrap();
        assert_eq!(code(&out), 0, "{name}: {result}");
        assert_eq!(
            (&result["final_response"], &result["completed"]),
            (&"At last.".into(), &true.into()),
            "{name}"
        );
        assert_eq!((&result["failure_reason"], &result["error"]), (&Value::Null, &Value::Null), "{name}");
        assert_eq!(shown(&lines), ("At last.".to_owned(), self.row.retractions()), "{name}");
        assert_eq!(self.seen() - before, 1 + self.row.failures + 1, "{name}: requests");
        let refused = &self.provider.bodies()[before + 1];
        self.is_mended(refused);
        self.note_with_call("Question two", "At last.");

        self.goes_on("Question three").await;
        self.is_mended(refused);
        self.check_the_record().await;
    }

    /// From here on the server is in trouble.
    fn trouble(&self) {
        let base_url = match self.row.how {
            How::IsNotThere => refused_base_url(),
            How::IsUntrusted | How::NobodyIsTrusted => {
                self.untrusted.as_ref().map(Untrusted::base_url).unwrap()
            }
            _ => self.provider.base_url(),
        };
        let attempts = self.row.attempts.map(|count| format!("api_max_retries: {count}"));
        let patience = (self.row.how == How::IsSilent).then(|| "request_timeout_seconds: 3".to_owned());
        let agent: Vec<String> = attempts.into_iter().chain(patience).collect();
        self.configure(&base_url, &format!("agent: {{{}}}\n", agent.join(", ")));
    }

    fn configure(&self, base_url: &str, more: &str) {
        let (mode, key) = (self.mode.as_str(), "api_key: not-a-key-0123456789");
        let model = match self.row.is_aggregator {
            true => {
                format!("model: {{provider: openrouter, base_url: '{base_url}', default: claude-m, {key}}}\n")
            }
            false => format!(
                "model: {{provider: box, default: claude-m, max_tokens: 4000}}\n\
                 custom_providers:\n- {{name: box, base_url: '{base_url}', api_mode: {mode}, {key}}}\n"
            ),
        };
        self.home.write_config(&format!(
            "{model}approvals: {{mode: off}}\ncompression: {{enabled: false}}\n{more}"
        ));
    }

    async fn ask(&self, args: &[&str]) -> Output {
        let mut command = hermes(self.home.path(), self.home.path(), args);
        match self.row.how {
            How::NobodyIsTrusted => command.env("SSL_CERT_FILE", "none").env("SSL_CERT_DIR", "none"),
            _ => command.env("SSL_CERT_FILE", other_root()),
        };
        process::finished(command).await
    }

    /// A fault about images needs one.
    fn with_image<'a>(&self, args: &[&'a str]) -> Vec<&'a str> {
        let image: &[&str] = match self.row.class {
            FaultClass::ImageTooLarge => &["--image", "dot.png"],
            _ => &[],
        };
        [args, image].concat()
    }

    /// The number of requests a server saw, or of connections if it could not read any.
    fn seen(&self) -> usize {
        self.untrusted.as_ref().map_or_else(|| self.provider.bodies().len(), Untrusted::greeted)
    }

    fn note(&mut self, question: &str, answer: &str) {
        self.said.extend([("user", question.to_owned()), ("assistant", answer.to_owned())]);
    }

    /// The same, with the call of a tool in between.
    fn note_with_call(&mut self, question: &str, answer: &str) {
        self.note(question, answer);
        if self.row.calls_first() {
            let end = self.said.len() - 1;
            self.said.splice(end..end, [("assistant", String::new()), ("tool", String::new())]);
        }
    }

    fn reports_the_fault(&self, out: &Output) {
        let (name, row) = (&self.name, &self.row);
        let lines = json_lines(out);
        let result = lines.last().unwrap();
        assert_eq!(result["failure_reason"], row.class.as_str(), "{name}: {result}");
        assert_eq!(result["turn_exit_reason"], row.exit_reason(), "{name}: {result}");
        assert_eq!((&result["failed"], &result["final_response"]), (&true.into(), &Value::Null), "{name}");
        assert!(!result["error"].as_str().unwrap().is_empty(), "{name}: {result}");
        assert_eq!(result["api_calls"], usize::from(row.calls_first()) + row.failures, "{name}");
        // A refusal in words is shown; half an answer is taken back.
        let words = if matches!(row.how, How::Ends(_)) { HALF } else { "" };
        assert_eq!(shown(&lines), (words.to_owned(), row.retractions()), "{name}");
        self.failed(out);
    }

    fn explains_the_fault(&self, out: &Output) {
        let (name, line) = (&self.name, stderr(out));
        assert_eq!((stdout(out).as_str(), line.trim().lines().count()), ("", 1), "{name}: {line}");
        assert!(line.contains("; your message is saved; "), "{name}: {line}");
        assert!(line.contains(next_step(self.row.class)), "{name}: {line}");
        assert!(!line.contains("not-a-key"), "{name}: {line}");
        self.failed(out);
    }

    fn failed(&self, out: &Output) {
        let want = match self.row.class {
            FaultClass::Unreachable => 69,
            _ => 1,
        };
        assert_eq!(code(out), want, "{}: {}", self.name, stderr(out));
    }

    /// The next turn is answered at the first attempt, and every message is sent once.
    async fn goes_on(&mut self, question: &str) {
        self.provider.reply(ReplyScript::text("And on."));
        self.note(question, "And on.");
        let before = self.provider.bodies().len();
        let out = self.ask(&["--resume", "latest", "-z", question]).await;
        let name = &self.name;
        assert_eq!((stdout(&out).as_str(), code(&out)), ("And on.\n", 0), "{name}: {}", stderr(&out));
        let bodies = self.provider.bodies();
        assert_eq!(bodies.len() - before, 1, "{name}");
        let transcript = bodies.last().unwrap().to_string();
        let questions = self.said.iter().filter(|(role, _)| *role == "user").map(|(_, text)| text);
        let mut rest = transcript.as_str();
        for asked in questions {
            assert_eq!(transcript.matches(asked).count(), 1, "{name}: {asked} in {transcript}");
            rest = rest.split_once(asked).unwrap_or_else(|| panic!("{name}: {asked} is not in its place")).1;
        }
    }

    /// Rejected content is in no later request, also not in later turns.
    fn is_mended(&self, refused: &Value) {
        let holds: fn(&Value) -> bool = match self.row.class {
            FaultClass::StreamingUnsupported => |body| body["stream"] == true,
            FaultClass::ThinkingSignature => |body| body.to_string().contains("\"signature\":"),
            FaultClass::EncryptedContent => |body| body.to_string().contains("\"encrypted_content\":"),
            _ => return,
        };
        let last = self.provider.bodies().pop().unwrap();
        assert!(holds(refused) && !holds(&last), "{}: {refused}\n{last}", self.name);
    }

    async fn check_the_record(self) {
        let name = &self.name;
        let sessions = process::exported(self.home.path()).await;
        assert_eq!(sessions.len(), 1, "{name}");
        let messages = sessions[0]["messages"].as_array().unwrap();
        let said: Vec<(&str, String)> = messages.iter().map(role_and_text).collect();
        assert_eq!(said, self.said, "{name}");
        if self.row.calls_first() {
            assert_eq!(self.home.read("ran"), "x\n", "{name}: what was done is not done again");
        }
        self.provider.finish();
    }
}
