//! Stand-ins for Daytona and for the gateway of Modal, written from their public interfaces.
//!
//! A sandbox is a private home directory on this machine; its commands really run. The server has a thread of its own.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

/// The key that both services take.
pub(crate) const KEY: &str = "dtn-key-of-the-test-4711";

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn is(&self, method: &str, end: &str) -> bool {
        self.method == method && self.path.ends_with(end)
    }

    /// Returns true for a short command in a sandbox.
    pub(crate) fn is_command(&self) -> bool {
        self.is("POST", "/process/execute") || self.is("POST", "/execs")
    }
}

/// An answer that is not that of the service.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    Status(u16, String),
    /// A redirect to this address.
    Redirect(String),
    /// A body of this text with status 200.
    Body(String),
    /// No answer.
    Hang,
    /// A body that does not end.
    Endless,
    /// The connection closes after the request was served.
    Lost,
}

/// Decides about the fault of a request.
pub(crate) type Faults = Box<dyn FnMut(&Request) -> Option<Fault> + Send>;

struct Sandbox {
    id: String,
    name: String,
    state: String,
    body: Value,
    /// The state is `starting` in this many answers.
    looks: u32,
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    sandboxes: Vec<Sandbox>,
    execs: HashMap<String, Value>,
    faults: Option<Faults>,
    made: u32,
}

/// A server of both services.
pub(crate) struct StandIn {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    home: tempfile::TempDir,
}

impl StandIn {
    pub(crate) fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let state: Arc<Mutex<State>> = Arc::default();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Server { state: state.clone(), home: home.path().to_owned(), url: url.clone() };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    let server = server.clone();
                    tokio::spawn(async move { drop(server.serve(stream).await) });
                }
            });
        });
        Self { url, state, home }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// From now on, answers with these faults.
    pub(crate) fn fail(&self, faults: impl FnMut(&Request) -> Option<Fault> + Send + 'static) {
        self.state.lock().unwrap().faults = Some(Box::new(faults));
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    /// Sandboxes that were made so far.
    pub(crate) fn made(&self) -> u32 {
        self.state.lock().unwrap().made
    }

    /// The states of the sandboxes that exist.
    pub(crate) fn states(&self) -> Vec<String> {
        self.state.lock().unwrap().sandboxes.iter().map(|sandbox| sandbox.state.clone()).collect()
    }

    pub(crate) fn set_state(&self, state: &str) {
        for sandbox in &mut self.state.lock().unwrap().sandboxes {
            sandbox.state = state.to_owned();
        }
    }

    pub(crate) fn remove_sandboxes(&self) {
        self.state.lock().unwrap().sandboxes.clear();
    }
}

#[derive(Clone)]
struct Server {
    state: Arc<Mutex<State>>,
    home: PathBuf,
    url: String,
}

/// The status and the body of an answer.
type Answer = (u16, Value);

impl Server {
    async fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(request) = read(&mut stream).await? {
            let fault = {
                let mut state = self.state.lock().unwrap();
                state.requests.push(request.clone());
                state.faults.as_mut().and_then(|faults| faults(&request))
            };
            let (status, body) = match fault {
                Some(Fault::Status(status, body)) => (status, body),
                Some(Fault::Body(body)) => (200, body),
                Some(Fault::Redirect(url)) => {
                    let head = format!("HTTP/1.1 307 x\r\nlocation: {url}\r\ncontent-length: 0\r\n\r\n");
                    stream.write_all(head.as_bytes()).await?;
                    continue;
                }
                Some(Fault::Hang) => std::future::pending().await,
                Some(Fault::Endless) => {
                    stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
                    loop {
                        stream.write_all(b"4\r\nxxxx\r\n").await?;
                        stream.flush().await?;
                    }
                }
                Some(Fault::Lost) => {
                    self.answer(&request).await;
                    return Ok(());
                }
                None => {
                    let (status, body) = self.answer(&request).await;
                    (status, body.to_string())
                }
            };
            let retry = if status == 429 { "retry-after: 0\r\n" } else { "" };
            let head = format!(
                "HTTP/1.1 {status} x\r\n{retry}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(head.as_bytes()).await?;
        }
        Ok(())
    }

    async fn answer(&self, request: &Request) -> Answer {
        if request.headers.get("authorization") != Some(&format!("Bearer {KEY}")) {
            return (401, json!({ "message": "Unauthorized" }));
        }
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        match (request.method.as_str(), &parts[..]) {
            ("GET", ["api", "sandbox", name]) => self.look(name),
            ("POST", ["api", "sandbox"]) => self.make(&request.body),
            ("POST", ["api", "sandbox", name, "start"]) => self.change(name, "started"),
            ("POST", ["api", "sandbox", name, "stop"]) => self.change(name, "stopped"),
            ("POST", ["api", "sandbox", name, "autostop", minutes]) => self.autostop(name, minutes),
            ("DELETE", ["api", "sandbox", name]) => {
                self.state.lock().unwrap().sandboxes.retain(|sandbox| sandbox.name != *name);
                (200, json!({}))
            }
            ("POST", ["toolbox", id, "process", "execute"]) => {
                if !self.runs(id) {
                    return (400, json!({ "message": "the sandbox does not run" }));
                }
                let (result, code) = self.run(&request.body["command"]).await;
                (200, json!({ "result": result, "exitCode": code }))
            }
            ("POST", ["v1", "sandboxes"]) => self.make_for_modal(request),
            ("POST", ["v1", "sandboxes", id, "terminate"]) => {
                self.state.lock().unwrap().sandboxes.retain(|sandbox| sandbox.id != *id);
                (200, json!({}))
            }
            ("POST", ["v1", "sandboxes", id, "execs"]) => self.exec(id, &request.body).await,
            ("GET", ["v1", "sandboxes", _, "execs", exec]) => {
                let found = self.state.lock().unwrap().execs.get(*exec).cloned();
                found.map_or((404, json!({ "error": "no such exec" })), |exec| (200, exec))
            }
            ("POST", ["v1", "sandboxes", _, "execs", _, "cancel"]) => (200, json!({})),
            _ => (404, json!({ "message": "no such address" })),
        }
    }

    fn look(&self, name: &str) -> Answer {
        let mut state = self.state.lock().unwrap();
        let Some(sandbox) = state.sandboxes.iter_mut().find(|sandbox| sandbox.name == name) else {
            return (404, json!({ "message": "Sandbox not found" }));
        };
        let mut shown = sandbox.state.clone();
        if sandbox.looks > 0 {
            sandbox.looks -= 1;
            shown = "starting".to_owned();
        }
        let answer = json!({
            "id": sandbox.id, "name": sandbox.name, "state": shown, "errorReason": "no room",
            "autoStopInterval": sandbox.body["autoStopInterval"],
            "toolboxProxyUrl": format!("{}/toolbox", self.url),
            "organizationId": "o", "labels": sandbox.body["labels"], "unknown": [1, { "a": null }],
        });
        (200, answer)
    }

    fn make(&self, body: &Value) -> Answer {
        let mut state = self.state.lock().unwrap();
        let name = body["name"].as_str().unwrap().to_owned();
        if state.sandboxes.iter().any(|sandbox| sandbox.name == name) {
            return (409, json!({ "message": "the name is taken" }));
        }
        state.made += 1;
        let id = format!("id-{}", state.made);
        let body = body.clone();
        state.sandboxes.push(Sandbox { id, name, state: "started".into(), body, looks: 2 });
        (200, json!({}))
    }

    fn change(&self, name: &str, to: &str) -> Answer {
        let mut state = self.state.lock().unwrap();
        let Some(sandbox) = state.sandboxes.iter_mut().find(|sandbox| sandbox.name == name) else {
            return (404, json!({ "message": "Sandbox not found" }));
        };
        sandbox.state = to.to_owned();
        (200, json!({}))
    }

    fn autostop(&self, name: &str, minutes: &str) -> Answer {
        let mut state = self.state.lock().unwrap();
        for sandbox in state.sandboxes.iter_mut().filter(|sandbox| sandbox.name == name) {
            sandbox.body["autoStopInterval"] = json!(minutes.parse::<u64>().unwrap());
        }
        (200, json!({}))
    }

    fn runs(&self, id: &str) -> bool {
        let state = self.state.lock().unwrap();
        state.sandboxes.iter().any(|sandbox| sandbox.id == id && sandbox.state == "started")
    }

    /// Runs a command by a shell, as a service does.
    async fn run(&self, command: &Value) -> (String, i32) {
        let mut program = Command::new("sh");
        program.args(["-c", command.as_str().unwrap()]).env_clear().current_dir(&self.home);
        program.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &self.home);
        program.stdin(Stdio::null()).kill_on_drop(true);
        let output = program.output().await.unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (text, output.status.code().unwrap_or(137))
    }

    fn make_for_modal(&self, request: &Request) -> Answer {
        let mut state = self.state.lock().unwrap();
        let name = request.headers["x-idempotency-key"].clone();
        if !state.sandboxes.iter().any(|sandbox| sandbox.name == name) {
            state.made += 1;
            let (id, body) = (format!("sb-{}", state.made), request.body.clone());
            state.sandboxes.push(Sandbox { id, name: name.clone(), state: "started".into(), body, looks: 0 });
        }
        let id =
            state.sandboxes.iter().find(|sandbox| sandbox.name == name).map(|sandbox| sandbox.id.clone());
        (200, json!({ "id": id }))
    }

    /// Answers at once or lets the client ask again, as the gateway may.
    async fn exec(&self, id: &str, body: &Value) -> Answer {
        if !self.runs(id) {
            return (404, json!({ "error": "no such sandbox" }));
        }
        let exec = body["execId"].as_str().unwrap().to_owned();
        assert_eq!(body["cwd"], "/");
        let running = json!({ "execId": exec, "status": "running" });
        {
            let mut state = self.state.lock().unwrap();
            if state.execs.contains_key(&exec) {
                return (409, json!({ "error": "the exec exists" }));
            }
            state.execs.insert(exec.clone(), running);
        }
        let (server, command, name) = (self.clone(), body["command"].clone(), exec.clone());
        let running_task = tokio::spawn(async move {
            let (output, code) = server.run(&command).await;
            let done = json!({ "execId": name, "status": "completed", "output": output, "returncode": code });
            server.state.lock().unwrap().execs.insert(name, done);
        });
        let _ = tokio::time::timeout(Duration::from_millis(50), running_task).await;
        (200, self.state.lock().unwrap().execs[&exec].clone())
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    let (method, path) =
        (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Request { method, path, headers, body }))
}
