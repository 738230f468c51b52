//! `hermes sessions show`.

use super::export;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_conversation::{CallTitle, Content, Message, display_result};
use hermes_store::{ExportFilter, ExportFormat, Include, SessionDb, StoredSession};
use hermes_terminal::print;
use hermes_terminal::term::{self, Style, one_line, printable};
use hermes_terminal::text::{counted, local_time};
use std::collections::BTreeMap;

pub(super) async fn run(store: &SessionDb, which: &str, common: &Common) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    if common.json {
        let filter = ExportFilter { session: Some(id), ..ExportFilter::default() };
        return export::print(store, filter, ExportFormat::Jsonl).await;
    }
    let mut stored = store.load(&id).await?;
    // The original messages instead of summaries.
    let said = store.messages(&id, Include::Originals).await?;
    let ids: Vec<_> = said.iter().map(|stored| stored.id).collect();
    stored.messages = said.into_iter().map(|stored| stored.message).collect();
    let stopped = store.partial_replies(&id).await?;
    let place = |id| ids.iter().position(|one| *one == id);
    print_session(&stored, &stopped.into_iter().filter_map(|(id, text)| Some((place(id)?, text))).collect());
    if !stored.changed.is_empty() {
        let count = counted(stored.changed.len(), "message");
        let verb = if stored.changed.len() == 1 { "differs" } else { "differ" };
        print::notice(&format!("{count} {verb} from the record; see `hermes sessions verify`"));
    }
    Ok(Exit::Answered)
}

/// Prints a session; `stopped` are the texts of interrupted replies, by the message that follows them.
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
                let CallTitle { icon, verb, detail } = hermes_terminal::describe(&call.name, &call.arguments);
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
