//! Where a skill is to come from, as a person names it.

use super::SkillError;
use super::verdict::Trust;
use std::path::PathBuf;

/// Repositories whose authors are trusted, on GitHub.
const TRUSTED: [&str; 4] = ["openai/skills", "anthropics/skills", "huggingface/skills", "nvidia/skills"];

/// Where a skill is to come from, as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSource {
    Folder(PathBuf),
    Archive(PathBuf),
    /// An archive at an address.
    Url(String),
    Git(String),
}

impl SkillSource {
    /// Reads what a person typed. `git+` in front of an address says that it is a repository; so do
    /// `.git` at its end and GitHub's and GitLab's addresses of one.
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
            let why = "an address with a password in it is not taken, because addresses are kept; use ssh, or a \
                       folder that you cloned yourself";
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
                "skills do not come over `{other}`; give a folder, an archive (.zip, .tar, .tar.gz), an https \
                 address of one, or a git repository"
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

    /// As [`SkillSource::parse`] reads it again, from any folder.
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
