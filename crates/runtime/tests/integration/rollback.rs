//! Checkpoints of whole sessions, and `/rollback` of files and conversation together.

use crate::opened::opened;
use hermes_runtime::commands::CommandReply;
use hermes_runtime::{Runtime, SessionHandle};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use hermes_tools::NoUser;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

struct World {
    _home: TempHome,
    dir: tempfile::TempDir,
    provider: FakeProvider,
    runtime: Runtime,
}

impl World {
    async fn new(settings: &str) -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        let dir = tempfile::tempdir().unwrap();
        home.write_config(&format!(
            "model: {{provider: custom, base_url: '{}', default: m}}\n{settings}\n",
            provider.base_url()
        ));
        std::fs::write(dir.path().join("Cargo.toml"), "[package]\n").unwrap();
        let runtime = opened(home.path(), &dir.path().canonicalize().unwrap());
        Self { _home: home, dir, provider, runtime }
    }

    fn session(&self) -> SessionHandle {
        SessionHandle::spawn(self.runtime.start(Arc::new(NoUser)).unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// A turn in which the model calls one tool.
    async fn turn(&self, session: &SessionHandle, prompt: &str, tool: &str, arguments: Value) {
        self.provider.reply(ReplyScript::call(tool, arguments));
        self.provider.reply(ReplyScript::text(format!("{prompt}: done.")));
        session.run(prompt).await.unwrap().unwrap();
    }
}

fn lines(reply: CommandReply) -> String {
    match reply {
        CommandReply::Text(text) => text,
        CommandReply::Table { title, rows } => {
            let rows = rows.into_iter().map(|row| format!("{} {} {}", row[0], row[3], row[4]));
            title.into_iter().map(|_| "table".to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rollback_restores_files_and_conversation_together() {
    let world = World::new("").await;
    let session = world.session();
    world.turn(&session, "first", "write_file", json!({"path": "a", "content": "1\n"})).await;
    world.turn(&session, "second", "write_file", json!({"path": "a", "content": "2\n"})).await;
    std::fs::write(world.path("mine"), "by hand\n").unwrap();
    world.turn(&session, "third", "terminal", json!({"command": "rm a; echo 3 > b"})).await;
    assert_eq!((world.read("a"), world.read("b").as_deref()), (None, Some("3\n")));

    let list = lines(session.command("/rollback").await.unwrap());
    let want = "table\n1 before terminal: rm a; echo 3 > b 2 files, +2 -1\n2 before write_file 1 file, +1 -0\n\
                3 before write_file ";
    assert_eq!(list, want);
    let diff = lines(session.command("/rollback diff 1").await.unwrap());
    assert!(diff.contains("2 files changed") && diff.contains("+3"), "{diff}");

    let restored = lines(session.command("/rollback restore 1").await.unwrap());
    assert!(restored.starts_with("restored 2 files to checkpoint 1"), "{restored}");
    assert!(restored.ends_with("undid the last turn (4 messages)"), "{restored}");
    assert_eq!((world.read("a").as_deref(), world.read("b")), (Some("2\n"), None));
    assert_eq!(world.read("mine").as_deref(), Some("by hand\n"));

    // The next request continues the conversation without the third turn, which is a declared change.
    world.turn(&session, "fourth", "write_file", json!({"path": "a", "content": "4\n"})).await;
    let bodies = world.provider.bodies();
    let prompts = |body: &Value| -> Vec<String> {
        let all = body["messages"].as_array().unwrap().iter();
        let own = all.filter(|message| message["role"] == "user");
        own.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let request = bodies.iter().rev().find(|body| prompts(body).last().is_some_and(|last| last == "fourth"));
    assert_eq!(prompts(request.unwrap()), ["first", "second", "fourth"]);

    // An edit by hand of a file of the agent refuses the restore and leaves the conversation alone.
    std::fs::write(world.path("a"), "4\nby hand\n").unwrap();
    let refused = lines(session.command("/rollback 1").await.unwrap());
    assert!(refused.contains("a: was edited by hand") && !refused.contains("undid"), "{refused}");
    assert_eq!(world.read("a").as_deref(), Some("4\nby hand\n"));
    let count = session.inspect(|session| session.history().unwrap().messages().len()).await.unwrap();
    assert_eq!(count, 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn disabled_checkpoints_leave_no_trace() {
    let world = World::new("checkpoints: {enabled: false}").await;
    let session = world.session();
    world.turn(&session, "first", "write_file", json!({"path": "a", "content": "1\n"})).await;
    assert!(!world.runtime.home().checkpoints_dir().exists());
    let reply = lines(session.command("/rollback").await.unwrap());
    assert!(reply.starts_with("checkpoints are disabled"), "{reply}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sub_agents_save_the_project_too() {
    let world = World::new("").await;
    let session = world.session();
    std::fs::write(world.path("a"), "1\n").unwrap();
    let task = json!({"goal": "change a"});
    world.provider.reply(ReplyScript::call("delegate_task", task));
    world.provider.reply(ReplyScript::call("write_file", json!({"path": "a", "content": "2\n"})));
    world.provider.reply(ReplyScript::text("Changed."));
    world.provider.reply(ReplyScript::text("Done."));
    session.run("delegate").await.unwrap().unwrap();
    assert_eq!(world.read("a").as_deref(), Some("2\n"));
    let restored = lines(session.command("/rollback restore 1").await.unwrap());
    assert!(restored.starts_with("restored 1 file to checkpoint 1"), "{restored}");
    assert_eq!(world.read("a").as_deref(), Some("1\n"));
}
