use super::*;
use hermes_conversation::{BoxFuture, Cost};
use hermes_testkit::png;
use hermes_tools::Analysis;

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

#[test]
fn message_has_text_and_images() {
    let (_dir, path) = file(&png(1, 1));
    let image = Image::read(&path).unwrap();
    let message = message_with_images("look", &[image]);
    let parts: Value = serde_json::from_str(message.content.as_text()).unwrap();
    assert_eq!(parts[0], json!({"type": "text", "text": "look"}));
    let url = parts[1]["image_url"]["url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,"), "{url}");
    assert_eq!(hermes_images::bytes_of(url), Some(png(1, 1)));
    assert_eq!(message_with_images("plain", &[]), UserMessage::text("plain"));
}

#[test]
fn large_image_is_shrunk() {
    let (_dir, path) = file(&png(8_000, 2));
    let image = Image::read(&path).unwrap();
    assert_eq!((image.fitted.size, image.fitted.was), ((7_900, 2), (8_000, 2)));
}

#[test]
fn unusable_files_are_errors() {
    let cut = png(4, 4);
    for (bytes, want) in [
        (&b"nothing"[..], "a.txt cannot be attached: it is not a PNG, JPEG, GIF or WebP image"),
        (&cut[..cut.len() - 40], "a.txt cannot be attached: the PNG file is damaged or incomplete"),
    ] {
        let (_dir, path) = file(bytes);
        let error = Image::read(&path).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
    let (dir, path) = file(b"");
    assert!(matches!(Image::read(&dir.path().join("none")), Err(ImageError::Unreadable { .. })));
    std::fs::File::create(&path).unwrap().set_len(MAX_IMAGE + 1).unwrap();
    let error = Image::read(&path).unwrap_err().to_string();
    assert!(error.ends_with("a.txt is larger than 50 MiB"), "{error}");
}

/// Says how many bytes an image has; fails on a second one.
struct Sizes(std::sync::atomic::AtomicBool);

impl Vision for Sizes {
    fn describe<'a>(&'a self, image: Vec<u8>, question: &'a str) -> BoxFuture<'a, Result<Analysis, String>> {
        let is_second = self.0.swap(true, std::sync::atomic::Ordering::Relaxed);
        let text = format!("{} bytes; asked: {}", image.len(), question.lines().last().unwrap_or_default());
        Box::pin(async move {
            match is_second {
                true => Err("no model is set up".to_owned()),
                false => Ok(Analysis { text, cost: Cost::default() }),
            }
        })
    }
}

#[tokio::test]
async fn description_is_a_part_of_the_text() {
    let (_dir, path) = file(&png(1, 1));
    let image = Image::read(&path).unwrap();
    let size = png(1, 1).len();
    let message = message_with_descriptions("look", std::slice::from_ref(&image), &Sizes(false.into())).await;
    let want = format!("look\n\n[Image 1, as another model describes it]\n{size} bytes; asked: look");
    assert_eq!(message.unwrap(), UserMessage::text(want));
    let error = message_with_descriptions("look", &[image.clone(), image], &Sizes(false.into())).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "the prompt was not sent: the model cannot see images, and no model is set up"
    );
}
