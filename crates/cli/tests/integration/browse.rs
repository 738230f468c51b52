//! `hermes sessions browse` in a real terminal, and the terminal afterwards.

use crate::process::{code, custom_model, json_of, run, stderr};
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use portable_pty::PtySize;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::Path;

const BROWSE: [&str; 2] = ["sessions", "browse"];

/// A home with two sessions that differ in titles and messages.
async fn filled(provider: &FakeProvider) -> TempHome {
    let home = TempHome::new();
    home.write_config(&custom_model(&provider.base_url()));
    for (question, answer) in [("Tell me of the sea", "There is a walrus in it."), ("看看这个仓库", "好的。")]
    {
        provider.reply(ReplyScript::text(answer));
        assert_eq!(code(&run(home.path(), &["-z", question]).await), 0);
    }
    home
}

/// The terminal modes: echo, lines, signals.
fn modes(screen: &Terminal) -> String {
    let modes = screen.master.get_termios().unwrap();
    format!("{:?} {:?} {:?}", modes.local_flags, modes.input_flags, modes.output_flags)
}

/// Opens the picker and waits until it is drawn. Gives the modes from before as well.
async fn opened(home: &Path) -> (Terminal, String) {
    let fresh = Terminal::start(home, home, &["--version"]);
    let before = modes(&fresh);
    let mut screen = Terminal::start(home, home, &BROWSE);
    screen.expect("\x1b[?1049h").await;
    screen.expect("type to search").await;
    assert_ne!(modes(&screen), before, "keys are read one by one");
    (screen, before)
}

/// The program is gone and the terminal is as it was.
async fn left(screen: &mut Terminal, before: &str) -> u32 {
    screen.expect("\x1b[?7h\x1b[?25h\x1b[?1049l").await;
    let code = screen.ended().await;
    assert_eq!(modes(screen), before);
    code
}

#[tokio::test(flavor = "multi_thread")]
async fn picker_finds_a_session_by_its_messages_and_resumes_it() {
    let provider = FakeProvider::start().await;
    let home = filled(&provider).await;
    let (mut screen, _) = opened(home.path()).await;
    screen.expect("看看这个仓库").await;
    screen.type_keys("walr");
    screen.expect("0 of 2, 1 in messages").await;
    screen.expect("There is a ").await;
    screen.expect("\x1b[1;33mwalrus\x1b[0m").await;
    screen.type_keys("\t");
    screen.expect("There is a walrus in it.").await;
    let smaller = PtySize { rows: 12, cols: 40, pixel_width: 0, pixel_height: 0 };
    screen.master.resize(smaller).unwrap();
    screen.expect("────").await;
    screen.type_keys("\r");
    screen.expect("\x1b[?1049l").await;
    screen.expect("Resuming").await;
    screen.expect("walrus").await;

    // The keyboard belongs to the conversation now.
    provider.reply(ReplyScript::text("Goodbye, walrus."));
    screen.expect("❯").await;
    screen.type_keys("bye\r");
    screen.expect("Goodbye, walrus.").await;
    screen.expect("❯").await;
    screen.type_keys("/quit\r");
    assert_eq!(screen.ended().await, 0);
    let asked = provider.requests().pop().unwrap();
    let said: Vec<_> = asked.messages().iter().filter_map(|message| message["content"].as_str()).collect();
    assert_eq!(said[1..], ["Tell me of the sea", "There is a walrus in it.", "bye"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn picker_restores_the_terminal_on_every_exit() {
    let provider = FakeProvider::start().await;
    let home = filled(&provider).await;
    let (mut screen, before) = opened(home.path()).await;
    // Letters are what is searched for, also this one.
    screen.type_keys("q");
    screen.expect("Nothing matches").await;
    screen.type_keys("\x1b");
    screen.expect("type to search").await;
    screen.type_keys("\x1b");
    assert_eq!(left(&mut screen, &before).await, 0, "Esc");

    let (mut screen, before) = opened(home.path()).await;
    screen.type_keys("\x03");
    assert_eq!(left(&mut screen, &before).await, 130, "Ctrl-C");

    for signal in [Signal::TERM, Signal::INT] {
        let (mut screen, before) = opened(home.path()).await;
        let pid = i32::try_from(screen.child.process_id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        assert_eq!(left(&mut screen, &before).await, 130, "{signal:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn picker_without_a_terminal_names_alternatives() {
    let provider = FakeProvider::start().await;
    let home = filled(&provider).await;
    for home in [home.path(), TempHome::new().path()] {
        let out = run(home, &BROWSE).await;
        let complaint = stderr(&out);
        assert_eq!((code(&out), out.stdout.len()), (2, 0));
        insta::assert_snapshot!("no_terminal", complaint);
    }
    let listed = json_of(home.path(), &BROWSE).await;
    assert_eq!(listed, json_of(home.path(), &["sessions", "list"]).await);
    assert_eq!((listed.as_array().unwrap().len(), &listed[1]["preview"]), (2, &json!("Tell me of the sea")));
}
