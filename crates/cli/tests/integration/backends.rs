//! Sessions whose commands run elsewhere: on the sshd and the container engine that `.ci/servers` starts.

use crate::cloud_stand_in::{KEY, StandIn};
use crate::process::{code, custom_model, exported, finished, hermes, stderr, stdout};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::process::Output;

/// A backend of the servers: its settings, and the variables that its client program needs.
struct Server {
    name: &'static str,
    settings: String,
    variables: &'static [&'static str],
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn variable(name: &str) -> Option<String> {
    let found = std::env::var(name).ok().filter(|value| !value.is_empty());
    if found.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "{name} must be set in CI; `.ci/servers` prints it"
        );
        println!("skipped: {name} is not set; `.ci/servers` prints it");
    }
    found
}

fn ssh(home: &TempHome) -> Option<Server> {
    let (port, key, user) = (
        variable("HERMES_TEST_SSH_PORT")?,
        variable("HERMES_TEST_SSH_KEY")?,
        variable("HERMES_TEST_SSH_USER")?,
    );
    let hosts = home.path().join("known_hosts");
    let settings = format!(
        "terminal:\n  backend: ssh\n  ssh_host: 127.0.0.1\n  ssh_user: {user}\n  ssh_port: {port}\n  ssh_key: {key}\n  \
         ssh_options: ['UserKnownHostsFile={}']\n",
        hosts.display()
    );
    Some(Server { name: "ssh", settings, variables: &[] })
}

fn container(backend: &'static str, more: &str) -> Option<Server> {
    let image = variable("HERMES_TEST_IMAGE")?;
    let settings = format!(
        "terminal:\n  backend: {backend}\n  docker_image: {image}\n  docker_network: false\n  container_persistent: false\n  \
         lifetime_seconds: 20\n  docker_extra_args: [--ulimit, 'nofile=20000:20000', --ulimit, 'nproc=4096:4096']\n{more}"
    );
    let variables = &["CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "DOCKER_HOST"];
    Some(Server { name: backend, settings, variables })
}

/// A stand-in for a cloud service; the home directory has its key.
fn cloud(backend: &'static str, service: &StandIn, home: &TempHome, more: &str) -> Server {
    let url = &service.url;
    let text = match backend {
        "daytona" => format!("DAYTONA_API_KEY={KEY}\nDAYTONA_API_URL={url}/api\n"),
        _ => format!("TOOL_GATEWAY_USER_TOKEN={KEY}\nMODAL_GATEWAY_URL={url}\n"),
    };
    home.write(".env", &text);
    let settings = format!("terminal:\n  backend: {backend}\n{more}");
    Server { name: backend, settings, variables: &[] }
}

impl Server {
    /// Runs a one-shot prompt in a home directory with this backend.
    async fn run(&self, home: &TempHome, provider: &FakeProvider, args: &[&str]) -> Output {
        self.run_in(home.path(), home, provider, args).await
    }

    async fn run_in(
        &self,
        cwd: &std::path::Path,
        home: &TempHome,
        provider: &FakeProvider,
        args: &[&str],
    ) -> Output {
        home.write_config(&format!("{}{}", custom_model(&provider.base_url()), self.settings));
        let mut command = hermes(home.path(), cwd, args);
        command.env("TMPDIR", home.path());
        // Stand-ins for programs come first.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", home.path().join("bin").display()));
        for name in self.variables {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        finished(command).await
    }
}

/// The messages of tools in the only session of a home.
async fn results(home: &TempHome) -> Vec<Value> {
    let session = exported(home.path()).await.remove(0);
    let messages = session["messages"].as_array().unwrap().clone();
    let tools = messages.into_iter().filter(|message| message["role"] == "tool");
    tools
        .map(|message| serde_json::from_str(message["content"].as_str().unwrap()).unwrap_or(message))
        .collect()
}

async fn same_turn(server: Option<(TempHome, Server)>) -> Option<Vec<Value>> {
    let ((home, server), provider) = (server?, FakeProvider::start().await);
    let call = |command: &str| ReplyScript::call("terminal", json!({ "command": command }));
    provider.reply(call("cd /usr && export KEPT='a b'; echo out; echo err >&2; exit 3"));
    provider.reply(call("pwd; echo $KEPT; no-such-program"));
    provider.reply(ReplyScript::text("Done."));
    let out = server.run(&home, &provider, &["--yolo", "-z", "do it"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "Done.\n"), "{}: {}", server.name, stderr(&out));
    Some(results(&home).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn same_turn_gives_the_same_results_everywhere() {
    let (at, home) = (|server| (TempHome::new(), server), TempHome::new());
    let local = Server { name: "local", settings: String::new(), variables: &[] };
    let want = same_turn(Some(at(local))).await.unwrap();
    assert_eq!(want.len(), 2);
    assert_eq!((&want[0]["output"], &want[0]["exit_code"]), (&json!("out\nerr\n"), &json!(3)));
    for server in [ssh(&home), container("podman", ""), container("docker", "")] {
        let name = server.as_ref().map_or("", |server| server.name);
        if let Some(found) = same_turn(server.map(at)).await {
            assert_eq!(found, want, "{name}");
        }
    }
    for backend in ["daytona", "modal"] {
        let (service, home) = (StandIn::start(), TempHome::new());
        let server = cloud(backend, &service, &home, "");
        assert_eq!(same_turn(Some((home, server))).await.unwrap(), want, "{backend}");
        assert_eq!(service.made(), 1, "{backend}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cloud_sandbox_asks_nothing_but_never_runs_everything() {
    for backend in ["daytona", "modal"] {
        let (service, home) = (StandIn::start(), TempHome::new());
        let more = "approvals:\n  mode: manual\n  deny: ['git push*']\n";
        let server = cloud(backend, &service, &home, more);
        let provider = FakeProvider::start().await;
        let dir = service.home().join("d");
        let first = format!("mkdir {0} && rm -r {0} && echo gone", dir.display());
        for command in [first.as_str(), "rm -rf /", "git push origin"] {
            provider.reply(ReplyScript::call("terminal", json!({ "command": command })));
        }
        provider.reply(ReplyScript::text("Done."));
        let out = server.run(&home, &provider, &["-z", "do it"]).await;
        assert_eq!(stdout(&out), "Done.\n", "{}", stderr(&out));
        let all = results(&home).await;
        assert_eq!(all[0]["output"], "gone\n", "{all:?}");
        for (result, why) in [(&all[1], "never run"), (&all[2], "approvals.deny")] {
            assert!(result.to_string().contains(why), "{why}: {result}");
        }
        // Neither logs, sessions nor records of commands have the key.
        let mut grep = std::process::Command::new("grep");
        let found = grep.args(["-rlF", KEY]).arg(home.path()).output().unwrap();
        assert_eq!(stdout(&found), format!("{}\n", home.path().join(".env").display()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cloud_backends_are_tested_and_stopped() {
    for (backend, key) in [("daytona", "DAYTONA_API_KEY"), ("modal", "TOOL_GATEWAY_USER_TOKEN")] {
        let (service, home) = (StandIn::start(), TempHome::new());
        home.write_config(&cloud(backend, &service, &home, "").settings);
        let run = async |args: &[&str]| finished(hermes(home.path(), home.path(), args)).await;
        let out = run(&["backend", "test"]).await;
        assert_eq!(code(&out), 0, "{}{}", stdout(&out), stderr(&out));
        assert_eq!(stdout(&out).matches('✓').count(), 5, "{}", stdout(&out));
        let out = run(&["backend", "stop", backend]).await;
        assert!(
            stdout(&out).contains("hermes-default") && stdout(&out).ends_with(": stopped\n"),
            "{}",
            stdout(&out)
        );
        assert_eq!(code(&run(&["backend", "stop", "local"]).await), 2);
        // A wrong key, none, and one that client programs do not get.
        home.write(
            ".env",
            &format!("{key}=wrong\nDAYTONA_API_URL={0}/api\nMODAL_GATEWAY_URL={0}\n", service.url),
        );
        let out = run(&["backend", "test"]).await;
        assert!(code(&out) == 1 && stdout(&out).contains("rejects the key (HTTP 401)"), "{}", stdout(&out));
        home.write(".env", "");
        let out = run(&["backend", "test"]).await;
        assert!(stderr(&out).contains(&format!("{key} is missing")), "{}", stderr(&out));
        let mut command = hermes(home.path(), home.path(), &["backend", "test"]);
        command.env(key, KEY);
        let out = finished(command).await;
        assert!(stderr(&out).contains("only in the environment of this process"), "{}", stderr(&out));
        assert!(!stderr(&out).contains(KEY));
    }
}

/// The stand-in for Singularity, as a program in `PATH`.
fn singularity(home: &TempHome, work: &std::path::Path) -> Server {
    use std::os::unix::fs::PermissionsExt;
    let program = home.path().join("bin/singularity");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    let stand_in = concat!(env!("CARGO_MANIFEST_DIR"), "/../places/tests/singularity-stand-in");
    let state = home.path().join("instances");
    let script =
        format!("#!/bin/bash\nAPPTAINER_STAND_IN_STATE={} exec {stand_in} \"$@\"\n", state.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let settings = format!("terminal:\n  backend: singularity\n  cwd: {}\n", work.display());
    Server { name: "singularity", settings, variables: &[] }
}

/// The results of a turn that works on files, with the directory of the place named as on every place.
async fn file_turn(home: &TempHome, server: &Server) -> Vec<String> {
    let cwd = tempfile::tempdir().unwrap();
    let provider = FakeProvider::start().await;
    let call = |tool: &str, arguments: Value| ReplyScript::call(tool, arguments);
    let patch = "*** Begin Patch\n*** Update File: notes/a.txt\n@@\n-one\n+1\n*** Add File: b.json\n+{\"x\": 1}\n\
                 *** Move File: gone.md -> docs/here.md\n*** End Patch";
    for (tool, arguments) in [
        ("terminal", json!({"command": "pwd -P; printf 'print(1)\\n' >run.py; echo old >gone.md"})),
        ("write_file", json!({"path": "notes/a.txt", "content": "one\ntwo\n"})),
        ("read_file", json!({"path": "notes/a.txt"})),
        ("patch", json!({"mode": "replace", "path": "notes/a.txt", "old_string": "two", "new_string": "2"})),
        ("patch", json!({"mode": "patch", "patch": patch})),
        ("write_file", json!({"path": "run.py", "content": "def f(:\n"})),
        ("search_files", json!({"pattern": "\\d"})),
        ("search_files", json!({"pattern": "*.md", "target": "files"})),
        ("read_file", json!({"path": "notes/a.txt"})),
        ("read_file", json!({"path": "notes/a.txt"})),
        ("read_file", json!({"path": "notes/b.txt"})),
        (
            "terminal",
            json!({"command": "cat notes/a.txt b.json docs/here.md; ls; bash -n run.py || : >checked"}),
        ),
    ] {
        provider.reply(call(tool, arguments));
    }
    provider.reply(ReplyScript::text("Done."));
    let out = server.run_in(cwd.path(), home, &provider, &["--yolo", "-z", "do it"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "Done.\n"), "{}: {}", server.name, stderr(&out));
    let results = results(home).await;
    let first = results[0]["output"].as_str().unwrap();
    let directory = first.lines().next().unwrap().to_owned();
    results.iter().map(|result| result.to_string().replace(&directory, "DIRECTORY")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn same_turn_with_files_gives_the_same_record_everywhere() {
    let (here, work) = (TempHome::new(), || tempfile::tempdir().unwrap());
    let local = Server { name: "local", settings: String::new(), variables: &[] };
    let want = file_turn(&here, &local).await;
    for (index, part) in [
        (1, "\"dirs_created\":true"),
        (4, "\"files_created\":[\"DIRECTORY/b.json\"]"),
        (6, "\"total_count\":"),
        (7, "docs/here.md"),
        (8, "1|1\\n2|2"),
        (9, "unchanged"),
        (10, "similar_files"),
        (11, "{\\\"x\\\": 1}"),
    ] {
        assert!(want[index].contains(part), "{index}: {}", want[index]);
    }
    let (ssh_home, ssh_work) = (TempHome::new(), work());
    let at_work = |server: Server, dir: &tempfile::TempDir| Server {
        settings: format!("{}  cwd: {}\n", server.settings, dir.path().display()),
        ..server
    };
    let container_home = TempHome::new();
    let (instance_home, instance_work) = (TempHome::new(), work());
    let instance = singularity(&instance_home, instance_work.path());
    let places = [
        (&ssh_home, ssh(&ssh_home).map(|server| at_work(server, &ssh_work))),
        (&container_home, container("podman", "")),
        (&instance_home, Some(instance)),
    ];
    for (home, server) in places {
        let Some(server) = server else { continue };
        let found = file_turn(home, &server).await;
        for (found, want) in found.iter().zip(&want) {
            assert_eq!(found, want, "{}", server.name);
        }
        assert_eq!(found.len(), want.len(), "{}", server.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn isolated_container_asks_nothing_but_never_runs_everything() {
    let home = TempHome::new();
    let Some(server) = container("podman", "approvals:\n  mode: manual\n  deny: ['git push*']\n") else {
        return;
    };
    let provider = FakeProvider::start().await;
    let commands = ["mkdir /tmp/d && rm -r /tmp/d && echo gone", "rm -rf /", "git push origin"];
    for command in commands {
        provider.reply(ReplyScript::call("terminal", json!({ "command": command })));
    }
    provider.reply(ReplyScript::call("read_file", json!({ "path": "/etc/passwd" })));
    provider.reply(ReplyScript::call("write_file", json!({ "path": "/srv/new", "content": "x" })));
    provider.reply(ReplyScript::call("read_file", json!({ "path": "~/.ssh/id_rsa" })));
    provider.reply(ReplyScript::text("Done."));
    let out = server.run(&home, &provider, &["-z", "do it"]).await;
    assert_eq!(stdout(&out), "Done.\n", "{}", stderr(&out));
    let all = results(&home).await;
    assert_eq!(all[0]["output"], "gone\n", "{all:?}");
    for (result, why) in [
        (&all[1], "never run"),
        (&all[2], "approvals.deny"),
        (&all[3], "1|root:x:0:0:"),
        (&all[4], "bytes_written"),
        (&all[5], "holds credentials"),
    ] {
        assert!(result.to_string().contains(why), "{why}: {result}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mounted_container_asks_as_this_machine_does() {
    let home = TempHome::new();
    let mount = format!("  docker_volumes: ['{}:/mnt']\n", home.path().display());
    let Some(server) = container("podman", &format!("{mount}approvals:\n  mode: manual\n")) else { return };
    let provider = FakeProvider::start().await;
    provider.reply(ReplyScript::call("terminal", json!({ "command": "rm -r /mnt/sessions" })));
    provider.reply(ReplyScript::text("Refused."));
    let out = server.run(&home, &provider, &["-z", "do it"]).await;
    assert_eq!(code(&out), 77, "{}", stderr(&out));
}
