use super::*;

#[test]
fn switches_and_levels_exclude_each_other_where_a_server_says_so() {
    for rule in [ReasoningRule::Kimi, ReasoningRule::OpenCodeGo] {
        for model in ["kimi-k2.5", "deepseek-v4"] {
            for effort in ["", "none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"] {
                let fields = reasoning_fields(rule, model, Effort::parse(effort), &[]);
                let both = fields.contains_key("thinking") && fields.contains_key("reasoning_effort");
                assert!(!both, "{rule:?} {model} {effort}: {fields:?}");
            }
        }
    }
}

#[test]
fn glm_takes_the_switch_from_version_4_5_on() {
    for (model, want) in [
        ("glm-4.5", true),
        ("glm-4.5-flash", true),
        ("glm-5", true),
        ("glm-4-9b", false),
        ("glm-4.4", false),
        ("glm-", false),
        ("chatglm-9", false),
    ] {
        assert_eq!(thinks_as_glm(model), want, "{model}");
    }
}
