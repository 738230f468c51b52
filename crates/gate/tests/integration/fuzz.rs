//! Random and mutated texts: no panic, and every answer comes within the counted limits.

use crate::random::Random;
use crate::support::{entries, scene};
use hermes_gate::{assess, assess_program, is_read_only};

const CORPORA: [&str; 3] = [
    include_str!("../corpus/hardline.txt"),
    include_str!("../corpus/dangerous.txt"),
    include_str!("../corpus/harmless.txt"),
];

/// Pieces that a shell treats in a special way.
const PIECES: [&str; 64] = [
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "$'",
    "${",
    "}",
    "{",
    "((",
    "))",
    "$((",
    "[[",
    "]]",
    "<<E\n",
    "<<-'E'\n",
    "\nE\n",
    "<<<",
    "<(",
    ">(",
    "|",
    "||",
    "&",
    "&&",
    ";",
    ";;",
    "\n",
    "\\",
    "\\\n",
    " ",
    "\t",
    "#",
    "!",
    "~",
    "*",
    "?",
    "[",
    "]",
    "=",
    "+=",
    "a=",
    "a=(",
    "$a",
    "${a:-",
    "${a//",
    "${#",
    "${!",
    "$@",
    "if ",
    "then ",
    "fi ",
    "for i in ",
    "do ",
    "done ",
    "case x in ",
    "esac ",
    "f() ",
    "function ",
    "time ",
    "coproc ",
    "\u{0}",
    "\u{200b}",
    "é",
    "\u{1}",
];

fn text(random: &mut Random, commands: &[String]) -> String {
    let mut text = if random.below(2) == 0 { random.pick(commands).clone() } else { String::new() };
    for _ in 0..=random.below(24) {
        let at = random.below(text.len() + 1);
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        match random.below(5) {
            0 => {
                text.truncate(at);
            }
            1 => {
                let word = random.pick(commands).clone();
                text.insert_str(at, &word);
            }
            2 => text.insert(at, char::from_u32(random.below(0x250) as u32).unwrap_or('x')),
            _ => {
                let piece: &str = random.pick::<&str>(&PIECES[..]);
                text.insert_str(at, piece);
            }
        }
        if text.len() > 4_000 {
            break;
        }
    }
    text
}

#[test]
fn no_text_panics() {
    let count: usize =
        std::env::var("HERMES_GATE_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let scene = scene();
    let commands: Vec<String> =
        CORPORA.iter().flat_map(|corpus| entries(corpus)).map(|(_, command)| command).collect();
    let mut random = Random::new(4_711);
    for _ in 0..count {
        let text = text(&mut random, &commands);
        let first = assess(&text, &scene);
        assert_eq!(first, assess(&text, &scene), "equal text gets an equal verdict: {text:?}");
        is_read_only(&text, &scene);
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        assess_program(&words, &scene);
    }
}

#[test]
fn deep_and_long_texts_ask() {
    let scene = scene();
    let ask = |text: &str| assess(text, &scene).verdict() >= hermes_gate::Verdict::Ask;
    for text in [
        "(".repeat(2_000),
        format!("{}ls{}", "$(".repeat(500), ")".repeat(500)),
        "`".repeat(20_001),
        "a ".repeat(64_000),
        "ls;".repeat(40_000),
        "x".repeat(128_001),
        "sudo ".repeat(3_000),
        format!("{}ls", "if ls; then ".repeat(500)),
    ] {
        assert!(ask(&text), "{} bytes beginning with {:?}", text.len(), text.get(..20));
    }
}
