//! Git subcommands that discard uncommitted work or history.

use super::git::payloads;
use super::git_settings;
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::Parsed;
use crate::walk::Walker;

/// Options of `filter-branch` whose value is shell text.
const FILTERS: [&str; 7] = [
    "--tree-filter",
    "--index-filter",
    "--msg-filter",
    "--env-filter",
    "--commit-filter",
    "--tag-name-filter",
    "--parent-filter",
];

pub(super) fn discard(walker: &mut Walker<'_>, reason: &str) {
    walker.ask(EffectKind::Delete, None, keys::GIT_DISCARD, reason);
}

/// Judges a subcommand; returns false if another module does.
pub(super) fn judge(
    walker: &mut Walker<'_>,
    verb: &str,
    arguments: &[Field],
    parsed: &Parsed<'_>,
) -> Result<bool, Unreadable> {
    let first = parsed.operands.first().map(|field| field.text.as_str()).unwrap_or_default();
    let is_hard =
        || parsed.options.iter().any(|option| option.name.len() > 2 && "--hard".starts_with(&option.name));
    let prunes = || {
        let mut prune = parsed.options.iter().filter(|option| option.name == "--prune");
        prune.any(|option| option.value.as_ref().is_some_and(|value| value.text != "2.weeks.ago"))
    };
    match verb {
        "reset" if is_hard() => {
            walker.ask(EffectKind::Delete, None, keys::GIT_RESET, "discards all uncommitted changes");
        }
        "clean" if parsed.has(&["-f", "--force"]) && !parsed.has(&["-n", "--dry-run"]) => {
            walker.ask(EffectKind::Delete, None, keys::GIT_CLEAN, "deletes untracked files");
        }
        "checkout" | "switch" | "restore" => checkout(walker, verb, parsed),
        "stash" if matches!(first, "drop" | "clear") => discard(walker, "discards stashed changes"),
        "rm" if parsed.has(&["-f", "--force"]) && !parsed.has(&["--cached"]) => {
            discard(walker, "deletes files with changes");
        }
        "reflog" if matches!(first, "expire" | "delete") => {
            discard(walker, "discards the history of branches")
        }
        "gc" if prunes() => discard(walker, "deletes unreachable commits"),
        "symbolic-ref" if parsed.operands.len() < 2 => return Ok(false),
        "prune" | "filter-branch" | "filter-repo" | "update-ref" | "replace" | "symbolic-ref" => {
            discard(walker, "rewrites or deletes history");
            payloads(walker, arguments, &FILTERS)?;
        }
        "tag" if parsed.has(&["-d", "--delete"]) && parsed.has(&["-f"]) => discard(walker, "deletes tags"),
        _ => return Ok(false),
    }
    Ok(true)
}

fn checkout(walker: &mut Walker<'_>, verb: &str, parsed: &Parsed<'_>) {
    let is_all = |field: &&Field| matches!(field.text.as_str(), "." | "./" | ":/" | ":/." | "*" | "..");
    let is_staged_only =
        verb == "restore" && parsed.has(&["-S", "--staged"]) && !parsed.has(&["-W", "--worktree"]);
    if parsed.has(&["-f", "--force", "--discard-changes"])
        || parsed.operands.iter().any(is_all) && !is_staged_only
    {
        discard(walker, "discards uncommitted changes");
    }
    let makes_branch = parsed.has(&["-b", "-B", "-c", "-C", "--create"]);
    let has_remote = parsed
        .operands
        .iter()
        .any(|field| field.text.starts_with("origin/") || field.text.starts_with("upstream/"));
    if parsed.has(&["-t", "--track"]) || makes_branch && has_remote && !parsed.has(&["--no-track"]) {
        git_settings::ask(walker, "sets the upstream of a branch in the git settings");
    }
}
