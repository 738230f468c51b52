//! The shell script that runs a client program on this machine.
//!
//! The client runs beside the shell, which waits for it: so a TERM reaches the trap at once. The trap ends the client and
//! then, over a second connection, everything that the command left at the far end.

use crate::{line, quoted};
use std::path::Path;

/// The last line of a client program that does not know how the command went. The line before it says why.
const UNKNOWN: &str = "the outcome of the command is not known";

/// The parts of a client script.
pub(crate) struct ClientScript<'a> {
    /// The client that runs the command.
    pub(crate) client: &'a [String],
    /// The client that runs a program from its standard input.
    pub(crate) second: &'a [String],
    /// The program that ends the command at the far end.
    pub(crate) ending: &'a str,
    /// The file for the report, which has the messages of the client, too; without it they are output.
    pub(crate) report: Option<&'a Path>,
    pub(crate) mark: &'a str,
    /// The place, for messages.
    pub(crate) place: &'a str,
    /// The next step if the client cannot start the command.
    pub(crate) advice: &'a str,
}

impl ClientScript<'_> {
    pub(crate) fn text(&self) -> String {
        let messages = self.report.map(|file| format!(" 2>>{}", quoted(&file.to_string_lossy())));
        let mut text = format!(
            "k() {{\n  trap '' TERM INT HUP\n  exec >/dev/null 2>&1\n  kill -KILL \"$p\"\n  \
             printf '%s\\0' {} | {}\n  exit 143\n}}\n\
             trap k TERM INT HUP\n\
             {{ {} <&9 9<&-{} & }} 9<&0\np=$!\nwait \"$p\"\nc=$?\n",
            quoted(self.ending),
            line(self.second),
            line(self.client),
            messages.unwrap_or_default(),
        );
        if let Some(file) = self.report {
            text += &self.judgement(file);
        }
        text + "exit \"$c\"\n"
    }

    /// Reads the report: without its first line the command was not run, without its last one its end is not known.
    fn judgement(&self, file: &Path) -> String {
        let not_run =
            quoted(&format!("[the command was not run: {} cannot be used; {}]", self.place, self.advice));
        let lost = quoted(&format!(
            "[the connection to {} was lost; how the command went is not known. Look at the state there before \
             running it again]",
            self.place
        ));
        format!(
            "s= e= t= u= p=\n\
             while IFS= read -r l; do\n  case $s$l in\n    \
             '{mark} S') s=1 ;;\n    \
             '{UNKNOWN}' | '1{UNKNOWN}') s=1 u=$p ;;\n    \
             '1{mark} E') e=1 ;;\n    \
             1*) ;;\n    \
             *) t=\"$t$l\n\" ;;\n  esac\n  p=$l\ndone 2>/dev/null <{file}\n\
             [ -n \"$s\" ] || {{ printf '%s%s\\n' \"$t\" {not_run}; exit 255; }}\n\
             [ -n \"$e\" ] || {{ printf '\\n%s%s\\n' \"${{u:+[$u]\n}}\" {lost}; exit 255; }}\n",
            mark = self.mark,
            file = quoted(&file.to_string_lossy()),
        )
    }
}

#[cfg(test)]
#[path = "client_script_tests.rs"]
mod tests;
