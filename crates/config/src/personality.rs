//! Personalities: overlays on the system prompt that change the tone of replies and nothing else.
//!
//! The overlay goes with every request and is not stored with the session (`hermes_prompt::Additions`).

use crate::{Config, ConfigError};

/// Personalities that come with Hermes, each with its overlay.
const BUILT_IN: [(&str, &str); 14] = [
    ("helpful", "Be friendly and forthcoming; offer the next useful step."),
    ("concise", "Answer in as few sentences as the matter allows; leave out pleasantries."),
    ("technical", "Write for an expert: exact terms, precise numbers, sources of your claims."),
    ("creative", "Look for unusual ideas and fresh comparisons before you settle on an answer."),
    ("teacher", "Explain step by step, from what the user knows to what is new, with one example each."),
    ("kawaii", "Write in a cute, cheerful tone, with soft exclamations and an occasional kaomoji."),
    ("catgirl", "Write as a playful cat girl: a purr here, a nya there, and never in the way of the answer."),
    ("pirate", "Talk like a pirate of the old films, arr, and keep facts and commands exact."),
    ("shakespeare", "Write in the manner of Elizabethan drama, with thee and thou and a well-turned line."),
    ("surfer", "Write like a relaxed surfer, dude: easy-going words, solid answers."),
    ("noir", "Write like the narrator of a hard-boiled detective story: short sentences, rain, shadows."),
    ("uwu", "Write in uwu style, with soft w's, as long as code and commands stay exact."),
    ("philosopher", "Ask what lies behind the question, weigh both sides, then answer plainly."),
    ("hype", "Write with great enthusiasm and energy; celebrate what works."),
];
/// Clears the personality.
const NONE: [&str; 4] = ["none", "default", "neutral", "off"];

/// A personality that was asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Personality {
    /// Without an overlay.
    None,
    Named {
        name: String,
        overlay: String,
    },
}

impl Personality {
    /// Finds a personality; those of the settings come before the built-in ones. `Err` has all names.
    pub fn find(config: &Config, name: &str) -> Result<Result<Self, Vec<String>>, ConfigError> {
        let wanted = name.trim().to_lowercase();
        if wanted.is_empty() || NONE.contains(&wanted.as_str()) {
            return Ok(Ok(Self::None));
        }
        let all = all_personalities(config)?;
        let found = all.iter().find(|(name, _)| *name == wanted).cloned();
        Ok(match found {
            Some((name, overlay)) => Ok(Self::Named { name, overlay }),
            None => Err(all.into_iter().map(|(name, _)| name).collect()),
        })
    }

    /// The text that is added to the system prompt.
    pub fn overlay(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Named { overlay, .. } => Some(overlay),
        }
    }

    /// The name as it is stored in `display.personality`.
    pub fn name(&self) -> &str {
        match self {
            Self::None => "",
            Self::Named { name, .. } => name,
        }
    }
}

/// Every personality, with its overlay; those of the settings first.
pub fn all_personalities(config: &Config) -> Result<Vec<(String, String)>, ConfigError> {
    let mut all = config.settings.personalities.get()?.clone();
    for (name, overlay) in BUILT_IN {
        if !all.iter().any(|(known, _)| known == name) {
            all.push((name.to_owned(), overlay.to_owned()));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config_of;

    #[test]
    fn personalities_of_the_settings_come_before_built_in_ones() {
        let config = config_of(
            "personalities: {pirate: Talk like a captain., robot: {system_prompt: Beep., tone: flat, style: terse}}\n\
             agent: {personalities: {poet: In verse.}}\n",
        );
        let overlay = |name: &str| match Personality::find(&config, name).unwrap() {
            Ok(found) => found.overlay().map(str::to_owned),
            Err(names) => Some(format!("unknown of {}", names.len())),
        };
        for (name, want) in [
            ("Pirate", Some("Talk like a captain.")),
            ("robot", Some("Beep. Tone: flat. Style: terse.")),
            ("poet", Some("In verse.")),
            ("noir", Some(BUILT_IN[10].1)),
            ("none", None),
            ("", None),
            ("unheard-of", Some("unknown of 16")),
        ] {
            assert_eq!(overlay(name).as_deref(), want, "{name}");
        }
    }
}
