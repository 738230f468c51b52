//! `find` and `fd`: files below directories, and what is done with them.

use super::files::Via;
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "find" | "gfind" => find(walker, call).map(Some),
        "fd" | "fdfind" => fd(walker, call).map(Some),
        _ => Ok(None),
    }
}

/// Tests of `find` that leave most files out.
const FILTERS: [&str; 23] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-size",
    "-empty",
    "-user",
    "-group",
    "-perm",
    "-links",
    "-inum",
    "-samefile",
    "-uid",
];

fn find(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let leading = call.arguments.iter().take_while(|field| {
        matches!(field.text.as_str(), "-H" | "-L" | "-P") || field.text.starts_with("-O")
    });
    let start = leading.count();
    let rest = call.arguments.get(start..).unwrap_or_default();
    let count = rest.iter().take_while(|field| !field.text.starts_with(['-', '(', '!'])).count();
    let (roots, expression) = rest.split_at(count);
    let mut roots = roots.to_vec();
    if roots.is_empty() {
        roots.push(Field::literal("."));
    }
    let name = expression
        .windows(2)
        .find(|pair| matches!(pair.first().map(|field| field.text.as_str()), Some("-name" | "-iname")));
    let name = name.and_then(|pair| pair.get(1)).map(|field| field.text.clone());
    let is_filtered = leaves_most_out(expression);
    let found: Vec<Field> = roots.iter().map(|root| below(root, name.as_deref())).collect();
    let mut index = 0;
    while let Some(field) = expression.get(index) {
        index += 1;
        match field.text.as_str() {
            "-delete" => {
                walker.ask(EffectKind::Delete, None, keys::FIND_DELETE, "deletes the files that find finds");
                delete_roots(walker, &roots, is_filtered, keys::FIND_DELETE);
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let command = expression.get(index..).unwrap_or_default();
                let end = command
                    .iter()
                    .position(|field| matches!(field.text.as_str(), ";" | "+"))
                    .unwrap_or(command.len());
                index += end;
                exec(walker, command.get(..end).unwrap_or_default(), &found, &roots, is_filtered)?;
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = expression.get(index) {
                    walker.write(file, Via::Other);
                }
            }
            "-files0-from" => {
                if let Some(file) = expression.get(index) {
                    walker.read(file);
                }
            }
            _ => {}
        }
    }
    Ok(Output::Paths(found.into_iter().map(|field| field.text).collect()))
}

/// Returns true if a test leaves files out: not `-name '*'`, and not the negation of a test.
fn leaves_most_out(expression: &[Field]) -> bool {
    expression.iter().enumerate().any(|(index, field)| {
        let text = |index: usize| expression.get(index).map(|field| field.text.as_str()).unwrap_or_default();
        let is_negated = index > 0 && matches!(text(index - 1), "!" | "-not");
        let is_all =
            field.text.contains("name") && matches!(text(index + 1), "*" | "**" | "*.*" | ".*" | "?*");
        FILTERS.contains(&field.text.as_str()) && !is_negated && !is_all
    })
}

fn below(root: &Field, name: Option<&str>) -> Field {
    let root = root.text.trim_end_matches('/');
    match name {
        Some(name) => Field::pattern(format!("{root}/**/{name}")),
        None => Field::pattern(format!("{root}/**")),
    }
}

fn exec(
    walker: &mut Walker<'_>,
    command: &[Field],
    found: &[Field],
    roots: &[Field],
    is_filtered: bool,
) -> Result<(), Unreadable> {
    let program = command.first().map(|field| field.text.rsplit('/').next().unwrap_or_default().to_owned());
    if matches!(program.as_deref(), Some("rm" | "rmdir" | "unlink" | "shred")) {
        walker.ask(EffectKind::Delete, None, keys::FIND_RM, "deletes the files that find finds");
        let is_recursive =
            command.iter().any(|field| field.text.starts_with('-') && field.text.contains(['r', 'R']));
        if is_recursive {
            delete_roots(walker, roots, is_filtered, keys::FIND_RM);
        }
        // The literal operands count too: `find . -exec rm -rf / ;`.
        let literal: Vec<Field> = command.iter().filter(|field| field.text != "{}").cloned().collect();
        walker.call(&literal, &Output::Nothing)?;
        return Ok(());
    }
    // A `{}` inside of a longer text may belong to a command in it.
    if command.iter().any(|field| field.text.contains("{}") && field.text != "{}") {
        walker.call(command, &Output::Nothing)?;
    }
    for item in found.iter().take(8) {
        let fields = crate::wrappers::substitute(command, "{}", item);
        walker.call(&fields, &Output::Nothing)?;
    }
    Ok(())
}

fn delete_roots(walker: &mut Walker<'_>, roots: &[Field], is_filtered: bool, rule: &'static str) {
    if !is_filtered {
        for root in roots {
            walker.delete_tree(root, rule);
        }
    }
}

fn fd(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let is_exec = |field: &Field| matches!(field.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    if let Some(at) = call.arguments.iter().position(is_exec) {
        let command = call.arguments.get(at + 1..).unwrap_or_default();
        let end = command.iter().position(|field| field.text == ";").unwrap_or(command.len());
        let mut command = command.get(..end).unwrap_or_default().to_vec();
        if !command.iter().any(|field| field.text.contains('{')) {
            command.push(Field::literal("{}"));
        }
        let here = [Field::literal(".")];
        exec(walker, &command, &[Field::pattern("./**")], &here, true)?;
    }
    Ok(Output::Paths(vec!["./**".into()]))
}
