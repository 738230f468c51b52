//! A wrapped command never gets a milder verdict than the command itself.

use crate::random::Random;
use crate::support::{entries, scene};
use hermes_gate::{assess, simple_command};

const CORPORA: [&str; 3] = [
    include_str!("../corpus/hardline.txt"),
    include_str!("../corpus/dangerous.txt"),
    include_str!("../corpus/harmless.txt"),
];

/// Wrappers of any shell text, which is given as one quoted argument or as it is.
const OF_TEXT: [&str; 22] = [
    "sh -c QUOTED",
    "bash -c QUOTED",
    "bash -lc QUOTED",
    "env sh -c QUOTED",
    "sudo bash -c QUOTED",
    "nice sh -c QUOTED",
    "timeout 5 sh -c QUOTED",
    "nohup sh -c QUOTED",
    "xargs sh -c QUOTED",
    "find . -exec sh -c QUOTED \\;",
    "eval QUOTED",
    "printf '%s\\n' QUOTED | sh",
    "sh <<< QUOTED",
    "(\nTEXT\n)",
    "{\nTEXT\n}",
    "if true; then\nTEXT\nfi",
    "f() {\nTEXT\n}; f",
    "x=$(\nTEXT\n)",
    "for i in 1; do\nTEXT\ndone",
    "echo a; (\nTEXT\n) | cat",
    "while true; do\nTEXT\ndone",
    "trap QUOTED EXIT",
];

/// Wrappers of one simple command, which is given as separate arguments.
const OF_WORDS: [&str; 20] = [
    "sudo WORDS",
    "sudo -u root -n WORDS",
    "env WORDS",
    "env -i A=b WORDS",
    "nice -n 5 WORDS",
    "timeout -k 1 5 WORDS",
    "nohup WORDS",
    "setsid WORDS",
    "stdbuf -oL WORDS",
    "command WORDS",
    "time WORDS",
    "xargs WORDS",
    "xargs -n 1 WORDS",
    "find . -exec WORDS \\;",
    "ionice -c 2 -n 3 WORDS",
    "taskset 1 WORDS",
    "strace -f WORDS",
    "! WORDS",
    "exec WORDS",
    "busybox WORDS",
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn wrapped(random: &mut Random, text: &str) -> String {
    if let Some(words) = simple_command(text).filter(|_| random.below(2) == 0) {
        let mut all: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        if random.below(2) == 0 {
            all = words
                .iter()
                .map(|word| word.chars().map(|character| format!("\\{character}")).collect())
                .collect();
        }
        if words.iter().any(|word| word.is_empty() || word.contains('\n')) {
            all = words.iter().map(|word| quoted(word)).collect();
        }
        return random.pick(&OF_WORDS).replace("WORDS", &all.join(" "));
    }
    random.pick(&OF_TEXT).replace("QUOTED", &quoted(text)).replace("TEXT", text)
}

#[test]
fn wrapping_never_lowers_a_verdict() {
    let pairs: usize =
        std::env::var("HERMES_GATE_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000);
    let scene = scene();
    let commands: Vec<String> =
        CORPORA.iter().flat_map(|corpus| entries(corpus)).map(|(_, command)| command).collect();
    let mut random = Random::new(17);
    let mut failures = Vec::new();
    for _ in 0..pairs {
        let mut text = random.pick(&commands).clone();
        let mut verdict = assess(&text, &scene).verdict();
        for _ in 0..=random.below(3) {
            let outer = wrapped(&mut random, &text);
            let outer_verdict = assess(&outer, &scene).verdict();
            if outer_verdict < verdict {
                failures.push(format!("{verdict:?} {text:?} -> {outer_verdict:?} {outer:?}"));
            }
            (text, verdict) = (outer, outer_verdict);
        }
    }
    failures.truncate(40);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
