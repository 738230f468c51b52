//! The source of a skill to install, as the user names it.

use super::SkillError;
use super::safety_scan::Trust;
use std::path::PathBuf;

/// GitHub repositories with trusted authors.
const TRUSTED: [&str; 4] = ["openai/skills", "anthropics/skills", "huggingface/skills", "nvidia/skills"];

/// The source of a skill to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSource {
    Folder(PathBuf),
    Archive(PathBuf),
    /// URL of an archive.
    Url(String),
    Git(String),
}

impl SkillSource {
    /// Parses the user's input. A URL is a repository if it begins with `git+`, ends with `.git`, or is a
    /// repository page of GitHub, GitLab or Codeberg.
    pub fn parse(text: &str) -> Result<Self, SkillError> {
        let text = text.trim();
        let (text, is_git) = text.strip_prefix("git+").map_or((text, false), |url| (url, true));
        let Some((scheme, rest)) = text.split_once("://") else {
            if is_git || text.starts_with("git@") {
                return Ok(Self::Git(text.to_owned()));
            }
            let path = PathBuf::from(text);
            return match std::fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => Ok(Self::Folder(path)),
                Ok(_) => Ok(Self::Archive(path)),
                Err(error) => Err(SkillError::io("read", &path)(error)),
            };
        };
        if rest
            .split('/')
            .next()
            .is_some_and(|host| host.contains('@') && host.contains(':') && scheme != "ssh")
        {
            let why = "URLs with a password are refused, because the URL is stored; use ssh, or a folder that you \
                       cloned yourself";
            return Err(SkillError::Refused(why.to_owned()));
        }
        let is_repository = || {
            let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
            let host = matches!(parts.first(), Some(&"github.com" | &"gitlab.com" | &"codeberg.org"));
            rest.ends_with(".git") || host && parts.len() == 3
        };
        match scheme.to_ascii_lowercase().as_str() {
            _ if is_git => Ok(Self::Git(text.to_owned())),
            "ssh" => Ok(Self::Git(text.to_owned())),
            "http" | "https" if is_repository() => Ok(Self::Git(text.to_owned())),
            "http" | "https" => Ok(Self::Url(text.to_owned())),
            other => Err(SkillError::Refused(format!(
                "unsupported URL scheme `{other}`; use a folder, an archive (.zip, .tar, .tar.gz), the https URL \
                 of one, or a git repository"
            ))),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Folder(_) => "folder",
            Self::Archive(_) => "archive",
            Self::Url(_) => "url",
            Self::Git(_) => "git",
        }
    }

    /// Returns a text that [`SkillSource::parse`] accepts from any working directory.
    pub fn identifier(&self) -> String {
        match self {
            Self::Folder(path) | Self::Archive(path) => {
                std::path::absolute(path).unwrap_or_else(|_| path.clone()).to_string_lossy().into_owned()
            }
            Self::Url(url) => url.clone(),
            Self::Git(url) => format!("git+{url}"),
        }
    }

    pub(super) fn trust(&self) -> Trust {
        let Self::Git(url) = self else {
            return Trust::Community;
        };
        let path = url.strip_prefix("https://github.com/").map(|path| path.trim_end_matches('/'));
        let path = path.map(|path| path.trim_end_matches(".git").to_ascii_lowercase());
        let is_trusted = path.is_some_and(|path| TRUSTED.contains(&path.as_str()));
        if is_trusted { Trust::Trusted } else { Trust::Community }
    }
}
