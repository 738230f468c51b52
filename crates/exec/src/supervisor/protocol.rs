//! What client and supervisor say to each other.
//!
//! A connection begins with `hello` in both directions; the shape of that message never changes,
//! so that different versions can at least tell each other so. Then the client asks one thing at
//! a time. After `start` and `go`, or after `attach`, the supervisor also pushes output, and at the
//! end `finished`.

use super::record::End;
use super::spec::{Key, Lifetime, Owner, Spec};
use crate::Group;
use serde::{Deserialize, Serialize};

pub(crate) const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    Hello {
        version: u32,
    },
    /// Prepares a command: its shell waits at the gate until `go`. A known key is not started
    /// again; what there is of it is reported.
    Start {
        key: Key,
        spec: Box<Spec>,
        owner: Owner,
    },
    /// Opens the gate. The command was prepared on this connection.
    Go {
        key: Key,
    },
    /// Follows a command from a byte of its spooled output on, and takes it over if an owner is named.
    Attach {
        key: Key,
        from: u64,
        owner: Option<Owner>,
    },
    Signal {
        key: Key,
        how: Stop,
    },
    Status,
    /// Removes the record of a command that is over.
    Forget {
        key: Key,
    },
    /// Ends what an owner started, of one session or of all.
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
    /// So many bytes of the output were not kept; what follows is its end.
    Gap {
        bytes: u64,
    },
    Finished {
        end: End,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Held,
    Running,
    Finished,
}

/// How a command is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// TERM, two seconds, KILL.
    Politely,
    /// KILL.
    AtOnce,
}

/// What is left, and so which commands end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaving {
    /// Commands that live as long as a turn.
    Turn,
    /// Those too that live as long as a session.
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

/// A command that has not ended yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandStatus {
    pub key: Key,
    pub session: String,
    pub lifetime: Lifetime,
    pub owner: Owner,
    /// Known once its shell is there.
    pub group: Option<Group>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_ends_what_was_declared_to_end() {
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

    /// Every version must be able to read these two.
    #[test]
    fn the_bytes_of_hello_never_change() {
        let ask = serde_json::to_string(&Request::Hello { version: 7 }).unwrap();
        let say = serde_json::to_string(&Reply::Hello { version: 7 }).unwrap();
        assert_eq!(
            (ask.as_str(), say.as_str()),
            (r#"{"ask":"hello","version":7}"#, r#"{"say":"hello","version":7}"#)
        );
    }
}
