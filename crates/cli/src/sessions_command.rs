//! `hermes sessions`: what was said before.
//!
//! Reading, renaming and deleting single sessions are here; what looks at all of them, or at the
//! file they are in, has a file of its own.

mod backup;
mod browse;
mod export;
mod files;
mod import;
mod progress;
mod prune;
mod search;
mod stats;
pub(crate) mod trust;
mod upkeep;
mod verify;

use crate::args::{ChatArgs, Common, FilesCommand, SessionsCommand, SessionsFormat};
use crate::exit::{Exit, Failure};
use crate::term::{self, Style, one_line, printable};
use crate::{launch, tool_line};
use hermes_conversation::{CallTitle, Content, Message, SessionId, display_result};
use hermes_store::{
    Archived, ExportFilter, ExportFormat, Include, ListFilter, SessionDb, SessionSummary, StoredSession,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;

const NO_SESSIONS: &str = "No sessions yet; start one with `hermes`.";

pub(crate) async fn run(command: SessionsCommand, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let file = runtime.home().state_db();
    if !file.exists() && !matches!(command, SessionsCommand::Import { .. }) {
        return nothing_yet(&command, common);
    }
    if matches!(command, SessionsCommand::Verify) {
        // Opening the store could already change what is to be examined.
        return verify::run(file, common).await;
    }
    let store = launch::store(&runtime)?;
    if let (SessionsCommand::Browse { limit }, false) = (&command, common.json) {
        let chosen = browse::choose(store, *limit, common).await;
        runtime.leave().await;
        // The conversation opens the store for itself.
        drop(runtime);
        return go_on(chosen?, common).await;
    }
    let done = match command {
        SessionsCommand::List { limit, offset, exclude_source, archived, children } => {
            let filter = ListFilter {
                source: common.source.clone(),
                exclude_sources: exclude_source,
                archived: if archived { Archived::Only } else { Archived::Hidden },
                include_children: children,
                limit,
                offset,
            };
            list(store, filter, common).await
        }
        SessionsCommand::Browse { limit } => {
            let filter = ListFilter { source: common.source.clone(), limit, ..ListFilter::default() };
            list(store, filter, common).await
        }
        SessionsCommand::Show { session } => show(store, &session, common).await,
        SessionsCommand::Export { file, session_id, lineage, format, files } => {
            export::run(store, export::Wanted { file, session_id, lineage, format, files }, common).await
        }
        SessionsCommand::Files { command } => {
            files::run(store, command, runtime.file_limits()?, common).await
        }
        SessionsCommand::Rename { session, title } => rename(store, &session, &title.join(" ")).await,
        SessionsCommand::Archive { session, undo } => archive(store, &session, undo).await,
        SessionsCommand::Delete { session, yes } => delete(store, &session, yes).await,
        SessionsCommand::Search(wanted) => search::run(store, wanted, common).await,
        SessionsCommand::Stats => stats::run(store, common).await,
        SessionsCommand::Import { file } => import::run(store, &file, common).await,
        SessionsCommand::Trust { session, yes } => trust::run(store, &session, yes, common).await,
        SessionsCommand::Prune { older_than, all, dry_run, yes } => {
            prune::run(store, prune::Wanted { older_than, dry_run, yes, all }, common).await
        }
        SessionsCommand::Reindex => upkeep::reindex(store, common).await,
        SessionsCommand::Optimize => upkeep::optimize(store, common).await,
        SessionsCommand::Backup { file, force } => backup::run(store, &file, force, common).await,
        SessionsCommand::Verify => unreachable!("was carried out before the store was opened"),
    };
    runtime.leave().await;
    done
}

/// Goes on with the session that was chosen, as `hermes --resume ID` does.
async fn go_on(chosen: browse::Chosen, common: &Common) -> Result<Exit, Failure> {
    match chosen {
        browse::Chosen::Nothing(exit) => Ok(exit),
        browse::Chosen::Session(id) => {
            // The tag chose what was listed; it is none for a session that is started later.
            let common = Common { resume: Some(id.to_string()), source: None, ..common.clone() };
            Box::pin(launch::converse(ChatArgs::default(), common)).await
        }
    }
}

/// Looking for sessions where none were ever stored creates no database.
fn nothing_yet(command: &SessionsCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        SessionsCommand::List { .. } | SessionsCommand::Browse { .. } if common.json => {
            term::print_line("[]")
        }
        SessionsCommand::List { .. } => term::print_line(NO_SESSIONS),
        SessionsCommand::Browse { .. } => {
            browse::require_terminal()?;
            term::print_line(NO_SESSIONS)
        }
        SessionsCommand::Export { file, format, .. } if file == "-" => match format {
            SessionsFormat::Jsonl => true,
            SessionsFormat::Json => term::print_line("[]"),
        },
        SessionsCommand::Files { command: None | Some(FilesCommand::List) } => files::print(&[], common),
        _ => return Err(Failure::usage("there are no sessions yet; start one with `hermes`")),
    };
    Ok(Exit::Answered)
}

async fn list(store: &SessionDb, filter: ListFilter, common: &Common) -> Result<Exit, Failure> {
    let is_everything = filter == ListFilter { limit: filter.limit, ..ListFilter::default() };
    let found = store.list(filter).await?;
    if common.json {
        let rows: Vec<Value> = found.iter().map(summary_json).collect();
        term::print_line(&json!(rows).to_string());
        return Ok(Exit::Answered);
    }
    if found.is_empty() {
        term::print_line(if is_everything { NO_SESSIONS } else { "No such sessions." });
        return Ok(Exit::Answered);
    }
    let Style { dim, off, .. } = Style::for_stream(&std::io::stdout());
    let heading =
        format!("{dim}{:<22}  {:<16}  {:>4}  Title or first words{off}", "Session", "Last active", "Msgs");
    if !term::print_line(&heading) {
        return Ok(Exit::Answered);
    }
    for row in &found {
        let name = row.title.as_deref().unwrap_or(&row.preview);
        let line = format!(
            "{:<22}  {:<16}  {:>4}  {}",
            printable(row.id.as_str()),
            local_time(row.last_active),
            row.message_count,
            one_line(name, 60)
        );
        if !term::print_line(&line) {
            break;
        }
    }
    Ok(Exit::Answered)
}

fn summary_json(row: &SessionSummary) -> Value {
    json!({
        "id": row.id, "title": row.title, "source": row.source, "model": row.model, "cwd": row.cwd,
        "started_at": row.started_at, "last_active": row.last_active, "message_count": row.message_count,
        "tool_call_count": row.tool_call_count, "preview": row.preview, "end_reason": row.end_reason,
        "archived": row.archived, "lineage_root": row.root,
    })
}

async fn show(store: &SessionDb, which: &str, common: &Common) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    if common.json {
        let filter = ExportFilter { session: Some(id), ..ExportFilter::default() };
        return export::print(store, filter, ExportFormat::Jsonl).await;
    }
    let mut stored = store.load(&id).await?;
    // What was said, and not what a compaction made of it.
    let said = store.messages(&id, Include::Originals).await?;
    let ids: Vec<_> = said.iter().map(|stored| stored.id).collect();
    stored.messages = said.into_iter().map(|stored| stored.message).collect();
    let stopped = store.partial_replies(&id).await?;
    let place = |id| ids.iter().position(|one| *one == id);
    print_session(&stored, &stopped.into_iter().filter_map(|(id, text)| Some((place(id)?, text))).collect());
    if !stored.changed.is_empty() {
        let count = counted(stored.changed.len() as u64, "message");
        let verb = if stored.changed.len() == 1 { "differs" } else { "differ" };
        term::complain(&format!(
            "hermes: {count} {verb} from what was written; see `hermes sessions verify`"
        ));
    }
    Ok(Exit::Answered)
}

/// Prints a session; `stopped` are the texts of replies that the user stopped, by the message that follows them.
fn print_session(stored: &StoredSession, stopped: &BTreeMap<usize, String>) {
    let Style { dim, bold, off, .. } = Style::for_stream(&std::io::stdout());
    let title = stored.title.as_deref().unwrap_or("(no title)");
    let model = stored.model.as_deref().unwrap_or("?");
    let mut text = format!(
        "{bold}{}{off}  {}\n{dim}{}, started {}, {} tokens{off}\n",
        printable(stored.id.as_str()),
        printable(title),
        printable(model),
        local_time(stored.started_at),
        stored.usage.total()
    );
    for (place, message) in stored.messages.iter().enumerate() {
        if let Some(partial) = stopped.get(&place) {
            let mark = "(interrupted reply, not sent to the model)";
            text.push_str(&format!("\n{bold}hermes:{off} {dim}{mark}{off}\n{}\n", printable(partial)));
        }
        text.push_str(&message_text(message, Style { dim, bold, off, red: "" }));
    }
    term::print(&text);
}

fn message_text(message: &Message, style: Style) -> String {
    let Style { dim, bold, off, .. } = style;
    match message {
        Message::User(user) => format!("\n{bold}you:{off} {}\n", printable(&user.content.display_text())),
        Message::Assistant(assistant) => {
            let mut text = String::new();
            if !assistant.text.is_empty() {
                text = format!("\n{bold}hermes:{off} {}\n", printable(&assistant.text));
            }
            for call in &assistant.calls {
                let CallTitle { icon, verb, detail } = tool_line::describe(&call.name, &call.arguments);
                text.push_str(&format!("{dim}  ┊ {icon} {verb:<9} {}{off}\n", one_line(&detail, 80)));
            }
            text
        }
        Message::Tool(result) => {
            let shown = match &result.content {
                Content::Text(text) => display_result(text),
                parts @ Content::Parts(_) => parts.display_text(),
            };
            format!("{dim}  ┊   → {}{off}\n", one_line(&shown, 100))
        }
    }
}

async fn rename(store: &SessionDb, which: &str, title: &str) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    match store.set_title(&id, title).await? {
        Some(title) => term::print_line(&format!("{id} is now “{}”", printable(&title))),
        None => term::print_line(&format!("{id} has no title any more")),
    };
    Ok(Exit::Answered)
}

async fn archive(store: &SessionDb, which: &str, undo: bool) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    store.archive(&id, !undo).await?;
    let id = printable(id.as_str()).into_owned();
    term::print_line(&match undo {
        true => format!("{id} is in lists again"),
        false => format!("{id} is archived; `hermes sessions archive --undo {id}` brings it back"),
    });
    Ok(Exit::Answered)
}

async fn delete(store: &SessionDb, which: &str, yes: bool) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    if !yes && !confirmed(&id)? {
        term::complain("Nothing was deleted.");
        return Ok(Exit::FailedTurn);
    }
    store.delete(&id).await?;
    term::print_line(&format!("Deleted {id}"));
    Ok(Exit::Answered)
}

fn confirmed(id: &SessionId) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("deleting needs a yes: add --yes"));
    }
    agreed(&format!("Delete session {id} for good? [y/N] "))
}

/// Asks a person a question that only a yes agrees to.
pub(crate) fn agreed(question: &str) -> Result<bool, Failure> {
    term::print(question);
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// A number of things, as a person would say it.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

pub(crate) fn local_time(epoch: f64) -> String {
    let seconds = epoch as i64;
    jiff::Timestamp::from_second(seconds).map_or_else(
        |_| "?".to_owned(),
        |time| time.to_zoned(hermes_runtime::clock::local_zone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
