//! Code that starts processes without end, or signals all of them.

/// Returns true for a loop that forks.
pub(super) fn is_fork_loop(code: &str) -> bool {
    let squeezed: String = code.chars().filter(|character| !character.is_whitespace()).collect();
    [
        "forkwhilefork",
        "fork()while",
        "while(1){fork",
        "whileTrue:os.fork()",
        "while1:os.fork()",
        "while(true){fork",
        "fork;fork",
        "loop{fork",
        "for(;;){fork",
    ]
    .iter()
    .any(|text| squeezed.contains(text))
}

/// Returns true for code that signals process -1, which is every process.
pub(super) fn kills_all(code: &str) -> bool {
    let is_ignored =
        |character: &char| character.is_whitespace() || matches!(character, '"' | '\'' | '(' | '-');
    // Without signs, the number of a signal and -1 are next to each other in the order of Perl or of C.
    let squeezed: String =
        code.replace("-1", "ALL").chars().filter(|character| !is_ignored(character)).collect();
    squeezed.split("kill").skip(1).any(|rest| {
        let rest = rest.strip_prefix("ALL").or_else(|| {
            let (signal, rest) = rest.split_once(',')?;
            let is_signal =
                signal.len() <= 8 && signal.chars().all(|character| character.is_ascii_alphanumeric());
            rest.strip_prefix("ALL").filter(|_| is_signal)
        });
        rest.is_some_and(|rest| !rest.starts_with(|character: char| character.is_ascii_digit()))
    })
}
