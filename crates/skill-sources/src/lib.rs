//! Fetches skills over HTTP or as a git repository, and hands them to `hermes_skills`, which checks and installs
//! them.

use hermes_config::Config;
use hermes_config::clock;
use hermes_config::home::{Home, HomeError};
use hermes_exec::{Direct, Ended, child_env, run_direct};
use hermes_models::ModelsError;
use hermes_models::model_choice::fetcher;
use hermes_providers::{Reach, download, is_public, public_addresses, repository_host, shown_url};
use hermes_skills::{
    InstallInput, InstallOptions, Installed, LockFile, MAX_PACKED, Quarantine, SkillError, SkillSource,
};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

const DOWNLOAD_LIMIT: Duration = Duration::from_secs(120);
const CLONE_LIMIT: Duration = Duration::from_secs(180);
/// The protocols that git may use. Others run commands, or are not authenticated.
const PROTOCOLS: &str = "https:ssh:file";
/// No settings, hooks, credential helpers or templates of the user take part in a clone.
const GIT: [&str; 16] = [
    "git",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.symlinks=false",
    "-c",
    "protocol.ext.allow=never",
    "clone",
    "--quiet",
    "--depth=1",
    "--single-branch",
    "--no-tags",
    "--no-recurse-submodules",
    "--template=",
];

/// An error of fetching or installing a skill.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Skill(#[from] SkillError),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Client(#[from] ModelsError),
    #[error("invalid address `{0}`")]
    Address(String),
    #[error("{from} was not fetched: {why}")]
    Fetch { from: String, why: String },
    #[error("`{0}` is not an installed skill; `hermes skills check` lists those")]
    NotInstalled(String),
}

/// The current time, in the format of lock files.
pub fn now() -> String {
    clock::timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Fetches and installs a skill. Nothing changes if it fails.
pub async fn install(
    home: &Home,
    config: &Config,
    source: &SkillSource,
    options: &InstallOptions,
    reach: Reach,
) -> Result<Installed, FetchError> {
    home.ensure()?;
    let quarantine = Quarantine::open(home.path())?;
    let input = match source {
        SkillSource::Folder(_) | SkillSource::Archive(_) => InstallInput::Local(source.clone()),
        SkillSource::Url(url) => {
            let path = quarantine.path().join("download");
            fetch_file(config, url, &path, reach).await?;
            InstallInput::Fetched { source: source.clone(), path }
        }
        SkillSource::Git(url) => {
            let path = quarantine.path().join("clone");
            clone(config, url, quarantine.path(), &path, reach).await?;
            InstallInput::Fetched { source: source.clone(), path }
        }
    };
    // Reading, scanning and syncing block for a while.
    let options = options.clone();
    let work = tokio::task::spawn_blocking(move || {
        let installed = quarantine.install(&input, &options);
        let _ = std::fs::remove_dir_all(quarantine.path());
        installed
    });
    let crashed = |_| SkillError::Refused("the installation crashed; nothing was installed".to_owned());
    Ok(work.await.map_err(crashed)??)
}

/// Fetches a skill again from its source.
pub async fn update(
    home: &Home,
    config: &Config,
    name: &str,
    force: bool,
    reach: Reach,
) -> Result<Installed, FetchError> {
    let lock = LockFile::load(home.path())?;
    let known = lock.installed.get(name).ok_or_else(|| FetchError::NotInstalled(name.to_owned()))?;
    let source = SkillSource::parse(&known.identifier)?;
    let path = known.others.get("path").and_then(serde_json::Value::as_str).map(str::to_owned);
    let options = InstallOptions { path, category: None, force, replaces: true, now: now() };
    install(home, config, &source, &options, reach).await
}

async fn fetch_file(config: &Config, text: &str, path: &Path, reach: Reach) -> Result<(), FetchError> {
    let url = text.parse().map_err(|_| FetchError::Address(text.to_owned()))?;
    let from = shown_url(&url);
    let fetcher = fetcher(config, DOWNLOAD_LIMIT)?;
    let why = |why: String| FetchError::Fetch { from: from.clone(), why };
    let bytes =
        download(&fetcher, url, MAX_PACKED, reach).await.map_err(|failure| why(failure.to_string()))?;
    tokio::fs::write(path, bytes).await.map_err(|error| why(error.to_string()))
}

async fn clone(config: &Config, url: &str, cwd: &Path, into: &Path, reach: Reach) -> Result<(), FetchError> {
    if url.starts_with('-') || url.contains("::") || url.chars().any(char::is_control) {
        return Err(FetchError::Address(url.to_owned()));
    }
    let why = |why: String| FetchError::Fetch { from: without_password(url), why };
    let pinned = match reach {
        Reach::Public => pinned(config, url).await.map_err(why)?,
        Reach::Private => Vec::new(),
    };
    let mut argv: Vec<String> = GIT[..1].iter().map(|word| (*word).to_owned()).collect();
    argv.extend(pinned);
    argv.extend(GIT[1..].iter().map(|word| (*word).to_owned()));
    argv.extend(["--".to_owned(), url.to_owned(), into.to_string_lossy().into_owned()]);
    let shell = config.layers().shell.iter().map(|(name, value)| (name.clone(), value.clone()));
    let mut env = child_env(shell, &["SSH_AUTH_SOCK".to_owned()]);
    env.extend(
        [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "true"),
            ("GIT_ALLOW_PROTOCOL", PROTOCOLS),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
            ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    let program = Direct {
        argv,
        cwd: cwd.to_owned(),
        env,
        input: Vec::new(),
        timeout: CLONE_LIMIT,
        most_output: 4096,
        sandbox: None,
    };
    let output = run_direct(program).await.map_err(|error| {
        let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(" ({cause})"));
        why(format!("git could not be started: {error}{cause}"))
    })?;
    match (output.ended, output.exit_code) {
        (Ended::Exited, 0) => Ok(()),
        (Ended::Exited, _) => {
            let said = output.stderr.trim().replace('\n', "; ").replace(url, &without_password(url));
            Err(why(format!("git: {said}")))
        }
        _ => Err(why(format!("it took longer than {} s", CLONE_LIMIT.as_secs()))),
    }
}

/// Options that pin git to checked addresses. Git resolves names itself, so the address is passed; redirects are
/// refused, because they are not checked.
async fn pinned(config: &Config, url: &str) -> Result<Vec<String>, String> {
    let Some((host, port, is_web)) = repository_host(url) else { return Ok(Vec::new()) };
    let proxy = config.settings.network.proxy.or_default();
    let has_proxy = proxy.as_deref().is_some_and(|proxy| !proxy.is_empty());
    let found = match host.parse::<IpAddr>() {
        Ok(address) if is_public(address) => return Ok(no_redirects()),
        Ok(address) => {
            return Err(format!("{address} is a private address; use --allow-private if you mean it"));
        }
        // A proxy resolves names itself, and ssh may have an alias for one.
        Err(_) if has_proxy => return Ok(no_redirects()),
        Err(_) => public_addresses(&host, port).await,
    };
    match (found, is_web) {
        (Ok(addresses), true) => {
            let addresses: Vec<String> = addresses
                .iter()
                .map(|address| match address.ip() {
                    IpAddr::V4(address) => address.to_string(),
                    IpAddr::V6(address) => format!("[{address}]"),
                })
                .collect();
            let pin = format!("http.curloptResolve={host}:{port}:{}", addresses.join(","));
            Ok(no_redirects().into_iter().chain(["-c".to_owned(), pin]).collect())
        }
        (Ok(_), false) => Ok(Vec::new()),
        (Err(error), false) if error.kind() != std::io::ErrorKind::Other => Ok(Vec::new()),
        (Err(error), _) => Err(error.to_string()),
    }
}

fn no_redirects() -> Vec<String> {
    vec!["-c".to_owned(), "http.followRedirects=false".to_owned()]
}

/// The address without user name and password.
fn without_password(url: &str) -> String {
    match (url.split_once("://"), url.find('@')) {
        (Some((scheme, rest)), Some(_)) => {
            let host = rest.split_once('/').map_or(rest, |(host, _)| host);
            let bare = host.rsplit_once('@').map_or(host, |(_, bare)| bare);
            format!("{scheme}://{bare}{}", &rest[host.len()..])
        }
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_are_not_repeated() {
        for (url, want) in [
            ("https://me:secret@example.com/a@b.git", "https://example.com/a@b.git"),
            ("https://example.com/a", "https://example.com/a"),
            ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ] {
            assert_eq!(without_password(url), want);
        }
    }
}
