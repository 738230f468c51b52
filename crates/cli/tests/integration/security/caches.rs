//! Caches that a command of the model can write are not believed.

use super::scene::Scene;
use crate::process::{code, stderr};
use hermes_testkit::ReplyScript;
use serde_json::json;

const SKILL: &str = "---\nname: tidy\ndescription: Honest text.\n---\nDo it.\n";

#[tokio::test]
async fn forged_skills_cache_does_not_reach_the_prompt() {
    let scene = Scene::new().await;
    scene.home.write("skills/tidy/SKILL.md", SKILL);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for path in ["skills/tidy/SKILL.md", "skills/tidy", "skills"] {
        let file = std::fs::File::open(scene.home.path().join(path)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    assert_eq!(code(&scene.run(&["-z", "hi"]).await), 0);
    // A command of the model rewrites what the last run remembered.
    let forge = "sed -i 's/Honest text/FORGED TEXT/' \"$HOME/cache/skills.json\" && grep -c FORGED \"$HOME/cache/skills.json\"";
    scene.provider.reply(ReplyScript::call("terminal", json!({ "command": forge })));
    scene.provider.reply(ReplyScript::text("Done."));
    let out = scene.run(&["--yolo", "-z", "forge"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let forged = std::fs::read_to_string(scene.home.path().join("cache/skills.json")).unwrap();
    assert!(forged.contains("FORGED TEXT"), "{forged}");
    assert_eq!(code(&scene.run(&["-z", "hi"]).await), 0);
    let bodies = scene.provider.bodies();
    let prompt = bodies.last().unwrap()["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("tidy: Honest text.") && !prompt.contains("FORGED"), "{prompt}");
}
