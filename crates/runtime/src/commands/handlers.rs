//! The handlers of slash commands.

use super::help as help_text;
use super::reply::{Choice, CommandReply, Effect, Panel};
use crate::{Checked, ModelSwitch, RuntimeError, Session, busy as busy_mode};
use hermes_agent::Compacted;
use hermes_config::settings::DisplaySettings;
use hermes_conversation::{Cost, CostStatus, EventSink, MailMode, SessionId, Usage};
use hermes_store::{ListFilter, SessionSummary};
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

/// Sessions that `/resume` without a name lists.
const MAX_LISTED: usize = 10;
/// Characters of a title or a first message in that list.
const MAX_TITLE: usize = 60;

/// A command that was entered, and the session it is for.
pub(super) struct Call<'a> {
    pub(super) session: &'a mut Session,
    pub(super) argument: Option<&'a str>,
    /// Stops a command that takes long.
    pub(super) cancel: &'a CancellationToken,
    /// Takes status lines of a command that takes long.
    pub(super) events: EventSink,
}

pub(super) type Reply = Result<CommandReply, RuntimeError>;
pub(super) type Handler = for<'a> fn(Call<'a>) -> Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;
pub(super) type Replying<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

fn text(text: impl Into<String>) -> Reply {
    Ok(CommandReply::Text(text.into()))
}

fn effect(effect: Effect) -> Reply {
    Ok(CommandReply::Effect(effect))
}

/// A handler that needs nothing but the call's values.
fn now<'a>(reply: Reply) -> Replying<'a> {
    Box::pin(async move { reply })
}

pub(super) fn help(_: Call<'_>) -> Replying<'_> {
    let skills = "/NAME [text] uses a skill; `hermes skills list` names them";
    now(text(format!("{}\n{skills}", help_text())))
}

pub(super) fn new(call: Call<'_>) -> Replying<'_> {
    now(effect(Effect::NewSession { title: call.argument.map(str::to_owned) }))
}

/// Without a running turn there is nothing to wait for: the text is sent at once.
pub(super) fn queue(call: Call<'_>) -> Replying<'_> {
    now(submit_now("queue", call.argument))
}

pub(super) fn steer(call: Call<'_>) -> Replying<'_> {
    now(submit_now("steer", call.argument))
}

fn submit_now(command: &str, message: Option<&str>) -> Reply {
    match message {
        Some(message) => effect(Effect::Submit(message.to_owned())),
        None => text(needs_text(command)),
    }
}

fn needs_text(command: &str) -> String {
    format!("/{command} needs a message after it")
}

pub(super) fn busy(call: Call<'_>) -> Replying<'_> {
    now(Ok(busy_reply(call.argument)))
}

pub(super) fn busy_reply(argument: Option<&str>) -> CommandReply {
    match busy_mode::parse(argument) {
        Ok(None) => CommandReply::Effect(Effect::ShowBusyMode),
        Ok(Some(mode)) => CommandReply::Effect(Effect::SetBusyMode(mode)),
        Err(why) => CommandReply::Text(why),
    }
}

pub(super) fn help_while_busy(_: Option<&str>) -> CommandReply {
    CommandReply::Text(help_text())
}

pub(super) fn queue_while_busy(message: Option<&str>) -> CommandReply {
    queued(MailMode::Queue, "queue", message)
}

pub(super) fn steer_while_busy(message: Option<&str>) -> CommandReply {
    queued(MailMode::Steer, "steer", message)
}

fn queued(mode: MailMode, command: &str, message: Option<&str>) -> CommandReply {
    match message {
        Some(message) => CommandReply::Effect(Effect::Queue { mode, text: message.to_owned() }),
        None => CommandReply::Text(needs_text(command)),
    }
}

pub(super) fn status_bar(_: Call<'_>) -> Replying<'_> {
    now(effect(Effect::ToggleStatusBar))
}

pub(super) fn quit(_: Call<'_>) -> Replying<'_> {
    now(effect(Effect::Quit))
}

pub(super) fn title(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        match call.argument {
            None => text(call.session.title().unwrap_or("this session has no title")),
            Some(title) => {
                let title = call.session.set_title(title).await?;
                text(format!("title: {}", title.as_deref().unwrap_or("none")))
            }
        }
    })
}

pub(super) fn usage(call: Call<'_>) -> Replying<'_> {
    let tokens = usage_text(&call.session.usage());
    now(text(match call.session.cost() {
        Some(cost) => format!("{tokens}\n{}", cost_text(&cost)),
        None => tokens,
    }))
}

fn usage_text(usage: &Usage) -> String {
    let Usage { input, output, cache_read, cache_write, .. } = *usage;
    let prompt = input + cache_read + cache_write;
    format!("tokens: {prompt} in ({cache_read} from cache), {output} out, {} in all", prompt + output)
}

fn cost_text(cost: &Cost) -> String {
    let known = cost.known().map(|amount| amount.to_string());
    match (cost.status, known) {
        (CostStatus::Included, _) => "cost: included in the subscription".to_owned(),
        (CostStatus::Actual, Some(amount)) => format!("cost: {amount} since this session was opened"),
        (CostStatus::Estimated, Some(amount)) => {
            format!("cost: about {amount} since this session was opened")
        }
        (_, Some(amount)) => format!("cost: at least {amount}; some calls have no known price"),
        (_, None) => "cost: unknown; `hermes model show` says what is known about the model".to_owned(),
    }
}

pub(super) fn compress(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        match call.session.compress(call.argument, call.cancel, call.events).await? {
            Compacted::Done(report) => Ok(CommandReply::Panel(Panel::Compacted(report))),
            Compacted::NotNeeded => text("there is nothing to compact"),
            Compacted::Stuck(why) => text(why),
            Compacted::Cancelled => text("stopped; the conversation is as it was"),
            Compacted::StoreFailed(error) => Err(RuntimeError::NoAnswer(error.to_string())),
        }
    })
}

pub(super) fn context(call: Call<'_>) -> Replying<'_> {
    now(call.session.meter().map(|meter| CommandReply::Panel(Panel::Context(meter))))
}

pub(super) fn pin(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        let Some(pinned) = call.argument else { return pins(call.session).await };
        let number = call.session.pin(pinned).await?;
        text(format!("pinned as {number}; it is kept through every compaction"))
    })
}

async fn pins(session: &Session) -> Reply {
    let pins = session.pins().await?;
    if pins.is_empty() {
        return text("nothing is pinned; /pin TEXT pins a text");
    }
    let rows = pins.into_iter().map(|pin| vec![pin.number.to_string(), pin.text]).collect();
    Ok(CommandReply::Table { title: None, rows })
}

pub(super) fn unpin(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        let Some(number) = call.argument.and_then(|text| text.parse().ok()) else {
            return text("usage: /unpin NUMBER; /pin lists them");
        };
        match call.session.unpin(number).await? {
            true => text("no longer pinned"),
            false => text(format!("nothing is pinned as {number}; /pin lists the pinned texts")),
        }
    })
}

/// Lists personalities, or uses one in this session and in later ones.
pub(super) fn personality(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        let Some(name) = call.argument else {
            let names = call.session.personalities()?;
            return text(format!("personalities: {}, none", names.join(", ")));
        };
        match call.session.set_personality(name)? {
            Err(names) => text(format!("unknown personality; there are {}, none", names.join(", "))),
            Ok(found) => {
                let key = DisplaySettings::personality.name;
                hermes_config::set(call.session.runtime().home(), key, found.name())?;
                text(match found.name() {
                    "" => "no personality".to_owned(),
                    name => format!("personality: {name}"),
                })
            }
        }
    })
}

/// `/model [NAME [--provider PROVIDER] [--force]]`.
pub(super) fn model(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        let Some(arguments) = call.argument else {
            let endpoint = call.session.endpoint();
            return text(format!("{} at {} ({})", endpoint.model, endpoint.origin(), endpoint.provider));
        };
        let wanted = match ModelSwitch::parse(arguments) {
            Ok(wanted) => wanted,
            Err(usage) => return text(usage),
        };
        let unchecked = match call.session.switch_model(&wanted).await? {
            Checked::Unchecked if !wanted.force => {
                "; its list of models could not be read, so the name is unchecked"
            }
            Checked::Listed | Checked::Unchecked => "",
        };
        let endpoint = call.session.endpoint();
        text(format!("{} at {} answers from now on{unchecked}", endpoint.model, endpoint.label()))
    })
}

pub(super) fn resume(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        let store = call.session.runtime().store()?;
        let Some(which) = call.argument else {
            let filter = ListFilter { limit: MAX_LISTED + 1, ..ListFilter::default() };
            let others = others(store.list(filter).await?, call.session.id());
            if others.is_empty() {
                return text("there is no other session to continue");
            }
            let title = "other sessions, the newest first; continue one with `/resume ID or title`:";
            let choices = others.iter().map(choice).collect();
            return Ok(CommandReply::Choices { title: title.to_owned(), choices });
        };
        let found = store.resolve(which).await?;
        match found == *call.session.id() {
            true => text("this session is already open; `/resume` lists the others"),
            false => effect(Effect::Resume(found)),
        }
    })
}

/// The sessions of a list that are not the open one, nor an earlier part of it.
fn others(all: Vec<SessionSummary>, open: &SessionId) -> Vec<SessionSummary> {
    let is_open = |session: &SessionSummary| session.id == *open || session.root.as_ref() == Some(open);
    all.into_iter().filter(|session| !is_open(session)).take(MAX_LISTED).collect()
}

fn choice(session: &SessionSummary) -> Choice {
    let title = session.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&session.preview);
    Choice {
        line: format!("/resume {}", session.id),
        label: title.chars().take(MAX_TITLE).collect(),
        id: session.id.to_string(),
        at: session.last_active,
    }
}

pub(super) fn yolo(call: Call<'_>) -> Replying<'_> {
    let mut approvals = call.session.tool_context().approvals();
    let is_on = match call.argument {
        None => !approvals.is_yolo(),
        Some("on") => true,
        Some("off") => false,
        Some(other) => return now(text(format!("`{other}` is not on or off"))),
    };
    approvals.set_yolo(is_on);
    drop(approvals);
    now(text(match is_on {
        true => "commands of this session run without approval; the sandbox and approvals.deny stay",
        false => "commands of this session need approval again",
    }))
}

pub(super) fn approvals(call: Call<'_>) -> Replying<'_> {
    let context = call.session.tool_context();
    if call.argument == Some("clear") {
        context.approvals().clear();
        return now(text("the approvals of this session are forgotten"));
    }
    let policy = &context.settings().approvals;
    let mut lines: Vec<String> = context.approvals().describe();
    if lines.is_empty() {
        lines.push("no approvals for this session yet".to_owned());
    }
    lines.extend(policy.allow.0.iter().map(|entry| format!("always: {entry}")));
    lines.extend(policy.deny.0.iter().map(|entry| format!("never: {entry}")));
    now(text(lines.join("\n")))
}

pub(super) fn backend(call: Call<'_>) -> Replying<'_> {
    now(text(call.session.runtime().backend_summary()))
}

pub(super) fn sandbox(call: Call<'_>) -> Replying<'_> {
    now(text(call.session.sandbox_summary()))
}
