//! Files in a home directory of Hermes: this one, that of another profile, or the usual one of a user.

use super::credentials::{OTHERS_SETTINGS, OWN_SECRETS, OWN_STORE, OWN_TEMPORARY, OWN_WRITABLE};
use super::user_homes;
use crate::scene::Scene;
use std::path::Path;

pub(super) struct HermesFile<'a> {
    /// Seen from that home.
    inside: &'a Path,
    is_own: bool,
}

impl<'a> HermesFile<'a> {
    pub(super) fn of(path: &'a Path, scene: &Scene) -> Option<Self> {
        let own = &scene.hermes_home;
        let is_profile = own.parent().is_some_and(|parent| parent.ends_with("profiles"));
        let root = if is_profile { own.ancestors().nth(2) } else { Some(own.as_path()) };
        let root = root.filter(|root| !root.as_os_str().is_empty());
        let inside =
            root.and_then(|root| path.strip_prefix(root).ok()).or_else(|| usual_home(path, scene))?;
        // Profiles are homes inside the first one.
        let mut parts = inside.components();
        let inside = match (parts.next().is_some_and(|part| part.as_os_str() == "profiles"), parts.next()) {
            (true, Some(_)) => parts.as_path(),
            _ => inside,
        };
        let is_own = !own.as_os_str().is_empty() && path.strip_prefix(own).is_ok_and(|rest| rest == inside);
        Some(Self { inside, is_own })
    }

    /// Returns true if the first component of its path begins with one of these.
    fn begins_with(&self, names: &[&str]) -> bool {
        let first = self.inside.components().next().and_then(|part| part.as_os_str().to_str());
        first.is_some_and(|first| names.iter().any(|name| first.starts_with(name)))
    }

    pub(super) fn is_store(&self) -> bool {
        self.begins_with(&OWN_STORE)
    }

    pub(super) fn holds_credentials(&self) -> bool {
        self.begins_with(&OWN_SECRETS)
            || self.begins_with(&OWN_TEMPORARY)
            || self.inside.extension().is_some_and(|extension| extension == "tmp")
            || !self.is_own && self.begins_with(&OTHERS_SETTINGS)
    }

    /// All of the directory is Hermes' own, because one stray file there can undo it: a log of the session database
    /// that does not belong to it destroys every session.
    pub(super) fn is_working_file(&self) -> bool {
        self.is_own && OWN_WRITABLE.iter().any(|name| self.inside.starts_with(name))
    }
}

/// A path inside the usual home of Hermes of some user, or that home itself.
fn usual_home<'a>(path: &'a Path, scene: &Scene) -> Option<&'a Path> {
    user_homes(path, scene).find_map(|rest| rest.strip_prefix(".hermes").ok())
}
