//! Agreement with bash: a text that bash accepts is parsed.

use crate::support::{entries, scene};
use hermes_gate::assess;
use std::process::{Command, Stdio};

fn is_valid(text: &str) -> bool {
    let status =
        Command::new("bash").args(["-n", "-c", text]).stderr(Stdio::null()).stdin(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn texts_that_bash_accepts_are_parsed() {
    let scene = scene();
    let corpora = [
        include_str!("../corpus/hardline.txt"),
        include_str!("../corpus/dangerous.txt"),
        include_str!("../corpus/harmless.txt"),
        include_str!("../corpus/grammar.txt"),
    ];
    let mut unread = Vec::new();
    for (_, command) in corpora.iter().flat_map(|corpus| entries(corpus)) {
        let is_read = !assess(&command, &scene)
            .findings
            .iter()
            .any(|finding| finding.rule == "command cannot be analysed");
        if is_valid(&command) && !is_read {
            unread.push(command);
        }
    }
    assert!(unread.is_empty(), "{unread:#?}");
}
