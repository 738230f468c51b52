//! Statements of the documentation that can be checked against the program.

use crate::process::{code, custom_model, run, stderr};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use std::collections::BTreeSet;

/// The text of a file of the repository.
fn document(name: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// The texts between backquotes.
fn code_spans(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[tokio::test]
async fn readme_names_the_tools_of_a_default_session() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    provider.answer_with(|_| ReplyScript::text("Yes."));
    home.write_config(&custom_model(&provider.base_url()));
    let out = run(home.path(), &["-z", "hi"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let bodies = provider.bodies();
    let offered = bodies[0]["tools"].as_array().unwrap().iter();
    let offered: BTreeSet<String> =
        offered.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();

    let readme = document("README.md");
    let sentence = readme.split("The model has these tools: ").nth(1).expect("the README lists the tools");
    let named = code_spans(sentence.split(". ").next().unwrap());
    assert_eq!(named, offered);
}

#[test]
fn readme_does_not_deny_commands_that_exist() {
    let readme = document("README.md");
    let missing = readme.split("## What is not built in yet").nth(1).unwrap();
    let missing = missing.split("\n## ").next().unwrap();
    for denied in ["log in", "second key", "plugins"] {
        assert!(!missing.contains(denied), "README says `{denied}` is missing");
    }
    assert!(!document("docs/credentials.md").contains("Not there yet: logins"));
}

#[test]
fn files_that_the_architecture_page_names_exist() {
    let page = document("docs/architecture.md");
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let is_path = |span: &&String| span.contains("/src/") || span.contains("/tests/");
    let named: Vec<String> = code_spans(&page).iter().filter(is_path).cloned().collect();
    assert!(named.len() > 20, "{named:?}");
    for path in named.iter().filter(|path| !path.contains([' ', '<'])) {
        assert!(
            crates.join(path.trim_start_matches("crates/")).exists(),
            "docs/architecture.md names {path}, which does not exist"
        );
    }
}
