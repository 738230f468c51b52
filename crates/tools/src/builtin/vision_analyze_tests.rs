use super::*;
use crate::testing::Bench;
use crate::{
    Analysis, ApprovalMode, Finished, RunScope, ToolSettings, ToolSetup, Vision, Web, WebHit, WebPage,
};
use hermes_conversation::{BoxFuture, Content, Cost, IntentId, StartPermit};
use hermes_testkit::{png, png_bomb};
use serde_json::Value;
use std::sync::Mutex;

/// A vision model that notes the sizes of images and the questions.
#[derive(Default)]
struct Eyes(Mutex<Vec<(usize, String)>>);

const ANSWER: &str = "A gradient from black to blue, without text.";

impl Vision for Eyes {
    fn describe<'a>(&'a self, image: Vec<u8>, question: &'a str) -> BoxFuture<'a, Result<Analysis, String>> {
        self.0.lock().unwrap().push((image.len(), question.to_owned()));
        Box::pin(async move {
            match question {
                "fail" => Err("no model described the image: busy".to_owned()),
                _ => Ok(Analysis { text: ANSWER.to_owned(), cost: Cost::default() }),
            }
        })
    }
}

/// A web with one image, at any address but those of `private.example`.
struct OneImage;

impl Web for OneImage {
    fn refusal(&self, url: &str) -> Option<String> {
        url.contains("private.example").then(|| "an address was refused: private".to_owned())
    }

    fn search<'a>(&'a self, _: &'a str, _: usize) -> BoxFuture<'a, Result<Vec<WebHit>, String>> {
        Box::pin(async { Err("no search".to_owned()) })
    }

    fn extract<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Vec<WebPage>> {
        Box::pin(async { Vec::new() })
    }

    fn file<'a>(&'a self, url: &'a str, most: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        assert_eq!(most, 50 << 20);
        Box::pin(async move {
            match url.ends_with("/gone") {
                true => Err("the server answered with status 404".to_owned()),
                false => Ok(png(4, 3)),
            }
        })
    }
}

struct Desk {
    bench: Bench,
    eyes: Arc<Eyes>,
}

impl Desk {
    fn new() -> Self {
        let mut bench = Bench::new();
        let eyes = Arc::new(Eyes::default());
        bench.cx = ToolContext::new(ToolSetup {
            web: Some(Arc::new(OneImage)),
            vision: Some(eyes.clone()),
            ..Bench::setup(&bench.root())
        });
        Self { bench, eyes }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.bench.path(name), bytes).unwrap();
    }

    async fn look(&self, image: &str, question: &str, sees_images: bool) -> Finished {
        let prepared =
            self.bench.prepare(VisionAnalyze::NAME, json!({"image_url": image, "question": question}));
        let scope = RunScope { sees_images, ..self.bench.run_scope() };
        prepared.run(StartPermit::issue(IntentId(7)), &self.bench.cx, scope).await
    }

    async fn answer(&self, image: &str, question: &str) -> Value {
        let finished = self.look(image, question, false).await;
        serde_json::from_str(finished.message.content.as_text()).unwrap()
    }

    async fn error(&self, image: &str, sees_images: bool) -> String {
        let finished = self.look(image, "what?", sees_images).await;
        assert!(finished.failed, "{image}");
        let value: Value = serde_json::from_str(finished.message.content.as_text()).unwrap();
        value["error"].as_str().unwrap().to_owned()
    }
}

fn data_url(bytes: &[u8]) -> String {
    let limits = Limits { encoded: usize::MAX, side: u32::MAX };
    fit(bytes.to_vec(), limits).unwrap().data_url()
}

#[tokio::test]
async fn second_model_answers_for_a_model_that_sees_no_images() {
    let desk = Desk::new();
    desk.write("a b.png", &png(2, 2));
    let absolute = desk.bench.path("a b.png").display().to_string();
    let size = png(2, 2).len();
    for (image, bytes) in [
        ("a b.png", size),
        (&absolute, size),
        (&format!("file://{absolute}"), size),
        (&data_url(&png(2, 2)), size),
        ("https://x.example/a.png", png(4, 3).len()),
    ] {
        let value = desk.answer(image, "what?").await;
        assert_eq!(value, json!({"success": true, "analysis": ANSWER}), "{image}");
        assert_eq!(desk.eyes.0.lock().unwrap().pop(), Some((bytes, "what?".to_owned())), "{image}");
    }
    assert_eq!(desk.answer("a b.png", "fail").await, json!({"error": "no model described the image: busy"}));
    // What a model says about an image from the web may repeat instructions that are in it.
    let sent = desk.look("https://x.example/a.png", "what?", false).await.message.api_content.unwrap();
    assert!(sent.starts_with("<untrusted_tool_result source=\"vision_analyze\""), "{sent}");
    assert_eq!(desk.look("a b.png", "what?", false).await.message.api_content, None);
}

#[tokio::test]
async fn model_that_sees_images_gets_the_image() {
    let desk = Desk::new();
    desk.write("a.png", &png(2, 2));
    desk.write("wide.png", &png(8_000, 1));
    for (image, width, has_note) in [
        ("a.png", 2, None),
        ("wide.png", 7_900, Some("shrunk_from")),
        ("https://x.example/a.png", 4, Some("warning")),
    ] {
        let message = desk.look(image, "what?", true).await.message;
        assert_eq!(message.api_content, None, "{image}: a text would stand instead of the image");
        let Content::Parts(parts) = &message.content else { panic!("{image}: {message:?}") };
        let parts: Vec<Value> = serde_json::from_str(parts.as_str()).unwrap();
        let text: Value = serde_json::from_str(parts[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text["success"], true, "{image}");
        for note in ["shrunk_from", "warning"] {
            assert_eq!(text.get(note).is_some(), has_note == Some(note), "{image}: {text}");
        }
        let bytes = bytes_of(parts[1]["image_url"]["url"].as_str().unwrap()).unwrap();
        assert_eq!((fit(bytes, Limits::STANDARD).unwrap().size.0, parts.len()), (width, 2), "{image}");
    }
    assert!(desk.eyes.0.lock().unwrap().is_empty(), "no other model was asked");
}

#[tokio::test]
async fn files_that_are_not_images_are_errors_and_not_sent() {
    let desk = Desk::new();
    let cut = png(20, 20);
    desk.write("text.png", b"#!/bin/sh");
    desk.write("cut.png", &cut[..cut.len() / 2]);
    desk.write("bomb.png", &png_bomb(50_000, 50_000));
    std::fs::File::create(desk.bench.path("large.png")).unwrap().set_len(60 << 20).unwrap();
    for (image, want) in [
        ("text.png", "the image is not sent: it is not a PNG, JPEG, GIF or WebP image"),
        ("cut.png", "the image is not sent: the PNG file is damaged or incomplete"),
        ("bomb.png", "the image is not sent: it has more pixels than can be decoded"),
        ("large.png", "has more than 50 MiB"),
        ("none.png", "could not read"),
        (".", "a directory"),
        ("data:image/png;base64,###", "no valid base64"),
        ("data:image/png,abc", "no valid base64"),
        ("https://x.example/gone", "status 404"),
    ] {
        let error = desk.error(image, true).await;
        assert!(error.contains(want), "{image}: {error}");
    }
}

#[tokio::test]
async fn protected_files_and_refused_addresses_are_denied() {
    let desk = Desk::new();
    desk.write(".env", &png(1, 1));
    std::os::unix::fs::symlink(".env", desk.bench.path("link.png")).unwrap();
    for (image, want) in [
        (".env", "holds credentials"),
        ("link.png", "holds credentials"),
        ("file://.env", "holds credentials"),
        ("https://private.example/a.png", "an address was refused: private"),
    ] {
        for sees_images in [true, false] {
            let error = desk.error(image, sees_images).await;
            assert!(error.contains(want), "{image}: {error}");
        }
    }
    assert!(desk.eyes.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn image_is_read_where_commands_run() {
    let (bench, place) = Bench::far(ToolSettings::with_approvals(ApprovalMode::Off));
    let desk = Desk { bench, eyes: Arc::default() };
    desk.write("a.png", &png(2, 2));
    let shown = desk.look("a.png", "what?", true).await;
    assert!(shown.message.content.as_text().contains(&data_url(&png(2, 2))), "{:?}", shown.message);
    assert!(*place.sent.lock().unwrap() > png(2, 2).len());
    let error = desk.error("none.png", true).await;
    assert!(error.ends_with("none.png does not exist"), "{error}");
    let error = desk.error("/etc/shadow", true).await;
    assert!(error.contains("Not run") || error.contains("not run"), "{error}");
}

#[tokio::test]
async fn session_without_vision_models_says_so() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.png"), png(1, 1)).unwrap();
    let value = bench.call(VisionAnalyze::NAME, json!({"image_url": "a.png", "question": "what?"})).await;
    assert_eq!(value, json!({"error": "this session has no model that sees images"}));
}

#[tokio::test]
async fn read_file_names_the_tool_only_where_it_is() {
    let desk = Desk::new();
    let without = Bench::new();
    for (bench, names_it) in [(&desk.bench, true), (&without, false)] {
        std::fs::write(bench.path("a.png"), b"\0PNG").unwrap();
        let error = bench.call("read_file", json!({"path": "a.png"})).await["error"].to_string();
        assert_eq!(error.contains(VisionAnalyze::NAME), names_it, "{error}");
    }
}

#[test]
fn titles_are_short() {
    let title = VisionAnalyze::FACTS.title.unwrap();
    let of = |image: &str| format!("{:?}", title(&json!({"image_url": image})));
    assert!(of("cat.png").contains("cat.png"));
    assert!(of("data:image/png;base64,AAAA").contains("an image"));
    assert!(of(&"x".repeat(5_000)).len() < 300);
}
