//! Text for the standard input of a command that runs already.

use crate::{Assessment, EffectKind, Finding, Scene, Verdict, assess, assessment::Effect, keys};

/// Text that only a shell would carry out.
const PROBE: &str = "rm -rf /";

/// Judges text that is written to the standard input of a running command: as the script of a shell, the code of an
/// interpreter, the statements of a database client, or data. The command itself was judged when it was started.
pub fn assess_input(command: &str, text: &str, scene: &Scene) -> Assessment {
    let mut assessment = with_input(command, &readable(text), scene);
    if !scene.is_sandboxed {
        let reason = "writes to the input of a running process without a sandbox".to_owned();
        assessment.findings.push(asked(EffectKind::Execute, keys::PROCESS_INPUT, reason));
    }
    if text.chars().any(edits_the_line) && runs_shell_text(command, scene) {
        let reason = "sends control characters to a shell".to_owned();
        assessment.findings.push(asked(EffectKind::Unclear, keys::INVISIBLE, reason));
    }
    assessment
}

/// The findings about the input of a command, without those about the command.
fn with_input(command: &str, text: &str, scene: &Scene) -> Assessment {
    // A redirection cannot be added behind a here-document or a comment.
    if command.contains("<<") || command.contains('#') {
        return assess(text, scene);
    }
    let before = assess(command, scene);
    let mark = delimiter(text);
    let command = command.trim_end().trim_end_matches([';', '&']);
    let mut assessment = assess(&format!("{command} <<'{mark}'\n{text}\n{mark}\n"), scene);
    assessment.findings.retain(|finding| !before.findings.contains(finding));
    assessment
}

fn runs_shell_text(command: &str, scene: &Scene) -> bool {
    with_input(command, PROBE, scene).verdict() == Verdict::Deny
}

/// A line that does not occur in the text.
fn delimiter(text: &str) -> String {
    let mut mark = "INPUT".to_owned();
    while text.lines().any(|line| line.trim() == mark) {
        mark.push('_');
    }
    mark
}

/// The text with line ends in place of the keys that end a line, and without other control characters.
fn readable(text: &str) -> String {
    let shown = |c| if matches!(c, '\r' | '\u{3}' | '\u{4}' | '\u{1a}') { '\n' } else { c };
    text.chars().map(shown).filter(|c| !edits_the_line(*c)).collect()
}

/// Returns true for keys with which a line becomes another one: what arrives is not what was judged.
fn edits_the_line(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\u{3}' | '\u{4}' | '\u{1a}')
}

fn asked(kind: EffectKind, rule: &'static str, reason: String) -> Finding {
    let effect = Effect { kind, target: None };
    Finding { effect, verdict: Verdict::Ask, rule: rule.into(), reason, grants: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(is_sandboxed: bool) -> Scene {
        Scene {
            cwd: "/work/p".into(),
            project: "/work/p".into(),
            user_home: Some("/home/u".into()),
            hermes_home: "/home/u/.hermes".into(),
            is_sandboxed,
            ..Scene::default()
        }
    }

    #[test]
    fn input_is_judged_by_the_program_that_reads_it() {
        use Verdict::{Allow, Ask, Deny};
        for (command, text, want) in [
            ("bash", "ls -l\n", Allow),
            ("bash", "rm -rf /\n", Deny),
            ("bash", "rm -rf /home/u\n", Deny),
            ("bash -i", "echo rm -rf /\n", Allow),
            ("cd sub && bash", "rm -rf /\n", Deny),
            ("bash;", "rm -rf /\n", Deny),
            ("bash # a shell", "rm -rf /\n", Deny),
            ("bash", "r\u{7f}rm x\n", Ask),
            ("bash", "\u{1b}[A\n", Ask),
            ("bash", "\u{3}", Allow),
            ("bash", "true\rrm -rf /\r", Deny),
            ("cat", "rm -rf /\n", Allow),
            ("cat", "INPUT\nrm -rf /\n", Allow),
            ("bash", "INPUT\nrm -rf /\n", Deny),
            ("vim notes.txt", "ihello\u{1b}:wq\r", Allow),
            ("top", "q", Allow),
            ("python3", "print(6 * 7)\n", Allow),
            ("psql", "DROP TABLE users;\n", Ask),
            ("npm init", "\n", Allow),
        ] {
            let assessment = assess_input(command, text, &scene(true));
            assert_eq!(assessment.verdict(), want, "{command} <- {text:?}: {:?}", assessment.findings);
        }
    }

    #[test]
    fn input_asks_without_a_sandbox() {
        assert_eq!(assess_input("cat", "x\n", &scene(false)).verdict(), Verdict::Ask);
    }

    #[test]
    fn findings_about_the_command_are_not_repeated() {
        let command = "git push --force && cat";
        assert_eq!(assess(command, &scene(true)).verdict(), Verdict::Ask);
        assert_eq!(assess_input(command, "x\n", &scene(true)).verdict(), Verdict::Allow);
    }
}
