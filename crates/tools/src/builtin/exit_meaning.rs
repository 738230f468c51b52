//! Meanings of exit codes that are not simply failures.

use super::foreground::commands;

/// Explains the exit code of `command`, where its last program has a code of its own.
pub(super) fn exit_meaning(command: &str, code: i32) -> Option<&'static str> {
    let parts = commands(command);
    let program = parts.last()?.first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    Some(match (program, code) {
        ("grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep", 1) => "nothing matched; not an error",
        ("diff" | "cmp" | "colordiff", 1) => "the inputs differ; not an error",
        ("find", 1) => "some directories could not be read; other results are valid",
        ("test" | "[", 1) => "the condition is false; not an error",
        ("curl", 6) => "the host name could not be resolved",
        ("curl", 7) => "could not connect to the host",
        ("curl", 22) => "the server answered with an HTTP error",
        ("curl", 28) => "the transfer timed out",
        ("git", 1) => "often normal for git, for instance when there are differences",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_codes_are_explained() {
        for (command, code, explained) in [
            ("grep x file", 1, true),
            ("cat a | /usr/bin/grep x", 1, true),
            ("grep x file", 2, false),
            ("grep x file; true", 1, false),
            ("A=1 diff a b", 1, true),
            ("curl http://x", 7, true),
            ("make", 1, false),
            ("", 1, false),
        ] {
            assert_eq!(exit_meaning(command, code).is_some(), explained, "{command}");
        }
    }
}
