//! The time limits of a model call by phase: a table, and the settings that override it.

use hermes_conversation::silent_thinking;
use std::time::Duration;

/// The limits of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    pub connect: Duration,
    /// From sending the request to the first byte of the reply.
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    pub gap: Duration,
    pub total: Duration,
}

/// The limits of the settings. Others follow from the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeLimits {
    pub first_byte: Option<Duration>,
    pub gap: Option<Duration>,
    /// Instead of `gap`, for a server on this machine.
    pub local_gap: Option<Duration>,
    /// For a reply that comes in one piece.
    pub whole_reply: Option<Duration>,
    pub total: Option<Duration>,
}

impl TimeLimits {
    /// Returns these limits, completed by `others`.
    pub fn or(self, others: Self) -> Self {
        Self {
            first_byte: self.first_byte.or(others.first_byte),
            gap: self.gap.or(others.gap),
            local_gap: self.local_gap.or(others.local_gap),
            whole_reply: self.whole_reply.or(others.whole_reply),
            total: self.total.or(others.total),
        }
    }
}

/// The properties of a call that its limits depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSize<'a> {
    /// The estimated tokens of the request.
    pub tokens: u64,
    pub is_streamed: bool,
    pub is_local: bool,
    /// The backend of Codex sends events while it thinks, and starts slowly.
    pub answers_slowly: bool,
    pub model: &'a str,
}

const CONNECT: u64 = 30;
const TOTAL: u64 = 1_800;
const LOCAL_GAP: u64 = 900;
/// The total limit of calls to the backend of Codex.
const SLOW_TOTAL: u64 = 1_500;

/// Seconds for requests of at most 10,000, 50,000 and 100,000 tokens, and for larger ones.
type BySize = [u64; 4];

const STREAM_GAP: BySize = [180, 180, 240, 300];
const WHOLE_REPLY: BySize = [90, 90, 150, 240];
const SLOW_FIRST_BYTE: BySize = [120, 600, 900, 1_200];
const SLOW_GAP: BySize = [12, 60, 120, 180];

fn by_size(seconds: BySize, tokens: u64) -> u64 {
    match tokens {
        0..=10_000 => seconds[0],
        10_001..=50_000 => seconds[1],
        50_001..=100_000 => seconds[2],
        100_001.. => seconds[3],
    }
}

impl Deadlines {
    /// Returns the limits of a call.
    pub fn of(call: &CallSize<'_>, wanted: &TimeLimits) -> Self {
        let thinking = silent_thinking(call.model).unwrap_or(0);
        let total = wanted.total.unwrap_or(seconds(if call.answers_slowly { SLOW_TOTAL } else { TOTAL }));
        let usual = |table| seconds(by_size(table, call.tokens).max(thinking));
        let gap = match call {
            CallSize { is_local: true, .. } => wanted.local_gap.or(wanted.gap).unwrap_or(seconds(LOCAL_GAP)),
            CallSize { answers_slowly: true, .. } => {
                wanted.gap.unwrap_or(seconds(by_size(SLOW_GAP, call.tokens)))
            }
            _ => wanted.gap.unwrap_or(usual(STREAM_GAP)),
        };
        let first_byte = match call {
            // A reply in one piece sends nothing before it is complete.
            CallSize { is_streamed: false, is_local: true, .. } => wanted.whole_reply.unwrap_or(total),
            CallSize { is_streamed: false, .. } => wanted.whole_reply.unwrap_or(usual(WHOLE_REPLY)),
            CallSize { answers_slowly: true, .. } => {
                wanted.first_byte.unwrap_or(seconds(by_size(SLOW_FIRST_BYTE, call.tokens)))
            }
            _ => wanted.first_byte.unwrap_or(gap),
        };
        Self { connect: seconds(CONNECT), first_byte, gap, total }
    }

    /// The time to connect is the same for every call.
    pub(crate) const fn connect() -> Duration {
        Duration::from_secs(CONNECT)
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// The limits of a small streamed call.
impl Default for Deadlines {
    fn default() -> Self {
        let call =
            CallSize { tokens: 0, is_streamed: true, is_local: false, answers_slowly: false, model: "" };
        Self::of(&call, &TimeLimits::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: CallSize<'_> =
        CallSize { tokens: 1_000, is_streamed: true, is_local: false, answers_slowly: false, model: "m" };

    /// First byte, gap and total in seconds.
    fn limits(call: CallSize<'_>, wanted: TimeLimits) -> (u64, u64, u64) {
        let Deadlines { first_byte, gap, total, .. } = Deadlines::of(&call, &wanted);
        (first_byte.as_secs(), gap.as_secs(), total.as_secs())
    }

    #[test]
    fn limits_follow_from_the_call() {
        let (large, huge) = (60_000, 200_000);
        for (call, want) in [
            (PLAIN, (180, 180, 1_800)),
            (CallSize { tokens: large, ..PLAIN }, (240, 240, 1_800)),
            (CallSize { tokens: huge, ..PLAIN }, (300, 300, 1_800)),
            (CallSize { is_local: true, ..PLAIN }, (900, 900, 1_800)),
            (CallSize { model: "deepseek-r1", ..PLAIN }, (600, 600, 1_800)),
            (CallSize { model: "claude-sonnet-4-5", tokens: huge, ..PLAIN }, (300, 300, 1_800)),
            (CallSize { is_streamed: false, ..PLAIN }, (90, 180, 1_800)),
            (CallSize { is_streamed: false, tokens: huge, ..PLAIN }, (240, 300, 1_800)),
            (CallSize { is_streamed: false, model: "o3", ..PLAIN }, (600, 600, 1_800)),
            (CallSize { is_streamed: false, is_local: true, ..PLAIN }, (1_800, 900, 1_800)),
            (CallSize { answers_slowly: true, ..PLAIN }, (120, 12, 1_500)),
            (CallSize { answers_slowly: true, tokens: 20_000, ..PLAIN }, (600, 60, 1_500)),
            (CallSize { answers_slowly: true, tokens: huge, ..PLAIN }, (1_200, 180, 1_500)),
        ] {
            assert_eq!(limits(call, TimeLimits::default()), want, "{call:?}");
        }
    }

    #[test]
    fn settings_override_the_limits() {
        let wish = |count| Some(seconds(count));
        let set = TimeLimits { gap: wish(7), ..TimeLimits::default() };
        assert_eq!(limits(CallSize { model: "o3", tokens: 200_000, ..PLAIN }, set), (7, 7, 1_800));
        assert_eq!(limits(CallSize { is_local: true, ..PLAIN }, set), (7, 7, 1_800));
        let near = TimeLimits { local_gap: wish(50), ..set };
        assert_eq!(limits(CallSize { is_local: true, ..PLAIN }, near), (50, 50, 1_800));
        assert_eq!(limits(PLAIN, near), (7, 7, 1_800));
        let all = TimeLimits { first_byte: wish(3), whole_reply: wish(4), total: wish(5), ..set };
        assert_eq!(limits(PLAIN, all), (3, 7, 5));
        assert_eq!(limits(CallSize { is_streamed: false, ..PLAIN }, all), (4, 7, 5));
        let one = TimeLimits { total: wish(9), ..TimeLimits::default() };
        assert_eq!(one.or(all), TimeLimits { total: wish(9), ..all });
    }
}
