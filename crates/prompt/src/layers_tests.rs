use super::*;
use crate::project::ready_file;
use hermes_guard::FenceKey;
use hermes_tools::KnownTools;

fn with_tools(names: &[&str], layers: Layers) -> Layers {
    let mut layers = Layers { tools: names.iter().map(|name| (*name).to_owned()).collect(), ..layers };
    layers.describe_tools(&KnownTools);
    layers
}

const TOOLS: [&str; 6] = ["patch", "read_file", "search_files", "terminal", "todo", "write_file"];

fn layers() -> Layers {
    let layers = Layers {
        os: "Linux".into(),
        cwd: "/work".into(),
        platform: "cli".into(),
        date: "Sunday, November 15, 2026".into(),
        model: "m".into(),
        provider: "custom".into(),
        ..Layers::default()
    };
    with_tools(&TOOLS, layers)
}

#[test]
fn the_whole_prompt() {
    insta::assert_snapshot!(SystemPrompt::assemble(&layers()).as_str());
}

#[test]
fn with_everything() {
    let key = FenceKey::new([7; 32]);
    let file = |name: &str, text: &str| ready_file(name, &format!("/work/{name}"), text, 20_000, &key).file;
    let sourced = |text: &str, source: &str| Some(Sourced { text: text.into(), source: source.into() });
    let everything = Layers {
        identity: sourced("You are the librarian.", "SOUL.md"),
        skills: Some("## Skills\n\n(index)".into()),
        surroundings: vec![Surroundings::Wsl, Surroundings::Termux],
        environment_hint: Some("The disk is slow.".into()),
        programs: vec!["git".into(), "python3".into()],
        code_project: Some(CodeProject { branch: Some("main".into()), ..CodeProject::default() }),
        platform_hint: HintChange { replace: None, append: Some("No emoji.".into()) },
        system_message: Some("Answer in French.".into()),
        project: vec![file(".cursorrules", "Tabs."), file(".cursor/rules/a.mdc", "---\nx: 1\n---\nSpaces.")],
        memory: sourced("MEMORY\nfact", "memories/MEMORY.md"),
        profile: sourced("USER PROFILE\nname", "memories/USER.md"),
        recalled: Some("Once, long ago.".into()),
        session: Some("20261115_120000_abcdef".into()),
        model: "openai/gpt-5.5".into(),
        ..layers()
    };
    let everything =
        with_tools(&[&TOOLS[..], &["memory", "session_search", "skill_manage"]].concat(), everything);
    insta::assert_snapshot!(SystemPrompt::assemble(&everything).as_str());
    let order: Vec<_> = everything.all().iter().map(|layer| (layer.tier, layer.name)).collect();
    insta::assert_debug_snapshot!(order);
}

#[test]
fn a_helper_has_neither_project_nor_memory_nor_platform() {
    let helper = Layers { platform: String::new(), ..layers() };
    insta::assert_snapshot!(SystemPrompt::assemble(&helper).as_str());
}

#[test]
fn each_platform() {
    let prompts = crate::platform::names().map(|platform| {
        let layers = with_tools(&[], Layers { platform: platform.to_owned(), ..layers() });
        format!("=== {platform} ===\n{}", SystemPrompt::assemble(&layers).as_str())
    });
    insta::assert_snapshot!(prompts.collect::<Vec<_>>().join("\n"));
}

#[test]
fn misnamed_models_get_their_name() {
    for want in [true, false] {
        let layers = Layers { is_misnamed: want, model: "qwen3-max".into(), ..layers() };
        let found = layers.all().into_iter().find(|layer| layer.name == "model name");
        assert_eq!(found.is_some_and(|layer| layer.text.contains("qwen3-max")), want);
    }
}

#[test]
fn layers_are_the_same_after_they_were_written_down() {
    let text = serde_json::to_string(&layers()).unwrap();
    let mut read: Layers = serde_json::from_str(&text).unwrap();
    read.describe_tools(&KnownTools);
    assert_eq!(read, layers());
}

#[test]
fn guidance_is_only_for_tools_that_are_there() {
    let identity = Some(Sourced { text: "You are a test.".into(), source: "SOUL.md".into() });
    let bare = with_tools(&[], Layers { identity, ..layers() });
    let prompt = SystemPrompt::assemble(&bare).into_string();
    assert!(prompt.starts_with("You are a test.\n\nOperating system"), "{prompt}");
    assert!(!prompt.contains("tool"), "{prompt}");
}

#[test]
fn rename_changes_only_the_model_of_a_prompt() {
    let prompt = SystemPrompt::assemble(&Layers {
        system_message: Some("Model: T\nProvider: Ford".into()),
        ..layers()
    });
    let other = Layers {
        system_message: Some("Model: T\nProvider: Ford".into()),
        model: "x".into(),
        provider: "custom:y".into(),
        ..layers()
    };
    let renamed = SystemPrompt::renamed(prompt.as_str(), "x", "custom:y");
    assert_eq!(renamed, Some(SystemPrompt::assemble(&other).into_string()));
    assert_eq!(SystemPrompt::renamed("Be brief.\nModel: m", "x", "y"), None);
}
