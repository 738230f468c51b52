//! The mode of messages that are entered while a turn runs.

use hermes_conversation::MailMode;

/// Reads the argument of `/busy`; `Ok(None)` asks for the mode in use.
pub fn parse(argument: Option<&str>) -> Result<Option<MailMode>, String> {
    match argument.unwrap_or("status") {
        "status" => Ok(None),
        word => match MailMode::parse(word) {
            Some(mode) => Ok(Some(mode)),
            None => Err(format!("/busy takes queue, steer, interrupt or status, not `{word}`")),
        },
    }
}

/// One line about a mode.
pub fn mode_text(mode: MailMode) -> String {
    let effect = match mode {
        MailMode::Interrupt => "interrupts it and sends your message next",
        MailMode::Queue => "queues your message; it is sent when the turn is over",
        MailMode::Steer => "steers it: your message goes along with the next tool result",
    };
    format!("Enter while a turn runs: {} ({effect})", mode.as_str())
}
