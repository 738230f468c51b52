//! `hermes skills install`, `check` and `update`.

use super::{Place, failure, fetch_failure};
use crate::exit::{Exit, Failure};
use clap::Args;
use hermes_runtime::Reach;
use hermes_runtime::skills;
use hermes_skills::{InstallOptions, InstallState, Installed, LockFile, ScanFinding, SkillSource};
use hermes_terminal::print;
use hermes_terminal::term::{self, printable};
use hermes_terminal::text::counted;
use serde_json::{Value, json};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes skills install ./my-skill
  hermes skills install skills.tar.gz --path pdf
  hermes skills install https://github.com/OWNER/REPO --category office")]
pub(crate) struct InstallArgs {
    /// Directory, archive, https address of one, or git repository
    source: String,
    /// Directory of the skill, if SOURCE holds several
    #[arg(long, value_name = "DIR")]
    path: Option<String>,
    /// Category: the directory below skills/ of the home directory
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Install it even if the scan result is caution
    #[arg(long)]
    force: bool,
    /// Fetch from this machine or a private network
    #[arg(long)]
    allow_private: bool,
}

pub(super) async fn run(place: &Place, args: &InstallArgs) -> Result<Exit, Failure> {
    hermes_runtime::install_tls();
    let source = SkillSource::parse(&args.source).map_err(failure)?;
    let options = InstallOptions {
        path: args.path.clone(),
        category: args.category.clone(),
        force: args.force,
        replaces: false,
        now: skills::now(),
    };
    let done = skills::install(&place.home, &place.config, &source, &options, reach(args.allow_private))
        .await
        .map_err(fetch_failure)?;
    for concern in &done.scan.concerns {
        print::notice(&told(concern));
    }
    let already = if done.is_unchanged { "already installed" } else { "installed" };
    let (files, verdict) = (done.files, done.scan.verdict.as_str());
    let words = format!(
        "{} {already}: {} ({}, scan: {verdict}).",
        done.name,
        done.dir.display(),
        counted(files, "file")
    );
    place.answer(&words, &as_json(&done));
    Ok(Exit::Answered)
}

fn reach(allows_private: bool) -> Reach {
    if allows_private { Reach::Private } else { Reach::Public }
}

pub(super) fn check(place: &Place, name: Option<&str>) -> Result<Exit, Failure> {
    let lock = LockFile::load(place.home.path()).map_err(failure)?;
    let mut checked = lock.check(place.home.path());
    checked.retain(|one| name.is_none_or(|name| one.name == name));
    if let (true, Some(name)) = (checked.is_empty(), name) {
        return Err(fetch_failure(skills::FetchError::NotInstalled(name.to_owned())));
    }
    if place.is_json {
        print::json(&json!({ "skills": checked }));
    } else if checked.is_empty() {
        term::print_line("No installed skills.");
    } else {
        for one in &checked {
            let line =
                format!("{:9}  {}  ({}: {})", one.state.as_str(), one.name, one.source, one.identifier);
            term::print_line(&printable(&line));
        }
    }
    let is_wrong =
        checked.iter().any(|one| matches!(one.state, InstallState::Changed | InstallState::Missing));
    Ok(if is_wrong { Exit::FailedTurn } else { Exit::Answered })
}

pub(super) async fn update(
    place: &Place,
    name: Option<&str>,
    force: bool,
    allow_private: bool,
) -> Result<Exit, Failure> {
    hermes_runtime::install_tls();
    let names: Vec<String> = match name {
        Some(name) => vec![name.to_owned()],
        None => LockFile::load(place.home.path()).map_err(failure)?.installed.into_keys().collect(),
    };
    let (mut results, mut has_failed) = (Vec::new(), false);
    for name in names {
        // One that cannot be fetched does not stop the others.
        match skills::update(&place.home, &place.config, &name, force, reach(allow_private)).await {
            Ok(done) => {
                let state = if done.is_unchanged { "is up to date" } else { "updated" };
                results.push(as_json(&done));
                if !place.is_json {
                    term::print_line(&printable(&format!(
                        "{name} {state} (scan: {}).",
                        done.scan.verdict.as_str()
                    )));
                }
            }
            Err(error) => {
                has_failed = true;
                let line = fetch_failure(error).line;
                print::notice(&format!("{name}: {line}"));
                results.push(json!({ "name": name, "error": line }));
            }
        }
    }
    if place.is_json {
        print::json(&json!({ "skills": results }));
    } else if results.is_empty() {
        term::print_line("No installed skills.");
    }
    Ok(if has_failed { Exit::FailedTurn } else { Exit::Answered })
}

fn told(concern: &ScanFinding) -> String {
    let ScanFinding { file, line, id, verdict, excerpt } = concern;
    format!("{file}:{line}: {id} ({}): {excerpt}", verdict.as_str())
}

fn as_json(done: &Installed) -> Value {
    json!({
        "name": done.name,
        "path": done.dir.display().to_string(),
        "files": done.files,
        "unchanged": done.is_unchanged,
        "scan": done.scan,
    })
}
