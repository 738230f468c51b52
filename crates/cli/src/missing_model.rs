//! The message for a home without a configured model.

use hermes_runtime::{Home, find_local_servers};
use hermes_terminal::term;

/// Prints five lines: the demo, a key, an address, and servers on this machine.
pub(crate) async fn print_next_steps(home: &Home) {
    let local = find_local_servers().await;
    let found = match local.first() {
        Some(server) => format!(
            "Found on this machine: {}. Use it: hermes config set model.base_url {}",
            local.iter().map(|server| server.name).collect::<Vec<_>>().join(", "),
            server.base_url()
        ),
        None => "No local model server was found (Ollama, LM Studio, llama.cpp, vLLM).".to_owned(),
    };
    term::print_error(&format!("No model is configured yet (settings: {}).", home.config_file().display()));
    term::print_error("  Try it first:       hermes demo");
    term::print_error(
        "  With a key:         hermes config set OPENROUTER_API_KEY ...   and   hermes config set model.default NAME",
    );
    term::print_error(
        "  With an address:    hermes config set model.base_url http://HOST:PORT/v1   and   model.default NAME",
    );
    term::print_error(&format!("  {found}"));
}
