use super::*;
use hermes_conversation::{CallId, ToolMessage};

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(CallId::new("c"), name, arguments)
}

#[test]
fn paths_are_found_in_arguments_and_commands() {
    for (name, arguments, want) in [
        ("read_file", r#"{"path":"a/b.rs"}"#, vec!["/w/a/b.rs"]),
        ("read_file", r#"{"path":"/x/./y/../z"}"#, vec!["/x/z"]),
        (
            "terminal",
            r#"{"command":"cd sub && cat \"x/y\" > out.txt"}"#,
            vec!["/w/cd", "/w/sub", "/w/cat", "/w/x/y", "/w/out.txt"],
        ),
        (
            "terminal",
            r#"{"command":"ls -la --color=a https://h/p $HOME/x","workdir":"d"}"#,
            vec!["/w/d", "/w/ls", "/w/a"],
        ),
        ("todo", r#"{"command":"cat a/b"}"#, vec![]),
        ("read_file", "not json", vec![]),
    ] {
        let found = touched(&call(name, arguments), Path::new("/w"));
        let want: Vec<PathBuf> = want.into_iter().map(PathBuf::from).collect();
        assert_eq!(found, want, "{arguments}");
    }
}

#[test]
fn every_folder_below_the_root_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    let mut hints = FolderHints::below(root);
    let mut new = |arguments: &str| {
        let found = hints.new_folders(&call("read_file", arguments), root);
        found.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(new(r#"{"path":"x.rs"}"#), Vec::<String>::new());
    assert_eq!(new(r#"{"path":"a/b/x.rs"}"#), ["a", "a/b"]);
    assert_eq!(new(r#"{"path":"a/b/y.rs"}"#), Vec::<String>::new());
    assert_eq!(new(r#"{"path":"a/b"}"#), Vec::<String>::new());
    assert_eq!(new(r#"{"path":"a/c"}"#), Vec::<String>::new());
    assert_eq!(new(r#"{"path":"../elsewhere/x"}"#), Vec::<String>::new());
}

#[test]
fn instructions_in_the_history_are_not_added_again() {
    let told = format!("{{}}\n\n{ORIGIN}/w/a/AGENTS.md]\ntext\n\n{ORIGIN}/w/a/b/CLAUDE.md]\nmore");
    let message = Message::Tool(ToolMessage::new(CallId::new("c"), "read_file", told));
    let mut hints = FolderHints::below(Path::new("/w"));
    hints.restore(&[Arc::new(message)]);
    let found = hints.new_folders(&call("read_file", r#"{"path":"a/b/c/x"}"#), Path::new("/w"));
    assert_eq!(found, [PathBuf::from("/w/a/b/c")]);
}
