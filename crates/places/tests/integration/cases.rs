//! Cases of the conformance suite with a check of their own.

use crate::bench::{Bench, CaseFn, Verdict, ended, same};
use hermes_exec::{BoxFuture, Ended, ExecError, Group, LONGEST, Started, Unwatched, Watch};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

macro_rules! cases {
    ($($name:literal => $function:ident,)*) => {
        pub(crate) const CASES: &[(&str, CaseFn)] = &[$(($name, |bench| Box::pin($function(bench))),)*];
    };
}

cases! {
    "syntax error" => syntax_error,
    "working directory of a command" => working_directory,
    "working directory is reported" => directory_is_reported,
    "directory is reported after a failure" => directory_after_failure,
    "directory that does not exist" => missing_directory,
    "variables of a command" => variables,
    "changes of variables" => changes,
    "exports are reported" => exports,
    "exports with hostile values" => hostile_exports,
    "withheld variables are not reported" => withheld,
    "NUL is refused" => nul,
    "script that is too long is refused" => too_long,
    "long script" => long_script,
    "long output is spilled" => long_output,
    "fast output" => fast_output,
    "timeout keeps partial output" => timeout,
    "timeout ends every process" => timeout_ends_tree,
    "timeout ends processes that ignore TERM" => timeout_ends_stubborn,
    "cancellation" => cancellation,
    "cancellation before the start" => cancelled_before,
    "background process ends with its command" => background,
    "process in its own session ends with its command" => own_session,
    "background process does not delay the end" => no_delay,
    "commands run at the same time" => concurrent,
    "start that is not recorded" => not_recorded,
    "dropped command" => dropped,
}

async fn syntax_error(bench: &Bench) -> Verdict {
    let output = bench.run("if true; then").await?;
    match output.exit_code != 0 && output.text.contains("syntax error") {
        true => same(output.cwd.is_some(), true),
        false => Err(format!("{output:?}")),
    }
}

async fn working_directory(bench: &Bench) -> Verdict {
    let output = bench.run_with("pwd", |command| command.cwd = PathBuf::from("/usr")).await?;
    same(output.text.as_str(), "/usr\n")
}

async fn directory_is_reported(bench: &Bench) -> Verdict {
    let output = bench.run("cd /usr/../etc").await?;
    same(output.cwd.as_deref(), Some(Path::new("/etc")))
}

async fn directory_after_failure(bench: &Bench) -> Verdict {
    let output = bench.run("cd /usr; exit 3").await?;
    same((output.cwd, output.exit_code), (Some(PathBuf::from("/usr")), 3))
}

/// The command must not run in another directory than the one that it was given.
async fn missing_directory(bench: &Bench) -> Verdict {
    let mut command = bench.command("echo ran");
    command.cwd = PathBuf::from("/no/such/directory");
    if let Some(report) = &mut command.report {
        report.cwd = false;
    }
    match bench.try_run(command).await {
        Err(ExecError::NoDirectory { .. }) => Ok(()),
        Ok(output) if output.exit_code == 126 && !output.text.contains("ran") => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

async fn variables(bench: &Bench) -> Verdict {
    let add = |command: &mut hermes_exec::Command| command.env.push(("GIVEN".into(), "a 'b'\n$c".into()));
    same(bench.run_with("printf %s \"$GIVEN\"", add).await?.text.as_str(), "a 'b'\n$c")
}

async fn changes(bench: &Bench) -> Verdict {
    let script = "echo \"$SET-${UNSET-none}\"";
    let output = bench.run_with(script, |command| {
        command.env.push(("UNSET".into(), "x".into()));
        command.changes.set.insert("SET".into(), "it's".into());
        command.changes.unset.insert("UNSET".into());
    });
    same(output.await?.text.as_str(), "it's-none\n")
}

async fn exports(bench: &Bench) -> Verdict {
    let script = "export NEW=1 KEPT=same; LOCAL=x; export CHANGED=2; unset GONE";
    let output = bench.run_with(script, |command| {
        for name in ["GONE", "CHANGED"] {
            command.env.push((name.into(), "old".into()));
        }
        command.env.push(("KEPT".into(), "same".into()));
    });
    let changes = output.await?.exports.ok_or("no exports")?.changes;
    let set: Vec<_> = changes.set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    same(set, vec![("CHANGED", "2"), ("NEW", "1")])?;
    same(changes.unset.iter().map(String::as_str).collect::<Vec<_>>(), vec!["GONE"])
}

async fn hostile_exports(bench: &Bench) -> Verdict {
    let first = bench.run("export V=$'a\\'b\"c$(touch /tmp/x)`id`\\n\\\\d ä'").await?;
    let changes = first.exports.ok_or("no exports")?.changes;
    let second = bench.run_with("printf %s \"$V\"", |command| command.changes = changes).await?;
    same(second.text.as_str(), "a'b\"c$(touch /tmp/x)`id`\n\\d ä")
}

async fn withheld(bench: &Bench) -> Verdict {
    let output = bench.run_with("export KEY=other FREE=1", |command| {
        command.env.push(("KEY".into(), "secret".into()));
        command.report.as_mut().unwrap().exports = Some(vec!["KEY".into()]);
    });
    let changes = output.await?.exports.ok_or("no exports")?.changes;
    same(changes.names().collect::<Vec<_>>(), vec!["FREE"])
}

async fn nul(bench: &Bench) -> Verdict {
    let refused = bench.try_run(bench.command("echo a\0b")).await;
    same(matches!(refused, Err(ExecError::Nul)), true)
}

async fn too_long(bench: &Bench) -> Verdict {
    let script = format!("#{}", "x".repeat(LONGEST));
    let refused = bench.try_run(bench.command(&script)).await;
    same(matches!(refused, Err(ExecError::TooLong { .. })), true)
}

async fn long_script(bench: &Bench) -> Verdict {
    let script = format!("cat <<'X' | wc -c\n{}\nX", "y'".repeat(40_000));
    same(bench.run(&script).await?.text.trim(), "80001")
}

async fn long_output(bench: &Bench) -> Verdict {
    let output = bench.run("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done").await?;
    let spill = output.spill.ok_or("no spill file")?;
    let whole = std::fs::read_to_string(&spill.path).map_err(|error| error.to_string())?;
    same(whole.lines().count(), 2000)?;
    same(output.text.starts_with("line 0\n") && output.text.ends_with("line 1999\n"), true)
}

async fn fast_output(bench: &Bench) -> Verdict {
    let output = bench.run("head -c 3000000 /dev/zero | tr '\\0' x; echo end").await?;
    same(output.text.ends_with("xend\n"), true)?;
    same(output.omitted, 3_000_004 - 2000)
}

/// Enough for a busy machine to start a command elsewhere.
const SHORT: Duration = Duration::from_secs(4);

async fn timeout(bench: &Bench) -> Verdict {
    let output = bench.run_with("echo before; sleep 600; echo no", |command| command.timeout = SHORT).await?;
    ended(&output, (Ended::TimedOut, 124))?;
    same(output.text.as_str(), "before\n")
}

async fn timeout_ends_tree(bench: &Bench) -> Verdict {
    let script = "(sleep 600 & echo $!; wait) ; sleep 600";
    let output = bench.run_with(script, |command| command.timeout = SHORT).await?;
    ended(&output, (Ended::TimedOut, 124))?;
    bench.leaves_nothing(&output).await
}

async fn timeout_ends_stubborn(bench: &Bench) -> Verdict {
    let script = "trap '' TERM; echo $$; while :; do sleep 1; done";
    let output = bench.run_with(script, |command| command.timeout = SHORT).await?;
    ended(&output, (Ended::TimedOut, 124))?;
    bench.leaves_nothing(&output).await
}

async fn cancellation(bench: &Bench) -> Verdict {
    let (cancel, command) = (CancellationToken::new(), bench.command("echo $$; sleep 600"));
    let watch = Watch { started: &Unwatched, cancel: &cancel };
    let run = bench.backend.run(command, watch);
    let stop = async {
        tokio::time::sleep(SHORT).await;
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(run, stop);
    let output = output.map_err(|error| error.to_string())?;
    ended(&output, (Ended::Cancelled, 130))?;
    bench.leaves_nothing(&output).await
}

async fn cancelled_before(bench: &Bench) -> Verdict {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let watch = Watch { started: &Unwatched, cancel: &cancel };
    let output = bench.backend.run(bench.command("echo ran"), watch).await;
    let output = output.map_err(|error| error.to_string())?;
    ended(&output, (Ended::Cancelled, 130))?;
    same(output.text.as_str(), "")
}

async fn background(bench: &Bench) -> Verdict {
    let output = bench.run("sleep 600 & echo $!").await?;
    ended(&output, (Ended::Exited, 0))?;
    bench.leaves_nothing(&output).await
}

async fn own_session(bench: &Bench) -> Verdict {
    let script = "setsid sh -c 'sleep 600 & echo $!' ; exit 6";
    let output = bench.run(script).await?;
    ended(&output, (Ended::Exited, 6))?;
    bench.leaves_nothing(&output).await
}

async fn no_delay(bench: &Bench) -> Verdict {
    let begun = std::time::Instant::now();
    let output = bench.run("sleep 600 >/dev/null 2>&1 & echo started").await?;
    same(output.text.as_str(), "started\n")?;
    same(begun.elapsed() < Duration::from_secs(20), true)
}

async fn concurrent(bench: &Bench) -> Verdict {
    let run = |number: usize| async move { bench.run(&format!("sleep 0.2; echo {number}")).await };
    let (a, b, c, d) = tokio::join!(run(1), run(2), run(3), run(4));
    let texts: Result<Vec<String>, String> = [a, b, c, d].into_iter().map(|one| Ok(one?.text)).collect();
    same(texts?, ["1\n", "2\n", "3\n", "4\n"].map(str::to_owned).to_vec())
}

struct Refusing;

impl Started for Refusing {
    fn started<'a>(&'a self, _: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Err("the disk is full".to_owned()) })
    }
}

async fn not_recorded(bench: &Bench) -> Verdict {
    let watch = Watch { started: &Refusing, cancel: &CancellationToken::new() };
    let refused = bench.backend.run(bench.command("touch /tmp/conformance-ran"), watch).await;
    same(matches!(refused, Err(ExecError::NotRecorded { .. })), true)?;
    same(bench.run("[ -e /tmp/conformance-ran ] || echo no").await?.text.as_str(), "no\n")
}

/// The caller that loses interest leaves no process behind.
async fn dropped(bench: &Bench) -> Verdict {
    let file = format!("/tmp/conformance-dropped-{}-{:p}", std::process::id(), bench);
    let script = format!("echo $$ >{file}; sleep 600");
    let run = bench.run(&script);
    // The time that a command gets to start.
    let _ = tokio::time::timeout(Duration::from_secs(3), run).await;
    let output = bench.run(&format!("cat {file}; rm {file}")).await?;
    bench.leaves_nothing(&output).await
}
