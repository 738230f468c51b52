//! `hermes demo`: a session of the real agent with a scripted model, in a temporary directory.
//!
//! The demo starts the scripted model on a loopback port and then runs this very binary
//! against it, in a temporary home: a session that fixes a broken project, a turn that is
//! killed and continued, a search over the messages.

mod model;

use crate::exit::{Exit, Failure};
use clap::Args;
use hermes_scripted::{Script, Server};
use hermes_terminal::term::{self, Style};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};

const ADD: &str = "# Prints the sum of its arguments.\ntotal=0\nfor number in \"$@\"; do\n  total=$((total - number))\ndone\necho \"$total\"\n";
const CHECK: &str = "# Checks add.sh.\ngot=$(bash add.sh 2 3 4)\nif [ \"$got\" = 9 ]; then\n  echo \"ok: 2 + 3 + 4 = 9\"\nelse\n  echo \"FAILED: 2 + 3 + 4 should be 9, got $got\"\n  exit 1\nfi\n";

/// Watch a session with a scripted model, without key or network
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes demo
  hermes demo --keep")]
pub(crate) struct DemoArgs {
    /// Keep the demo's directory and print its path
    #[arg(long)]
    keep: bool,
}

pub(crate) async fn run(args: &DemoArgs) -> Result<Exit, Failure> {
    let folder = tempfile::Builder::new().prefix("hermes-demo-").tempdir()?;
    let server = Server::start(Script::by(model::reply)).await?;
    let demo = Demo::new(folder.path(), &server.base_url())?;
    let done = demo.play().await;
    if args.keep {
        let kept = folder.keep();
        say(&format!("Kept: {}", kept.display()));
    } else {
        folder.close()?;
        say("The demo's directory has been removed (`--keep` keeps it).");
    }
    done.map(|()| Exit::Answered)
}

struct Demo {
    binary: PathBuf,
    home: PathBuf,
    project: PathBuf,
    style: Style,
}

impl Demo {
    fn new(folder: &Path, base_url: &str) -> Result<Self, Failure> {
        let (home, project) = (folder.join("home"), folder.join("project"));
        std::fs::create_dir(&home)?;
        std::fs::create_dir(&project)?;
        std::fs::write(project.join("add.sh"), ADD)?;
        std::fs::write(project.join("check.sh"), CHECK)?;
        let config = format!("model:\n  provider: custom\n  base_url: {base_url}\n  default: scripted\n");
        std::fs::write(home.join("config.yaml"), config)?;
        let style = Style::for_stream(&std::io::stdout());
        Ok(Self { binary: std::env::current_exe()?, home, project, style })
    }

    async fn play(&self) -> Result<(), Failure> {
        say(
            "This demo runs the real agent, the real tools and the real session store in a temporary directory.",
        );
        say("Only the model is not real: its replies come from a script, served over HTTP on 127.0.0.1.\n");
        self.fix().await?;
        self.kill_and_continue().await?;
        self.search().await?;
        self.inventory().await
    }

    async fn fix(&self) -> Result<(), Failure> {
        self.heading("1. A small project whose check fails");
        self.show("bash check.sh");
        let before = Command::new("bash").arg("check.sh").current_dir(&self.project).status().await?;
        expect(!before.success(), "the check of the broken project passed")?;
        self.heading("2. The agent reads it, runs the check, fixes the bug and checks again");
        let prompt = "The check of this project fails. Find out why, fix it and prove it.";
        self.show(&format!("hermes --yolo chat -q \"{prompt}\""));
        let usage = self.home.join("usage.json");
        let asked = self
            .hermes(&["--yolo", "--usage-file"])
            .arg(&usage)
            .args(["chat", "-q", prompt])
            .stderr(Stdio::null())
            .status()
            .await?;
        expect(asked.success(), "the session failed")?;
        let after = Command::new("bash").arg("check.sh").current_dir(&self.project).output().await?;
        expect(after.status.success(), "the check still fails after the session")?;
        self.note(&format!("checked by the demo itself: {}", String::from_utf8_lossy(&after.stdout).trim()));
        Ok(())
    }

    async fn kill_and_continue(&self) -> Result<(), Failure> {
        self.heading("3. kill -9 in the middle of a tool call, then continue");
        let prompt = "Count to three in count.txt, one number a second.";
        self.show(&format!("hermes --yolo -z \"{prompt}\" &"));
        let mut asked = self.hermes(&["--yolo", "-z", prompt]).stdout(Stdio::null()).spawn()?;
        self.wait_for_count(&mut asked).await?;
        asked.start_kill()?;
        asked.wait().await?;
        self.show("kill -9 $!");
        let prompt = "What happened to the counting?";
        self.show(&format!("hermes --yolo --continue -z \"{prompt}\""));
        let asked = self.hermes(&["--yolo", "--continue", "-z", prompt]).status().await?;
        expect(asked.success(), "the killed session could not be continued")
    }

    /// Waits until the tool has written its first number.
    async fn wait_for_count(&self, asked: &mut Child) -> Result<(), Failure> {
        let file = self.project.join("count.txt");
        for _ in 0..1000 {
            if std::fs::metadata(&file).is_ok_and(|file| file.len() > 0) {
                return Ok(());
            }
            expect(asked.try_wait()?.is_none(), "the session ended before its tool began")?;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        expect(false, "the tool did not begin within ten seconds")
    }

    async fn search(&self) -> Result<(), Failure> {
        self.heading("4. Every message can be found again");
        self.show("hermes sessions search subtracts");
        let found = self.hermes(&["sessions", "search", "subtracts"]).output().await?;
        term::print(&String::from_utf8_lossy(&found.stdout));
        expect(found.status.success() && !found.stdout.is_empty(), "the search found nothing")
    }

    async fn inventory(&self) -> Result<(), Failure> {
        self.heading("5. What is on disk now");
        self.show("hermes sessions list");
        let listed = self.hermes(&["sessions", "list"]).status().await?;
        expect(listed.success(), "the sessions could not be listed")?;
        let usage = std::fs::read_to_string(self.home.join("usage.json"))?;
        let usage: Value = serde_json::from_str(&usage).unwrap_or_default();
        self.note(&format!("sessions and messages: {}", self.home.join("state.db").display()));
        self.note(&format!("settings:              {}", self.home.join("config.yaml").display()));
        self.note(&format!(
            "tokens in step 2:      {} in {} calls, as the script counts them",
            usage["total_tokens"], usage["api_calls"]
        ));
        term::print("\n");
        Ok(())
    }

    /// This binary, in the demo's home and project, without the user's settings.
    fn hermes(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(&self.project).env_clear().stdin(Stdio::null()).kill_on_drop(true);
        for name in ["PATH", "LANG", "LC_ALL", "TERM", "TZ", "NO_COLOR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", &self.home).env("HERMES_HOME", &self.home);
        command
    }

    fn heading(&self, text: &str) {
        let Style { bold, off, .. } = self.style;
        say(&format!("\n{bold}{text}{off}"));
    }

    fn show(&self, command: &str) {
        let Style { dim, off, .. } = self.style;
        say(&format!("{dim}$ {command}{off}"));
    }

    fn note(&self, text: &str) {
        let Style { dim, off, .. } = self.style;
        say(&format!("{dim}  {text}{off}"));
    }
}

fn say(line: &str) {
    term::print_line(line);
}

fn expect(holds: bool, otherwise: &str) -> Result<(), Failure> {
    match holds {
        true => Ok(()),
        false => Err(Failure::new(Exit::Internal, format!("the demo failed: {otherwise}"))),
    }
}
