//! `git`: global options and subcommands. Those that change settings are in `git_settings`.

use super::files::Via;
use super::tools::program_option;
use super::{git_history, git_settings, network};
use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Parsed, Spec, parse};
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    if !matches!(call.name, "git" | "hub") && !call.name.starts_with("git-") {
        return Ok(None);
    }
    if let Some(verb) = call.name.strip_prefix("git-") {
        return subcommand(walker, verb, call.arguments, call).map(Some);
    }
    let mark = walker.mark();
    let index = global_options(walker, call.arguments)?;
    let output = match call.arguments.get(index..).and_then(<[Field]>::split_first) {
        Some((verb, rest)) if verb.is_literal() => subcommand(walker, &verb.text, rest, call),
        Some(_) => {
            walker.ask(
                EffectKind::Unclear,
                None,
                keys::UNKNOWN_PROGRAM,
                "the git subcommand is only known when the command runs",
            );
            Ok(Output::Unknown)
        }
        None => Ok(Output::Harmless),
    };
    walker.leave_subshell(mark);
    output.map(Some)
}

/// Judges the options before the subcommand, and returns its index.
fn global_options(walker: &mut Walker<'_>, arguments: &[Field]) -> Result<usize, Unreadable> {
    let mut index = 0;
    while let Some(field) = arguments.get(index) {
        let text = field.text.as_str();
        if !text.starts_with('-') {
            break;
        }
        index += 1;
        let value = arguments.get(index).cloned().unwrap_or_default();
        match text {
            "-C" => {
                index += 1;
                walker.call(&[Field::literal("cd"), value], &Output::Nothing)?;
            }
            "-c" | "--config-env" => {
                index += 1;
                git_settings::temporary(walker, &value)?;
            }
            "--git-dir" => {
                index += 1;
                other_directory(walker, &value.text)?;
            }
            "--work-tree" | "--namespace" | "--super-prefix" => index += 1,
            _ if text.starts_with("--git-dir=") => {
                other_directory(walker, text.get(10..).unwrap_or_default())?
            }
            "--exec-path" => {}
            _ if text.starts_with("-c") && text.len() > 2 => {
                git_settings::temporary(walker, &Field::literal(text.get(2..).unwrap_or_default()))?;
            }
            _ if text.starts_with("--exec-path=") => {
                program_option(walker, "git", "--exec-path", "")?;
            }
            _ if text.starts_with("--config-env=") => {
                git_settings::temporary(walker, &Field::literal(text.get(13..).unwrap_or_default()))?;
            }
            _ => {}
        }
    }
    Ok(index)
}

/// The settings of another directory may name programs that git runs.
fn other_directory(walker: &mut Walker<'_>, directory: &str) -> Result<(), Unreadable> {
    let is_usual = directory == ".git" || directory.ends_with("/.git");
    if is_usual { Ok(()) } else { program_option(walker, "git", "--git-dir", "") }
}

fn spec(verb: &str) -> Spec {
    match verb {
        "commit" => Spec {
            letters: "mFCctu",
            long: &[
                "--message",
                "--file",
                "--author",
                "--date",
                "--template",
                "--reuse-message",
                "--fixup",
                "--squash",
            ],
        },
        "push" => Spec { letters: "o", long: &["--repo", "--receive-pack", "--exec", "--push-option"] },
        "clone" => Spec {
            letters: "bocuj",
            long: &[
                "--branch",
                "--origin",
                "--config",
                "--upload-pack",
                "--depth",
                "--template",
                "--reference",
                "--jobs",
                "--separate-git-dir",
                "--filter",
            ],
        },
        "branch" => Spec {
            letters: "u",
            long: &[
                "--set-upstream-to",
                "--contains",
                "--merged",
                "--no-merged",
                "--sort",
                "--format",
                "--points-at",
            ],
        },
        "checkout" | "switch" => {
            Spec { letters: "bBcC", long: &["--orphan", "--create", "--conflict", "--force-create"] }
        }
        "tag" => Spec { letters: "mFu", long: &["--message", "--file", "--local-user"] },
        "merge" | "revert" | "cherry-pick" => {
            Spec { letters: "mXsF", long: &["--message", "--strategy", "--strategy-option", "--file"] }
        }
        "rebase" => Spec { letters: "xsX", long: &["--exec", "--onto", "--strategy"] },
        "fetch" | "pull" => Spec { letters: "jo", long: &["--upload-pack", "--depth", "--jobs", "--refmap"] },
        "log" | "diff" | "show" => Spec {
            letters: "nSGLO",
            long: &["--output", "--format", "--author", "--since", "--until", "--grep"],
        },
        "stash" => Spec { letters: "m", long: &["--message"] },
        "archive" => Spec { letters: "o", long: &["--output", "--prefix", "--format", "--remote", "--exec"] },
        "format-patch" => Spec { letters: "ov", long: &["--output-directory", "--subject-prefix"] },
        "grep" => Spec { letters: "eABCmf", long: &["--max-depth"] },
        "difftool" | "mergetool" => Spec { letters: "xt", long: &["--extcmd", "--tool"] },
        _ => Spec::default(),
    }
}

/// Subcommands that replace or remove files of the working directory.
const CHANGES_FILES: [&str; 17] = [
    "am",
    "apply",
    "bisect",
    "checkout",
    "cherry-pick",
    "clean",
    "filter-branch",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
];

fn subcommand(
    walker: &mut Walker<'_>,
    verb: &str,
    arguments: &[Field],
    call: &Call<'_>,
) -> Result<Output, Unreadable> {
    let parsed = parse(arguments, spec(verb));
    walker.changes_files |= CHANGES_FILES.contains(&verb);
    for option in ["--upload-pack", "--receive-pack"] {
        let values: Vec<Field> = parsed.values(&[option]).cloned().collect();
        for value in values {
            program_option(walker, "git", option, &value.text)?;
        }
    }
    if parsed
        .operands
        .iter()
        .any(|field| field.text.starts_with("ext::") || field.text.starts_with("--upload-pack"))
    {
        let url = parsed.operands.iter().find(|field| field.text.starts_with("ext::"));
        let text = url.map(|field| field.text.trim_start_matches("ext::").to_owned()).unwrap_or_default();
        program_option(walker, "git", "ext::", &text)?;
    }
    if matches!(
        verb,
        "add" | "diff" | "hash-object" | "show" | "apply" | "blame" | "archive" | "update-index"
    ) {
        let operands: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
        super::secrets::fields(walker, &operands);
    }
    if matches!(verb, "apply" | "am" | "checkout-index") {
        for option in
            parsed.options.iter().filter(|option| matches!(option.name.as_str(), "--directory" | "--prefix"))
        {
            option.value.iter().for_each(|directory| walker.write(directory, Via::Other));
        }
    }
    if git_history::judge(walker, verb, arguments, &parsed)? {
        return Ok(git_settings::output(verb, &parsed));
    }
    match verb {
        "push" | "send-pack" => push(walker, arguments, &parsed),
        "branch" => branch(walker, arguments, &parsed),
        "rebase" => payloads(walker, arguments, &["-x", "--exec"])?,
        "bisect" if parsed.operands.first().is_some_and(|verb| verb.text == "run") => {
            let at = arguments.iter().position(|field| field.text == "run").unwrap_or_default();
            return walker.call(arguments.get(at + 1..).unwrap_or_default(), &Output::Nothing);
        }
        "difftool" | "mergetool" => {
            let values: Vec<Field> = parsed.values(&["-x", "--extcmd"]).cloned().collect();
            for value in values {
                program_option(walker, "git", "difftool -x", &value.text)?;
            }
        }
        "grep" if parsed.has(&["-O", "--open-files-in-pager"]) => {
            program_option(walker, "git", "grep -O", "")?
        }
        "clone" => clone(walker, &parsed)?,
        "mv" if !parsed.has(&["-n", "--dry-run"]) => {
            let operands = parsed.operands.iter().map(|field| (*field).clone());
            let fields: Vec<Field> = std::iter::once(Field::literal("mv")).chain(operands).collect();
            walker.call(&fields, &Output::Nothing)?;
        }
        // What git knows of a file can be restored, so only files that others obey matter.
        "rm" if !parsed.has(&["-n", "--dry-run", "--cached"]) => {
            let operands: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
            operands
                .iter()
                .filter(|field| field.is_literal())
                .for_each(|field| walker.write(field, Via::Other));
        }
        "archive" | "format-patch" | "bundle" | "log" | "diff" | "show" => {
            for file in parsed.values(&["-o", "--output", "--output-directory"]) {
                walker.write(file, Via::Other);
            }
            if verb == "archive" && parsed.has(&["--remote"]) {
                network::send(walker, None, "asks another machine for an archive");
            }
        }
        "send-email" | "imap-send" | "request-pull" | "daemon" | "http-push" | "svn" | "p4" => {
            network::send(walker, None, format!("git {verb} sends data to another machine"));
        }
        "credential" | "credential-store" | "credential-cache" => {
            walker.ask(EffectKind::ReadSecret, None, keys::READ_SECRET, "reads or stores credentials of git");
        }
        "hook" => program_option(walker, "git", "hook run", "")?,
        _ => return git_settings::judge(walker, verb, arguments, &parsed, call),
    }
    Ok(git_settings::output(verb, &parsed))
}

/// Judges the text after each of these options as shell text.
pub(super) fn payloads(
    walker: &mut Walker<'_>,
    arguments: &[Field],
    options: &[&str],
) -> Result<(), Unreadable> {
    for (index, field) in arguments.iter().enumerate() {
        let text = match field.text.split_once('=') {
            Some((name, value)) if options.contains(&name) => Some(value.to_owned()),
            _ if options.contains(&field.text.as_str()) => {
                arguments.get(index + 1).map(|field| field.text.clone())
            }
            _ if options.contains(&"-x") && field.text.starts_with("-x") => {
                Some(field.text.get(2..).unwrap_or_default().to_owned())
            }
            _ => None,
        };
        if let Some(text) = text {
            walker.payload(&text, Output::Nothing)?;
        }
    }
    Ok(())
}

fn push(walker: &mut Walker<'_>, arguments: &[Field], parsed: &Parsed<'_>) {
    if parsed.has(&["--dry-run", "-n"]) {
        return;
    }
    let is_short = arguments.iter().any(|field| {
        field.text.starts_with('-') && !field.text.starts_with("--") && field.text.contains('f')
    });
    let is_long = parsed.has(&[
        "--force",
        "--force-with-lease",
        "--force-if-includes",
        "--mirror",
        "--delete",
        "--prune",
    ]) || parsed.has(&["-d"]);
    let is_refspec = parsed.operands.iter().skip(1).any(|field| field.text.starts_with(['+', ':']));
    if is_short || is_long || is_refspec {
        let rule = if is_short && !is_long { keys::GIT_FORCE_PUSH_SHORT } else { keys::GIT_FORCE_PUSH };
        walker.ask(EffectKind::Network, None, rule, "rewrites or deletes branches of the remote repository");
    }
    let remote = parsed.operands.first().map(|field| field.shown());
    let reason = format!("sends commits to {}", remote.as_deref().unwrap_or("the remote repository"));
    walker.ask(EffectKind::Network, remote.as_deref(), keys::GIT_PUSH, reason);
    if parsed.has(&["-u", "--set-upstream"]) {
        let reason = "changes the upstream of a branch in the git settings";
        walker.ask_with(EffectKind::Policy, None, keys::GIT_SETTINGS, reason, Grant::GitSettings);
    }
}

fn branch(walker: &mut Walker<'_>, arguments: &[Field], parsed: &Parsed<'_>) {
    let is_delete = parsed.has(&["-d", "--delete"]);
    let is_force = parsed.has(&["-f", "--force"]);
    if parsed.has(&["-D"]) || is_delete && is_force {
        let place = |names: &[&str]| arguments.iter().position(|field| names.contains(&field.text.as_str()));
        let rule = match (parsed.has(&["-D"]), place(&["-f", "--force"]), place(&["-d", "--delete"])) {
            (true, _, _) => keys::GIT_BRANCH_DELETE,
            (_, Some(force), Some(delete)) if force < delete => keys::GIT_BRANCH_DELETE_FORCE_FIRST,
            _ => keys::GIT_BRANCH_DELETE_LONG,
        };
        walker.ask(EffectKind::Delete, None, rule, "deletes branches that may not be merged");
    } else if is_force && !parsed.operands.is_empty() {
        git_history::discard(walker, "moves a branch to another commit");
    }
    if parsed.has(&[
        "-u",
        "--set-upstream-to",
        "--unset-upstream",
        "--edit-description",
        "-m",
        "-M",
        "--move",
        "-t",
        "--track",
    ]) {
        git_settings::ask(walker, "changes the settings of a branch");
    }
}

fn clone(walker: &mut Walker<'_>, parsed: &Parsed<'_>) -> Result<(), Unreadable> {
    let settings: Vec<Field> = parsed.values(&["-c", "--config"]).cloned().collect();
    for setting in settings {
        git_settings::temporary(walker, &setting)?;
    }
    if parsed.has(&["-u"]) {
        program_option(walker, "git", "--upload-pack", "")?;
    }
    if parsed.has(&["--template"]) {
        program_option(walker, "git", "--template", "")?;
    }
    let url = parsed.operands.first().map(|url| url.text.trim_end_matches('/')).unwrap_or_default();
    let name = url.rsplit(['/', ':']).next().unwrap_or_default().trim_end_matches(".git");
    let named = parsed.operands.get(1).map_or_else(|| Field::literal(name), |field| (*field).clone());
    walker.fetched_into(&[named], &Output::Remote);
    match parsed.operands.get(1) {
        Some(directory) if !directory.text.ends_with(".git") => walker.write(directory, Via::Other),
        Some(_) => {}
        None => walker.write(&Field::literal("./_"), Via::Other),
    }
    Ok(())
}
