//! The messages between client and supervisor.
//!
//! A connection begins with `hello` in both directions; the shape of that message never changes, so that
//! different versions can detect each other. Then the client sends one request at a time. After `start` and
//! `go`, or after `attach`, the supervisor also pushes output, and at the end `finished`.

use super::record::End;
use super::spec::{Key, Lifetime, Owner, Spec};
use crate::Group;
use crate::exports::Exports;
use serde::{Deserialize, Serialize};

/// Version 2 brought sandboxes: a supervisor of version 1 would ignore them. Version 3 brought input and the end of the
/// output of running commands. Version 4 brought client programs.
pub(crate) const VERSION: u32 = 4;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    Hello {
        version: u32,
    },
    /// Prepares a command: its shell waits at the gate until `go`. A known key is not started again; its state
    /// is reported.
    Start {
        key: Key,
        spec: Box<Spec>,
        owner: Owner,
    },
    /// Opens the gate. The command was prepared on this connection.
    Go {
        key: Key,
    },
    /// Follows a command from an offset of its spooled output, and takes it over if an owner is given.
    Attach {
        key: Key,
        from: u64,
        owner: Option<Owner>,
    },
    Signal {
        key: Key,
        how: Stop,
    },
    /// Writes to the standard input of a command.
    Write {
        key: Key,
        text: String,
        closes: bool,
    },
    /// Requests the end of the output of a command, running or finished.
    Look {
        key: Key,
    },
    Status,
    /// Removes the record of a finished command.
    Forget {
        key: Key,
    },
    /// Ends the commands of an owner, of one session or of all.
    Leave {
        owner: Owner,
        session: Option<String>,
        leaving: Leaving,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum Reply {
    Hello {
        version: u32,
    },
    /// The answer to `start` and `attach`. Output follows, unless the answer to `start` is `held`.
    Command {
        state: State,
        group: Option<Group>,
    },
    NoRecord,
    /// The answer to `look`. So many bytes of output follow.
    Looked {
        group: Option<Group>,
        end: Option<End>,
        total: u64,
        bytes: u64,
    },
    Done,
    Left {
        commands: usize,
    },
    Status {
        commands: Vec<CommandStatus>,
    },
    Refused {
        reason: String,
    },
    /// The number of output bytes that were not kept; what follows is the end.
    Gap {
        bytes: u64,
    },
    Finished {
        end: End,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exports: Option<Exports>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Held,
    Running,
    Finished,
}

/// The way in which a command is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// TERM, two seconds, KILL.
    Politely,
    /// KILL.
    AtOnce,
}

/// The scope that ends, and with it its commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaving {
    /// A turn: ends commands with the lifetime of a turn.
    Turn,
    /// A session: also ends commands with the lifetime of a session.
    Session,
}

impl Leaving {
    pub(crate) fn ends(self, lifetime: Lifetime) -> bool {
        match lifetime {
            Lifetime::Turn => true,
            Lifetime::Session => self == Self::Session,
            Lifetime::Detached => false,
        }
    }
}

/// An unfinished command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandStatus {
    pub key: Key,
    pub session: String,
    pub lifetime: Lifetime,
    pub owner: Owner,
    /// Known once its shell runs.
    pub group: Option<Group>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_ends_commands_by_lifetime() {
        for (leaving, lifetime, ends) in [
            (Leaving::Turn, Lifetime::Turn, true),
            (Leaving::Turn, Lifetime::Session, false),
            (Leaving::Turn, Lifetime::Detached, false),
            (Leaving::Session, Lifetime::Turn, true),
            (Leaving::Session, Lifetime::Session, true),
            (Leaving::Session, Lifetime::Detached, false),
        ] {
            assert_eq!(leaving.ends(lifetime), ends, "{leaving:?} {lifetime:?}");
        }
    }

    /// Every version must be able to read these two messages.
    #[test]
    fn bytes_of_hello_never_change() {
        let ask = serde_json::to_string(&Request::Hello { version: 7 }).unwrap();
        let say = serde_json::to_string(&Reply::Hello { version: 7 }).unwrap();
        assert_eq!(
            (ask.as_str(), say.as_str()),
            (r#"{"ask":"hello","version":7}"#, r#"{"say":"hello","version":7}"#)
        );
    }
}
