//! The slash commands, one table for every front end.
//!
//! A row says what a command is called and what it asks for; carrying an [`Action`] out is the
//! front end's work, because only it knows what leaving or showing means there.

/// What a command asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Help,
    /// Start a new session, with a title if one was given.
    New {
        title: Option<String>,
    },
    /// Continue another session: an id, a title, or the newest one.
    Resume {
        which: Option<String>,
    },
    /// Show the model, or use another one from now on.
    Model {
        name: Option<String>,
    },
    /// Stop what is running.
    Stop,
    /// Say something when the running turn is over.
    Queue {
        text: Option<String>,
    },
    /// Say something to the running turn.
    Steer {
        text: Option<String>,
    },
    /// Show or set what Enter does while a turn runs.
    Busy {
        mode: Option<String>,
    },
    /// Show or set the session's title.
    Title {
        title: Option<String>,
    },
    Usage,
    /// Sum up older messages now, with this in view.
    Compress {
        focus: Option<String>,
    },
    /// Show how full the window is.
    Context,
    /// Keep these words in view; without any, show what is kept.
    Pin {
        text: Option<String>,
    },
    /// No longer keep what has this number.
    Unpin {
        number: Option<String>,
    },
    /// Show or set the personality of replies.
    Personality {
        name: Option<String>,
    },
    /// Show or hide the status line.
    StatusBar,
    Quit,
}

/// One command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub arguments: &'static str,
    pub help: &'static str,
    action: fn(Option<String>) -> Action,
}

/// The argument of commands that say something.
const MESSAGE: &str = "<message>";

/// Every command there is.
pub const TABLE: &[Command] = &[
    Command {
        name: "help",
        aliases: &["?"],
        arguments: "",
        help: "show this list",
        action: |_| Action::Help,
    },
    Command {
        name: "new",
        aliases: &["reset"],
        arguments: "[title]",
        help: "start a new session",
        action: |title| Action::New { title },
    },
    Command {
        name: "resume",
        aliases: &[],
        arguments: "[id or title]",
        help: "continue another session; without a name, list the others",
        action: |which| Action::Resume { which },
    },
    Command {
        name: "model",
        aliases: &[],
        arguments: "[name] [--provider name] [--force]",
        help: "show the model, or go on with another one",
        action: |name| Action::Model { name },
    },
    Command {
        name: "stop",
        aliases: &[],
        arguments: "",
        help: "stop the running turn (Ctrl-C does the same)",
        action: |_| Action::Stop,
    },
    Command {
        name: "queue",
        aliases: &["q"],
        arguments: MESSAGE,
        help: "say this when the running turn is over",
        action: |text| Action::Queue { text },
    },
    Command {
        name: "steer",
        aliases: &[],
        arguments: MESSAGE,
        help: "say this to the running turn, beside its next tool result",
        action: |text| Action::Steer { text },
    },
    Command {
        name: "busy",
        aliases: &[],
        arguments: "[queue|steer|interrupt|status]",
        help: "show or set what Enter does while a turn runs",
        action: |mode| Action::Busy { mode },
    },
    Command {
        name: "title",
        aliases: &[],
        arguments: "[text]",
        help: "show or set the title of this session",
        action: |title| Action::Title { title },
    },
    Command {
        name: "usage",
        aliases: &[],
        arguments: "",
        help: "show the tokens used in this session",
        action: |_| Action::Usage,
    },
    Command {
        name: "compress",
        aliases: &["compact"],
        arguments: "[topic]",
        help: "sum up older messages now, with a topic in view if you name one",
        action: |focus| Action::Compress { focus },
    },
    Command {
        name: "context",
        aliases: &[],
        arguments: "",
        help: "show how full the model's window is, and with what",
        action: |_| Action::Context,
    },
    Command {
        name: "pin",
        aliases: &["pins"],
        arguments: "[words]",
        help: "keep words in view, whatever is summed up; without words, show them",
        action: |text| Action::Pin { text },
    },
    Command {
        name: "unpin",
        aliases: &[],
        arguments: "<number>",
        help: "no longer keep pinned words",
        action: |number| Action::Unpin { number },
    },
    Command {
        name: "statusbar",
        aliases: &["sb"],
        arguments: "",
        help: "show or hide the line about the session after each answer",
        action: |_| Action::StatusBar,
    },
    Command {
        name: "personality",
        aliases: &[],
        arguments: "[name]",
        help: "list personalities, or use one from now on (`none` clears it)",
        action: |name| Action::Personality { name },
    },
    Command { name: "quit", aliases: &["exit"], arguments: "", help: "leave", action: |_| Action::Quit },
];

/// What a line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Words for the model.
    Words,
    Command(Action),
    /// A command that does not exist, with the nearest one that does.
    Unknown {
        name: String,
        nearest: Option<&'static str>,
    },
}

/// Reads a line. Only a first word of letters after the slash is a command, so that a path
/// such as `/etc/hosts` stays words.
pub fn read(line: &str) -> Line {
    let Some(rest) = line.trim().strip_prefix('/') else {
        return Line::Words;
    };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == '?');
    if !is_name {
        return Line::Words;
    }
    let name = name.to_ascii_lowercase();
    let argument = Some(argument.trim().to_owned()).filter(|text| !text.is_empty());
    let found = TABLE.iter().find(|command| command.name == name || command.aliases.contains(&name.as_str()));
    // Several lines are something to be said, not something to be done.
    if line.trim().contains('\n') && found.is_none_or(|command| command.arguments != MESSAGE) {
        return Line::Words;
    }
    match found {
        Some(command) => Line::Command((command.action)(argument)),
        None => Line::Unknown { nearest: nearest(&name), name },
    }
}

/// The name after a slash and the words after it, if the line could call a skill: a path such as
/// `/etc/hosts` cannot.
pub fn slash_name(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim().strip_prefix('/')?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(fits);
    is_name.then(|| (name, words.trim()))
}

fn nearest(name: &str) -> Option<&'static str> {
    let shared = |other: &str| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let best = TABLE.iter().max_by_key(|command| shared(command.name))?;
    (shared(best.name) > 0).then_some(best.name)
}

/// What to say about a command that does not exist.
pub fn unknown(name: &str, nearest: Option<&str>) -> String {
    let hint = nearest.map(|nearest| format!("; did you mean /{nearest}?")).unwrap_or_default();
    format!("there is no command /{name}{hint} (/help lists them)")
}

/// The list that `/help` shows.
pub fn help() -> String {
    let width = TABLE.iter().map(|c| c.name.len() + c.arguments.len() + 2).max().unwrap_or(0);
    let row = |command: &Command| {
        let call = format!("/{} {}", command.name, command.arguments);
        let also: String = command.aliases.iter().map(|alias| format!(" (/{alias})")).collect();
        format!("  {call:width$}  {}{also}", command.help)
    };
    TABLE.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        for (line, want) in [
            ("hello", Line::Words),
            ("/etc/hosts is odd", Line::Words),
            ("/", Line::Words),
            ("/help\nme", Line::Words),
            ("/nothing\nat all", Line::Words),
            ("/queue two\nlines", Line::Command(Action::Queue { text: Some("two\nlines".into()) })),
            ("/help", Line::Command(Action::Help)),
            ("  /QUIT ", Line::Command(Action::Quit)),
            ("/exit", Line::Command(Action::Quit)),
            ("/title  My work ", Line::Command(Action::Title { title: Some("My work".into()) })),
            ("/resume", Line::Command(Action::Resume { which: None })),
            ("/mdoel x", Line::Unknown { name: "mdoel".into(), nearest: Some("model") }),
            ("/zzz", Line::Unknown { name: "zzz".into(), nearest: None }),
        ] {
            assert_eq!(read(line), want, "{line}");
        }
    }

    #[test]
    fn names_of_skills_are_told_from_paths() {
        for (line, want) in [
            ("/git-bisect find it\nplease", Some(("git-bisect", "find it\nplease"))),
            (" /7zip ", Some(("7zip", ""))),
            ("/etc/hosts is odd", None),
            ("/../x", None),
            ("/", None),
            ("words", None),
        ] {
            assert_eq!(slash_name(line), want, "{line}");
        }
    }

    #[test]
    fn no_two_commands_share_a_name() {
        let mut names: Vec<_> =
            TABLE.iter().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied())).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
