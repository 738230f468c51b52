//! A key goes only to the origin it belongs to.

use super::scene::Scene;
use crate::command_log::masked;
use crate::process::{code, finished, hermes, stderr};
use hermes_testkit::Fault;

const KEY: &str = "sk-proj-openai-0123456789abcd";

#[tokio::test]
async fn refused_openai_key_names_the_setting_to_add() {
    let scene = Scene::new().await;
    let refusal =
        Fault::Status { code: 401, headers: vec![], body: r#"{"error":{"message":"no key"}}"#.into() };
    scene.provider.fault(refusal);
    let ask = async || {
        let mut command = hermes(scene.home.path(), &scene.work(), &["-z", "hi"]);
        command.env("OPENAI_API_KEY", KEY);
        finished(command).await
    };
    let out = ask().await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    insta::assert_snapshot!("key_of_openai", masked(&stderr(&out)));
    let keys = || {
        scene
            .provider
            .requests()
            .iter()
            .filter_map(|one| one.header("authorization").map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(), Vec::<String>::new());
    // The line works.
    let config = std::fs::read_to_string(scene.home.path().join("config.yaml")).unwrap();
    scene
        .home
        .write_config(&config.replace("  default: m\n", "  default: m\n  api_key: ${OPENAI_API_KEY}\n"));
    let out = ask().await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert_eq!(keys(), [format!("Bearer {KEY}")]);
}
