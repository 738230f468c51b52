//! Command-line flags.

use anyhow::{Context, Result, bail};
use std::str::FromStr;

/// The remaining arguments.
pub(crate) struct Flags(Vec<String>);

impl Flags {
    pub(crate) fn new(arguments: Vec<String>) -> Self {
        Self(arguments)
    }

    /// Takes `name` and returns true if it was present.
    pub(crate) fn has(&mut self, name: &str) -> bool {
        let place = self.0.iter().position(|argument| argument == name);
        place.map(|place| self.0.remove(place)).is_some()
    }

    /// Takes `name VALUE` or `name=VALUE`.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let joined = format!("{name}=");
        let found = self.0.iter().position(|argument| argument == name || argument.starts_with(&joined));
        let Some(place) = found else { return Ok(None) };
        let text = match self.0.remove(place).strip_prefix(&joined) {
            Some(text) => text.to_owned(),
            None if place < self.0.len() => self.0.remove(place),
            None => bail!("`{name}` needs a value"),
        };
        let value = text.parse().ok();
        value.with_context(|| format!("invalid value `{text}` for `{name}`")).map(Some)
    }

    /// Takes the next remaining argument.
    pub(crate) fn next(&mut self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// The remaining arguments, in order.
    pub(crate) fn rest(self) -> Vec<String> {
        self.0
    }

    /// Fails if arguments are left.
    pub(crate) fn finish(self) -> Result<()> {
        match self.0.first() {
            Some(argument) => {
                bail!("unknown argument `{argument}`; see `cargo xtask --help`")
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> Flags {
        Flags::new(text.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn values_follow_a_space_or_an_equals_sign() {
        for text in ["--runs 3 kill", "kill --runs=3"] {
            let mut flags = flags(text);
            assert_eq!(flags.value::<u32>("--runs").unwrap(), Some(3), "{text}");
            assert_eq!(flags.next().as_deref(), Some("kill"), "{text}");
            assert!(flags.finish().is_ok(), "{text}");
        }
    }

    #[test]
    fn missing_invalid_and_unknown_arguments_are_rejected() {
        assert!(flags("--runs").value::<u32>("--runs").is_err());
        assert!(flags("--runs x").value::<u32>("--runs").is_err());
        assert!(flags("--fast").finish().is_err());
        assert_eq!(flags("").value::<u32>("--runs").unwrap(), None);
    }
}
