//! Placeholder.
use crate::flags::Flags;
pub(crate) fn run(_: Flags) -> anyhow::Result<std::process::ExitCode> {
    anyhow::bail!("later")
}
