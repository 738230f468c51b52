//! A home with a project inside and a model that records its requests.

use crate::process::{custom_model, finished, hermes};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use std::path::PathBuf;
use std::process::Output;

pub(crate) struct Scene {
    pub(crate) home: TempHome,
    pub(crate) provider: FakeProvider,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        provider.answer_with(|_| ReplyScript::text("Yes."));
        home.write_config(&custom_model(&provider.base_url()));
        std::fs::create_dir(home.path().join("work")).unwrap();
        Self { home, provider }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// Runs the program in the project.
    pub(crate) async fn run(&self, args: &[&str]) -> Output {
        finished(hermes(self.home.path(), &self.work(), args)).await
    }

    /// All that the model was sent.
    pub(crate) fn sent(&self) -> String {
        self.provider.bodies().iter().map(ToString::to_string).collect()
    }
}
