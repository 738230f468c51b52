//! A database shared with a real Python release: created there, read and continued here, and read there
//! again.
//!
//! `HERMES_PYTHON` names a Python with release 0.19; `.ci/python` installs it. Without it these tests are
//! skipped with a message, except in CI.

use hermes_conversation::{
    AssistantMessage, Bill, CallId, Closing, Compaction, CompactionReport, Content, Effect, Intent,
    IntentState, KeptCounts, Lease, Message, NewNode, Opening, Owner, SessionId, Settled, Settlement,
    SpentCall, SummaryBy, TokenCount, ToolCall, ToolMessage, Transcript, Trigger, Usage, UserMessage,
};
use hermes_store::{
    ExportFilter, ExportFormat, Include, ListFilter, MessageState, NewSession, SessionDb, StoredSession,
    check, verify,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const PEER: &str = include_str!("python/peer.py");
const CURRENT: &str = "HERMES_PYTHON";

mod compacting;
mod sqlite_versions;

/// A Python release that works on one file.
struct Peer<'a> {
    python: PathBuf,
    path: &'a Path,
    /// The folder of a SQLite library other than the interpreter's.
    sqlite: Option<PathBuf>,
}

impl Peer<'_> {
    fn ask(&self, command: &str, arguments: &[&str]) -> Value {
        let home = self.path.parent().unwrap();
        let output = Command::new(&self.python)
            .args(["-c", PEER, command])
            .arg(self.path)
            .args(arguments)
            .env("HERMES_HOME", home)
            .env("PYTHONIOENCODING", "utf-8")
            .env("PEER_SQLITE", self.sqlite.clone().unwrap_or_default())
            .current_dir(home)
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.python.display()));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command} {arguments:?}: {errors}");
        let answer = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(answer.lines().last().unwrap_or_default())
            .unwrap_or_else(|error| panic!("{command}: {error}\n{answer}\n{errors}"))
    }
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn python(variable: &str) -> Option<PathBuf> {
    match std::env::var_os(variable).filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("{variable} must be set in CI; `.ci/python` prints it")
        }
        None => {
            println!("skipped: {variable} is not set; `.ci/python` prints it");
            None
        }
    }
}

fn open(path: &Path) -> SessionDb {
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
    SessionDb::open(path, Arc::new(clock)).unwrap()
}

#[tokio::test]
async fn a_database_of_0_19_goes_back_and_forth() {
    back_and_forth(CURRENT, 22).await;
}

#[tokio::test]
async fn a_database_of_0_17_is_upgraded_for_both() {
    back_and_forth("HERMES_PYTHON_OLD_17", 16).await;
}

#[tokio::test]
async fn a_database_of_0_13_is_upgraded_for_both() {
    back_and_forth("HERMES_PYTHON_OLD_13", 11).await;
}

#[test]
fn new_file_has_the_same_schema_in_both_programs() {
    let Some(python) = python(CURRENT) else { return };
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (dir.path().join("ours.db"), dir.path().join("theirs.db"));
    drop(open(&ours));
    Peer { python, path: &theirs, sqlite: None }.ask("make", &[]);
    assert_eq!(schema_objects(&ours), schema_objects(&theirs));
}

/// Type, name, table and columns of all schema objects of a file, without our own.
fn schema_objects(path: &Path) -> Vec<String> {
    let db = rusqlite::Connection::open(path).unwrap();
    let mut find = db
        .prepare(
            "SELECT concat_ws(' ', m.type, m.name, m.tbl_name,
                 (SELECT group_concat(concat_ws('|', name, type, \"notnull\", COALESCE(dflt_value, ''), pk), ';')
                  FROM pragma_table_info(m.name)),
                 (SELECT group_concat(concat_ws('|', name, \"desc\"), ';') FROM pragma_index_xinfo(m.name) WHERE key))
             FROM sqlite_master AS m WHERE tbl_name NOT LIKE 'hx\\_%' ESCAPE '\\' ORDER BY 1",
        )
        .unwrap();
    let found = find.query_map([], |row| row.get(0)).unwrap();
    found.collect::<rusqlite::Result<_>>().unwrap()
}

async fn back_and_forth(maker: &str, version: i64) {
    let (Some(maker), Some(current)) = (python(maker), python(CURRENT)) else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let maker = Peer { python: maker, path: &path, sqlite: None };
    let current = Peer { python: current, path: &path, sqlite: None };
    let can = maker.ask("make", &[]);
    assert_eq!(check(&path).schema_version, Some(version));

    let db = open(&path);
    is_as_python_left_it(&db, &can).await;
    go_on(&db).await;
    begin_one(&db).await;
    assert!(db.drain(Duration::from_secs(10)).await.unwrap().complete);
    drop(db);

    python_reads_all(&current);
    current.ask("say", &["py-1", "a trellis from python"]);
    let db = open(&path);
    let messages = db.load(&SessionId::new("py-1")).await.unwrap().messages;
    assert_eq!((messages.len(), messages.last()), (9, Some(&Message::user("a trellis from python"))));
    assert_eq!(found(&db, "trellis").await, ["py-1 user"]);
    let health = check(&path);
    assert!(health.is_sound() && health.schema_version == Some(22), "{health:?}");
    has_a_backup(dir.path(), version);
}

async fn is_as_python_left_it(db: &SessionDb, can: &Value) {
    let mut listed: Vec<_> = db.list(ListFilter::default()).await.unwrap();
    listed.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
    let listed: Vec<_> =
        listed.iter().map(|line| (line.id.as_str(), line.title.as_deref(), &*line.preview)).collect();
    // `py-3` continues `py-2`, and `py-4` is archived.
    let mut want = vec![
        ("py-1", Some("garden plan"), "where do tomatoes grow?"),
        ("py-3", Some("roof #2"), "a newer question about slates"),
    ];
    if can["compact"] == true {
        want.push(("py-5", None, "the attic needs insulation"));
        let five = db.load(&SessionId::new("py-5")).await.unwrap();
        assert_eq!(five.messages, [Message::user("so far: the attic")]);
        assert_eq!(found(db, "insulation").await, ["py-5 user"]);
    }
    assert_eq!(listed, want);
    let one = db.load(&SessionId::new("py-1")).await.unwrap();
    assert_eq!((one.usage.input, one.usage.output, one.system_prompt.as_deref()), (7, 3, Some("be kind")));
    let [Message::User(asked), Message::Assistant(call), Message::Tool(result), Message::Assistant(said)] =
        one.messages.as_slice()
    else {
        panic!("{:?}", one.messages)
    };
    assert_eq!(asked.content, Content::text("where do tomatoes grow?"));
    assert_eq!(call.calls, [ToolCall::new(CallId::new("c1"), "terminal", r#"{"command": "ls greenhouse"}"#)]);
    assert!(format!("{:?}", call.reasoning).contains("look first"), "{call:?}");
    assert_eq!(*result, ToolMessage::new(CallId::new("c1"), "terminal", "seeds.txt"));
    assert_eq!(said.text, "温室里种番茄");
    let three = db.load(&SessionId::new("py-3")).await.unwrap();
    assert_eq!(three.parent, Some(SessionId::new("py-2")));
    for (query, want) in [
        ("tomatoes", vec!["py-1 user"]),
        ("greenhouse", vec!["py-1 assistant"]),
        ("温室里", vec!["py-1 assistant"]),
        ("slates", vec!["py-3 user"]),
        // Rewound, so not found.
        ("zeppelin", vec![]),
    ] {
        assert_eq!(found(db, query).await, want, "{query}");
    }
    let drawer = if can["archive"] == true { vec!["py-4 user"] } else { vec![] };
    assert_eq!(found(db, "drawer").await, drawer);
    for (title, want) in [("garden plan", "py-1"), ("roof", "py-3"), ("roof #2", "py-3")] {
        assert_eq!(db.resolve(title).await.unwrap(), SessionId::new(want), "{title}");
    }
}

async fn found(db: &SessionDb, query: &str) -> Vec<String> {
    let report = db.search(query, 9).await.unwrap();
    assert!(report.complete, "{query}");
    report.hits.into_iter().map(|hit| format!("{} {}", hit.session, hit.role)).collect()
}

fn me() -> Owner {
    Owner { pid: 1, started: 1, boot: "b".into() }
}

fn opening(text: &str) -> Opening {
    Opening::from(UserMessage { content: Content::text(text), api_content: None })
}

fn closing(text: &str) -> Closing {
    let message = AssistantMessage { text: text.into(), ..AssistantMessage::default() };
    Closing { message: Some(message), spent: None, exit_reason: "text_response".into() }
}

/// A turn with a tool in a session of Python's.
async fn go_on(db: &SessionDb) {
    let lease = db.acquire_existing(SessionId::new("py-1"), me()).await.unwrap().lease;
    let turn = db.open_turn(&lease, opening("and peppers, 辣椒也行吗?")).await.unwrap();
    let call = ToolCall::new(CallId::new("c2"), "terminal", r#"{"command":"ls conservatory"}"#);
    let intent = Intent {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        arguments: call.arguments.clone(),
        effect: Effect::Any,
        state: IntentState::Started,
        decision: "allowed",
    };
    let reply = AssistantMessage { calls: vec![call.clone()], ..AssistantMessage::default() };
    let spent = SpentCall {
        calls: 1,
        usage: Usage { input: 10, output: 1, ..Usage::default() },
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        task: String::new(),
        bill: Bill::default(),
    };
    let permits = db.plan(&lease, &turn, &reply, Some(&spent), &[intent]).await.unwrap();
    let message = ToolMessage::new(call.id, "terminal", "jalapeno.txt");
    let results = vec![Settled { intent: permits.ids[0], state: IntentState::Done, message }];
    db.settle(&lease, &turn, Settlement { results, ..Settlement::default() }).await.unwrap();
    db.close(&lease, turn, closing("peppers too")).await.unwrap();
    db.release(&lease).await.unwrap();
}

/// A session of our own.
async fn begin_one(db: &SessionDb) -> Lease {
    let lease = db.acquire(new_session(), me()).await.unwrap().lease;
    let turn = db.open_turn(&lease, opening("hello from rust")).await.unwrap();
    db.close(&lease, turn, closing("hello yourself")).await.unwrap();
    db.set_title(&lease.session, "from rust").await.unwrap();
    lease
}

fn new_session() -> NewSession {
    NewSession {
        id: SessionId::new("rs-1"),
        source: "cli".into(),
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        system_prompt: "be kind".into(),
        cwd: None,
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    }
}

fn python_reads_all(current: &Peer<'_>) {
    let read = current.ask(
        "read",
        &[
            "py-1",
            "tomatoes",
            "greenhouse",
            "peppers",
            "conservatory",
            "jalapeno",
            "辣椒也",
            "yourself",
            "zeppelin",
        ],
    );
    let said: Vec<_> =
        read["messages"].as_array().unwrap().iter().map(|m| json!([m["role"], m["content"]])).collect();
    assert_eq!(
        json!(said),
        json!([
            ["user", "where do tomatoes grow?"],
            ["assistant", ""],
            ["tool", "seeds.txt"],
            ["assistant", "温室里种番茄"],
            ["user", "and peppers, 辣椒也行吗?"],
            ["assistant", ""],
            ["tool", "jalapeno.txt"],
            ["assistant", "peppers too"],
        ])
    );
    let called = |place: usize| &read["conversation"][place]["tool_calls"][0];
    assert_eq!((&called(1)["id"], &called(1)["function"]["name"]), (&json!("c1"), &json!("terminal")));
    assert_eq!(
        *called(5),
        json!({"id": "c2", "type": "function",
               "function": {"name": "terminal", "arguments": r#"{"command":"ls conservatory"}"#}})
    );
    assert_eq!(read["conversation"][6]["tool_call_id"], "c2");
    let mut found = read["found"].clone();
    for hits in found.as_object_mut().unwrap().values_mut() {
        hits.as_array_mut().unwrap().sort_by_key(Value::to_string);
    }
    assert_eq!(
        found,
        json!({
            "tomatoes": [["py-1", "user"]],
            "greenhouse": [["py-1", "assistant"]],
            "peppers": [["py-1", "assistant"], ["py-1", "user"]],
            "conservatory": [["py-1", "assistant"]],
            "jalapeno": [["py-1", "tool"]],
            "辣椒也": [["py-1", "user"]],
            "yourself": [["rs-1", "assistant"]],
            "zeppelin": [],
        })
    );
    assert_eq!(read["titles"], json!({"garden plan": "py-1", "roof": "py-3", "from rust": "rs-1"}));
    assert_eq!(read["counts"][2], 17);
    let listed = read["listed"].as_array().unwrap();
    assert!(listed.contains(&json!("py-1")) && listed.contains(&json!("rs-1")), "{listed:?}");
}

fn has_a_backup(home: &Path, version: i64) {
    let names = std::fs::read_dir(home).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let backups = names.filter(|name| name.starts_with(&format!("state.db.bak-v{version}-"))).count();
    assert_eq!(backups, usize::from(version < 22), "version {version}");
}

/// Python reads our rewinds, compactions, replacements, archived and ended sessions.
#[tokio::test]
async fn python_reads_changes_of_hermes() {
    let Some(python) = python(CURRENT) else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let peer = Peer { python, path: &path, sqlite: None };
    let db = open(&path);
    let lease = begin_one(&db).await;
    for (question, answer) in [("plant the zinnia", "planted"), ("dig up the yarrow", "dug")] {
        let turn = db.open_turn(&lease, opening(question)).await.unwrap();
        db.close(&lease, turn, closing(answer)).await.unwrap();
    }
    let last = db.messages(&lease.session, Include::Active).await.unwrap()[4].id;
    assert_eq!(db.rewind(&lease.session, last).await.unwrap().text, "dig up the yarrow");
    db.compact(&lease, None, &compaction(&[Message::user("so far: flowers")], 0)).await.unwrap();
    db.drain(Duration::from_secs(10)).await.unwrap();
    let seen = peer.ask("see", &["rs-1", "zinnia", "yarrow", "flowers"]);
    assert_eq!(seen["messages"], json!([["user", "so far: flowers"]]));
    let all = json!([
        ["hello from rust", 0, 1],
        ["hello yourself", 0, 1],
        ["plant the zinnia", 0, 1],
        ["planted", 0, 1],
        ["dig up the yarrow", 0, 0],
        ["dug", 0, 0],
        ["so far: flowers", 1, 0],
    ]);
    assert_eq!(seen["all"], all);
    assert_eq!(seen["found"], json!({ "zinnia": 1, "yarrow": 0, "flowers": 0 }), "a summary repeats");
    let session = json!({ "message_count": 1, "tool_call_count": 0, "rewind_count": 1, "archived": 0, "end_reason": null });
    assert_eq!(seen["session"], session);

    db.replace(&lease, &[Message::user("only weeds")]).await.unwrap();
    db.drain(Duration::from_secs(10)).await.unwrap();
    db.end(&lease.session, "compression").await.unwrap();
    db.archive(&lease.session, true).await.unwrap();
    let next =
        NewSession { id: SessionId::new("rs-2"), parent: Some(lease.session.clone()), ..new_session() };
    let next = db.acquire(next, me()).await.unwrap().lease;
    let turn = db.open_turn(&next, opening("only weeds")).await.unwrap();
    db.close(&next, turn, closing("pulled")).await.unwrap();
    let seen = peer.ask("see", &["rs-1", "flowers", "weeds", "yarrow"]);
    assert_eq!(seen["found"], json!({ "flowers": 0, "weeds": 1, "yarrow": 0 }));
    assert_eq!((&seen["session"]["end_reason"], &seen["listed"]), (&json!("compression"), &json!([])));
    assert_eq!(seen["resumed"], "rs-2");
    assert_eq!(db.resolve_resume(&lease.session).await.unwrap(), next.session);
    let display = peer.ask("see", &["rs-2"])["display"].clone();
    assert_eq!(display, json!(["only weeds", "pulled"]));
    // Here the conversation includes summarised messages.
    let conversation = db.whole_conversation(&next.session).await.unwrap();
    assert_eq!(conversation[4..], [Message::user("only weeds"), Message::assistant("pulled")]);
    assert_eq!(conversation[..2], [Message::user("hello from rust"), Message::assistant("hello yourself")]);
    db.clear(&lease.session).await.unwrap();
    assert_eq!(peer.ask("see", &["rs-1", "weeds"])["all"], json!([]));
    assert_eq!(verify(&path).findings, []);
}

fn compaction(messages: &[Message], tail: usize) -> Compaction {
    let report = CompactionReport {
        engine: "compressor".into(),
        trigger: Trigger::Manual,
        by: SummaryBy::Excerpts,
        messages_before: 0,
        messages_after: 0,
        tokens_before: TokenCount::Estimated(2),
        tokens_after: TokenCount::Estimated(1),
        seconds: 0.0,
        cost_usd: None,
        kept: KeptCounts::default(),
    };
    let leaf = NewNode { children: Vec::new(), text: "so far".into() };
    let messages = messages.iter().cloned().map(Arc::new).collect();
    Compaction { messages, tail, nodes: vec![leaf], report }
}

/// Hermes reads messages that Python rewound, compacted and archived.
#[tokio::test]
async fn hermes_reads_changes_of_python() {
    let Some(python) = python(CURRENT) else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let peer = Peer { python, path: &path, sqlite: None };
    peer.ask("make", &[]);
    let db = open(&path);
    let states = async |id: &str| -> Vec<(String, MessageState)> {
        let rows = db.messages(&SessionId::new(id), Include::All).await.unwrap();
        let text = |message: &Message| match message {
            Message::User(said) => said.content.as_text().to_owned(),
            Message::Assistant(said) => said.text.clone(),
            Message::Tool(result) => result.content.as_text().to_owned(),
        };
        rows.iter().map(|row| (text(&row.message), row.state)).collect()
    };
    let one = states("py-1").await;
    let rewound =
        [("never mind the zeppelin", MessageState::Rewound), ("a zeppelin it is", MessageState::Rewound)];
    assert_eq!(one[4..], rewound.map(|(text, state)| (text.to_owned(), state)));
    let five = [
        ("the attic needs insulation", MessageState::Compacted),
        ("so far: the attic", MessageState::Active),
    ];
    assert_eq!(states("py-5").await, five.map(|(text, state)| (text.to_owned(), state)));
    assert_eq!(db.resolve_resume(&SessionId::new("py-2")).await.unwrap(), SessionId::new("py-3"));
    let taken_back = db.messages(&SessionId::new("py-1"), Include::All).await.unwrap()[4].id;
    assert_eq!(db.restore_rewound(&SessionId::new("py-1"), taken_back).await.unwrap(), 2);
    db.archive(&SessionId::new("py-4"), false).await.unwrap();
    assert_eq!(verify(&path).findings, []);
    let seen = peer.ask("see", &["py-1", "zeppelin"]);
    assert_eq!(
        (&seen["found"]["zeppelin"], &seen["messages"][5][1]),
        (&json!(2), &json!("a zeppelin it is"))
    );
    assert!(seen["listed"].as_array().unwrap().contains(&json!("py-4")));
    assert!(seen["listed"].as_array().unwrap().contains(&json!("py-3")), "{seen}");
}

/// Each program imports the other's export.
#[tokio::test]
async fn exports_are_exchanged() {
    let Some(python) = python(CURRENT) else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let file = path("sessions.jsonl");
    let file = file.to_str().unwrap();
    let (theirs, ours, back) = (path("theirs.db"), path("ours.db"), path("back.db"));
    Peer { python: python.clone(), path: &theirs, sqlite: None }.ask("make", &[]);
    Peer { python: python.clone(), path: &theirs, sqlite: None }.ask("export", &[file]);
    let db = open(&ours);
    let imported = db.import(&std::fs::read_to_string(file).unwrap()).await.unwrap();
    assert_eq!((imported.sessions.len(), imported.problems), (5, vec![]));
    let loaded = async |path: &Path, id: &str| open(path).load(&SessionId::new(id)).await.unwrap();
    let ours_loaded = loaded(&ours, "py-1").await;
    assert!(ours_loaded.is_imported);
    assert_eq!(StoredSession { is_imported: false, ..ours_loaded }, loaded(&theirs, "py-1").await);
    go_on(&db).await;
    begin_one(&db).await;
    db.rewind(
        &SessionId::new("rs-1"),
        db.messages(&SessionId::new("rs-1"), Include::All).await.unwrap()[0].id,
    )
    .await
    .unwrap();

    let out = std::fs::File::create(file).unwrap();
    db.export(ExportFilter::default(), ExportFormat::Jsonl, out).await.unwrap();
    let peer = Peer { python, path: &back, sqlite: None };
    let taken = peer.ask("import", &[file]);
    assert_eq!((&taken["ok"], &taken["imported"], &taken["detached"]), (&json!(true), &json!(6), &json!(0)));
    let seen = peer.ask("see", &["rs-1"]);
    assert_eq!(
        seen["all"],
        json!([]),
        "rewound messages are not exported to a reader that would restore them"
    );
    assert_eq!(loaded(&back, "py-1").await.messages, loaded(&ours, "py-1").await.messages);
}
