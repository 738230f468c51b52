//! Limits of the store: checkpoints per project, total size, age, projects that are gone.

use crate::git::Git;
use crate::layout::{REFS, reference};
use crate::{CheckpointError, CheckpointStore, journal};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Objects that are younger are kept, because another process may be about to use them.
const PRUNE: &str = "--prune=10.minutes.ago";
/// Rounds in which the oldest checkpoint of every project is dropped to reach the total size.
const MOST_ROUNDS: usize = 20;

/// A project in the store.
#[derive(Debug, Clone, PartialEq)]
struct Project {
    key: String,
    directory: PathBuf,
    last_touch: f64,
}

/// The reason why a project leaves the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expired {
    Orphan,
    Stale,
}

/// One commit of a chain.
struct Link {
    tree: String,
    /// Seconds since 1970.
    at: String,
    reason: String,
}

impl CheckpointStore {
    /// Notes the use of a project, in the format of the Python release.
    pub(crate) fn touch(&self, project: &Path, key: &str) -> Result<(), CheckpointError> {
        let file = self.layout.metadata(key);
        let known = std::fs::read_to_string(&file).ok();
        let text = touched(known.as_deref(), project, now());
        let fresh = file.with_extension("json.new");
        std::fs::write(&fresh, text)
            .and_then(|()| std::fs::rename(&fresh, &file))
            .map_err(CheckpointError::io("write", file))
    }

    /// Drops the checkpoints of a project beyond the limit, by writing the chain again.
    pub(crate) async fn limit(&self, project: &Path, key: &str) -> Result<(), CheckpointError> {
        let most = self.options.max_snapshots.max(1);
        let git = self.git(project);
        let count = git.run(&["rev-list", "--count", &reference(key), "--"]).await?;
        if count.trim().parse::<usize>().unwrap_or_default() <= most {
            return Ok(());
        }
        keep_newest(&git, key, most).await?;
        journal::shorten(&self.layout.journal(key), most)
    }

    /// Removes what has expired, if that is due, and keeps the total size. Runs beside a turn.
    pub(crate) async fn maintain(&self) -> Result<(), CheckpointError> {
        if !self.layout.exists() {
            return Ok(());
        }
        if self.options.auto_prune && self.is_prune_due() {
            // Written first, so that only one of two processes cleans up.
            let stamp = self.layout.last_prune();
            std::fs::write(&stamp, now().to_string()).map_err(CheckpointError::io("write", stamp))?;
            self.prune().await?;
        }
        self.keep_total_size().await
    }

    fn is_prune_due(&self) -> bool {
        let text = std::fs::read_to_string(self.layout.last_prune()).unwrap_or_default();
        let since = now() - text.trim().parse::<f64>().unwrap_or_default();
        // A time in the future is ignored: the clock was set back.
        since < 0.0 || since >= self.options.min_interval.as_secs_f64()
    }

    async fn prune(&self) -> Result<(), CheckpointError> {
        let git = self.git(&self.layout.base);
        for project in self.projects() {
            let exists = project.directory.is_dir();
            let Some(why) = expired(&project, exists, self, now()) else { continue };
            tracing::info!(project = %project.directory.display(), ?why, "checkpoints removed");
            let _held = self.lock(&project.directory).await?;
            git.run(&["update-ref", "-d", &reference(&project.key)]).await?;
            for file in [
                self.layout.index(&project.key),
                self.layout.journal(&project.key),
                self.layout.tree(&project.key),
                self.layout.metadata(&project.key),
            ] {
                // A file that is missing needs no removal.
                let _ = std::fs::remove_file(file);
            }
        }
        self.collect_garbage().await
    }

    fn projects(&self) -> Vec<Project> {
        let files = std::fs::read_dir(self.layout.projects()).into_iter().flatten().flatten();
        files.filter_map(|file| project(&file.path())).collect()
    }

    async fn keep_total_size(&self) -> Result<(), CheckpointError> {
        let most = self.options.max_total;
        if most == 0 || size_of(&self.layout.store()) <= most {
            return Ok(());
        }
        let git = self.git(&self.layout.base);
        self.collect_garbage().await?;
        for _ in 0..MOST_ROUNDS {
            if size_of(&self.layout.store()) <= most {
                return Ok(());
            }
            let mut has_dropped = false;
            let references = git.run(&["for-each-ref", "--format=%(refname)", REFS]).await?;
            for key in references.lines().filter_map(|line| line.rsplit('/').next()) {
                let count = git.run(&["rev-list", "--count", &reference(key), "--"]).await?;
                let count = count.trim().parse::<usize>().unwrap_or_default();
                if count > 1 {
                    keep_newest(&git, key, count - 1).await?;
                    has_dropped = true;
                }
            }
            if !has_dropped {
                tracing::warn!(
                    bytes = most,
                    "the newest checkpoints alone exceed checkpoints.max_total_size_mb"
                );
                return Ok(());
            }
            self.collect_garbage().await?;
        }
        Ok(())
    }

    /// Removes objects without a reference. Those that only the index of a project names get one meanwhile.
    async fn collect_garbage(&self) -> Result<(), CheckpointError> {
        let git = self.git(&self.layout.base);
        let indexes = std::fs::read_dir(self.layout.store().join("indexes"));
        let mut kept = Vec::new();
        for index in indexes.into_iter().flatten().flatten() {
            let (path, name) = (index.path(), index.file_name());
            let Some(name) = name.to_str().filter(|name| !name.contains('.')) else { continue };
            if let Ok(tree) = git.with_index(path).run(&["write-tree"]).await {
                let reference = format!("refs/hermes-index/{name}");
                git.run(&["update-ref", &reference, tree.trim()]).await?;
                kept.push(reference);
            }
        }
        git.run(&["reflog", "expire", "--expire=now", "--all"]).await?;
        let collected = git.feed_within(&["gc", PRUNE, "--quiet"], Vec::new(), git.timeout * 3).await;
        for reference in kept {
            git.run(&["update-ref", "-d", &reference]).await?;
        }
        collected?;
        self.ensure(&self.layout.base).await
    }
}

/// Writes the newest commits of a project as a chain of their own.
async fn keep_newest(git: &Git, key: &str, most: usize) -> Result<(), CheckpointError> {
    let (main, fresh) = (reference(key), format!("refs/hermes-new/{key}"));
    let count = most.to_string();
    let log = git.run(&["log", "--format=%T%x00%ct%x00%s", "-n", &count, &main, "--"]).await?;
    let links: Vec<Link> = log.lines().filter_map(link).collect();
    let tip = git.run(&["rev-parse", "--verify", &main]).await?.trim().to_owned();
    git.run(&["update-ref", "-d", &fresh]).await?;
    git.feed(&["fast-import", "--quiet"], chain(&fresh, &links).into_bytes()).await?;
    let commit = git.run(&["rev-parse", "--verify", &fresh]).await?.trim().to_owned();
    git.run(&["update-ref", &main, &commit, &tip]).await?;
    git.run(&["update-ref", "-d", &fresh]).await.map(drop)
}

fn link(line: &str) -> Option<Link> {
    let [tree, at, reason] = *line.splitn(3, '\0').collect::<Vec<_>>() else { return None };
    Some(Link { tree: tree.to_owned(), at: at.to_owned(), reason: reason.to_owned() })
}

/// The input of `git fast-import` for a chain of commits, given newest first.
fn chain(reference: &str, links: &[Link]) -> String {
    let mut text = String::new();
    for (place, Link { tree, at, reason }) in links.iter().rev().enumerate() {
        let who = format!("Hermes Checkpoint <hermes@local> {at} +0000");
        let mark = place + 1;
        text += &format!("commit {reference}\nmark :{mark}\nauthor {who}\ncommitter {who}\n");
        text += &format!("data {}\n{reason}\n", reason.len());
        if place > 0 {
            text += &format!("from :{place}\n");
        }
        text += &format!("M 040000 {tree} \"\"\n\n");
    }
    text
}

fn expired(project: &Project, exists: bool, store: &CheckpointStore, now: f64) -> Option<Expired> {
    let retention = store.options.retention.as_secs_f64();
    match () {
        () if store.options.delete_orphans && !exists => Some(Expired::Orphan),
        () if retention > 0.0 && project.last_touch > 0.0 && project.last_touch < now - retention => {
            Some(Expired::Stale)
        }
        () => None,
    }
}

/// Reads the metadata of a project.
fn project(file: &Path) -> Option<Project> {
    let key = file.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
    let value: Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    let is_key = key.len() == 16 && key.chars().all(|sign| sign.is_ascii_hexdigit());
    let directory = value["workdir"].as_str()?.into();
    is_key.then(|| Project { key, directory, last_touch: value["last_touch"].as_f64().unwrap_or_default() })
}

/// The metadata of a project after a use at `now`. Fields of other releases are kept.
fn touched(known: Option<&str>, project: &Path, now: f64) -> String {
    let mut fields: Map<String, Value> =
        known.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    fields.insert("workdir".to_owned(), json!(project));
    if !fields.contains_key("created_at") {
        fields.insert("created_at".to_owned(), json!(now));
    }
    fields.insert("last_touch".to_owned(), json!(now));
    Value::Object(fields).to_string()
}

/// The bytes of all files below a directory.
fn size_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Seconds since 1970.
fn now() -> f64 {
    jiff::Timestamp::now().as_duration().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_keeps_its_creation_and_unknown_fields() {
        let first = touched(None, Path::new("/p"), 10.5);
        assert_eq!(first, r#"{"workdir":"/p","created_at":10.5,"last_touch":10.5}"#);
        let second =
            touched(Some(r#"{"workdir":"/old","created_at":1.0,"note":"x"}"#), Path::new("/p"), 20.0);
        assert_eq!(second, r#"{"workdir":"/p","created_at":1.0,"note":"x","last_touch":20.0}"#);
        for broken in ["", "[1]", "{"] {
            assert_eq!(touched(Some(broken), Path::new("/p"), 10.5), first, "{broken}");
        }
    }
}
