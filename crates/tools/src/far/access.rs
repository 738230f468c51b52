//! Decisions about accesses to files of a place.
//!
//! Before a call runs, its paths are judged as written, because nothing waits there. While it runs, the real path is
//! known and judged again: what that needs beyond what the user was asked is refused.

use super::FarFiles;
use crate::safety::{FAR_HOME, NO_PROJECT};
use crate::{
    Action, ActionKind, CallScope, Decision, FarPlace, ToolContext, ToolError, decide, paths, protect,
};
use hermes_far_files::{Facts, FarShell, Look};
use hermes_gate::{Assessment, Scene, Verdict, assess_delete, assess_read, assess_write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Delete,
}

impl Access {
    fn assess(self, path: &Path, scene: &Scene) -> Assessment {
        match self {
            Self::Read => assess_read(path, scene),
            Self::Write => assess_write(path, scene),
            Self::Delete => assess_delete(path, scene),
        }
    }
}

impl ToolContext {
    /// The path of a file of the place, as far as it is known without asking there: absolute, or below `~`.
    pub(crate) fn far_path(&self, path: &Path, cwd: &Path) -> PathBuf {
        let home = self.far_shell().map(|shell| shell.home.as_path()).unwrap_or(Path::new("~"));
        let expanded = |path: &Path| match paths::below_home(path) {
            Some(rest) => home.join(rest),
            None => path.to_owned(),
        };
        let named = expanded(path);
        let path = if named.starts_with("~") { named } else { expanded(&cwd.join(named)) };
        match path.strip_prefix("~") {
            Ok(rest) => Path::new("~").join(paths::normalised(rest)),
            Err(_) => paths::normalised(&path),
        }
    }

    /// A file of this machine that a session with a far place may read: long results and pages of the web, which
    /// earlier results name.
    pub(crate) fn kept_here(&self, path: &Path) -> Option<PathBuf> {
        self.far()?;
        let path = paths::normalised(path);
        let dirs = [self.results_dir(), self.web_dir()].map(|dir| (paths::real(&dir), dir));
        let is_below = |(real, dir): &&(PathBuf, PathBuf)| path.starts_with(real) || path.starts_with(dir);
        let (dir, _) = dirs.iter().find(is_below)?;
        Some(paths::real(&path)).filter(|real| real.starts_with(dir))
    }

    /// Returns true if a path is one of the place, where that is not this machine.
    pub(crate) fn is_far(&self, path: &Path) -> bool {
        self.far().is_some() && self.kept_here(path).is_none()
    }

    /// The path and the facts by which an access to a file of the place is judged. Before the home directory there is
    /// known, one that looks like a home directory counts as it.
    pub(crate) fn far_judged(&self, path: &Path, cwd: &Path, far: &FarPlace) -> (PathBuf, Scene) {
        let home = match self.far_shell() {
            Some(FarShell { home, .. }) => home.clone(),
            None => likely_home(path),
        };
        let judged = path.strip_prefix("~").map_or(path.to_owned(), |rest| home.join(rest));
        (judged, self.far_scene(cwd, far, &home))
    }

    /// The reason why a file must not be read, if any.
    pub(crate) fn unreadable(&self, path: &Path) -> Option<String> {
        match self.far().filter(|_| self.is_far(path)) {
            None => protect::unreadable(path, self.places()),
            Some(far) => {
                let (path, scene) = self.far_judged(path, &self.cwd(), far);
                protect::denied_read(&path, &scene)
            }
        }
    }

    /// The warning about a file outside of the directory in which commands of a place begin.
    pub(crate) fn outside_far(&self, path: &Path) -> Option<String> {
        let far = self.far()?;
        let project = self.far_judged(path, &self.cwd(), far).1.project;
        let is_known = project != Path::new(NO_PROJECT);
        let is_inside = path.starts_with(&project) || path.starts_with(self.cwd());
        (is_known && !is_inside)
            .then(|| format!("This file is outside of the workspace {}.", project.display()))
    }

    /// The digest of a file of this place, for the call that was to change it; the inner `None` means that there is no
    /// file. `None` if commands do not run at this place any more, or if it cannot be asked.
    pub async fn far_digest(&self, place: &str, path: &Path) -> Option<Option<String>> {
        let files = FarFiles::of(self, &CancellationToken::new()).filter(|files| files.label == place)?;
        let digest = files.digest(path).await;
        digest.inspect_err(|error| tracing::warn!(%error, "cannot look at a file of the last turn")).ok()
    }

    /// The kind of an access for approvals.
    pub(crate) fn access_kind(&self) -> ActionKind {
        match self.far() {
            Some(FarPlace { reaches: None, .. }) => ActionKind::IsolatedAccess,
            _ => ActionKind::Access,
        }
    }

    /// The path and the facts by which an access is judged.
    pub(crate) fn judged(&self, path: PathBuf, cwd: &Path) -> (PathBuf, Scene) {
        match self.far().filter(|_| self.is_far(&path)) {
            Some(far) => self.far_judged(&path, cwd, far),
            None => (path, self.scene(cwd)),
        }
    }
}

/// The home directory that a path is in, by its location.
fn likely_home(path: &Path) -> PathBuf {
    let parts: Vec<Component<'_>> = path.components().take(3).collect();
    match parts.as_slice() {
        [Component::RootDir, Component::Normal(first), ..] if *first == "root" => PathBuf::from("/root"),
        [Component::RootDir, Component::Normal(first), name] if *first == "home" => {
            Path::new("/home").join(name)
        }
        _ => PathBuf::from(FAR_HOME),
    }
}

impl FarFiles<'_> {
    /// Looks at the path of a call and checks the access to what it leads to.
    pub(crate) async fn located(
        &self,
        path: &Path,
        access: Access,
        scope: &CallScope,
    ) -> Result<Look, ToolError> {
        self.shell().await?;
        let named = self.cx.far_path(path, &scope.cwd);
        let look = self.look(&named, access == Access::Read).await?;
        self.check(&look.real, access, scope).map_err(ToolError::failed)?;
        Ok(look)
    }

    /// Looks at the root of a search. A directory may be searched; its files are checked one by one.
    pub(crate) async fn located_to_search(&self, path: &Path, scope: &CallScope) -> Result<Look, ToolError> {
        self.shell().await?;
        let look = self.look(&self.cx.far_path(path, &scope.cwd), false).await?;
        let is_directory = look.facts.as_ref().is_some_and(Facts::is_directory);
        match is_directory {
            true => Ok(look),
            false => self.check(&look.real, Access::Read, scope).map(|()| look).map_err(ToolError::failed),
        }
    }

    /// Checks an access to a real path.
    pub(crate) fn check(&self, real: &Path, access: Access, scope: &CallScope) -> Result<(), String> {
        let is_plain = real.is_absolute() && !real.components().any(|part| part == Component::ParentDir);
        let Some(far) = self.cx.far().filter(|_| is_plain) else {
            return Err(format!("{} cannot be resolved", real.display()));
        };
        let (path, scene) = self.cx.far_judged(real, &scope.cwd, far);
        let assessment = access.assess(&path, &scene);
        if let Some(finding) = assessment.worst().filter(|finding| finding.verdict == Verdict::Deny) {
            return Err(finding.reason.clone());
        }
        let action = Action {
            kind: self.cx.access_kind(),
            text: format!("access {}", real.display()),
            cwd: scope.cwd.clone(),
            environment: Arc::default(),
            assessment,
        };
        match decide(&action, &self.cx.settings().approvals, &self.cx.approvals()) {
            Decision::Run { .. } => Ok(()),
            Decision::Refuse { text, .. } => Err(text),
            Decision::Ask => {
                let asked = |rule: &str| scope.asked.iter().any(|known| known == rule);
                let mut findings = action.assessment.findings.iter();
                match findings.find(|found| found.verdict == Verdict::Ask && !asked(&found.rule)) {
                    None => Ok(()),
                    Some(found) => Err(format!(
                        "{}, which needs the approval of the user: call again with that path, so that they are asked",
                        found.reason
                    )),
                }
            }
        }
    }
}
