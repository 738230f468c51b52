//! Sessions whose model has a small context window, through resumes and changes of the model.

use crate::opened::opened;
use hermes_conversation::{UserMessage, events};
use hermes_runtime::{Parting, Resuming, Runtime, Session};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use hermes_tools::NoUser;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

async fn scene() -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    provider.answer_with(|_| ReplyScript::text("Yes."));
    home.write_config(&format!(
        "model: {{provider: box, default: small}}\n\
         custom_providers:\n- name: box\n  base_url: '{}'\n  models:\n    small: {{context_length: 4096}}\n    \
         large: {{context_length: 100000}}\nauxiliary: {{title_generation: {{enabled: false}}}}\n",
        provider.base_url(),
    ));
    std::fs::create_dir(home.path().join("work")).unwrap();
    (home, provider)
}

async fn say(session: &mut Session) {
    let (sink, _stream) = events();
    let report = session.submit(UserMessage::text("hi"), &CancellationToken::new(), sink).await.unwrap();
    assert!(report.completed, "{report:?}");
}

/// The number of tools and the system prompt of the newest request.
fn sent(provider: &FakeProvider) -> (usize, String) {
    let body = provider.bodies().pop().unwrap();
    let system = body["messages"][0]["content"].as_str().unwrap().to_owned();
    (body["tools"].as_array().map_or(0, Vec::len), system)
}

async fn resumed(runtime: &Runtime) -> Session {
    let how = Resuming { restores_cwd: true, stop: &CancellationToken::new(), tell: &|_| {} };
    runtime.resume("latest", Arc::new(NoUser), how).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_session_sends_the_same_prompt_and_tools() {
    let (home, provider) = scene().await;
    let runtime = opened(home.path(), &home.path().join("work"));
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    say(&mut session).await;
    let first = sent(&provider);
    assert_eq!(first.0, 4, "terminal and files");
    assert!(!first.1.contains("available_skills"), "{}", first.1);
    session.close(Parting::Left).await;
    let mut session = resumed(&runtime).await;
    say(&mut session).await;
    assert_eq!(sent(&provider), first);
    session.close(Parting::Left).await;
    runtime.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_fit_the_window_of_the_current_model() {
    let (home, provider) = scene().await;
    let runtime = opened(home.path(), &home.path().join("work"));
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    say(&mut session).await;
    let small = sent(&provider).0;
    session.set_model("large").await.unwrap();
    say(&mut session).await;
    let (large, system) = sent(&provider);
    assert!(large > small && system.contains("available_skills"), "{large}: {system}");
    session.set_model("small").await.unwrap();
    say(&mut session).await;
    let (again, system) = sent(&provider);
    assert_eq!(again, small);
    assert!(!system.contains("available_skills"), "{system}");
    session.close(Parting::Left).await;
    runtime.leave().await;
}
