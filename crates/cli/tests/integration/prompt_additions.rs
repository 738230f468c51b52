//! Parts of the prompt that flags, settings and the working directory add, and memory that needs approval.

use crate::command_log::masked;
use crate::process::{code, custom_model, exported, finished, hermes, json_of, run, stderr, stdout};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::json;
use std::path::Path;

async fn scene(more: &str) -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    provider.answer_with(|_| ReplyScript::text("Yes."));
    home.write_config(&format!("{}{more}", custom_model(&provider.base_url())));
    (home, provider)
}

fn system(provider: &FakeProvider) -> String {
    provider.bodies().last().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned()
}

async fn ask_in(home: &Path, cwd: &Path, args: &[&str]) {
    let out = finished(hermes(home, cwd, &[args, &["-z", "hi"]].concat())).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_flag_adds_skills_to_the_system_prompt() {
    let (home, provider) = scene("").await;
    home.write(
        "skills/tea/SKILL.md",
        "---\nname: tea\ndescription: Making tea.\n---\nBoil the water first.\n",
    );
    let out = run(home.path(), &["-s", "tea,unheard-of", "-z", "hi"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert!(system(&provider).contains("Boil the water first."));
    insta::assert_snapshot!("unknown_skill", masked(&stderr(&out)));
    let stored = &exported(home.path()).await[0];
    assert!(stored["system_prompt"].as_str().unwrap().contains("Boil the water first."), "a resume finds it");
    let out = run(home.path(), &["-s", "unheard-of", "-z", "hi"]).await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    let out = run(home.path(), &["-s", "tea", "--continue", "-z", "hi"]).await;
    assert_eq!(code(&out), 2, "{}", stderr(&out));
}

#[tokio::test(flavor = "multi_thread")]
async fn personality_follows_the_prompt_and_is_not_stored() {
    let more = "display: {personality: captain}\nagent: {system_prompt: Answer in rhymes.}\n\
                personalities: {captain: {system_prompt: Speak as a captain., tone: gruff}}\n";
    let (home, provider) = scene(more).await;
    let out = run(home.path(), &["-z", "hi"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let sent = system(&provider);
    assert!(sent.ends_with("\n\nAnswer in rhymes.\n\nSpeak as a captain. Tone: gruff."), "{sent}");
    let stored = &exported(home.path()).await[0];
    assert!(!stored["system_prompt"].as_str().unwrap().contains("captain"));
    home.write_config(&home.read("config.yaml").replace("personality: captain", "personality: unheard-of"));
    let out = run(home.path(), &["-z", "hi"]).await;
    insta::assert_snapshot!("unknown_personality", masked(&stderr(&out)));
}

#[tokio::test(flavor = "multi_thread")]
async fn project_facts_are_described_unless_disabled() {
    let (home, provider) = scene("").await;
    home.write("project/Cargo.toml", "");
    home.write("project/.git/HEAD", "ref: refs/heads/fix\n");
    let project = home.path().join("project");
    ask_in(home.path(), &project, &[]).await;
    let sent = system(&provider);
    assert!(sent.contains("code project (Rust, git branch fix at the start)"), "{sent}");
    assert!(sent.contains("`cargo test`"), "{sent}");
    ask_in(home.path(), home.path(), &[]).await;
    assert!(!system(&provider).contains("code project"));
    let off = "agent: {coding_context: \"off\", environment_probe: false}\n";
    home.write_config(&format!("{}{off}", custom_model(&provider.base_url())));
    ask_in(home.path(), &project, &[]).await;
    let sent = system(&provider);
    assert!(!sent.contains("code project") && !sent.contains("Programs here"), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_change_is_pending_without_a_user() {
    let (home, provider) = scene("memory: {write_approval: true}\n").await;
    let arguments = json!({"target": "user", "action": "add", "content": "Likes tea."});
    provider.replies([ReplyScript::call("memory", arguments), ReplyScript::text("Noted.")]);
    let out = run(home.path(), &["-z", "I like tea."]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let result = provider.bodies().last().unwrap()["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(result["content"].as_str().unwrap().contains("waits for the user's approval"), "{result}");
    assert!(!home.path().join("memories/USER.md").exists(), "nothing is written yet");
    let pending = json_of(home.path(), &["memory", "pending"]).await;
    assert_eq!(pending[0]["summary"], "USER.md: add \"Likes tea.\"");
    let id = pending[0]["id"].as_str().unwrap();
    assert_eq!(code(&run(home.path(), &["memory", "approve", id]).await), 0);
    assert_eq!(home.read("memories/USER.md").trim(), "Likes tea.");
    assert_eq!(stdout(&run(home.path(), &["memory", "pending"]).await).trim(), "No pending changes.");
    assert_eq!(code(&run(home.path(), &["memory", "reject", id]).await), 2);
}
