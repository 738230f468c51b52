//! The `hermes` binary.

fn main() -> std::process::ExitCode {
    hermes_cli::main()
}
