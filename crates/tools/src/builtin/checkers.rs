//! Syntax checks of source files by installed programs.
//!
//! A program gets the text on its standard input, in the root directory and in the sandbox of read-only commands
//! without a network: no file of the project can make it load a plugin or run code. Programs inside of the project are
//! not used. Only errors that the text before did not have are reported.

use crate::{CallScope, ToolContext};
use hermes_exec::{Direct, Ended, run_direct};
use hermes_sandbox::{Network, Profile};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The timeout of a check.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer texts are not checked, in bytes.
const LONGEST: usize = 1024 * 1024;
/// Bytes of a program's output that are read.
const MOST_OUTPUT: usize = 64 * 1024;
/// Errors that are reported.
const MOST_ERRORS: usize = 5;

/// Compiles the standard input without writing or importing anything of the project.
const PYTHON: &str = "import sys\n\
    try:\n    compile(sys.stdin.buffer.read(), 'file', 'exec', dont_inherit=True)\n\
    except (SyntaxError, ValueError) as error:\n    \
    print('error: line %s: %s' % (getattr(error, 'lineno', '?'), getattr(error, 'msg', error)))\n";

type Runs = &'static [&'static [&'static str]];
/// Reads the errors from the output of a program.
type ReadErrors = fn(&str) -> Vec<String>;

/// A program that checks files of some types.
struct Checker {
    program: &'static str,
    /// The arguments of its runs. A text is sound if it is sound in one of them.
    runs: Runs,
    errors: ReadErrors,
}

/// The checker of a file, by its extension.
fn checker(path: &Path) -> Option<Checker> {
    const NODE: &str = "node";
    let (program, runs, errors): (_, Runs, ReadErrors) = match path.extension()?.to_str()? {
        "py" => ("python3", &[&["-I", "-S", "-B", "-W", "ignore", "-c", PYTHON]], marked),
        "cjs" => (NODE, &[&["--check", "--input-type=commonjs", "-"]], node_errors),
        "mjs" => (NODE, &[&["--check", "--input-type=module", "-"]], node_errors),
        "js" => (
            NODE,
            &[&["--check", "--input-type=module", "-"], &["--check", "--input-type=commonjs", "-"]],
            node_errors,
        ),
        "rs" => ("rustfmt", &[&["--edition", "2024", "--emit", "stdout"]], rust_errors),
        "go" => ("gofmt", &[&["-e"]], go_errors),
        _ => return None,
    };
    Some(Checker { program, runs, errors })
}

/// The errors of the new text that the old one did not have, as a value for the field `lint`.
pub(super) async fn new_errors(
    path: &Path,
    old: Option<&str>,
    new: &str,
    cx: &ToolContext,
    scope: &CallScope,
) -> Option<Value> {
    let checker = checker(path).filter(|_| new.len() <= LONGEST)?;
    let program = installed(checker.program, cx)?;
    let found = check(&checker, &program, new, cx, scope).await;
    if found.is_empty() {
        return None;
    }
    let known = match old.filter(|old| old.len() <= LONGEST) {
        Some(old) => check(&checker, &program, old, cx, scope).await,
        None => Vec::new(),
    };
    let errors = added(found, &known);
    (!errors.is_empty()).then(|| json!({"checked_by": checker.program, "new_errors": errors}))
}

/// The errors that are not among the known ones; their lines may have moved.
fn added(found: Vec<String>, known: &[String]) -> Vec<String> {
    let plain =
        |error: &String| error.chars().filter(|character| !character.is_ascii_digit()).collect::<String>();
    let known: BTreeSet<String> = known.iter().map(plain).collect();
    found.into_iter().filter(|error| !known.contains(&plain(error))).take(MOST_ERRORS).collect()
}

/// The errors of a text. A program that cannot run finds none.
async fn check(
    checker: &Checker,
    program: &Path,
    text: &str,
    cx: &ToolContext,
    scope: &CallScope,
) -> Vec<String> {
    let mut first = None;
    for arguments in checker.runs {
        let mut argv = vec![program.display().to_string()];
        argv.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let sandbox = cx.program_policy(Some(Profile::ReadOnly)).map(|mut policy| {
            policy.network = Network::Off;
            policy
        });
        let program = Direct {
            argv,
            cwd: PathBuf::from("/"),
            env: environment(cx),
            input: text.as_bytes().to_vec(),
            timeout: PATIENCE,
            most_output: MOST_OUTPUT,
            sandbox,
        };
        let Some(Ok(output)) = scope.cancel.run_until_cancelled(run_direct(program)).await else {
            return Vec::new();
        };
        if output.ended != Ended::Exited {
            return Vec::new();
        }
        let errors = (checker.errors)(&format!("{}\n{}", output.stdout, output.stderr));
        if errors.is_empty() {
            return Vec::new();
        }
        first.get_or_insert(errors);
    }
    first.unwrap_or_default()
}

/// The environment of checkers, which run on this machine wherever commands run.
fn environment(cx: &ToolContext) -> Vec<(String, String)> {
    if cx.far().is_none() {
        return cx.command_env();
    }
    let path = std::env::join_paths(&cx.safety().path_dirs).unwrap_or_default();
    vec![("PATH".to_owned(), path.to_string_lossy().into_owned())]
}

/// The program in the `PATH` of commands, outside of the project.
fn installed(name: &str, cx: &ToolContext) -> Option<PathBuf> {
    let env = environment(cx);
    let path = env.iter().find(|(variable, _)| variable == "PATH").map(|(_, value)| value.as_str())?;
    let project = cx.project();
    std::env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|file| {
        let is_program = std::fs::metadata(file)
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
        let is_outside = || file.canonicalize().is_ok_and(|real| !real.starts_with(&project));
        is_program && !file.starts_with(&project) && is_outside()
    })
}

/// Lines that our own script marked.
fn marked(output: &str) -> Vec<String> {
    output.lines().filter_map(|line| line.strip_prefix("error: ")).map(str::to_owned).collect()
}

/// `SyntaxError: …`, with the line of `[stdin]:3`.
fn node_errors(output: &str) -> Vec<String> {
    let line = output.lines().find_map(|line| line.trim().strip_prefix("[stdin]:")).unwrap_or("?");
    let errors = output.lines().filter(|line| line.starts_with("SyntaxError: "));
    errors.map(|error| format!("line {line}: {error}")).collect()
}

/// `error: …`, with the place of the next line `--> <stdin>:3:5`.
fn rust_errors(output: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(error) = line.strip_prefix("error: ").or_else(|| line.strip_prefix("error[")) else {
            continue;
        };
        let place = lines.peek().and_then(|next| next.trim().strip_prefix("--> <stdin>:"));
        // Without a place it is about the program and not about the text.
        if let Some(place) = place {
            errors.push(format!("line {place}: {error}"));
        }
    }
    errors
}

/// `<standard input>:3:5: …`.
fn go_errors(output: &str) -> Vec<String> {
    let places = output.lines().filter_map(|line| line.strip_prefix("<standard input>:"));
    places.map(|error| format!("line {error}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_from_the_output_of_programs() {
        for (read, output, want) in [
            (marked as ReadErrors, "error: line 3: invalid syntax\n", "line 3: invalid syntax"),
            (
                node_errors,
                "[stdin]:2\nlet x = ;\n\nSyntaxError: Unexpected token\n    at x",
                "line 2: SyntaxError: Unexpected token",
            ),
            (node_errors, "node: bad option: --check\n", ""),
            (
                rust_errors,
                "error: expected one of `!`\n --> <stdin>:1:4\n  |\n",
                "line 1:4: expected one of `!`",
            ),
            (rust_errors, "error: toolchain 'x' is not installed\n", ""),
            (go_errors, "<standard input>:3:5: expected '('\n", "line 3:5: expected '('"),
        ] {
            assert_eq!(read(output).join("|"), want, "{output}");
        }
    }

    #[test]
    fn only_added_errors_count() {
        let errors = |list: &[&str]| list.iter().map(|error| (*error).to_owned()).collect::<Vec<_>>();
        let new = added(errors(&["line 12: a", "line 3: b"]), &errors(&["line 9: a"]));
        assert_eq!(new, ["line 3: b"]);
    }
}
