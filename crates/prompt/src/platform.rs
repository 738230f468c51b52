//! The front end that shows the replies, and hints for formatting them.

use serde::{Deserialize, Serialize};

/// The change of a hint by the settings: `platform_hints.<platform>`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HintChange {
    /// In the place of ours.
    pub replace: Option<String>,
    /// Behind it.
    pub append: Option<String>,
}

/// The way to send a file to the reader of a chat.
const MEDIA: &str = "To send a file, write MEDIA:/absolute/path on a line of its own.";

/// The formatting hint of a platform, by its name.
const HINTS: [(&str, &str, bool); 21] = [
    (
        "cli",
        "Your words are shown in a terminal: plain text or light Markdown, no tables wider than 80 columns.",
        false,
    ),
    (
        "tui",
        "Your words are shown in a terminal program: light Markdown, no tables wider than 80 columns.",
        false,
    ),
    ("desktop", "Your words are shown in a desktop window with full Markdown.", true),
    ("webui", "Your words are shown on a web page with full Markdown.", true),
    (
        "cron",
        "You run as a scheduled job. Nobody is there to answer: decide yourself, ask nothing. Your last \
      message is delivered as it stands.",
        true,
    ),
    ("telegram", "You speak in a Telegram chat: simple Markdown, no tables; keep messages short.", true),
    (
        "discord",
        "You speak in a Discord channel: Markdown without tables; at most 2,000 characters a message.",
        true,
    ),
    ("slack", "You speak in Slack: *bold*, _italic_, `code`, lists; no headings, no tables.", true),
    (
        "whatsapp",
        "You speak in WhatsApp: *bold*, _italic_, ```code```; no headings, no tables, no links with titles.",
        true,
    ),
    (
        "whatsapp_cloud",
        "You speak in WhatsApp: *bold*, _italic_, ```code```; no headings, no tables. You can only \
      answer within 24 hours of the user's last message.",
        true,
    ),
    ("signal", "You speak in Signal: plain text, no Markdown.", true),
    (
        "email",
        "You answer by e-mail: plain text in whole paragraphs, with a greeting only where it fits.",
        true,
    ),
    ("sms", "You answer by text message: plain text, at most about 1,600 characters, no Markdown.", false),
    ("bluebubbles", "You speak in iMessage: plain text, no Markdown; keep messages short.", true),
    ("mattermost", "You speak in Mattermost: full Markdown, tables included.", true),
    ("matrix", "You speak in Matrix: Markdown without tables.", true),
    ("feishu", "You speak in Feishu: simple Markdown, no tables.", true),
    ("weixin", "You speak in WeChat: plain text, no Markdown; keep messages short.", true),
    ("wecom", "You speak in WeCom: simple Markdown, no tables.", true),
    ("qqbot", "You speak in QQ: plain text, no Markdown; keep messages short.", true),
    ("api_server", "A program reads your words: plain text unless the user asks for another form.", false),
];

/// The hint of a platform, as the settings want it.
pub(crate) fn hint(platform: &str, change: &HintChange) -> Option<String> {
    let ours =
        HINTS.iter().find(|(name, ..)| *name == platform).map(|(_, text, has_media)| match has_media {
            true => format!("{text} {MEDIA}"),
            false => (*text).to_owned(),
        });
    let base = change.replace.clone().or(ours);
    let parts: Vec<String> = [base, change.append.clone()].into_iter().flatten().collect();
    let text = parts.join(" ");
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    HINTS.iter().map(|hint| hint.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_in_the_place_of_a_hint_or_behind_it() {
        let change = |replace: Option<&str>, append: Option<&str>| HintChange {
            replace: replace.map(str::to_owned),
            append: append.map(str::to_owned),
        };
        let signal = format!("You speak in Signal: plain text, no Markdown. {MEDIA}");
        for (platform, change, want) in [
            ("signal", change(None, None), Some(signal.clone())),
            ("signal", change(None, Some("Be brief.")), Some(format!("{signal} Be brief."))),
            ("signal", change(Some("Shout."), Some("Twice.")), Some("Shout. Twice.".to_owned())),
            ("signal", change(Some(""), None), None),
            ("pigeon", change(None, None), None),
            ("pigeon", change(None, Some("Be brief.")), Some("Be brief.".to_owned())),
        ] {
            assert_eq!(hint(platform, &change), want, "{platform} {change:?}");
        }
    }

    #[test]
    fn every_hint() {
        let all =
            HINTS.iter().map(|(name, ..)| format!("{name}: {}", hint(name, &HintChange::default()).unwrap()));
        insta::assert_snapshot!(all.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn no_platform_is_named_twice() {
        let mut names: Vec<&str> = HINTS.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), HINTS.len());
    }
}
