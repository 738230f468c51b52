use super::*;
use std::process::Command;
use std::time::{Duration, Instant};

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn process(piece: usize, grace_s: u64) -> FarProcess {
    FarProcess::new(piece, Timing { grace_s, ..Timing::default() })
}

fn bash(script: &str) -> String {
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Polls until the program has ended. Returns its streams and its exit code.
fn finish(far: &FarProcess, first: &str) -> (Vec<u8>, Vec<u8>, State) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut text = first.to_owned();
    loop {
        let polled = far.parse(&text).unwrap();
        out.extend(&polled.out);
        err.extend(&polled.err);
        let is_whole = (out.len() as u64, err.len() as u64) == polled.sizes;
        if polled.state != State::Running && is_whole {
            return (out, err, polled.state);
        }
        text = bash(&far.poll(out.len() as u64, err.len() as u64));
    }
}

#[test]
fn program_has_its_arguments_streams_and_exit_code() {
    let far = process(1024, 8);
    let script = "printf '%s|' \"$@\" $#; cat; head -c 3000 /dev/zero; printf 'a\\377' >&2; exit 7";
    let program = words(&["bash", "-c", script, "name", "it's", "a b", "", "$x\n\"q\""]);
    let first = bash(&far.start(&program, b"in\0put"));
    bash(&far.input(1, &Piece::Bytes(b" more".to_vec())));
    // Sent again, because the answer was lost.
    bash(&far.input(1, &Piece::Bytes(b" more".to_vec())));
    bash(&far.input(2, &Piece::End));
    let (out, err, state) = finish(&far, &first);
    let mut want = b"it's|a b||$x\n\"q\"|4|in\0put more".to_vec();
    want.extend([0; 3000]);
    assert_eq!((out, err, state), (want, b"a\xff".to_vec(), State::Ended(7)));
}

#[test]
fn program_starts_once_if_it_is_sent_twice() {
    let far = process(1024, 8);
    let file = std::env::temp_dir().join(format!("hermes-clouds-once-{}", std::process::id()));
    let program = words(&["bash", "-c", &format!("echo run >>{}", file.display())]);
    let start = far.start(&program, b"");
    let (first, second) = (bash(&start), bash(&start));
    assert_eq!(finish(&far, &first).2, State::Ended(0));
    assert_eq!(finish(&far, &second).2, State::Ended(0));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "run\n");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn program_sees_the_end_of_its_input_when_no_poll_comes() {
    let far = process(1024, 1);
    let file = std::env::temp_dir().join(format!("hermes-clouds-stale-{}", std::process::id()));
    bash(&far.start(&words(&["bash", "-c", &format!("cat >/dev/null; echo end >{}", file.display())]), b"x"));
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        bash("sleep 0.05");
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn killed_runner_is_noticed() {
    let far = process(1024, 8);
    let first = far.parse(&bash(&far.start(&words(&["sleep", "5"]), b""))).unwrap();
    assert_eq!(first.state, State::Running);
    bash(&format!("kill -KILL $(cat {RUNS}/{}/pid); rm -r {RUNS}/{}/code 2>/dev/null", far.id, far.id));
    assert_eq!(far.parse(&bash(&far.poll(0, 0))).unwrap().state, State::Lost);
    assert_eq!(process(1, 8).parse(&bash(&far.poll(0, 0))).ok(), None);
    bash(&format!("rm -r {RUNS}/{}", far.id));
    assert_eq!(far.parse(&bash(&far.poll(0, 0))).unwrap().state, State::Lost);
}

#[test]
fn answers_are_found_between_other_texts_and_must_be_whole() {
    let far = FarProcess { id: "ab".into(), piece: 10, grace: 8, wait: 2 };
    let text = "Welcome\n\nHXab 3 0 -\nYWJj\n\nHXab end\nbye\n";
    let want = Polled { out: b"abc".to_vec(), err: Vec::new(), sizes: (3, 0), state: State::Running };
    assert_eq!(far.parse(text), Ok(want));
    for text in [
        "",
        "nothing",
        "HXab 3 0 -\nYWJj",
        "HXab 3 0 -\nYW",
        "HXab 3 0 -\n!\n\nHXab end\n",
        "HXab x 0 -\n\n\nHXab end\n",
        "HXab 3 0 900\n\n\nHXab end\n",
        "HXab 3\n\n\nHXab end\n",
        "HXab -1 0 -\n\n\nHXab end\n",
    ] {
        assert!(far.parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn missing_programs_are_named() {
    for (text, want) in [
        ("\nHX needs setsid\n", Some("setsid")),
        ("sh: 1: bash: not found\n", Some("bash")),
        ("garbage", None),
    ] {
        let far = FarProcess { id: String::new(), piece: 1, grace: 8, wait: 2 };
        let error = far.parse(text).unwrap_err();
        let found = missing_program(&error, text);
        let want = want.map(|program| CloudError::NoProgram { program: program.to_owned() });
        assert_eq!(found, want, "{text}");
    }
}

#[test]
fn longest_input_fits_into_one_argument() {
    let far = process(1, 8);
    let boot = words(&["bash", "-c", "IFS= read -r -d \"\" p; eval \"$p\""]);
    assert!(far.start(&boot, &vec![b'x'; MOST_INPUT]).len() < 128 * 1024);
}
