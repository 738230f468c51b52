//! Measures decisions over the corpus and over pathological texts, and prints microseconds.

#![expect(clippy::print_stdout, reason = "a measurement is for reading")]

use hermes_gate::{Scene, assess};
use std::time::{Duration, Instant};

#[path = "../tests/integration/support.rs"]
mod support;

fn main() {
    let scene = support::scene();
    let mut times = Vec::new();
    let corpora = [
        include_str!("../tests/corpus/hardline.txt"),
        include_str!("../tests/corpus/dangerous.txt"),
        include_str!("../tests/corpus/harmless.txt"),
        include_str!("../tests/corpus/held_out_dangerous.txt"),
        include_str!("../tests/corpus/held_out_harmless.txt"),
    ];
    for corpus in corpora {
        for (_, command) in support::entries(corpus) {
            times.push((measured(&command, &scene), command));
        }
    }
    times.sort();
    let at = |part: f64| {
        times.get(((times.len() - 1) as f64 * part) as usize).map_or(0, |(time, _)| time.as_micros())
    };
    println!("corpus of {}: p50 {} us, p99 {} us, max {} us", times.len(), at(0.5), at(0.99), at(1.0));
    for (time, command) in times.iter().rev().take(5) {
        println!("  {} us: {command:?}", time.as_micros());
    }
    for (name, text) in pathological() {
        let time = measured(&text, &scene);
        println!(
            "{name} ({} bytes): {} us, {:?}",
            text.len(),
            time.as_micros(),
            assess(&text, &scene).verdict()
        );
    }
}

/// The median of five runs.
fn measured(command: &str, scene: &Scene) -> Duration {
    let mut runs: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(assess(command, scene));
            start.elapsed()
        })
        .collect();
    runs.sort();
    runs.get(2).copied().unwrap_or_default()
}

fn pathological() -> Vec<(&'static str, String)> {
    let nested =
        |open: &str, close: &str, count: usize| format!("{}x{}", open.repeat(count), close.repeat(count));
    vec![
        ("64,000 arguments", "a ".repeat(64_000)),
        ("64,000 commands", "a;".repeat(64_000)),
        ("128,000 letters", "a".repeat(128_000)),
        ("here-document of 120 KB", format!("cat <<'E' > x\n{}\nE", "line of text\n".repeat(9_200))),
        ("expanded here-document of 120 KB", format!("cat <<E > x\n{}\nE", "a $x b `y` c\n".repeat(9_200))),
        ("2,000 parentheses", nested("(", ")", 2_000)),
        ("2,000 opening parentheses", "(".repeat(2_000)),
        ("64,000 opening parentheses", "(".repeat(64_000)),
        ("500 substitutions", nested("$(", ")", 500)),
        ("20,001 backticks", "`".repeat(20_001)),
        ("20,000 backticks with text", "`a`".repeat(20_000)),
        ("2,000 arithmetic openings", "$((".repeat(2_000)),
        ("40,000 arithmetic openings", "$((".repeat(40_000)),
        ("20,000 braces", "{a,b}".repeat(20_000)),
        ("20,000 open braces", "{".repeat(20_000)),
        ("brace product", "{a,b,c,d}".repeat(12)),
        ("doubling variable", format!("a=xxxxxxxxxxxxxxxx;{}echo $a", "a=$a$a;".repeat(1_000))),
        ("1,900 commands of rm", "rm -f a b c;".repeat(1_900)),
        ("1,900 pipes", format!("cat x {}", "| grep a ".repeat(1_900))),
        ("900 sh -c of rm", "sh -c 'rm -rf src';".repeat(900)),
        (
            "nested sh -c",
            (0..12).fold("ls".to_owned(), |text, _| format!("sh -c '{}'", text.replace('\'', "'\\''"))),
        ),
        ("wrappers in a row", "sudo env nice timeout 5 ".repeat(900)),
        ("docker run in a row", "docker run ".repeat(1_900)),
        ("3,900 secret operands", format!("cat {}", "~/.s*/id_* ".repeat(3_900))),
        ("3,900 paths", format!("cp {} /tmp/x", "a/b/c.txt ".repeat(3_900))),
        (
            "500 functions",
            (0..500).map(|index| format!("f{index}() {{ f{}; rm -f $1; }};", index + 1)).collect(),
        ),
        ("500 variables in 500 subshells", format!("{}{}", "a=1;".repeat(500), "(a=2;b=3);".repeat(500))),
        ("python of 100 KB", format!("python3 -c '{}'", "x = f(1, \"a\")\n".repeat(7_000))),
        ("quotes", "'a'\"b\"".repeat(20_000)),
        ("64,000 dollar signs", "$".repeat(64_000)),
        ("64,000 escapes", "\\a".repeat(64_000)),
        ("30,000 redirections", ">a ".repeat(30_000)),
        ("sed of 100 KB", format!("sed '{}' x", "s/a/b/;".repeat(14_000))),
        ("if in a row", "if a; then ".repeat(2_000)),
        ("case in a row", "case x in a) ".repeat(2_000)),
        ("eval chain", format!("x='eval $x'; {}", "eval $x;".repeat(500))),
        ("alias loop", "alias a=b; alias b=a; a;".repeat(400)),
    ]
}
