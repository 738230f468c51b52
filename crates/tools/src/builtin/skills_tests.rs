use super::*;
use crate::skills::{ChangedSkill, SkillChange};
use crate::testing::Bench;
use crate::{ToolContext, ToolSetup};
use std::sync::Mutex;

/// One skill whose text can be patched, and many that are only listed.
struct Shelf {
    text: Mutex<String>,
    many: usize,
}

impl Skills for Shelf {
    fn list(&self) -> Result<Vec<ListedSkill>, String> {
        let one = |at: usize| ListedSkill {
            name: format!("s{at}"),
            description: "d".into(),
            category: format!("c{}", at / 150),
        };
        Ok((0..self.many).map(one).collect())
    }

    fn view(&self, name: &str, file_path: Option<&str>) -> Result<ViewedSkill, String> {
        match (name, file_path) {
            ("one", None) => Ok(ViewedSkill {
                name: name.into(),
                description: "d".into(),
                content: self.text.lock().unwrap().clone(),
                linked_files: [("scripts".to_owned(), vec!["scripts/a.sh".to_owned()])].into(),
                missing_variables: vec!["KEY".into()],
                ..ViewedSkill::default()
            }),
            ("one", Some("scripts/a.sh")) => {
                Ok(ViewedSkill { name: name.into(), content: "echo".into(), ..ViewedSkill::default() })
            }
            _ => Err(format!("no skill is called `{name}`")),
        }
    }

    fn change(&self, change: SkillChange<'_>) -> Result<ChangedSkill, String> {
        let message = match change {
            SkillChange::Patch { edit, .. } => {
                let mut text = self.text.lock().unwrap();
                *text = edit(&text)?;
                "patched".to_owned()
            }
            SkillChange::Create { name, content, category } => format!("{name} {content} {category:?}"),
            SkillChange::Edit { name, content } => format!("{name} {content}"),
            SkillChange::WriteFile { name, file_path, content } => format!("{name} {file_path} {content}"),
            SkillChange::RemoveFile { name, file_path } => format!("{name} {file_path}"),
            SkillChange::Delete { name, absorbed_into } => format!("{name} {absorbed_into:?}"),
        };
        Ok(ChangedSkill { message, path: "/s".into(), warnings: vec![] })
    }
}

fn bench(many: usize) -> (Bench, Arc<Shelf>) {
    let shelf = Arc::new(Shelf { text: Mutex::new("First line.\nSecond line.\n".into()), many });
    let mut bench = Bench::new();
    let root = bench.root();
    bench.cx = ToolContext::new(ToolSetup { skills: Some(shelf.clone()), ..Bench::setup(&root) });
    (bench, shelf)
}

#[tokio::test]
async fn skills_are_listed_whole_or_by_category() {
    let (few, _) = bench(2);
    let want = json!({"success": true, "skills": [{"name": "s0", "description": "d", "category": "c0"},
        {"name": "s1", "description": "d", "category": "c0"}], "categories": ["c0"], "count": 2,
        "hint": "skill_view(name) loads one"});
    assert_eq!(few.call("skills_list", json!({})).await, want);
    assert_eq!(few.call("skills_list", json!({"category": "x"})).await["count"], 0);
    let (many, _) = bench(300);
    let all = many.call("skills_list", json!({})).await;
    assert_eq!((&all["count"], &all["categories"]), (&json!(300), &json!(["c0 [150]", "c1 [150]"])));
    assert_eq!(all["skills"].as_array().unwrap().len(), MOST_LISTED);
    let one = many.call("skills_list", json!({"category": "c1"})).await;
    assert_eq!((&one["count"], &one["skills"][0]["name"]), (&json!(150), &json!("s150")));
}

#[tokio::test]
async fn a_skill_is_viewed_with_what_belongs_to_it() {
    let (bench, _) = bench(0);
    let want = json!({"success": true, "name": "one", "description": "d", "content": "First line.\nSecond line.\n",
        "linked_files": {"scripts": ["scripts/a.sh"]}, "missing_environment_variables": ["KEY"],
        "readiness_status": "setup_needed"});
    assert_eq!(bench.call("skill_view", json!({"name": "one"})).await, want);
    let file = bench.call("skill_view", json!({"name": "one", "file_path": "scripts/a.sh"})).await;
    assert_eq!(file, json!({"success": true, "name": "one", "file": "scripts/a.sh", "content": "echo"}));
    let unknown = bench.call("skill_view", json!({"name": "two"})).await;
    assert_eq!(unknown["error"], "no skill is called `two`");
    let none = Bench::new().call("skill_view", json!({"name": "one"})).await;
    assert_eq!(none["error"], "there are no skills in this session");
}

#[tokio::test]
async fn every_action_is_handed_on_and_needs_its_arguments() {
    let (bench, shelf) = bench(0);
    for (args, want) in [
        (json!({"action": "create", "name": "n", "content": "c", "category": "k"}), "n c Some(\"k\")"),
        (json!({"action": "edit", "name": "n", "content": "c"}), "n c"),
        (json!({"action": "write_file", "name": "n", "file_path": "f", "file_content": "c"}), "n f c"),
        (json!({"action": "remove_file", "name": "n", "file_path": "f"}), "n f"),
        (json!({"action": "delete", "name": "n", "absorbed_into": "m"}), "n Some(\"m\")"),
        (json!({"action": "patch", "name": "one", "old_string": "First", "new_string": "1st"}), "patched"),
    ] {
        assert_eq!(bench.call("skill_manage", args).await["message"], want);
    }
    assert_eq!(*shelf.text.lock().unwrap(), "1st line.\nSecond line.\n");
    for (args, want) in [
        (json!({"action": "create", "name": "n"}), "needs `content`"),
        (json!({"action": "patch", "name": "n", "old_string": "a"}), "needs `new_string`"),
        (json!({"action": "write_file", "name": "n", "file_path": "f"}), "needs `file_content`"),
        (
            json!({"action": "patch", "name": "one", "old_string": "line", "new_string": "row"}),
            "matches 2 places",
        ),
        (json!({"action": "forget", "name": "one"}), "must be one of"),
    ] {
        let error = bench.call("skill_manage", args).await["error"].to_string();
        assert!(error.contains(want), "{want}: {error}");
    }
    assert_eq!(*shelf.text.lock().unwrap(), "1st line.\nSecond line.\n");
}
