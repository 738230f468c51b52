//! Images in whole runs: `vision_analyze` and `--image`, for models that see images and for others.

use crate::process::{code, custom_model, hermes, stderr, stdout};
use hermes_config::home::Home;
use hermes_images::{Limits, bytes_of, fit};
use hermes_providers::{ListedModel, Stated};
use hermes_runtime::model_facts;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome, png};
use serde_json::{Value, json};
use std::process::Output;

const SEES: &str = "claude-sonnet-4";

/// A home directory, with a second provider for the auxiliary task.
struct World {
    home: TempHome,
    provider: FakeProvider,
    eyes: FakeProvider,
}

impl World {
    async fn new(model: &str, has_eyes: bool) -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        let eyes = FakeProvider::start().await;
        let own = custom_model(&provider.base_url()).replace("default: m\n", &format!("default: {model}\n"));
        let other = format!("  vision:\n    base_url: {}\n    model: eyes\n", eyes.base_url());
        home.write_config(&(own + if has_eyes { &other } else { "" }));
        Self { home, provider, eyes }
    }

    /// Stores that the model of the conversation does not see images, as its provider would state it.
    fn is_blind(&self) {
        let origin = self.provider.base_url().trim_end_matches("/v1").to_owned();
        let stated = Stated { sees_images: Some(false), ..Stated::default() };
        model_facts::keep(
            &Home::at(self.home.path()),
            &origin,
            &[ListedModel { id: "m".to_owned(), stated }],
        );
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.home.path().join(name), bytes).unwrap();
    }

    fn output(&self, args: &[&str]) -> Output {
        hermes(self.home.path(), self.home.path(), args).output().unwrap()
    }

    fn run(&self, args: &[&str]) -> String {
        let out = self.output(args);
        assert_eq!(code(&out), 0, "{args:?}: {}", stderr(&out));
        stdout(&out)
    }

    /// Scripts a turn in which the model looks at an image.
    fn looks_at(&self, image: &str) {
        let call =
            ReplyScript::call("vision_analyze", json!({"image_url": image, "question": "what is it?"}));
        self.provider.reply(call).reply(ReplyScript::text("Done."));
    }
}

/// Width and height of all images in a request.
fn sizes(body: &Value) -> Vec<(u32, u32)> {
    let parts = body["messages"].as_array().unwrap().iter().flat_map(|message| message["content"].as_array());
    let urls = parts.flatten().filter_map(|part| part["image_url"]["url"].as_str());
    let size =
        |url| fit(bytes_of(url).unwrap(), Limits { encoded: usize::MAX, side: u32::MAX }).unwrap().size;
    urls.map(size).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn model_that_sees_gets_the_image_of_the_tool() {
    let world = World::new(SEES, true).await;
    world.write("a.png", &png(6, 4));
    world.looks_at("a.png");
    world.run(&["-z", "look at a.png", "--record", "run.jsonl"]);
    let bodies = world.provider.bodies();
    assert_eq!((sizes(&bodies[0]), sizes(&bodies[1])), (vec![], vec![(6, 4)]));
    let result = bodies[1]["messages"].as_array().unwrap().iter().find(|one| one["role"] == "tool").unwrap();
    assert!(result["content"].as_str().unwrap().contains("The image is attached: 6x4 pixels"), "{result}");
    assert!(world.eyes.bodies().is_empty(), "no second model is asked");
    // The image is stored: the next request begins with the same messages.
    world.provider.reply(ReplyScript::text("Yes."));
    world.run(&["--continue", "-z", "sure?"]);
    let later = world.provider.bodies().pop().unwrap();
    let (before, after) = (bodies[1]["messages"].as_array().unwrap(), later["messages"].as_array().unwrap());
    assert_eq!(after[..before.len()], before[..]);
    // The recording has the result, so a replay needs neither the file nor a model.
    std::fs::remove_file(world.home.path().join("a.png")).unwrap();
    let replayed = world.output(&["replay", "run.jsonl"]);
    assert_eq!(code(&replayed), 0, "{}{}", stdout(&replayed), stderr(&replayed));
    assert_eq!(world.provider.bodies().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn auxiliary_model_answers_for_a_model_that_may_not_see() {
    let world = World::new("m", true).await;
    world.write("a.png", &png(6, 4));
    world.looks_at("a.png");
    world.eyes.reply(ReplyScript::text("A gradient."));
    world.run(&["-z", "look at a.png"]);
    let bodies = world.provider.bodies();
    assert_eq!(sizes(&bodies[1]), vec![]);
    let last = bodies[1]["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"], r#"{"success":true,"analysis":"A gradient."}"#);
    let asked = world.eyes.bodies().pop().unwrap();
    assert_eq!((asked["model"].as_str(), sizes(&asked)), (Some("eyes"), vec![(6, 4)]));
    assert_eq!(asked["messages"][1]["content"][0]["text"], "what is it?");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_images_are_shrunk_on_every_way() {
    let world = World::new(SEES, true).await;
    world.write("wide.png", &png(9_000, 1));
    world.looks_at("wide.png");
    world.run(&["-z", "look", "--image", "wide.png"]);
    let bodies = world.provider.bodies();
    assert_eq!((sizes(&bodies[0]), sizes(&bodies[1])), (vec![(7_900, 1)], vec![(7_900, 1); 2]));
    let world = World::new("m", true).await;
    world.write("wide.png", &png(9_000, 1));
    world.looks_at("wide.png");
    world.eyes.reply(ReplyScript::text("A line."));
    world.run(&["-z", "look"]);
    assert_eq!(sizes(&world.eyes.bodies()[0]), [(7_900, 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_for_a_model_that_cannot_see_has_a_description() {
    let world = World::new("m", true).await;
    world.is_blind();
    world.write("a.png", &png(6, 4));
    world.eyes.reply(ReplyScript::text("A gradient."));
    world.provider.replies([ReplyScript::text("Nice."), ReplyScript::text("Yes.")]);
    let out = world.output(&["-z", "look", "--image", "a.png"]);
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "Nice.\n"), "{}", stderr(&out));
    let notice = "m cannot see images; another model described them";
    assert_eq!(stderr(&out).matches(notice).count(), 1, "{}", stderr(&out));
    let want = "look\n\n[Image 1, as another model describes it]\nA gradient.";
    world.run(&["--continue", "-z", "sure?"]);
    for body in world.provider.bodies() {
        assert_eq!(body["messages"][1]["content"], want);
    }
    let question = world.eyes.bodies()[0]["messages"][1]["content"][0]["text"].to_string();
    assert!(question.contains("The message:\\nlook"), "{question}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_that_sees_nothing_is_offered_or_sent() {
    let world = World::new("m", false).await;
    world.is_blind();
    world.write("a.png", &png(6, 4));
    let out = world.output(&["-z", "look", "--image", "a.png"]);
    assert_ne!(code(&out), 0);
    let error = stderr(&out);
    assert!(error.contains("the prompt was not sent: the model cannot see images"), "{error}");
    assert!(error.contains("set auxiliary.vision.provider and auxiliary.vision.model"), "{error}");
    assert!(world.provider.bodies().is_empty());
    world.provider.reply(ReplyScript::text("Hi."));
    world.run(&["-z", "hi"]);
    assert!(!world.provider.bodies()[0]["tools"].to_string().contains("vision_analyze"));
    let tools = world.run(&["tools", "list"]);
    assert!(tools.contains("no model that sees images is set up"), "{tools}");
}
