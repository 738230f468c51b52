//! English rules for any text.

use super::{Check, Rule, Within};
use crate::scan::Scope;

const fn rule(id: &'static str, check: Check, phrases: &'static [&'static str]) -> Rule {
    Rule { id, scope: Scope::All, within: Within::Sentence, check, phrases }
}

pub(super) const RULES: [Rule; 12] = [
    rule(
        "prompt_injection",
        Check::NotNegated,
        &[
            "DROP|override ~5 OLD ~3 ORDERS",
            "DROP ~1 all|any|your ~2 OLD ~1 commands|messages|context|text|rules|guidelines|conversation",
            "DROP ~1 all|any|your ~3 ORDERS ~1 above",
            "DROP ~5 ORDERS ~1 you ~3 given|received|got|told|have|had",
            "DROP ~3 your ~3 ORDERS",
            "DROP ~4 instructions ~3 system ~0 prompt",
            "disregard|forget ~3 system ~0 prompt|instructions",
            "forget|ignore|disregard ~0 everything|anything|all|what|whatever ~5 told|instructed|taught|said|learned|came",
            "pay ~0 no ~0 attention|heed ~1 to ~4 ORDERS",
            "your ~1 new ~1 instructions|orders|directive|directives|task|mission|objective ~1 is|are|follow",
            "not|never|stop ~1 follow|following|obey|obeying ~3 previous|prior|your|original|earlier ~2 ORDERS",
        ],
    ),
    // Telling an agent to ignore orders *in* something is what a careful author does.
    rule(
        "prompt_injection",
        Check::NotNegatedNorFollowedBy(&[
            "in",
            "inside",
            "within",
            "found",
            "embedded",
            "contained",
            "that",
            "which",
            "the",
            "this",
            "it",
            "a",
            "line",
            "hidden",
            "containing",
        ]),
        &[
            "ignore|disregard|forget ~1 all|every|any ~3 instructions|prompts|orders|directives",
            "ignore|disregard|forget ~0 everything|all ~2 above|before",
        ],
    ),
    rule(
        "sys_prompt_override",
        Check::NotNegatedNorFollowedBy(&[
            "in", "is", "for", "via", "option", "setting", "flag", "with", "file",
        ]),
        &["system ~0 prompt|message|instructions ~0 override|overridden|overwritten"],
    ),
    rule(
        "sys_prompt_override",
        Check::NotNegated,
        &[
            "override|overwrite|replace|supersede|replacing|overriding ~2 your ~3 system|original|core ~0 prompt|instructions|message|programming",
            "this|these|following|below ~3 supersede|supersedes|override|overrides|replace|replaces ~2 all|any|your ~3 ORDERS|RULES",
            "this ~1 is ~1 your ~1 new ~1 system ~0 prompt|message",
            "new ~0 system ~0 prompt|instructions ~1 you ~1 are|must|will",
        ],
    ),
    rule(
        "disregard_rules",
        Check::NotNegated,
        &[
            "ignore|disregard|forget|violate|abandon|break ~2 your|safety|ethical|moral|its ~3 RULES",
            "disregard ~1 all|any|every|these|the ~3 rules|guidelines|policies|restrictions|safeguards|guardrails",
            "your ~2 RULES ~3 not|longer ~1 apply|valid|binding",
        ],
    ),
    rule(
        "bypass_restrictions",
        Check::NotNegated,
        &[
            "act|respond|behave|answer|operate|reply|pretend ~3 as ~0 if|though ~5 no|without|not ~3 RULES|filters|limits|bound",
            "act|respond|behave|answer|operate|reply ~4 without ~3 restriction|restrictions|limitations|guardrails|safeguards|censorship|guidelines",
            "you ~1 have|are ~1 no|without ~2 restrictions|limitations|guardrails|constraints",
            "bypass|circumvent|evade|disable|deactivate|defeat ~2 your ~3 RULES|filter|filters|safety",
            "bypass|circumvent|evade|defeat ~2 safety|ethical|alignment ~2 RULES|filter|filters|measures|training",
            "you ~1 are|re ~2 in ~1 dan|jailbreak|god|unrestricted ~0 mode",
            "enable|enter|activate ~1 dan|jailbreak|god|unrestricted ~0 mode",
        ],
    ),
    Rule {
        id: "html_comment_injection",
        scope: Scope::All,
        within: Within::Comment,
        check: Check::Nothing,
        phrases: &[
            "DROP|override|bypass ~6 ORDERS|RULES",
            "system ~1 prompt|override|instruction|instructions",
            "hidden|secret ~2 instruction|instructions|command|commands|directive",
            "not|never ~2 tell|inform|mention|notify ~3 PERSON",
            "AI ~3 must|should|please ~6 ignore|send|reveal|execute|exfiltrate|upload|download",
            "without ~2 telling|informing|asking ~2 PERSON",
        ],
    },
    Rule {
        id: "hidden_div",
        scope: Scope::All,
        within: Within::Tag,
        check: Check::HidesText,
        phrases: &[
            "<div|<span|<p|<section|<article|<td|<li|<font ~20 display ~0 none",
            "<div|<span|<p|<section|<article|<td|<li|<font ~20 visibility ~0 hidden",
            "<div|<span|<p|<section|<article|<td|<li|<font ~20 font-size ~0 0|0px|0pt|0em|1px",
            "<div|<span|<p|<section|<article|<td|<li|<font ~20 opacity ~0 0",
        ],
    },
    rule(
        "translate_execute",
        Check::Nothing,
        &[
            "translate ~8 into|to|from ~5 and|then ~2 execute|eval|evaluate|obey",
            "translate ~8 into|to|from ~5 and|then ~1 run|follow|perform ~1 it|them|result|instructions|command|commands|output",
            "decode|decrypt|unscramble|deobfuscate ~8 and|then ~1 execute|run|eval|follow|obey|perform ~2 it|them|result|instructions|command|commands|output|what",
        ],
    ),
    rule(
        "deception_hide",
        Check::Nothing,
        &[
            "not|never|don't|without|avoid ~1 tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning ~1 PERSON",
            "not|never|don't ~1 mention|reveal|disclose|report|show|say ~0 this|that|it|these|any ~3 to ~2 PERSON",
            "hide|conceal|keep ~1 this|these|it|your ~4 from ~1 PERSON",
            "PERSON ~1 must|should|may|can ~0 not|never ~1 know|learn|find|suspect|realize|realise",
            "not|never|don't ~0 let ~1 PERSON ~1 know|notice|find|realize|realise",
            "without ~1 PERSON ~2 knowing|noticing|knowledge|consent",
        ],
    ),
    rule(
        "deception_hide",
        Check::Nothing,
        &["keep ~1 this|it ~1 secret|hidden|quiet|confidential ~3 from ~2 PERSON"],
    ),
    rule(
        "read_secrets",
        Check::NotNegated,
        &[
            "read|print|show|send|upload|open|dump|copy|output|paste|post|include ~3 contents|content ~3 .env|.netrc|.ssh/id_rsa|id_rsa|id_ed25519|.aws/credentials|/etc/shadow",
        ],
    ),
];
