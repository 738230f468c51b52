//! Rules by program: the effects of a call and the text that it prints.

mod builders;
mod code;
mod containers;
mod copy;
mod database;
mod delete;
mod disk;
mod environment;
pub(crate) mod files;
mod find;
mod git;
mod git_history;
mod git_settings;
mod hermes;
mod interpreters;
mod network;
mod packages;
mod permissions;
mod power;
mod processes;
mod programs;
mod remote;
mod secrets;
mod sed;
mod services;
mod system;
mod text;
mod tools;
mod windows;

use crate::assessment::EffectKind;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(crate) use interpreters::python_script;
pub(crate) use programs::is_reader;

type Rule = fn(&mut Walker<'_>, &Call<'_>) -> Result<Option<Output>, Unreadable>;

/// In the order in which they are tried; the first that knows the program decides.
const RULES: [Rule; 24] = [
    text::judge,
    delete::judge,
    find::judge,
    copy::judge,
    git::judge,
    network::judge,
    remote::judge,
    power::judge,
    processes::judge,
    disk::judge,
    permissions::judge,
    services::judge,
    system::judge,
    containers::judge,
    packages::judge,
    sed::judge,
    database::judge,
    interpreters::judge,
    hermes::judge,
    windows::judge,
    secrets::judge,
    tools::judge,
    environment::judge,
    programs::judge,
];

/// Judges a call of a program that is neither a builtin nor a wrapper nor a shell.
pub(crate) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    builders::judge(walker, call);
    for rule in RULES {
        if let Some(output) = rule(walker, call)? {
            return Ok(output);
        }
    }
    secrets::arguments(walker, call);
    if !walker.scene.is_sandboxed {
        let reason =
            format!("`{}` is not known to the gate, and no sandbox confines it", call.program.shown());
        walker.ask(EffectKind::Execute, Some(&call.program.text), keys::UNNAMED_PROGRAM, reason);
    }
    Ok(Output::Unknown)
}
