//! Scripts on files of a place: their client, and what came back.
//!
//! They do not go through the supervisor, because nothing has to survive Hermes: a script whose connection ends does not
//! change anything any more.

use crate::client_script::ClientScript;
use crate::far_script::{self, BOOT};
use crate::place::{Place, words};
use hermes_exec::{
    Backend, Client, Command, Ended, EnvChanges, Exchange, Exchanged, ExecError, Input, Link, Local, Output,
    OutputLimits, Unwatched, Watch,
};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Bytes of output besides that of the script: the marks, and messages of client programs.
const AROUND: usize = 8 * 1024;

/// Runs a script at a place that is ready.
pub(crate) async fn run(
    place: &Place,
    exchange: Exchange,
    mark: String,
    cancel: &CancellationToken,
) -> Result<Exchanged, ExecError> {
    let command = command(place, &exchange, &mark);
    let watch = Watch { started: &Unwatched, cancel };
    let output = Local.run(command, watch).await?;
    Ok(read(output, &mark))
}

fn command(place: &Place, exchange: &Exchange, mark: &str) -> Command {
    let program = far_script::exchange(exchange, mark, place.trace());
    let client = place.client(Input::Closed, &words(&["bash", "-c", BOOT]), &[]);
    let script = ClientScript {
        client: &client,
        second: &client,
        ending: &far_script::ending(mark),
        report: None,
        mark,
        place: &place.label(),
        advice: &place.advice(),
    };
    let link = Link { payload: format!("{program}\0{}", exchange.input), mark: mark.to_owned() };
    Command {
        key: None,
        script: ":".to_owned(),
        cwd: PathBuf::from("/"),
        env: Vec::new(),
        changes: EnvChanges::default(),
        timeout: exchange.timeout,
        report: None,
        // All of it is at the beginning or at the end, which is what is kept.
        output: OutputLimits { chars: exchange.most_output + AROUND, ..OutputLimits::default() },
        sandbox: None,
        client: Some(Client { script: script.text(), env: place.env().to_vec(), link }),
    }
}

/// The output of the script between its marks.
fn read(output: Output, mark: &str) -> Exchanged {
    let Some((_, rest)) = output.text.split_once(&format!("\n{mark} B\n")) else {
        let said = match output.ended {
            Ended::Exited => before_start(&output.text),
            Ended::TimedOut => "no answer".to_owned(),
            Ended::Cancelled => "it was interrupted".to_owned(),
        };
        return Exchanged::NotStarted(said);
    };
    match rest.rsplit_once(&format!("\n{mark} E\n")) {
        Some((text, _)) if output.omitted == 0 => Exchanged::Done(text.to_owned()),
        _ => Exchanged::Lost(output.ended),
    }
}

/// The last line of a client program that could not reach the place.
fn before_start(text: &str) -> String {
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("no answer").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_what_the_marks_enclose() {
        let output = |text: &str, ended| Output {
            text: text.to_owned(),
            exit_code: 0,
            ended,
            cwd: None,
            exports: None,
            omitted: 0,
            spill: None,
        };
        for (text, ended, want) in [
            ("hello\n\nm B\nout\n\nm E\nbye", Ended::Exited, Exchanged::Done("out\n".into())),
            ("\nm B\n\nm E\n", Ended::Exited, Exchanged::Done(String::new())),
            ("\nm B\nou", Ended::Exited, Exchanged::Lost(Ended::Exited)),
            ("\nm B\nou", Ended::TimedOut, Exchanged::Lost(Ended::TimedOut)),
            ("x\nssh: refused\n", Ended::Exited, Exchanged::NotStarted("ssh: refused".into())),
            ("", Ended::Cancelled, Exchanged::NotStarted("it was interrupted".into())),
        ] {
            assert_eq!(read(output(text, ended), "m"), want, "{text:?}");
        }
        let cut = Output { omitted: 1, ..output("\nm B\nout\nm E\n", Ended::Exited) };
        assert_eq!(read(cut, "m"), Exchanged::Lost(Ended::Exited));
    }
}
