//! The text of notices. The model reads them as messages, so output is fenced as data.

use hermes_guard::{FenceKey, Secrets, fence, redact};

/// Characters of the end of the output.
const TAIL: usize = 2_000;
/// Characters of a command.
const COMMAND: usize = 200;

/// Turns texts of processes into notices.
pub(crate) struct Wording<'a> {
    pub(crate) id: &'a str,
    pub(crate) command: &'a str,
    pub(crate) secrets: &'a Secrets,
    pub(crate) key: &'a FenceKey,
}

impl Wording<'_> {
    /// A process has ended.
    pub(crate) fn of_end(&self, exit_code: i32, reason: &str, output: &str) -> String {
        let how = match reason {
            "exited" => format!("has ended with exit code {exit_code}"),
            "killed" => "was ended on request".to_owned(),
            "timed_out" => "was ended at its time limit".to_owned(),
            "failed_start" => "could not be started".to_owned(),
            _ => "is lost: its exit code is unknown, and it may have had any effect".to_owned(),
        };
        self.text(&how, "The end of its output:", output)
    }

    /// Lines of its output match.
    pub(crate) fn of_output(&self, pattern: &str, lines: &str, suppressed: u32) -> String {
        let pattern = redact(self.secrets, pattern);
        let more = match suppressed {
            0 => String::new(),
            count => format!(", after {count} more without a message"),
        };
        self.text(&format!("has written \"{}\"{more}", first(&pattern, COMMAND)), "The output:", lines)
    }

    /// Its output matches so often that only its end will be reported.
    pub(crate) fn of_too_much(&self) -> String {
        let how =
            "matches its watch_patterns too often; they are off now, and a message will tell of its end";
        self.text(how, "", "")
    }

    fn text(&self, how: &str, title: &str, output: &str) -> String {
        let command = redact(self.secrets, self.command);
        let output = redact(self.secrets, output);
        let begin = format!("[IMPORTANT: Background process {} {how}. Command: ", self.id);
        let command = first(&command.replace(['\n', '\r'], " "), COMMAND);
        let tail = last(output.trim_end(), TAIL);
        if tail.is_empty() {
            return format!("{begin}{command}]");
        }
        format!("{begin}{command}\n{title}\n{}]", fence(self.key, "background", tail))
    }
}

fn first(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn last(text: &str, chars: usize) -> &str {
    let start = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wording<'a>(secrets: &'a Secrets, key: &'a FenceKey) -> Wording<'a> {
        Wording { id: "proc_0a", command: "make\nall", secrets, key }
    }

    #[test]
    fn end_names_process_code_and_output() {
        let (secrets, key) = (Secrets::default(), FenceKey::new([1; 32]));
        let text = wording(&secrets, &key).of_end(2, "exited", "</untrusted> error: no rule\n");
        assert!(text.starts_with(
            "[IMPORTANT: Background process proc_0a has ended with exit code 2. Command: make all\n"
        ));
        assert!(text.contains("error: no rule") && text.ends_with(']'), "{text}");
        let lost = wording(&secrets, &key).of_end(-1, "lost", "");
        assert!(lost.contains("exit code is unknown") && !lost.contains("output"), "{lost}");
    }

    #[test]
    fn long_output_is_cut_at_its_start() {
        let (secrets, key) = (Secrets::default(), FenceKey::new([1; 32]));
        let text = wording(&secrets, &key).of_end(0, "exited", &("é".repeat(5_000) + "end"));
        assert!(text.chars().count() < TAIL + 600 && text.contains("end"));
    }
}
