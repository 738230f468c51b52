//! `hermes doctor`: checks of the installation, with the next step for each problem.

mod disk_usage;

use crate::commands::model::show;
use crate::exit::{Exit, Failure, with_causes};
use crate::flags::{Common, ModelFlags};
use crate::{environment, launch};
use clap::Args;
use hermes_config::Config;
use hermes_config::home::{WantedModes, modes_notice};
use hermes_runtime::{
    Endpoint, Home, KeyCheck, Launch, Runtime, check_key, credential_warnings, fallbacks, load_config,
    model_choice, sandbox_status, shown_url, telemetry_problem,
};
use hermes_store::{Health, IndexHealth};
use hermes_terminal::text::counted;
use hermes_terminal::{print, term};
use serde_json::{Value, json};
use std::time::Duration;

/// One line of the report.
struct Finding {
    ok: bool,
    /// A warning: nothing is broken.
    is_warning: bool,
    subject: &'static str,
    text: String,
    /// The numbers, for programs.
    details: Option<Value>,
}

/// Check home directory, settings, session store and model
///
/// The exit code is 1 if a check fails.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes doctor
  hermes doctor -m gpt-5 --provider openrouter")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) model: ModelFlags,
}

pub(crate) async fn run(common: &Common) -> Result<Exit, Failure> {
    let home = launch::home()?;
    let mut findings = vec![home_finding(&home)];
    let settings =
        load_config(&home, launch::flags(common), hermes_config::shell_variables(environment::variables()));
    match &settings {
        Ok(settings) => findings.extend(settings_findings(settings)),
        Err(error) => findings.push(bad("settings", with_causes(error))),
    }
    if let Ok(settings) = &settings {
        findings.extend(sandbox_finding(settings, &home));
        findings.extend(scripts_finding());
    }
    findings.extend(store_findings(&home).await);
    findings.extend(disk_usage::findings(&home).await);
    if settings.is_ok() {
        findings.extend(model_findings(common).await);
    }
    print(&findings, common);
    Ok(if findings.iter().all(|finding| finding.ok) { Exit::Answered } else { Exit::FailedTurn })
}

fn good(subject: &'static str, text: impl Into<String>) -> Finding {
    Finding { ok: true, is_warning: false, subject, text: text.into(), details: None }
}

fn warning(subject: &'static str, text: impl Into<String>) -> Finding {
    Finding { is_warning: true, ..good(subject, text) }
}

fn bad(subject: &'static str, text: impl Into<String>) -> Finding {
    Finding { ok: false, ..good(subject, text) }
}

fn home_finding(home: &Home) -> Finding {
    let path = home.path().display();
    if !home.path().exists() {
        return good("home", format!("{path} does not exist yet; it is created when needed"));
    }
    if let Err(error) = home.ensure() {
        return bad("home", with_causes(&error));
    }
    let shell = hermes_config::shell_variables(std::env::vars_os());
    let loose = home.tighten(WantedModes::read(|name| shell.get(name).map(String::as_str)));
    let text = modes_notice(&loose).map_or_else(|| path.to_string(), |notice| format!("{path}; {notice}"));
    if loose.iter().any(|one| one.left.is_some()) { bad("home", text) } else { good("home", text) }
}

fn settings_findings(settings: &Config) -> Vec<Finding> {
    let problems = settings.check();
    let mut findings: Vec<_> = problems.iter().map(|problem| bad("settings", with_causes(problem))).collect();
    for notice in settings.layers().dotenv.notices() {
        findings.push(bad("settings", notice.to_string()));
    }
    if let Ok(Ok(all)) = model_choice::endpoint(settings).map(|own| fallbacks(settings, &own)) {
        findings.extend(all.warnings.into_iter().map(|warning| bad("settings", warning)));
    }
    findings.extend(credential_warnings(settings).into_iter().map(|warning| bad("settings", warning)));
    findings.extend(telemetry_problem(settings).map(|why| bad("settings", why)));
    findings.extend(settings.unsupported_safety().into_iter().map(|promise| bad("settings", promise.text)));
    if findings.is_empty() {
        findings.push(good("settings", settings.layers().file.path().display().to_string()));
    }
    let unused = hermes_config::unused_by_section(&settings.unused_keys());
    findings.extend(unused.into_iter().map(|text| warning("settings", text)));
    findings
}

/// The confinement of commands on this machine. A missing layer that is not required is a warning.
fn sandbox_finding(settings: &Config, home: &Home) -> Option<Finding> {
    let shell = hermes_config::shell_variables(environment::variables());
    let cwd = std::env::current_dir().ok()?;
    let found = match sandbox_status(settings, home, &shell, cwd) {
        Ok(status) if status.problem.is_some() => bad("sandbox", status.problem.unwrap_or_default()),
        Ok(status) if status.is_whole => good("sandbox", status.summary),
        Ok(status) => warning("sandbox", status.summary),
        // Wrong settings have a line of their own.
        Err(_) => return None,
    };
    Some(found)
}

/// A warning where scripts of the model cannot run.
fn scripts_finding() -> Option<Finding> {
    let shell = hermes_config::shell_variables(environment::variables());
    let found = hermes_tools::has_python(shell.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let why = "there is no python3 in PATH, so execute_code is not offered to the model; install Python 3";
    (!found).then(|| warning("scripts", why))
}

async fn store_findings(home: &Home) -> Vec<Finding> {
    let path = home.state_db();
    let checked = path.clone();
    let health = tokio::task::spawn_blocking(move || hermes_store::check(&checked)).await;
    let Ok(health) = health else {
        return vec![bad("store", format!("{} could not be examined", path.display()))];
    };
    let index = index_finding(health.index);
    let store = match health {
        health if !health.exists => good("store", format!("{} does not exist yet", path.display())),
        health if health.is_sound() => good("store", sound_store(&health)),
        health => bad(
            "store",
            format!(
                "{}: {}. Nothing was changed. Keep the file and its -wal beside it; with Hermes stopped, \
                 copy all three elsewhere, then try `sqlite3 state.db .recover`, or move the file away to \
                 start a new store",
                path.display(),
                health.problems.join("; ")
            ),
        ),
    };
    std::iter::once(store).chain(index).collect()
}

/// The finding about the search index. It can be rebuilt from the messages, so it never fails the store.
fn index_finding(index: IndexHealth) -> Option<Finding> {
    match index {
        IndexHealth::Sound => None,
        IndexHealth::Unaligned => Some(good(
            "index",
            "SQLite versions read it differently; it is rebuilt when the store is next opened",
        )),
        IndexHealth::Damaged => Some(bad(
            "index",
            "the search index does not match the messages; run `hermes sessions reindex` (no message is affected)",
        )),
    }
}

fn sound_store(health: &Health) -> String {
    let number = |value: Option<u64>| value.unwrap_or(0);
    let kib = |bytes: u64| bytes.div_ceil(1024);
    let upgrade = if health.needs_upgrade() { " (upgraded when the store is next opened)" } else { "" };
    format!(
        "{}: schema {}{upgrade}, {}, {}, {} KiB + {} KiB log, {} waiting to be indexed, {}",
        health.path.display(),
        health.schema_version.unwrap_or(0),
        counted(number(health.sessions), "session"),
        counted(number(health.messages), "message"),
        kib(health.bytes),
        kib(health.log_bytes),
        number(health.outbox),
        counted(number(health.open_turns), "open turn")
    )
}

async fn model_findings(common: &Common) -> Vec<Finding> {
    let runtime = match in_scratch_home(common) {
        Ok(runtime) => runtime,
        Err(failure) => return vec![bad("model", failure.line)],
    };
    let endpoint = match runtime.endpoint() {
        Ok(endpoint) => endpoint,
        Err(error) => return vec![bad("model", with_causes(&error))],
    };
    let about = format!(
        "{} at {} ({}, {})",
        endpoint.model,
        shown_url(&endpoint.base_url),
        endpoint.label(),
        endpoint.key_source
    );
    let host = endpoint.base_url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = endpoint.base_url.port_or_known_default().unwrap_or(443);
    let knock = tokio::net::TcpStream::connect((host, port));
    let reached = match tokio::time::timeout(Duration::from_secs(5), knock).await {
        Ok(Ok(_)) => good("network", format!("{} answers", endpoint.origin())),
        Ok(Err(error)) => bad("network", format!("{} cannot be reached: {error}", endpoint.origin())),
        Err(_) => bad("network", format!("{} does not answer within 5 s", endpoint.origin())),
    };
    let is_reached = reached.ok;
    let mut findings = vec![good("model", about), reached];
    if is_reached {
        findings.extend(key_finding(runtime.config(), &endpoint).await);
    }
    if let Some(server) = show::ask_server(runtime.config(), &endpoint).await {
        let details = Some(show::server_json(&server));
        findings.push(Finding { details, ..good("server", show::server_text(&server)) });
    }
    findings
}

/// Checks the key with one authenticated request.
async fn key_finding(settings: &Config, endpoint: &Endpoint) -> Option<Finding> {
    let (place, source) = (endpoint.place(), &endpoint.key_source);
    place.key.as_ref()?;
    let fetcher = match model_choice::fetcher(settings, Duration::from_secs(10)) {
        Ok(fetcher) => fetcher,
        Err(error) => return Some(bad("key", with_causes(&error))),
    };
    let origin = endpoint.origin();
    Some(match check_key(&place, &fetcher).await {
        KeyCheck::Accepted => good("key", format!("{origin} accepts the {source}")),
        KeyCheck::Refused { status } => bad(
            "key",
            format!(
                "{origin} rejects the {source} (HTTP {status}); replace it there, or with `hermes auth add`"
            ),
        ),
        KeyCheck::Unknown { why } => good("key", format!("the {source} is not checked: {why}")),
    })
}

/// A runtime for checks of the model, without creating the home directory.
fn in_scratch_home(common: &Common) -> Result<Runtime, Failure> {
    let home = launch::home()?;
    if home.path().exists() {
        return launch::open(common);
    }
    let scratch = tempfile::tempdir()?;
    let launch = Launch {
        supervisor: None,
        home: Home::at(scratch.path()),
        flags: launch::flags(common),
        shell: hermes_config::shell_variables(environment::variables()),
        cwd: scratch.path().to_owned(),
        source: "cli".to_owned(),
    };
    Ok(Runtime::open(launch)?)
}

fn print(findings: &[Finding], common: &Common) {
    if common.json {
        let rows: Vec<_> = findings.iter().map(finding_json).collect();
        print::json(&json!(rows));
        return;
    }
    for Finding { ok, is_warning, subject, text, .. } in findings {
        let mark = match (ok, is_warning) {
            (true, false) => "✓",
            (true, true) => "⚠",
            (false, _) => "✗",
        };
        term::print_line(&format!("{mark} {subject:<9} {}", term::printable(text)));
    }
}

fn finding_json(finding: &Finding) -> Value {
    let mut row = json!({ "ok": finding.ok, "subject": finding.subject, "text": finding.text });
    if finding.is_warning {
        row["warning"] = json!(true);
    }
    if let Some(details) = &finding.details {
        row["details"] = details.clone();
    }
    row
}
