//! An instance of Singularity or Apptainer.
//!
//! Only tried with a stand-in program: no package of the real one was available.

use crate::error::PlaceError;
use crate::isolation::Isolation;
use crate::place::{Place, digest, words};
use std::path::PathBuf;

/// The settings of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingularitySettings {
    /// `apptainer` or `singularity`.
    pub program: String,
    pub image: String,
    pub cpu: u64,
    /// MiB.
    pub memory: u64,
    /// The directory of overlays; `None` keeps nothing.
    pub overlays: Option<PathBuf>,
    pub task: String,
    pub profile: String,
    /// The directory of the first command; empty for `/root`.
    pub directory: String,
}

#[derive(Debug)]
pub(crate) struct Instance {
    settings: SingularitySettings,
    name: String,
    making: tokio::sync::Mutex<()>,
}

impl Instance {
    pub(crate) fn new(settings: SingularitySettings) -> Self {
        let start = start_arguments(&settings, "");
        let texts =
            start.iter().map(String::as_str).chain([settings.profile.as_str(), settings.task.as_str()]);
        let name = format!("hermes_{}", digest(texts, 12));
        Self { settings, name, making: tokio::sync::Mutex::default() }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        match self.settings.directory.as_str() {
            "" => PathBuf::from("/root"),
            directory => PathBuf::from(directory),
        }
    }

    pub(crate) fn label(&self) -> String {
        format!("the instance {} ({})", self.name, self.settings.image)
    }

    pub(crate) fn isolation(&self) -> Isolation {
        Isolation::Isolated
    }

    pub(crate) fn client(&self, program: &[String]) -> Vec<String> {
        let mut argv =
            vec![self.settings.program.clone(), "exec".to_owned(), format!("instance://{}", self.name)];
        argv.extend_from_slice(program);
        argv
    }

    pub(crate) fn advice(&self) -> String {
        let program = &self.settings.program;
        format!("check that `{program} instance list` works and that terminal.singularity_image can be used")
    }

    pub(crate) async fn make_ready(&self, place: &Place) -> Result<(), PlaceError> {
        let _making = self.making.lock().await;
        let probe = self.client(&words(&["bash", "-c", "true"]));
        if place.run(&probe).await?.exit_code == 0 {
            return Ok(());
        }
        // A dead instance would hold the name.
        let stop = words(&[&self.settings.program, "instance", "stop", &self.name]);
        place.run(&stop).await?;
        if let Some(overlay) = overlay(&self.settings) {
            // A failure is reported by the program, which names the directory.
            let _ = std::fs::create_dir_all(overlay);
        }
        let mut argv = vec![self.settings.program.clone()];
        argv.extend(start_arguments(&self.settings, &self.name));
        let started = place.run(&argv).await?;
        let probed = place.run(&probe).await?;
        match (started.exit_code, probed.exit_code) {
            (_, 0) => Ok(()),
            (0, _) => Err(place.failed(&probe, &probed, self.advice())),
            _ => Err(place.failed(&argv, &started, self.advice())),
        }
    }
}

/// The arguments that start the instance.
fn start_arguments(settings: &SingularitySettings, name: &str) -> Vec<String> {
    let mut argv = words(&["instance", "start", "--containall", "--no-home"]);
    match overlay(settings) {
        Some(overlay) => argv.extend(["--overlay".to_owned(), overlay.display().to_string()]),
        None => argv.push("--writable-tmpfs".to_owned()),
    }
    if settings.memory > 0 {
        argv.extend(["--memory".to_owned(), format!("{}M", settings.memory)]);
    }
    if settings.cpu > 0 {
        argv.extend(["--cpus".to_owned(), settings.cpu.to_string()]);
    }
    argv.extend([settings.image.clone(), name.to_owned()]);
    argv
}

fn overlay(settings: &SingularitySettings) -> Option<PathBuf> {
    let directory = settings.overlays.as_ref()?;
    Some(directory.join("hermes-overlays").join(format!("overlay-{}", settings.task)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> SingularitySettings {
        SingularitySettings {
            program: "apptainer".into(),
            image: "docker://debian:12".into(),
            cpu: 1,
            memory: 5120,
            overlays: Some("/scratch".into()),
            task: "default".into(),
            profile: "p".into(),
            directory: String::new(),
        }
    }

    #[test]
    fn instance_is_closed_and_limited() {
        let argv = start_arguments(&settings(), "hermes_1");
        assert_eq!(
            argv.join(" "),
            "instance start --containall --no-home --overlay /scratch/hermes-overlays/overlay-default --memory 5120M --cpus 1 \
             docker://debian:12 hermes_1"
        );
        let bare = SingularitySettings { cpu: 0, memory: 0, overlays: None, ..settings() };
        let argv = start_arguments(&bare, "n");
        assert_eq!(
            argv.join(" "),
            "instance start --containall --no-home --writable-tmpfs docker://debian:12 n"
        );
    }

    #[test]
    fn name_depends_on_settings() {
        let one = Instance::new(settings());
        let other = Instance::new(SingularitySettings { image: "other.sif".into(), ..settings() });
        assert!(one.name.starts_with("hermes_") && one.name.len() == 19 && one.name != other.name);
        let argv = one.client(&words(&["bash"]));
        assert_eq!(
            argv,
            [words(&["apptainer", "exec"]), vec![format!("instance://{}", one.name), "bash".into()]].concat()
        );
    }
}
