//! Programs that copy, move, link, unpack and make files.

use super::files::Via;
use super::secrets;
use crate::field::Field;
use crate::limits::Unreadable;
use crate::options::{Spec, parse};
use crate::output::Output;
use crate::paths::Target;
use crate::protected::{WriteClass, write_class};
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "cp" | "gcp" | "mv" | "gmv" | "install" | "ln" | "link" => copy(walker, call),
        "mkdir" | "touch" | "mkfifo" | "mknod" => {
            let parsed =
                parse(call.arguments, Spec { letters: "mdrtZ", long: &["--mode", "--date", "--reference"] });
            let is_node = call.name == "mknod";
            let operands: Vec<Field> = parsed.operands.into_iter().cloned().collect();
            for field in operands.iter().take(if is_node { 1 } else { usize::MAX }) {
                make(walker, field, call.name);
            }
            if is_node && operands.len() > 2 {
                walker.ask(
                    crate::assessment::EffectKind::Privilege,
                    None,
                    crate::keys::DEVICE,
                    "makes a device file",
                );
            }
        }
        "tar" | "gtar" | "bsdtar" => tar(walker, call)?,
        "unzip" | "7z" | "7za" | "unrar" | "cpio" | "zip" | "ar" => archive(walker, call)?,
        "split" | "csplit" => {
            let parsed = parse(
                call.arguments,
                Spec {
                    letters: "abClnt",
                    long: &["--bytes", "--lines", "--suffix-length", "--filter", "--number"],
                },
            );
            if let Some(text) = parsed.values(&["--filter"]).next() {
                super::tools::program_option(walker, "split", "--filter", &text.text.clone())?;
            }
            if let Some(prefix) = parsed.operands.get(1) {
                walker.write(prefix, Via::Other);
            }
        }
        "patch" => {
            let parsed = parse(
                call.arguments,
                Spec { letters: "pidoDFrYz", long: &["--strip", "--input", "--directory", "--output"] },
            );
            for file in parsed.values(&["-o", "--output", "-d", "--directory"]) {
                walker.write(file, Via::Other);
            }
            if let Some(file) = parsed.operands.first() {
                walker.write(file, Via::Other);
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Unknown))
}

fn make(walker: &mut Walker<'_>, field: &Field, name: &str) {
    // Making a directory that holds protected files is not writing them.
    if name == "mkdir"
        && let Target::Path(path) = walker.resolve(field)
        && matches!(
            write_class(&path, walker.scene),
            WriteClass::RunByOthers | WriteClass::ProjectEnvironment
        )
    {
        return;
    }
    walker.write(field, Via::Other);
}

fn copy(walker: &mut Walker<'_>, call: &Call<'_>) {
    let is_link = matches!(call.name, "ln" | "link");
    let spec = Spec {
        letters: if call.name == "install" { "tSmogC" } else { "tS" },
        long: &["--target-directory", "--suffix", "--mode", "--owner", "--group"],
    };
    let parsed = parse(call.arguments, spec);
    let directory = parsed.values(&["-t", "--target-directory"]).next().cloned();
    let mut sources: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
    if call.name == "install" && parsed.has(&["-d", "--directory"]) {
        return sources.iter().for_each(|field| walker.write(field, Via::Other));
    }
    let target = match directory {
        Some(directory) => Some(directory),
        None if sources.len() > 1 => sources.pop(),
        None if is_link => Some(Field::literal(".")),
        None => None,
    };
    for source in &sources {
        let is_tree = parsed.has(&["-r", "-R", "-a", "--recursive", "--archive"]);
        if is_tree {
            walker.read_tree(source)
        } else {
            walker.read(source)
        }
        if matches!(call.name, "mv" | "gmv") {
            moved(walker, source);
        }
        if is_link {
            linked(walker, source);
        }
    }
    let Some(target) = target else { return };
    walker.write(&target, Via::Copy);
    // The target may be a directory; then the names of the sources count.
    for source in &sources {
        let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if target.is_known()
            && !name.is_empty()
            && crate::field::is_known(name)
            && name != "."
            && name != ".."
        {
            let inside = Field {
                text: format!("{}/{name}", target.text.trim_end_matches('/')),
                is_pattern: source.is_pattern,
            };
            if target.text == "."
                || target.text.ends_with('/')
                || target.text.ends_with("..")
                || walker.is_directory(&target)
            {
                walker.write(&inside, Via::Copy);
            }
        }
    }
}

fn moved(walker: &mut Walker<'_>, source: &Field) {
    let target = walker.resolve(source);
    let is_root = target.path().is_some_and(|path| walker.scene.project.starts_with(path));
    if is_root {
        let shown = source.shown();
        walker.ask(
            crate::assessment::EffectKind::Delete,
            Some(&source.text),
            crate::keys::DELETE_OUTSIDE,
            format!("moves {shown}, which holds the project"),
        );
    }
    walker.delete(source);
}

/// A link to a protected place would let later commands write there under another name.
fn linked(walker: &mut Walker<'_>, source: &Field) {
    let target = walker.resolve(source);
    let Some(path) = target.path() else { return };
    let class = write_class(path, walker.scene);
    let is_protected = matches!(
        class,
        WriteClass::System
            | WriteClass::Credential
            | WriteClass::Startup
            | WriteClass::Hermes
            | WriteClass::GitSettings
            | WriteClass::BlockDevice
    );
    let is_root = walker.scene.project.starts_with(path);
    if is_protected || is_root {
        let reason = format!("makes a link to {}", source.shown());
        walker.ask(
            crate::assessment::EffectKind::Policy,
            Some(&source.text),
            crate::keys::WRITE_OUTSIDE,
            reason,
        );
    }
}

impl Walker<'_> {
    /// Returns true for a path that is a directory by what is known of it.
    fn is_directory(&self, field: &Field) -> bool {
        let Target::Path(path) = self.resolve(field) else { return false };
        let known = [Some(&self.scene.project), Some(&self.scene.cwd), self.scene.user_home.as_ref()];
        known.into_iter().flatten().chain(&self.scene.temporary).any(|directory| directory.starts_with(&path))
            || path.ends_with("hooks")
            || path.ends_with(".git")
            || path.ends_with(".github/workflows")
    }
}

fn tar(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
    // The first word may be options without a dash.
    let mut arguments = call.arguments.to_vec();
    if let Some(first) =
        arguments.first_mut().filter(|first| !first.text.starts_with('-') && first.is_known())
    {
        first.text = format!("-{}", first.text);
    }
    // In `-czf name`, the value of `f` follows the word.
    let spec = Spec {
        letters: "fCTXIbFgHKLNV",
        long: &[
            "--file",
            "--directory",
            "--files-from",
            "--exclude",
            "--exclude-from",
            "--use-compress-program",
            "--checkpoint-action",
            "--to-command",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
            "--transform",
            "--owner",
            "--group",
        ],
    };
    let parsed = parse(&arguments, spec);
    for option in [
        "--checkpoint-action",
        "--to-command",
        "--use-compress-program",
        "-I",
        "--info-script",
        "-F",
        "--new-volume-script",
        "--rsh-command",
        "--rmt-command",
    ] {
        let values: Vec<Field> = parsed.values(&[option]).cloned().collect();
        for value in values {
            let text = value.text.strip_prefix("exec=").unwrap_or(&value.text);
            let is_action = option == "--checkpoint-action" && !value.text.starts_with("exec");
            if !is_action
                && !matches!(
                    text,
                    "zstd" | "pigz" | "xz" | "gzip" | "bzip2" | "lz4" | "pbzip2" | "pixz" | "zstdmt" | "lzma"
                )
            {
                super::tools::program_option(walker, "tar", option, text)?;
            }
        }
    }
    let is_create = parsed.has(&["-c", "-r", "-u", "--create", "--append", "--update"]);
    let is_extract = parsed.has(&["-x", "--extract", "--get"]);
    let directories: Vec<Field> = parsed.values(&["-C", "--directory"]).cloned().collect();
    let files: Vec<Field> = parsed.values(&["-f", "--file"]).cloned().collect();
    if is_create {
        files.iter().filter(|file| file.text != "-").for_each(|file| walker.write(file, Via::Other));
        if parsed.has(&["--remove-files"]) {
            for operand in &parsed.operands {
                let directory = directories.last().filter(|_| !operand.text.starts_with('/'));
                let text =
                    directory.map_or(operand.text.clone(), |dir| format!("{}/{}", dir.text, operand.text));
                let removed = Field { text, is_pattern: operand.is_pattern };
                walker.delete_tree(&removed, crate::keys::RECURSIVE_DELETE);
            }
        }
        for operand in parsed.operands.iter().chain(&directories.iter().collect::<Vec<_>>()) {
            walker.read_tree(operand);
        }
    }
    if is_extract {
        directories.iter().for_each(|directory| walker.write(directory, Via::Other));
        if parsed.has(&["-P", "--absolute-names"]) {
            walker.write(&Field::literal("/"), Via::Other);
        }
    }
    Ok(())
}

fn archive(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
    secrets::arguments(walker, call);
    match call.name {
        "zip" => {
            let parsed = parse(call.arguments, Spec { letters: "xibnPt", long: &["--unzip-command"] });
            let commands = call
                .arguments
                .windows(2)
                .filter(|pair| pair.first().is_some_and(|field| field.text == "-TT"));
            let commands: Vec<Field> = commands
                .filter_map(|pair| pair.get(1).cloned())
                .chain(parsed.values(&["--unzip-command"]).cloned())
                .collect();
            for command in commands {
                super::tools::program_option(walker, "zip", "-TT", &command.text)?;
            }
            let mut operands = parsed.operands.into_iter();
            if let Some(file) = operands.next() {
                walker.write(file, Via::Other);
            }
            operands.for_each(|field| walker.read_tree(field));
        }
        "unzip" => {
            let parsed = parse(call.arguments, Spec { letters: "dx", long: &[] });
            for directory in parsed.values(&["-d"]) {
                walker.write(directory, Via::Other);
            }
        }
        "7z" | "7za" => {
            for field in call.arguments.iter().filter(|field| field.text.starts_with("-o")) {
                walker.write(&Field::literal(field.text.trim_start_matches("-o")), Via::Other);
            }
        }
        _ => {
            let parsed = parse(call.arguments, Spec { letters: "DEFIOH", long: &["--directory"] });
            for file in parsed.values(&["-D", "-O", "--directory"]) {
                walker.write(file, Via::Other);
            }
            if let Some(program) = parsed.options.iter().find(|option| option.name == "--rsh-command") {
                let text = program.value.as_ref().map(|field| field.text.clone()).unwrap_or_default();
                super::tools::program_option(walker, "cpio", "--rsh-command", &text)?;
            }
        }
    }
    Ok(())
}
