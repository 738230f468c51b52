//! Logins that a vendor's own program stored on this machine.
//!
//! The file is only read. Its refresh token is never used, because it is for one use by that program. If the login
//! has expired, the message names the program to run, which renews it.

use super::jwt;
use crate::catalogue;
use secrecy::SecretString;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The largest file; real ones take a few kilobytes.
const MAX_FILE: u64 = 1024 * 1024;
/// A token that expires within this time is not used: requests take time and clocks differ.
const MARGIN: Duration = Duration::from_secs(60);

/// A program that stores its login in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VendorTool {
    ClaudeCode,
    Codex,
}

/// The directories of programs, from the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VendorPlaces {
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_dir: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_dir: Option<PathBuf>,
}

/// A token of a vendor's program.
#[derive(Debug, Clone)]
pub struct VendorToken {
    pub access: SecretString,
    pub expires_at: Option<SystemTime>,
    /// The account at the vendor, if requests must name it.
    pub account: Option<String>,
    pub from: PathBuf,
}

/// The state of a vendor program's login.
#[derive(Debug, Clone)]
pub enum VendorState {
    Valid(VendorToken),
    Expired {
        tool: VendorTool,
        from: PathBuf,
    },
    /// No file, or no login in it.
    Absent,
    Unreadable {
        from: PathBuf,
        why: String,
    },
}

impl VendorTool {
    /// Returns the program whose login a provider accepts.
    pub fn of_provider(id: &str) -> Option<Self> {
        catalogue::find(id)?.quirks.login.vendor_tool
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// Returns the command for a new login.
    pub fn command(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex login",
        }
    }

    fn path(self, places: &VendorPlaces) -> Option<PathBuf> {
        let (own, usual, name) = match self {
            Self::ClaudeCode => (&places.claude_dir, ".claude", ".credentials.json"),
            Self::Codex => (&places.codex_dir, ".codex", "auth.json"),
        };
        let folder = own.clone().or_else(|| Some(places.home.as_ref()?.join(usual)))?;
        Some(folder.join(name))
    }
}

/// Returns the login that a program stored here.
pub fn read_vendor_file(tool: VendorTool, places: &VendorPlaces, now: SystemTime) -> VendorState {
    let Some(path) = tool.path(places) else { return VendorState::Absent };
    match text_of(&path) {
        Ok(text) => parse_vendor_file(tool, &text, &path, now),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            VendorState::Absent
        }
        Err(error) => VendorState::Unreadable { from: path, why: error.to_string() },
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    // Reading a pipe or a device could block forever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    let read = File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    match read as u64 > MAX_FILE {
        true => Err(io::Error::other("it is too large for a login")),
        false => Ok(text),
    }
}

/// Parses such a file. Nothing of its text gets into a message.
pub fn parse_vendor_file(tool: VendorTool, text: &str, from: &Path, now: SystemTime) -> VendorState {
    let Ok(whole) = serde_json::from_str::<Value>(text) else {
        return VendorState::Unreadable { from: from.to_owned(), why: "it is not JSON".to_owned() };
    };
    let found = match tool {
        VendorTool::ClaudeCode => claude_code(&whole),
        VendorTool::Codex => codex(&whole),
    };
    match found {
        None => VendorState::Absent,
        Some(Login { expires_at: Some(at), .. }) if now + MARGIN >= at => {
            VendorState::Expired { tool, from: from.to_owned() }
        }
        Some(Login { access, expires_at, account }) => {
            VendorState::Valid(VendorToken { access, expires_at, account, from: from.to_owned() })
        }
    }
}

struct Login {
    access: SecretString,
    expires_at: Option<SystemTime>,
    account: Option<String>,
}

fn claude_code(whole: &Value) -> Option<Login> {
    let login = &whole["claudeAiOauth"];
    // Milliseconds; 0 or a missing value means unknown.
    let expires_at = login["expiresAt"].as_f64().filter(|at| *at > 0.0);
    Some(Login {
        access: SecretString::from(text(&login["accessToken"])?),
        expires_at: expires_at.and_then(|at| jwt::moment(at / 1000.0)),
        account: None,
    })
}

fn codex(whole: &Value) -> Option<Login> {
    let tokens = &whole["tokens"];
    let access = text(&tokens["access_token"])?;
    let claims = jwt::claims(access).unwrap_or_default();
    let account = text(&tokens["account_id"])
        .or_else(|| text(&claims["https://api.openai.com/auth"]["chatgpt_account_id"]));
    Some(Login {
        expires_at: jwt::expiry(access),
        account: account.map(str::to_owned),
        access: SecretString::from(access),
    })
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
#[path = "vendor_files_tests.rs"]
mod tests;
