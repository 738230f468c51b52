//! Images in a conversation: those that an endpoint refuses, and those in results of tools.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{Session, TurnReport, run_turn};
use hermes_conversation::{
    Content, History, Message, Quirk, Quirks, RawJson, TurnEvent, UserMessage, events,
};
use hermes_images::{Limits as Size, bytes_of, fit};
use hermes_testkit::{MemoryTranscript, ModelStep, ReplyScript, ScriptedModel, lease, png};
use hermes_tools::ApprovalMode;
use hermes_wire::{ApiMode, Failure, Model, ModelProfile, SingleModel};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const TOO_LARGE: &str = "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes";

fn says(text: &str) -> ModelStep {
    ModelStep::Reply(ReplyScript::text(text))
}

fn refused(status: u16, body: &str) -> ModelStep {
    ModelStep::Fail(Failure::Http { status, retry_after: None, body: body.to_owned() })
}

fn url(width: u32) -> String {
    fit(png(width, 1), Size { encoded: usize::MAX, side: u32::MAX }).unwrap().data_url()
}

fn with_image(url: &str) -> UserMessage {
    let parts = json!([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]);
    UserMessage { content: Content::Parts(RawJson::of(&parts).unwrap()), api_content: None }
}

struct Scene {
    folder: tempfile::TempDir,
    session: Session,
    model: Arc<ScriptedModel>,
}

impl Scene {
    fn new(steps: impl IntoIterator<Item = ModelStep>, profile: impl FnOnce(&mut ModelProfile)) -> Self {
        let model = ScriptedModel::of(steps);
        let mut changed = model.profile().clone();
        profile(&mut changed);
        let (history, limits) = (History::default(), Limits::default());
        let session = Session::new(lease("s"), "Be brief.".into(), history, Quirks::default(), limits);
        Self { folder: tempfile::tempdir().unwrap(), session, model: Arc::new(model.with_profile(changed)) }
    }

    /// Runs a turn, and returns its status lines.
    async fn turn(&mut self, message: UserMessage) -> (TurnReport, Vec<String>) {
        let (sink, mut stream) = events();
        let route = Arc::new(SingleModel(self.model.clone()));
        let transcript = Arc::new(MemoryTranscript::new());
        let ports = desk::ports(self.folder.path(), ApprovalMode::Off, route, transcript, sink);
        let report = run_turn(&mut self.session, message, &ports, &CancellationToken::new()).await;
        drop(ports);
        let mut lines = Vec::new();
        while let Some(event) = stream.next().await {
            if let TurnEvent::Status(line) = event {
                lines.push(line);
            }
        }
        (report, lines)
    }

    /// The width of the first image of each request; 0 without one.
    fn widths(&self) -> Vec<u32> {
        let width = |body: Value| {
            let text = body.to_string();
            let url = text.split_once("data:image").map(|(_, rest)| rest.split('"').next().unwrap());
            url.map_or(0, |rest| {
                let bytes = bytes_of(&format!("data:image{rest}")).unwrap();
                fit(bytes, Size { encoded: usize::MAX, side: u32::MAX }).unwrap().size.0
            })
        };
        self.model.bodies().into_iter().map(width).collect()
    }
}

#[tokio::test]
async fn refused_image_is_sent_smaller_before_it_is_left_out() {
    for (steps, image, want, quirks) in [
        (
            vec![refused(400, TOO_LARGE), says("a line")],
            url(4_000),
            vec![4_000, 2_000],
            vec![Quirk::SmallImages],
        ),
        (
            vec![refused(400, TOO_LARGE), refused(400, TOO_LARGE), says("nothing")],
            url(4_000),
            vec![4_000, 2_000, 0],
            vec![Quirk::SmallImages, Quirk::NoImages],
        ),
        // A small one cannot be the reason for long.
        (vec![refused(400, TOO_LARGE), says("nothing")], url(40), vec![40, 0], vec![Quirk::NoImages]),
    ] {
        let mut scene = Scene::new(steps, |_| {});
        let (report, lines) = scene.turn(with_image(&image)).await;
        assert!(report.completed, "{report:?}");
        assert_eq!(scene.widths(), want);
        for quirk in [Quirk::SmallImages, Quirk::NoImages] {
            assert_eq!(scene.session.quirks.has(quirk), quirks.contains(&quirk), "{want:?} {quirk:?}");
        }
        let shrinking = lines.iter().any(|line| line.contains("shrinking the images"));
        assert_eq!(shrinking, want.contains(&2_000), "{lines:?}");
        // The history keeps the image as it was.
        let first = scene.session.history.messages()[0].text().len();
        assert!(first > image.len(), "{first}");
    }
}

#[tokio::test]
async fn later_requests_continue_those_with_small_images() {
    let steps = [refused(400, TOO_LARGE), says("a line"), says("yes"), says("again")];
    let mut scene = Scene::new(steps, |_| {});
    for message in [with_image(&url(4_000)), UserMessage::text("sure?"), with_image(&url(5_000))] {
        assert!(scene.turn(message).await.0.completed);
    }
    let sent: Vec<String> = scene.model.requests().iter().map(|request| text(&request.body)).collect();
    for pair in sent[1..].windows(2) {
        assert!(pair[1].starts_with(pair[0].strip_suffix("]}").unwrap()));
    }
    assert_eq!(sent[3].matches("data:image").count(), 2);
    // A fresh encoder, as after a resume, sends the same.
    let quirks = scene.session.quirks;
    let history =
        History::restore(scene.session.history.messages().iter().map(|one| (**one).clone()).collect());
    let mut resumed = Scene::new([says("ok")], |_| {});
    resumed.session = Session::new(lease("s"), "Be brief.".into(), history, quirks, Limits::default());
    assert!(resumed.turn(UserMessage::text("more")).await.0.completed);
    let body = text(&resumed.model.requests()[0].body);
    assert!(body.starts_with(sent[3].strip_suffix("]}").unwrap()));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn request_that_is_too_large_loses_size_before_images_of_results() {
    let steps = || {
        let call = ReplyScript::call("vision_analyze", json!({"image_url": "a.png", "question": "what?"}));
        let large = || refused(413, "request entity too large");
        [ModelStep::Reply(call), large(), large(), says("Done.")]
    };
    let mut scene = Scene::new(steps(), |profile| profile.sees_images = Some(true));
    std::fs::write(scene.folder.path().join("a.png"), png(4_000, 1)).unwrap();
    let (report, lines) = scene.turn(UserMessage::text("look at a.png")).await;
    assert!(report.completed, "{report:?} {lines:?}");
    assert_eq!(scene.widths(), [0, 4_000, 2_000, 0]);
    assert!(scene.session.quirks.has(Quirk::SmallImages) && scene.session.quirks.has(Quirk::TextResults));
    let last = scene.model.bodies().pop().unwrap().to_string();
    assert!(last.contains("call vision_analyze again for a description"), "{last}");
}

#[tokio::test]
async fn model_that_sees_gets_images_of_results_in_every_format() {
    for mode in [ApiMode::ChatCompletions, ApiMode::AnthropicMessages, ApiMode::CodexResponses] {
        for (sees_images, quirks, is_shown) in [
            (Some(true), Quirks::default(), true),
            (None, Quirks::default(), false),
            (Some(false), Quirks::default(), false),
            (Some(true), Quirks { no_images: true, ..Quirks::default() }, false),
            (Some(true), Quirks { text_results: true, ..Quirks::default() }, false),
        ] {
            let call =
                ReplyScript::call("vision_analyze", json!({"image_url": "a.png", "question": "what?"}));
            let steps = [ModelStep::Reply(call), says("Done.")];
            let mut scene = Scene::new(steps, |profile| {
                (profile.mode, profile.sees_images) = (mode, sees_images);
            });
            scene.session.quirks = quirks;
            std::fs::write(scene.folder.path().join("a.png"), png(2, 2)).unwrap();
            let (report, _) = scene.turn(UserMessage::text("look at a.png")).await;
            assert!(report.completed, "{report:?}");
            let body = scene.model.bodies().pop().unwrap();
            let sent = body.to_string();
            let (data, is_sent) = (url(2), sent.contains("iVBORw0KGgo"));
            assert!(data.contains("iVBORw0KGgo"));
            assert_eq!(is_sent, is_shown, "{mode:?} {sees_images:?} {quirks:?}: {sent}");
            // Without a vision model the tool says so.
            assert_eq!(sent.contains("no model that sees images"), !is_shown, "{mode:?}: {sent}");
            if mode == ApiMode::ChatCompletions {
                hermes_testkit::check(&body).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn repeated_call_gets_its_warning_beside_the_image() {
    let call = || {
        ModelStep::Reply(ReplyScript::call(
            "vision_analyze",
            json!({"image_url": "a.png", "question": "what?"}),
        ))
    };
    let mut scene =
        Scene::new([call(), call(), call(), says("Done.")], |profile| profile.sees_images = Some(true));
    std::fs::write(scene.folder.path().join("a.png"), png(2, 2)).unwrap();
    assert!(scene.turn(UserMessage::text("look at a.png")).await.0.completed);
    let mut results = scene.session.history.messages().iter().filter_map(|message| match &**message {
        Message::Tool(tool) => Some(tool.clone()),
        Message::User(_) | Message::Assistant(_) => None,
    });
    let last = results.next_back().unwrap();
    assert!(last.api_content.is_none() && last.content.has_image(), "{last:?}");
    assert!(last.content.plain_text().lines().count() > 2, "{}", last.content.plain_text());
}
