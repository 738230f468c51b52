//! Prints one turn as it runs, for a front end that ends with it.

use crate::screen::Screen;
use crate::term::{self, Style};
use crate::terminal::Terminal;
use crate::turn_printer::{LocalSources, TurnPrinter};
use hermes_runtime::{Observer, SessionEvent};

/// Waits for the next turn and prints its events until it ends. `terminal` is where its approvals are answered.
pub async fn show_one_turn(mut observer: Observer, shows_reasoning: bool, terminal: Option<&Terminal>) {
    let screen = Screen::new(Style::for_stream(&std::io::stdout()), shows_reasoning);
    let screen = match terminal {
        Some(terminal) => screen.with_questions(terminal.question_shown.clone()),
        None => screen,
    };
    if turn_begins(&mut observer).await {
        let mut printer = TurnPrinter::new(screen, LocalSources::none());
        printer.show(&mut observer).await;
        printer.finish().await;
    }
}

/// Waits for the start of the turn, printing notices. Returns `false` if there is none.
async fn turn_begins(observer: &mut Observer) -> bool {
    loop {
        match observer.next().await {
            Some(SessionEvent::TurnStarted { .. }) => return true,
            Some(SessionEvent::Notice(text)) => {
                term::print_error(&format!("hermes: {}", term::printable(&text)));
            }
            Some(SessionEvent::Closed) | None => return false,
            Some(_) => {}
        }
    }
}
