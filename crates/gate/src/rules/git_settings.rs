//! Git subcommands that change settings, and settings that name programs.

use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::Parsed;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn ask(walker: &mut Walker<'_>, reason: &str) {
    walker.ask_with(EffectKind::Policy, None, keys::GIT_SETTINGS, reason, Grant::GitSettings);
}

/// Judges `-c name=value`, which holds for one command.
pub(super) fn temporary(walker: &mut Walker<'_>, setting: &Field) -> Result<(), Unreadable> {
    let (name, value) = setting.text.split_once('=').unwrap_or((&setting.text, "true"));
    if is_harmless(&name.to_ascii_lowercase(), value) {
        return Ok(());
    }
    let value = value.strip_prefix('!').unwrap_or(value).to_owned();
    super::tools::program_option(walker, "git", "-c", &value)
}

/// Settings that name no program and no other machine.
fn is_harmless(name: &str, value: &str) -> bool {
    const SECTIONS: [&str; 14] = [
        "color.",
        "advice.",
        "user.",
        "init.defaultbranch",
        "column.",
        "log.",
        "status.",
        "push.default",
        "pull.",
        "fetch.prune",
        "merge.conflictstyle",
        "rebase.auto",
        "diff.renames",
        "diff.algorithm",
    ];
    const NAMES: [&str; 14] = [
        "core.quotepath",
        "core.autocrlf",
        "core.filemode",
        "core.longpaths",
        "core.ignorecase",
        "core.abbrev",
        "protocol.version",
        "commit.verbose",
        "http.version",
        "http.postbuffer",
        "http.lowspeedlimit",
        "gc.auto",
        "core.commentchar",
        "fetch.parallel",
    ];
    let is_pager = matches!(name, "core.pager" | "core.editor" | "sequence.editor")
        && matches!(value, "cat" | "less" | "less -FRX" | "" | "true" | ":" | "vim" | "nano");
    let is_unsigned = matches!(name, "commit.gpgsign" | "tag.gpgsign") && matches!(value, "false" | "true");
    let is_depth = name == "safe.directory"
        || name == "core.hookspath" && value == "/dev/null"
        || name == "diff.external" && value.is_empty();
    SECTIONS.iter().any(|section| name.starts_with(section))
        || NAMES.contains(&name)
        || is_pager
        || is_unsigned
        || is_depth
}

/// Judges subcommands that are not in `git`.
pub(super) fn judge(
    walker: &mut Walker<'_>,
    verb: &str,
    arguments: &[Field],
    parsed: &Parsed<'_>,
    call: &Call<'_>,
) -> Result<Output, Unreadable> {
    let first = parsed.operands.first().map(|field| field.text.as_str()).unwrap_or_default();
    match verb {
        "config" => config(walker, arguments, parsed)?,
        "remote" if !matches!(first, "" | "show" | "get-url" | "-v" | "update" | "prune") => {
            ask(walker, "changes the remote repositories in the git settings");
        }
        "submodule" => match first {
            "" | "status" | "summary" => {}
            "foreach" => {
                let at = arguments.iter().position(|field| field.text == "foreach").unwrap_or_default();
                let words: Vec<&str> = arguments
                    .iter()
                    .skip(at + 1)
                    .map(|field| field.text.as_str())
                    .filter(|text| *text != "--recursive")
                    .collect();
                walker.payload(&words.join(" "), Output::Nothing)?;
            }
            _ => ask(walker, "changes submodules and their settings"),
        },
        "worktree" if !matches!(first, "" | "list") => ask(walker, "changes the worktrees of the repository"),
        "init"
            if parsed
                .options
                .iter()
                .any(|option| option.name == "--template" || option.name == "--separate-git-dir") =>
        {
            super::tools::program_option(walker, "git", "--template", "")?;
        }
        "lfs" if matches!(first, "install" | "uninstall" | "track" | "push" | "migrate" | "prune") => {
            ask(walker, "changes how git stores files");
        }
        "sparse-checkout" if first != "list" => ask(walker, "changes which files git checks out"),
        "maintenance" | "fsmonitor--daemon" | "instaweb" | "web--browse" | "citool" | "gui"
        | "upload-pack" | "receive-pack" | "shell" | "remote-ext" | "remote-fd" | "archimport"
        | "cvsserver" | "flow" => {
            super::tools::program_option(walker, "git", verb, "")?;
        }
        _ => {}
    }
    if !is_known(verb) && !walker.scene.is_sandboxed {
        let reason = format!("`git {verb}` is not known to the gate, and no sandbox confines it");
        walker.ask(EffectKind::Execute, Some(&call.program.text), keys::UNNAMED_PROGRAM, reason);
    }
    Ok(output(verb, parsed))
}

fn config(walker: &mut Walker<'_>, arguments: &[Field], parsed: &Parsed<'_>) -> Result<(), Unreadable> {
    let reads = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--list",
        "-l",
        "--show-origin",
        "--show-scope",
        "--get-urlmatch",
        "--get-color",
        "--get-colorbool",
        "--name-only",
    ];
    let first = parsed.operands.first().map(|field| field.text.as_str()).unwrap_or_default();
    let is_read =
        arguments.iter().any(|field| reads.contains(&field.text.as_str())) || matches!(first, "get" | "list");
    let is_change = parsed.has(&[
        "--unset",
        "--unset-all",
        "--add",
        "--replace-all",
        "--edit",
        "-e",
        "--rename-section",
        "--remove-section",
    ]);
    let names_only_a_key = parsed.operands.len() == 1 && !matches!(first, "set" | "unset" | "edit");
    if !is_change && (is_read || names_only_a_key || parsed.operands.is_empty()) {
        return Ok(());
    }
    // The value of an alias or a hook is a program that git runs later.
    let value = parsed.operands.last().filter(|_| parsed.operands.len() > 1);
    if let Some(text) = value.and_then(|value| value.text.strip_prefix('!')) {
        walker.payload(text, Output::Nothing)?;
    }
    if parsed.has(&["--global", "--system"]) || parsed.has(&["-f", "--file"]) {
        let home = walker.scene.user_home.clone().unwrap_or_default().join(".gitconfig");
        let reason = "changes the git settings of the user or the system";
        walker.ask_with(EffectKind::Policy, None, keys::GIT_SETTINGS, reason, Grant::Write(home));
    } else {
        ask(walker, "changes the git settings of the repository");
    }
    Ok(())
}

/// Subcommands of git itself; others are aliases or programs.
const VERBS: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "help",
    "init",
    "interpret-trailers",
    "lfs",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "merge-file",
    "merge-tree",
    "mktag",
    "mktree",
    "mv",
    "name-rev",
    "notes",
    "pack-refs",
    "pull",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "update-index",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "--version",
    "--help",
];

fn is_known(verb: &str) -> bool {
    VERBS.contains(&verb)
}

/// The output of a subcommand: names of files, or short texts about commits.
pub(super) fn output(verb: &str, parsed: &Parsed<'_>) -> Output {
    let lists_files =
        matches!(verb, "ls-files" | "ls-tree") || parsed.has(&["--name-only", "--files-with-matches"]);
    let is_short = matches!(
        verb,
        "rev-parse"
            | "describe"
            | "branch"
            | "symbolic-ref"
            | "merge-base"
            | "rev-list"
            | "name-rev"
            | "tag"
            | "for-each-ref"
            | "shortlog"
            | "status"
            | "log"
            | "config"
            | "remote"
            | "show-ref"
            | "stash"
            | "hash-object"
            | "write-tree"
            | "commit-tree"
    );
    if lists_files {
        Output::Paths(vec!["./**".into()])
    } else if is_short {
        Output::Harmless
    } else {
        Output::Unknown
    }
}
