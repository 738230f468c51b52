//! Ids, each with its own type so that they cannot be confused.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

text_id! {
    /// A session id: `YYYYMMDD_HHMMSS_<6 hex>` when created here; other programs may use other forms.
    SessionId
}
text_id! {
    /// The provider's id of a tool call; unique within one assistant message.
    CallId
}
row_id! {
    /// The row id of a turn.
    TurnId
}
row_id! {
    /// The row id of an intent: a recorded tool call.
    IntentId
}
row_id! {
    /// The row id of a queued message.
    MailId
}
row_id! {
    /// The row id of a message.
    MessageId
}

impl CallId {
    /// The id of a call whose provider sent none. The same call at the same index gets the same id, so that
    /// later requests have the same bytes.
    pub fn derived(name: &str, arguments: &str, index: usize) -> Self {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(format!("{name}:{arguments}:{index}"));
        let hex: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self(format!("call_{hex}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_call_ids_match_the_python_release() {
        for (name, arguments, index, want) in [
            ("terminal", r#"{"command":"ls"}"#, 0, "call_40ccaef54d02"),
            ("terminal", r#"{"command":"ls"}"#, 1, "call_567cb168d22d"),
            ("read_file", "{}", 0, "call_d24f0efbdf6f"),
            ("", "", 0, "call_feda901d71ea"),
            ("搜索", r#"{"q":"中"}"#, 0, "call_12e3a8754403"),
        ] {
            assert_eq!(CallId::derived(name, arguments, index).as_str(), want, "{name}");
        }
    }
}
