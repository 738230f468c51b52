//! Kills of the client and of the owner of a command.

use crate::bench::Bench;
use crate::fixture::{Fixture, SERVICES, supervisor};
use crate::stand_in::StandIn;
use hermes_exec::supervisor::{EndReason, Key, Outcome};
use hermes_exec::{Input, OutputLimits, Unwatched, Watch};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

/// Waits for a file and returns the number in it.
async fn process(bench: &Bench, file: &str) -> u32 {
    let begun = Instant::now();
    loop {
        if let Ok(process) =
            bench.run(&format!("cat {file} 2>/dev/null || :")).await.unwrap().text.trim().parse()
        {
            return process;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the command does not start");
    }
}

/// The process ids of clients that run a program with this text in their settings.
fn clients(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(line) = std::fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).into_owned();
        if line.contains("place_client\0run\0") && line.contains(text) && line.starts_with('/') {
            found.push(name);
        }
    }
    found
}

/// A killed client is a lost connection, and the far end ends the command when no poll comes.
#[tokio::test]
async fn kill_of_the_client_ends_the_far_end() {
    for service in SERVICES {
        let server = StandIn::start();
        let mut fixture = Fixture::new(service, &server);
        fixture.settings.target = Some(format!("killed-{service:?}"));
        let (bench, looking) = (fixture.supervised(), fixture.unsupervised());
        let file = server.home().join("pid").display().to_string();
        let script = format!("setsid sleep 600 & echo $! >{file}; sleep 600");
        let run = bench.run(&script);
        let kill = async {
            let process = process(&looking, &file).await;
            let clients = clients(&format!("killed-{service:?}"));
            assert_eq!(clients.len(), 1, "{clients:?}");
            assert!(
                std::process::Command::new("kill").args(["-KILL", &clients[0]]).status().unwrap().success()
            );
            process
        };
        let (output, process) = tokio::join!(run, kill);
        let output = output.unwrap();
        assert!(output.text.contains("how the command went is not known"), "{service:?}: {}", output.text);
        let begun = Instant::now();
        while looking.is_gone(process).await.is_err() {
            assert!(begun.elapsed() < Duration::from_secs(40), "{service:?}");
        }
    }
}

/// A background process reads what is written to its pipe, and the end of it.
#[tokio::test]
async fn input_of_a_background_process_reaches_it() {
    for service in SERVICES {
        let server = StandIn::start();
        let fixture = Fixture::new(service, &server);
        let bench = fixture.unsupervised();
        let mut command = bench.command("while read -r line; do echo \"got $line\"; done; echo over; exit 4");
        command.report = None;
        command.key = Some(Key::of("input", 1));
        let prepared = bench.backend.prepare(command, Input::Pipe).await.unwrap();
        let client = prepared.client.unwrap();
        let mut shell = Command::new("bash");
        shell.args(["-c", &client.script]).env_clear().envs(client.env);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = shell.stdin.take().unwrap();
        let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        stdin.write_all(client.link.payload.as_bytes()).await.unwrap();
        for line in ["one", "two"] {
            stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            assert_eq!(lines.next_line().await.unwrap(), Some(format!("got {line}")), "{service:?}");
        }
        drop(stdin);
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("over"), "{service:?}");
        assert_eq!(shell.wait().await.unwrap().code(), Some(4), "{service:?}");
    }
}

/// An interrupt ends the far end before the next poll would be missed.
#[tokio::test]
async fn interrupt_ends_the_far_end_at_once() {
    for service in SERVICES {
        let server = StandIn::start();
        let mut fixture = Fixture::new(service, &server);
        fixture.settings.timing.grace_s = 600;
        let bench = fixture.supervised();
        let file = server.home().join("pid").display().to_string();
        let looking = fixture.unsupervised();
        let cancel = CancellationToken::new();
        let command = bench.command(&format!("setsid sleep 600 & echo $! >{file}; sleep 600"));
        let run = bench.backend.run(command, Watch { started: &Unwatched, cancel: &cancel });
        let stop = async {
            let process = process(&looking, &file).await;
            cancel.cancel();
            process
        };
        let (output, process) = tokio::join!(run, stop);
        assert_eq!(output.unwrap().exit_code, 130, "{service:?}");
        looking.is_gone(process).await.unwrap();
    }
}

/// The next process gets the real result of the command that runs on.
#[tokio::test]
async fn result_survives_a_kill_of_its_owner() {
    for service in SERVICES {
        let server = StandIn::start();
        let fixture = Fixture::new(service, &server);
        let looking = fixture.unsupervised();
        let file = server.home().join("pid").display().to_string();
        let script = format!(
            "echo $$ >{file}; echo run >>{file}.runs; while [ -e {file} ]; do sleep 0.05; done; echo the end; cd /usr; exit 9"
        );
        let mut owner = fixture.owner(&script);
        process(&looking, &file).await;
        owner.kill().unwrap();
        owner.wait().unwrap();
        assert_eq!(looking.run(&format!("rm {file}; cat {file}.runs")).await.unwrap().text, "run\n");
        let found =
            supervisor(fixture.home.path()).reattach(&Key::of("bench", 0), OutputLimits::default()).await;
        let found = match found.unwrap() {
            Outcome::Running(running) => running.finished().await.unwrap(),
            over => over,
        };
        let Outcome::Finished(finished) = found else { panic!("{service:?}: {found:?}") };
        assert_eq!((finished.how, finished.output.exit_code), (EndReason::Exited, 9), "{service:?}");
        assert_eq!(finished.output.text, "the end\n", "{service:?}");
        assert_eq!(finished.output.cwd, Some("/usr".into()), "{service:?}");
    }
}

/// Without the supervisor, the client reads the end of its input and passes it on.
#[tokio::test]
async fn kill_of_the_supervisor_ends_the_far_end() {
    for service in SERVICES {
        let server = StandIn::start();
        let mut fixture = Fixture::new(service, &server);
        fixture.settings.timing.grace_s = 600;
        let looking = fixture.unsupervised();
        let file = server.home().join("pid").display().to_string();
        let mut owner = fixture.owner(&format!("setsid sleep 600 & echo $! >{file}; sleep 600"));
        let process = process(&looking, &file).await;
        let address = std::fs::read_to_string(fixture.home.path().join("spool/address")).unwrap();
        let stream = tokio::net::UnixStream::connect(Path::new(&address).join("s")).await.unwrap();
        let id = stream.peer_cred().unwrap().pid().unwrap().to_string();
        owner.kill().unwrap();
        owner.wait().unwrap();
        assert!(Command::new("kill").args(["-KILL", &id]).status().await.unwrap().success());
        looking.is_gone(process).await.unwrap();
        let found =
            supervisor(fixture.home.path()).reattach(&Key::of("bench", 0), OutputLimits::default()).await;
        assert!(matches!(found.unwrap(), Outcome::Unknown { .. }), "{service:?}");
    }
}
