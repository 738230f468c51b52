//! Assembles tool calls from the pieces in which they arrive, for every format.

use crate::CallState;
use crate::arguments::{ArgumentsState, repair_arguments};
use hermes_conversation::{CallId, RawJson, ToolCall};

/// The maximum number of calls in one reply. More would make the search for a call expensive, and only a
/// hostile server sends them.
pub(crate) const MOST_CALLS: usize = 1_024;

/// The calls of one reply, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    slots: Vec<Slot>,
}

/// A tool call that is being received.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    index: Option<u64>,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// The second id of the Responses format.
    pub(crate) response_item_id: Option<String>,
    pub(crate) extra_content: Option<RawJson>,
    /// The provider reported that the call is incomplete.
    pub(crate) is_cut: bool,
}

impl Assembler {
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns true if the call with this id is incomplete, as far as is known; `None` if there is no such
    /// call.
    pub(crate) fn is_cut(&self, id: &str) -> Option<bool> {
        let slot = self.slots.iter().find(|slot| !id.is_empty() && slot.id == id)?;
        Some(slot.is_cut)
    }

    /// The slot for a piece, created for the first one. A new id on a used index is a new call: some servers
    /// number every call 0.
    pub(crate) fn slot(&mut self, index: Option<u64>, id: &str) -> &mut Slot {
        let same_index = self.slots.iter().rposition(|slot| match index {
            Some(index) => slot.index == Some(index),
            None => id.is_empty() || slot.id == id,
        });
        let place = match same_index {
            Some(place) if id.is_empty() || self.slots[place].id.is_empty() || self.slots[place].id == id => {
                place
            }
            // Surplus pieces go into the last slot, which is never run.
            _ if self.slots.len() >= MOST_CALLS => {
                let last = self.slots.len() - 1;
                self.slots[last].is_cut = true;
                return &mut self.slots[last];
            }
            _ => {
                self.slots.push(Slot { index, ..Slot::default() });
                self.slots.len() - 1
            }
        };
        let slot = &mut self.slots[place];
        if !id.is_empty() {
            id.clone_into(&mut slot.id);
        }
        slot
    }

    /// Gives every call a unique id and validates its arguments.
    pub(crate) fn finish(self) -> (Vec<ToolCall>, Vec<CallState>) {
        let mut calls: Vec<ToolCall> = Vec::with_capacity(self.slots.len());
        let mut states = Vec::with_capacity(self.slots.len());
        for (place, slot) in self.slots.into_iter().enumerate() {
            let (state, arguments) = repair_arguments(&slot.arguments);
            let taken = calls.iter().any(|call| call.id.as_str() == slot.id);
            let id = match slot.id.is_empty() || taken {
                true => CallId::derived(&slot.name, &slot.arguments, place),
                false => CallId::new(slot.id),
            };
            let name = if slot.name.trim().is_empty() { "invalid_tool_call".to_owned() } else { slot.name };
            calls.push(ToolCall {
                extra_content: slot.extra_content,
                response_item_id: slot.response_item_id,
                ..ToolCall::new(id, name, arguments)
            });
            states.push(match state {
                _ if slot.is_cut => CallState::Truncated,
                ArgumentsState::Complete => CallState::Complete,
                ArgumentsState::Repaired => CallState::Repaired,
                ArgumentsState::Truncated => CallState::Truncated,
                ArgumentsState::Malformed => CallState::Malformed,
            });
        }
        (calls, states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_assigned_to_their_call() {
        let mut assembler = Assembler::default();
        for (index, id, name, arguments) in [
            (Some(0), "a", "read", "{\"p\""),
            (Some(1), "b", "list", ""),
            (Some(0), "", "", ":1}"),
            (Some(1), "", "", "{\"q\":"),
            // The same index under a new id is a new call.
            (Some(0), "c", "write", "{}"),
            (None, "", "", "}"),
        ] {
            let slot = assembler.slot(index, id);
            if !name.is_empty() {
                name.clone_into(&mut slot.name);
            }
            slot.arguments.push_str(arguments);
        }
        assembler.slot(Some(1), "").is_cut = true;
        let (calls, states) = assembler.finish();
        let shown: Vec<_> =
            calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
        assert_eq!(shown, ["a read {\"p\":1}", "b list {}", "c write {}"]);
        assert_eq!(states, [CallState::Complete, CallState::Truncated, CallState::Repaired]);
    }
}
