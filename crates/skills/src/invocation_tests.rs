use super::*;
use crate::SkillShelf;
use std::fs;

fn shelf() -> (tempfile::TempDir, SkillShelf) {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".no-bundled-skills"), "").unwrap();
    let dir = home.path().join("skills/a");
    fs::create_dir_all(dir.join("references")).unwrap();
    let text = "---\nname: a\ndescription: b\nmetadata:\n  hermes:\n    config:\n      - key: a.dpi\n        default: 300\n---\n\n\
                Run ${HERMES_SKILL_DIR}/x for ${HERMES_SESSION_ID}.\n";
    fs::write(dir.join("SKILL.md"), text).unwrap();
    fs::write(dir.join("references/one.md"), "1").unwrap();
    let shelf = SkillShelf::open(home.path(), &[]);
    (home, shelf)
}

#[test]
fn call_renders_one_message() {
    let (home, shelf) = shelf();
    let dir = home.path().join("skills/a").display().to_string();
    let config = [("a.dpi".to_owned(), "600".to_owned())];
    let call = Invocation { session: "s1", instruction: " now ", config: &config, ..Invocation::default() };
    let want = format!(
        "[The user has called the skill \"a\". Follow its instructions for the request at the end.]\n\n\
         Run {dir}/x for s1.\n\n[Skill directory: {dir}]\n[Skill setting a.dpi: 600]\n\
         [Supporting files, to be loaded with skill_view(name=\"a\", file_path=…) when needed: references/one.md]\n\n\
         The user's request: now"
    );
    assert_eq!(invocation(&shelf, shelf.find("a").unwrap(), &call).unwrap(), want);
    let plain = Invocation { keeps_variables: true, ..Invocation::default() };
    let message = invocation(&shelf, shelf.find("a").unwrap(), &plain).unwrap();
    assert!(message.contains("${HERMES_SKILL_DIR}") && message.contains("a.dpi: 300"), "{message}");
    assert!(message.ends_with("begin, or ask what you need to know."), "{message}");
}

#[test]
fn bundle_message_names_missing_skills() {
    let (_home, shelf) = shelf();
    let of = |skills: &[&str]| Bundle {
        skills: skills.iter().map(|name| (*name).to_owned()).collect(),
        instruction: "Be quick.".into(),
        ..Bundle::default()
    };
    let call = Invocation { instruction: "go", ..Invocation::default() };
    let message = of(&["a", "gone"]).invocation(&shelf, &call).unwrap();
    let end = "[These skills of the bundle are not installed: gone]\n\nBe quick.\n\nThe user's request: go";
    assert!(message.ends_with(end), "{message}");
    assert!(of(&["gone"]).invocation(&shelf, &call).is_err());
}
