//! The client program of cloud places for tests: reads settings and the key from `HERMES_HOME`, as `hermes` does.

use hermes_config::home::Home;
use hermes_config::{Config, shell_variables};
use hermes_providers::credentials::ClockAndRandom;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let home = PathBuf::from(std::env::var_os("HERMES_HOME").unwrap_or_default());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let shell = shell_variables(std::env::vars_os());
    let Ok(config) = Config::load(&Home::at(home.clone()), Vec::new(), shell, ClockAndRandom::default())
    else {
        return ExitCode::FAILURE;
    };
    let code = runtime.block_on(hermes_clouds::place_client(&config, &home, &arguments));
    // Standard input may still be read.
    runtime.shutdown_background();
    ExitCode::from(code)
}
