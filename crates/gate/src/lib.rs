//! Command gate: the effects of a command or a file access, and a verdict on them.
//!
//! Pure: no file is opened, nothing is started, no clock is read. [`assess`] takes shell text, [`assess_program`] the
//! arguments of a program that is started without a shell, and [`assess_write`] and [`assess_read`] a path with links
//! resolved. Each returns an [`Assessment`]: the effects that were found, the rule behind each, and the worst verdict.
//! The consequence of a verdict (a question, an entry of the allow list, `--yolo`) is decided in `tools::approval`.
//!
//! The text is parsed ([`mod@syntax`]), walked in the order of a shell ([`mod@walk`]), expanded as far as it is literal
//! ([`mod@expand`]), unwrapped ([`mod@wrappers`]) and judged by rules on programs and paths ([`mod@rules`]).

#![forbid(unsafe_code)]

mod assessment;
mod expand;
mod field;
mod files;
mod input;
mod keys;
mod limits;
mod options;
mod output;
mod paths;
mod protected;
mod read_only;
mod rules;
mod scene;
mod syntax;
mod variables;
mod walk;
mod wrappers;

pub use assessment::{Assessment, Effect, EffectKind, Finding, Grant, Verdict};
pub use files::{
    assess_delete, assess_read, assess_write, assess_write_content, credential_files,
    readable_credential_files, startup_files, system_credential_files,
};
pub use input::assess_input;
pub use keys::{RULES, Rule, key_matches};
pub use read_only::{is_read_only, simple_command};
pub use scene::Scene;
pub use variables::{VariableClass, variable_class};

pub(crate) use read_only::simple_words;

use field::Field;
use limits::{MAX_CHARACTERS, Unreadable};
use output::Output;
use walk::Walker;

/// Judges shell text.
pub fn assess(command: &str, scene: &Scene) -> Assessment {
    let mut walker = Walker::new(scene);
    if command.len() > MAX_CHARACTERS && command.chars().count() > MAX_CHARACTERS {
        walker.unreadable(Unreadable::TooLong);
        return walker.finish();
    }
    let walked = syntax::parse(command, 0, walker.spent).and_then(|(script, spent)| {
        walker.spent = spent;
        walker.whole(&script, Output::Nothing)
    });
    if let Err(cause) = walked {
        walker.unreadable(cause);
    }
    walker.finish()
}

/// Judges a Python script as the code that it is, like the argument of `python3 -c`.
pub fn assess_python(code: &str, scene: &Scene) -> Assessment {
    let mut walker = Walker::new(scene);
    if code.len() > MAX_CHARACTERS {
        walker.unreadable(Unreadable::TooLong);
        return walker.finish();
    }
    if let Err(cause) = rules::python_script(&mut walker, code) {
        walker.unreadable(cause);
    }
    walker.finish()
}

/// Judges a program that is started without a shell, such as a hook or a server.
pub fn assess_program(argv: &[String], scene: &Scene) -> Assessment {
    let mut walker = Walker::new(scene);
    let length: usize = argv.iter().map(String::len).sum();
    if length > MAX_CHARACTERS || argv.len() > limits::MAX_WORDS {
        walker.unreadable(Unreadable::TooLong);
        return walker.finish();
    }
    let fields: Vec<Field> = argv.iter().map(Field::literal).collect();
    if let Err(cause) = walker.call(&fields, &Output::Nothing) {
        walker.unreadable(cause);
    }
    walker.finish()
}
