//! The text of notices about background sub-agents. The model reads them as messages, so reports are fenced as data.

use hermes_guard::{FenceKey, Secrets, fence, redact};
use hermes_tools::HelperReport;

/// Characters of a goal.
const GOAL: usize = 200;

/// Turns reports into notices.
pub(crate) struct Wording<'a> {
    pub(crate) id: &'a str,
    pub(crate) goal: &'a str,
    pub(crate) secrets: &'a Secrets,
    pub(crate) key: &'a FenceKey,
    /// Characters of a summary.
    pub(crate) most: usize,
}

impl Wording<'_> {
    /// The notice of a sub-agent that has ended.
    pub(crate) fn of_end(&self, report: &HelperReport) -> String {
        let how = match report.status {
            "completed" => "has completed its task",
            "interrupted" => "was stopped before its task was complete",
            "timeout" => "was stopped at its time limit",
            _ => "has failed",
        };
        let error = report.details.get("error").and_then(|error| error.as_str());
        let mut lines = vec![self.head(how)];
        lines.extend(error.map(|error| format!("Error: {}", redact(self.secrets, error))));
        lines.extend(report.summary.as_deref().and_then(|summary| self.summary(summary)));
        if !report.session.as_str().is_empty() {
            lines.push(format!("Its session is {}.", report.session));
        }
        lines.join("\n") + "]"
    }

    /// The notice of a sub-agent that ended with the process it ran in.
    fn of_cut_off(&self, last_reply: Option<&str>) -> String {
        let how = "was cut off when Hermes ended; what it did until then is done";
        let lines = [Some(self.head(how)), last_reply.and_then(|reply| self.summary(reply))];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n") + "]"
    }

    fn head(&self, how: &str) -> String {
        let goal = redact(self.secrets, self.goal).replace(['\n', '\r'], " ");
        format!("[IMPORTANT: Background sub-agent {} {how}. Task: {}", self.id, first(&goal, GOAL).0)
    }

    fn summary(&self, summary: &str) -> Option<String> {
        let summary = redact(self.secrets, summary);
        let (shown, is_cut) = first(summary.trim(), self.most);
        let cut = if is_cut { "\n[The report was cut here; its session has all of it.]" } else { "" };
        (!shown.is_empty()).then(|| format!("Its report:\n{}{cut}", fence(self.key, "sub-agent", shown)))
    }
}

/// The notice of a sub-agent that ended with the process it ran in, with its last reply.
pub fn cut_off(
    id: &str,
    goal: &str,
    last_reply: Option<&str>,
    most: usize,
    secrets: &Secrets,
    key: &FenceKey,
) -> String {
    Wording { id, goal, secrets, key, most }.of_cut_off(last_reply)
}

/// The first characters, and whether more follow.
fn first(text: &str, chars: usize) -> (&str, bool) {
    match text.char_indices().nth(chars) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::SessionId;
    use serde_json::{Map, json};

    fn report(status: &'static str, summary: Option<&str>, error: Option<&str>) -> HelperReport {
        let details: Map<_, _> = error.map(|error| ("error".to_owned(), json!(error))).into_iter().collect();
        HelperReport {
            session: SessionId::new("s1"),
            status,
            summary: summary.map(str::to_owned),
            details,
            cost: None,
        }
    }

    #[test]
    fn notice_has_outcome_task_and_fenced_report() {
        let (secrets, key) = (Secrets::default(), FenceKey::new([1; 32]));
        let wording =
            Wording { id: "agent_0a", goal: "count\nfiles", secrets: &secrets, key: &key, most: 20 };
        let text = wording.of_end(&report("completed", Some("There are 12."), None));
        assert!(text.starts_with(
            "[IMPORTANT: Background sub-agent agent_0a has completed its task. Task: count files\nIts report:\n"
        ));
        assert!(text.contains("There are 12.") && text.ends_with("Its session is s1.]"), "{text}");
        let text = wording.of_end(&report("error", None, Some("no model")));
        assert!(text.contains("has failed") && text.contains("\nError: no model\n"), "{text}");
        let text = wording.of_end(&report("timeout", Some(&"x".repeat(30)), None));
        assert!(text.contains(&"x".repeat(20)) && !text.contains(&"x".repeat(21)), "{text}");
        assert!(text.contains("was cut here"), "{text}");
        let text = cut_off("agent_0a", "count", Some("so far 3"), 20, &secrets, &key);
        assert!(text.contains("cut off when Hermes ended") && text.contains("so far 3"), "{text}");
    }
}
