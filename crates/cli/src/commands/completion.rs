//! `hermes completion`: completion scripts for shells.

use crate::args::Cli;
use crate::exit::Exit;
use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::generate;
use hermes_terminal::term;

/// Print a completion script for a shell
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes completion bash > ~/.local/share/bash-completion/completions/hermes
  hermes completion fish > ~/.config/fish/completions/hermes.fish")]
pub(crate) struct CompletionArgs {
    /// Shell to complete for
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(crate) fn run(args: &CompletionArgs) -> Exit {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "hermes", &mut script);
    term::print(&String::from_utf8_lossy(&script));
    Exit::Answered
}
