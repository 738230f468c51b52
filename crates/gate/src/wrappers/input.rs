//! `xargs` and `parallel`: arguments from standard input.

use super::inner;
use crate::assessment::EffectKind;
use crate::field::{Field, INPUT};
use crate::keys;
use crate::limits::{MAX_ALTERNATIVES, Unreadable};
use crate::options::Spec;
use crate::output::Output;
use crate::walk::{Call, Walker};

/// The items that standard input holds.
fn items(stdin: &Output) -> Vec<Field> {
    match stdin {
        Output::Paths(roots) => roots.iter().map(|root| Field::pattern(root.clone())).collect(),
        Output::Text(text) if words(text).count() <= MAX_ALTERNATIVES => {
            words(text).map(Field::literal).collect()
        }
        _ => vec![Field::literal(INPUT)],
    }
}

/// Items end at blanks, or at zero bytes with `-0`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| character.is_whitespace() || character == '\0')
        .filter(|word| !word.is_empty())
}

pub(super) fn xargs(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let spec = Spec {
        letters: "ILnPsEda",
        long: &[
            "--max-args",
            "--max-lines",
            "--max-procs",
            "--max-chars",
            "--delimiter",
            "--arg-file",
            "--eof",
            "--process-slot-var",
        ],
    };
    let (parsed, rest) = inner(call.arguments, spec, 0);
    for file in parsed.values(&["-a", "--arg-file"]) {
        walker.read(file);
    }
    let items =
        if parsed.has(&["-a", "--arg-file"]) { vec![Field::literal(INPUT)] } else { items(call.stdin) };
    let Some(program) = rest.first() else { return Ok(call.stdin.filtered()) };
    let name = program.text.rsplit('/').next().unwrap_or_default();
    if matches!(name, "rm" | "rmdir" | "unlink" | "shred") {
        let reason = "deletes the files that standard input names";
        walker.ask(EffectKind::Delete, None, keys::XARGS_RM, reason);
    }
    let replaced = parsed.values(&["-I"]).next().map(|field| field.text.clone());
    let replaced = replaced.or_else(|| parsed.has(&["-i", "--replace"]).then(|| "{}".to_owned()));
    let replaced = parsed.values(&["--replace"]).next().map(|field| field.text.clone()).or(replaced);
    // Without input, the command runs once as it stands.
    walker.call(rest, &Output::Unknown)?;
    let Some(mark) = replaced.filter(|mark| !mark.is_empty()) else {
        let fields: Vec<Field> = rest.iter().cloned().chain(items).collect();
        walker.call(&fields, &Output::Unknown)?;
        return Ok(Output::Unknown);
    };
    for item in items {
        walker.call(&substitute(rest, &mark, &item), &Output::Unknown)?;
    }
    Ok(Output::Unknown)
}

/// The fields with every mark replaced by the item.
pub(crate) fn substitute(fields: &[Field], mark: &str, item: &Field) -> Vec<Field> {
    let replace = |field: &Field| {
        if !field.text.contains(mark) {
            return field.clone();
        }
        Field { text: field.text.replace(mark, &item.text), is_pattern: field.is_pattern || item.is_pattern }
    };
    fields.iter().map(replace).collect()
}

pub(super) fn parallel(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let spec = Spec {
        letters: "jnLSaIdNP",
        long: &[
            "--jobs",
            "--max-args",
            "--max-lines",
            "--sshlogin",
            "--arg-file",
            "--delay",
            "--timeout",
            "--joblog",
            "--results",
            "--tmpdir",
            "--workdir",
            "--colsep",
            "--retries",
            "--load",
            "--memfree",
            "--max-procs",
        ],
    };
    let (parsed, rest) = inner(call.arguments, spec, 0);
    if parsed.has(&["-S", "--sshlogin"]) {
        walker.ask(EffectKind::Network, None, keys::REMOTE_SHELL, "runs commands on other machines");
    }
    let is_separator = |field: &&Field| matches!(field.text.as_str(), ":::" | "::::" | ":::+" | "::::+");
    let at = rest.iter().position(|field| is_separator(&field)).unwrap_or(rest.len());
    let (command, sources) = rest.split_at(at);
    let values: Vec<Field> = match sources.first() {
        Some(sign) if sign.text.starts_with("::::") => vec![Field::literal(INPUT)],
        Some(_) => {
            sources.iter().filter(|field| !is_separator(field)).take(MAX_ALTERNATIVES).cloned().collect()
        }
        None => items(call.stdin),
    };
    let text: Vec<&str> = command.iter().map(|field| field.text.as_str()).collect();
    let text = text.join(" ");
    for value in values {
        let has_mark = text.contains("{}");
        let line = if has_mark { text.replace("{}", &value.text) } else { format!("{text} {}", value.text) };
        walker.payload(&line, Output::Unknown)?;
        // The same words without a shell in between.
        let fields = if has_mark {
            substitute(command, "{}", &value)
        } else {
            command.iter().cloned().chain([value]).collect()
        };
        walker.call(&fields, &Output::Unknown)?;
    }
    Ok(Output::Unknown)
}
