//! The two memory files, and ids of their changes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of the two memory files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Notes of the agent.
    Memory,
    /// The user's profile.
    User,
}

impl Target {
    pub const ALL: [Self; 2] = [Self::Memory, Self::User];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
        }
    }

    pub fn file_name(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY.md",
            Self::User => "USER.md",
        }
    }
}

/// The id of a change: `m12` is the twelfth of `MEMORY.md`, `u3` the third of `USER.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId {
    pub target: Target,
    pub number: u64,
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.target {
            Target::Memory => 'm',
            Target::User => 'u',
        };
        write!(f, "{letter}{}", self.number)
    }
}

impl FromStr for ChangeId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.split_at_checked(1);
        let target = match split.map(|(letter, _)| letter) {
            Some("m") => Some(Target::Memory),
            Some("u") => Some(Target::User),
            _ => None,
        };
        let number = split.and_then(|(_, number)| number.parse().ok());
        match (target, number) {
            (Some(target), Some(number)) => Ok(Self { target, number }),
            _ => Err(format!(
                "invalid change `{text}`: use an id such as m1 or u1 from `hermes memory history`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_id_begins_with_the_letter_of_its_file() {
        for (name, want) in [("m12", Some((Target::Memory, 12))), ("u1", Some((Target::User, 1)))] {
            let id: ChangeId = name.parse().unwrap();
            assert_eq!(Some((id.target, id.number)), want);
            assert_eq!(id.to_string(), name);
        }
        for wrong in ["", "m", "12", "x3", "ü1", "m-1"] {
            assert!(wrong.parse::<ChangeId>().unwrap_err().contains("hermes memory history"), "{wrong}");
        }
    }
}
