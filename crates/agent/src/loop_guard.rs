//! Notices calls that are made again and again without anything new coming of it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// From this time on, the model is told.
const HINT_AT: u32 = 3;
/// At this time, a turn that nobody watches is ended.
const STOP_AT: u32 = 5;

/// The calls of one turn, with what came of them.
#[derive(Debug, Default)]
pub struct LoopGuard {
    counts: HashMap<u64, Count>,
    replies: u64,
}

#[derive(Debug, Default)]
struct Count {
    times: u32,
    /// The reply that made it last.
    reply: u64,
}

/// What a call that has ended means for the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// Nothing to say about it.
    None,
    /// The model should know that it repeats itself.
    Hint { times: u32 },
    /// It was told and goes on all the same.
    Stop { times: u32 },
}

impl LoopGuard {
    /// The calls of another reply follow. What one reply asks for several times counts once: it could not
    /// know.
    pub fn next_reply(&mut self) {
        self.replies += 1;
    }

    /// Counts a call with its result. `is_watched` says that a person sees the turn, and can stop it.
    pub fn observe(&mut self, tool: &str, arguments: &str, result: &str, is_watched: bool) -> Repetition {
        let mut hash = DefaultHasher::new();
        (tool, arguments.trim(), result).hash(&mut hash);
        let count = self.counts.entry(hash.finish()).or_default();
        if count.times > 0 && count.reply == self.replies {
            return Repetition::None;
        }
        *count = Count { times: count.times + 1, reply: self.replies };
        match count.times {
            times if times >= STOP_AT && !is_watched => Repetition::Stop { times },
            times if times >= HINT_AT => Repetition::Hint { times },
            _ => Repetition::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_with_the_same_result_is_told_and_then_stopped() {
        use Repetition::{Hint, None, Stop};
        for (is_watched, want) in [
            (true, [None, None, Hint { times: 3 }, Hint { times: 4 }, Hint { times: 5 }]),
            (false, [None, None, Hint { times: 3 }, Hint { times: 4 }, Stop { times: 5 }]),
        ] {
            let mut guard = LoopGuard::default();
            let mut got = [None; 5];
            for found in &mut got {
                guard.next_reply();
                // Others in between change nothing.
                assert_eq!(guard.observe("read_file", &format!("{found:p}"), "x", is_watched), None);
                *found = guard.observe("terminal", r#"{"command":"ls"} "#, "a b", is_watched);
                // The same call beside it is no repetition.
                assert_eq!(guard.observe("terminal", r#"{"command":"ls"}"#, "a b", is_watched), None);
            }
            assert_eq!(got, want);
        }
    }

    #[test]
    fn another_tool_argument_or_result_is_another_call() {
        let mut guard = LoopGuard::default();
        for n in 0..20 {
            guard.next_reply();
            let text = n.to_string();
            for (tool, arguments, result) in
                [(text.as_str(), "a", "r"), ("t", text.as_str(), "r"), ("t", "a", text.as_str())]
            {
                assert_eq!(guard.observe(tool, arguments, result, false), Repetition::None);
            }
        }
    }
}
