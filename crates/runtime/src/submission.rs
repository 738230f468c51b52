//! A prompt as a front end submits it, and the front end it comes from.

use crate::{ExpandedPrompt, Image, RuntimeError, Session, message_with_images, model_facts};
use hermes_agent::Input;
use hermes_attachments::{References, Sources, message_with_descriptions};
use hermes_conversation::MailMode;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// The place that a session is used from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// `cli`, or the name of a chat platform.
    pub platform: String,
    /// The user's id on that platform.
    pub user: Option<String>,
    /// The chat, and its thread if it has one.
    pub chat: Option<String>,
}

impl Surface {
    /// The terminal of this machine.
    pub fn terminal() -> Self {
        Self::of("cli")
    }

    pub fn of(platform: impl Into<String>) -> Self {
        Self { platform: platform.into(), user: None, chat: None }
    }
}

/// The way a session is opened.
#[derive(Debug, Clone)]
pub struct Opening {
    pub surface: Surface,
    /// The tag of the session's row, where that is not the platform.
    pub source: Option<String>,
    /// The working directory; `None` means that of the process, or `terminal.cwd`.
    pub cwd: Option<PathBuf>,
    /// Skills whose texts go into the system prompt.
    pub skills: Vec<String>,
    /// More text for the system prompt.
    pub instructions: Option<String>,
    /// Completed turns are followed by a title and a review.
    pub works_in_background: bool,
}

impl Opening {
    pub fn on(surface: Surface) -> Self {
        Self {
            surface,
            source: None,
            cwd: None,
            skills: Vec::new(),
            instructions: None,
            works_in_background: false,
        }
    }
}

/// A message for a session.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub text: String,
    pub images: Vec<Image>,
    /// The working directory from this prompt on; `None` keeps the session's.
    pub cwd: Option<PathBuf>,
    /// The delivery of the prompt while a turn runs.
    pub when_busy: MailMode,
    /// Attach what `@file:PATH` and its like refer to. Off for texts that were not typed.
    pub expands_references: bool,
}

impl Prompt {
    /// A typed prompt: references are attached, and a running turn is interrupted.
    pub fn typed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            images: Vec::new(),
            cwd: None,
            when_busy: MailMode::Interrupt,
            expands_references: true,
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::typed(text)
    }
}

impl Session {
    /// Turns a prompt into the input of a turn: queued messages come before it, references and images are
    /// attached. Returns warnings about references beside it.
    pub(crate) async fn input_of(
        &mut self,
        prompt: Prompt,
        cancel: &CancellationToken,
    ) -> Result<(Input, Vec<String>), RuntimeError> {
        if let Some(cwd) = prompt.cwd {
            self.set_cwd(cwd);
        }
        let waiting = self.waiting().await?;
        let (text, mut warnings) = match prompt.expands_references {
            true => {
                let ExpandedPrompt { text, warnings } = self.with_references(prompt.text).await;
                (text, warnings)
            }
            false => (prompt.text, Vec::new()),
        };
        let message = match self.cannot_see(&prompt.images) {
            true => {
                warnings.push(format!(
                    "{} cannot see images; another model described them",
                    self.endpoint().model
                ));
                let vision = self.vision();
                let describing = message_with_descriptions(&text, &prompt.images, &vision);
                let cancelled = || RuntimeError::NoAnswer("describing the images was cancelled".to_owned());
                cancel.run_until_cancelled(describing).await.ok_or_else(cancelled)??
            }
            false => message_with_images(&text, &prompt.images),
        };
        Ok((Input::after_mail(waiting, message), warnings))
    }

    /// Returns true if there are images and the model is known not to see them.
    fn cannot_see(&self, images: &[Image]) -> bool {
        let sight = || model_facts::known(self.runtime().home(), self.endpoint()).sees_images;
        !images.is_empty() && sight().is_some_and(|fact| !fact.value)
    }

    /// Attaches what a text refers to. A text without references stays as it is.
    async fn with_references(&self, text: String) -> ExpandedPrompt {
        let Some(references) = References::find(&text) else {
            return ExpandedPrompt { text, warnings: Vec::new() };
        };
        let (runtime, cwd) = (self.runtime(), self.cwd());
        let places = runtime.places();
        let web = match runtime.web() {
            Ok(web) => web,
            Err(error) => return ExpandedPrompt { text, warnings: vec![error.to_string()] },
        };
        let sources = Sources {
            cwd: &cwd,
            places: &places,
            shell: &runtime.launch.shell,
            secrets: &runtime.secrets,
            web: &*web,
        };
        let window = model_facts::known(runtime.home(), self.endpoint()).window.value;
        references.attach(&sources, &runtime.fence_key(), window).await
    }
}
