//! Rules for text that the agent stores: memory entries and skills.

use super::{Check, Rule, Within};
use crate::scan::Scope;

const fn rule(id: &'static str, within: Within, check: Check, phrases: &'static [&'static str]) -> Rule {
    Rule { id, scope: Scope::Strict, within, check, phrases }
}

pub(super) const RULES: [Rule; 7] = [
    rule(
        "send_to_url",
        Within::Sentence,
        Check::RemoteAddress,
        &["send|post|upload|transmit|forward|submit|deliver|exfiltrate|push ~8 to|at ~2 http|https"],
    ),
    rule(
        "context_exfil",
        Within::Sentence,
        Check::NotNegated,
        &[
            "include|output|print|send|share|upload|leak|forward|append|embed|exfiltrate|dump ~2 entire|full|whole|complete ~1 conversation|chat|context|dialogue|transcript",
            "send|share|upload|leak|forward|exfiltrate|embed ~3 conversation|chat|context|memory|session ~1 history|window|contents|log|transcript",
            "include|append|embed ~3 conversation|chat ~1 history ~5 every|each|all|url|link|image",
        ],
    ),
    rule("ssh_backdoor", Within::Line, Check::Nothing, &["authorized_keys"]),
    rule("ssh_access", Within::Line, Check::Nothing, &["~/.ssh", "$home/.ssh", "${home}/.ssh", "/root/.ssh"]),
    rule(
        "hermes_env",
        Within::Line,
        Check::Nothing,
        &[".hermes/.env", "$hermes_home/.env", "${hermes_home}/.env"],
    ),
    rule(
        "agent_config_mod",
        Within::Sentence,
        Check::NotNegated,
        &["CHANGE ~6 AGENT_FILE", "> ~0 AGENT_FILE"],
    ),
    rule(
        "hermes_config_mod",
        Within::Sentence,
        Check::NotNegated,
        &[
            "CHANGE ~6 .hermes/config.yaml|.hermes/soul.md|.hermes/auth.json|.hermes/hooks",
            "> ~0 .hermes/config.yaml|.hermes/soul.md",
            "hermes ~0 config ~0 set|unset",
        ],
    ),
];
