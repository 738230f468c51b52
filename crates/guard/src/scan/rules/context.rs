//! Rules for files with instructions to the agent: false roles and identities, remote control, covering of traces.

use super::{Check, Rule, Within};
use crate::scan::Scope;

const fn rule(id: &'static str, phrases: &'static [&'static str]) -> Rule {
    Rule { id, scope: Scope::Context, within: Within::Sentence, check: Check::NotNegated, phrases }
}

const fn in_line(id: &'static str, phrases: &'static [&'static str]) -> Rule {
    Rule { id, scope: Scope::Context, within: Within::Line, check: Check::Nothing, phrases }
}

pub(super) const RULES: [Rule; 16] = [
    rule(
        "role_hijack",
        &[
            "you ~1 are|re ~2 now ~3 PERSONA|another|different|free|liberated",
            "you ~1 are|re ~0 now ~0 a|an|the|my ~4 AI|agent|model|character|persona|hacker|pirate",
            "you ~1 are|re ~0 no ~0 longer ~2 bound|restricted|limited|constrained|AI|safe",
            "from ~0 now ~0 on ~1 you ~1 are|re|become|obey|serve",
            "you ~1 will|shall|must ~1 now ~1 become|be ~3 PERSONA|AI|agent|persona",
        ],
    ),
    rule(
        "role_pretend",
        &[
            "pretend|imagine|simulate ~1 you|that ~1 are|re|have|you ~4 PERSONA|no|without|human|admin|administrator|root|developer|different|AI|not",
            "pretend|pretending ~0 to ~0 be ~3 PERSONA|AI|human|admin|administrator|system|different|developer",
            "act|roleplay|role-play ~0 as ~2 PERSONA|jailbreak",
        ],
    ),
    rule(
        "leak_system_prompt",
        &[
            "REVEAL ~4 your ~3 system|initial|hidden|original|secret|full|exact|core|entire|complete ~1 prompt|prompts|instructions|message",
            "what ~1 is|are|were|s ~1 your ~2 system|initial|hidden|original|secret ~1 prompt|instructions|message",
            "repeat|recite|reprint|reveal ~2 everything|words|text|all ~2 above|before",
            "REVEAL ~2 prompt|instructions ~1 you ~2 given|received|started|initialized",
        ],
    ),
    rule(
        "remove_filters",
        &[
            "remove|disable|drop|lift|deactivate|switch|turn|strip ~2 your|safety|ethical|moderation ~2 filter|filters|guardrails|censorship|safeguards|moderation",
            "respond|answer|reply|speak|write ~4 without ~3 filter|filters|censorship|moderation|filtering",
        ],
    ),
    rule(
        "fake_update",
        &[
            "you ~1 have|ve ~1 been ~1 updated|upgraded|patched|reprogrammed|reconfigured ~1 to|with|by|so|and",
            "your ~2 instructions|rules|guidelines|policies|programming|directives|prompt ~0 have|has|were|was ~1 been ~1 updated|changed|replaced|revised|superseded|revoked|suspended|lifted",
            "system|policy|security ~0 update ~3 your|you ~4 ORDERS|RULES",
        ],
    ),
    rule(
        "identity_override",
        &[
            "name|call|rename|consider|introduce ~0 yourself ~1 dan|as|a|an|the|not|no",
            "your ~1 new|true|real|actual ~1 name|identity ~1 is",
            "your ~0 name ~0 is ~0 now|no",
            "you ~1 are|re ~0 not|never ~3 AI|agent|model",
        ],
    ),
    rule(
        "c2_node_registration",
        &[
            "register ~1 yourself ~5 node|agent|bot|client|worker|at|with|server|http|https",
            "register ~2 as ~2 bot|beacon|implant|zombie|drone",
        ],
    ),
    rule(
        "c2_heartbeat",
        &[
            "send|post|emit|report ~4 heartbeat|heartbeats|beacon|beacons|check-in ~5 c2|operator|attacker|handler|botmaster|controller",
            "heartbeat|beacon|check-in ~6 for|await|fetch|receive|get ~2 new|next|further ~1 tasks|orders|commands|instructions|tasking",
        ],
    ),
    rule(
        "c2_task_pull",
        &[
            "pull|fetch|poll|download|retrieve|get|check ~3 task|tasks|command|commands|instructions|orders ~3 from ~8 and|then ~2 execute|run|obey|perform|follow",
            "poll|check ~3 http|https|server|endpoint|url ~6 for ~2 new|next|further ~1 tasks|commands|orders|instructions",
        ],
    ),
    rule(
        "c2_network_connect",
        &[
            "connect|join|enlist|enroll ~5 botnet|c2|attacker|command-and-control",
            "connect|phone|call ~1 home|back ~5 c2|attacker|operator|botmaster",
            "connect|join ~4 command ~0 and ~0 control",
        ],
    ),
    rule(
        "c2_forced_action",
        &[
            "you ~0 must ~2 immediately ~2 execute|run|send|register|connect|download|upload|contact|install",
            "execute|run|send|upload|download ~4 immediately ~4 without ~2 asking|approval|confirmation|permission|question|questions",
        ],
    ),
    rule(
        "c2_explicit",
        &[
            "c2|c&c ~0 server|servers|channel|node|infrastructure|framework|callback|beacon|endpoint",
            "command ~0 and|& ~0 control ~0 server|servers|channel|node|infrastructure|framework|endpoint",
        ],
    ),
    rule(
        "c2_framework",
        &[
            "cobalt ~0 strike",
            "sliver|mythic|havoc|merlin|nighthawk|villain|covenant ~1 c2|implant|beacon|grunt",
            "meterpreter|msfvenom ~4 payload|session|shell|reverse",
            "brute ~0 ratel",
            "powershell ~0 empire",
        ],
    ),
    rule(
        "anti_forensic",
        &[
            "cover|hide|conceal|erase ~1 your|our|all|any ~1 tracks",
            "wipe|erase|destroy|delete|remove|clean ~3 evidence|forensic",
            "wipe|erase|destroy|delete|remove ~2 traces ~1 of ~1 your|this|these|what",
        ],
    ),
    in_line(
        "anti_forensic",
        &[
            "history ~0 -c",
            "unset ~0 histfile",
            "histfile=/dev/null",
            "histsize=0",
            "rm|shred|truncate ~4 .bash_history|.zsh_history|/var/log/auth.log|/var/log/syslog|/var/log/wtmp",
            "wevtutil ~0 cl",
            "journalctl ~1 --vacuum-time=1s",
        ],
    ),
    in_line(
        "env_var_unset_agent",
        &[
            "unset ~1 hermes*|claude*|codex*|cursor*|copilot*|gemini*|agent*|ai_agent*",
            "env ~0 -u ~0 hermes*|claude*|codex*|cursor*|copilot*|gemini*|agent*",
        ],
    ),
];
