use super::*;
use hermes_gate::Effect;
use std::path::PathBuf;

fn finding(verdict: Verdict, kind: EffectKind, rule: &'static str) -> Finding {
    let effect = Effect { kind, target: None };
    let grants = vec![Grant::Write(PathBuf::from("/elsewhere"))];
    Finding { effect, verdict, rule: rule.into(), reason: format!("does {rule}"), grants }
}

fn command(text: &str, findings: Vec<Finding>) -> Action {
    Action {
        kind: ActionKind::Command,
        text: text.to_owned(),
        cwd: PathBuf::from("/p"),
        assessment: Assessment { findings, ..Assessment::default() },
    }
}

fn delete() -> Finding {
    finding(Verdict::Ask, EffectKind::Delete, "recursive delete")
}

fn list(entries: &[&str]) -> AllowList {
    AllowList(entries.iter().map(|entry| (*entry).to_owned()).collect())
}

fn ended(decision: &Decision) -> (&'static str, &'static str, usize) {
    match decision {
        Decision::Run { by, grants } => ("run", by.as_str(), grants.len()),
        Decision::Ask => ("ask", "", 0),
        Decision::Refuse { by, .. } => ("refuse", by.as_str(), 0),
    }
}

#[test]
fn decisions_follow_the_order_of_the_rules() {
    let hardline = || finding(Verdict::Deny, EffectKind::Delete, "recursive delete of home directory");
    let manual = ApprovalPolicy::default();
    let off = || ApprovalPolicy { mode: ApprovalMode::Off, ..ApprovalPolicy::default() };
    let denying = |policy: ApprovalPolicy| ApprovalPolicy { deny: list(&["rm *"]), ..policy };
    let allowing = |entry: &str| ApprovalPolicy { allow: list(&[entry]), ..ApprovalPolicy::default() };
    let all = || ApprovalPolicy { allow: list(&["*", "recursive delete of home directory"]), ..off() };
    let rows = [
        ("harmless", vec![], manual.clone(), ("run", "harmless", 0)),
        ("asks", vec![delete()], manual, ("ask", "", 0)),
        ("yolo grants nothing", vec![delete()], off(), ("run", "yolo", 0)),
        ("hardline with everything allowed", vec![delete(), hardline()], all(), ("refuse", "hardline", 0)),
        ("denied although yolo", vec![delete()], denying(off()), ("refuse", "approvals.deny", 0)),
        ("denied although harmless", vec![], denying(off()), ("refuse", "approvals.deny", 0)),
        ("key in the list", vec![delete()], allowing("recursive delete"), ("run", "command_allowlist", 1)),
        ("old key in the list", vec![delete()], allowing("rm\\s+-[^\\s]*r"), ("run", "command_allowlist", 1)),
        ("glob in the list", vec![delete()], allowing("rm -r x*"), ("run", "command_allowlist", 1)),
        (
            "one of two keys",
            vec![delete(), finding(Verdict::Ask, EffectKind::Network, "y")],
            allowing("recursive delete"),
            ("ask", "", 0),
        ),
        (
            "sudo in the list of an existing home",
            vec![finding(
                Verdict::Ask,
                EffectKind::Privilege,
                "sudo with combined-flag privilege escalation",
            )],
            allowing("sudo with combined-flag privilege escalation"),
            ("run", "command_allowlist", 1),
        ),
        (
            "unclear rules are not reusable",
            vec![finding(Verdict::Ask, EffectKind::Unclear, "u")],
            allowing("u"),
            ("ask", "", 0),
        ),
    ];
    for (name, findings, policy, want) in rows {
        let decision = decide(&command("rm -r x", findings), &policy, &SessionApprovals::default());
        assert_eq!(ended(&decision), want, "{name}");
    }
}

#[test]
fn answers_for_the_session_cover_their_rule_or_their_text() {
    let policy = ApprovalPolicy::default();
    let mut approved = SessionApprovals::default();
    approved.add(&command("rm -r x", vec![delete()]));
    let other = command("rm -r y", vec![delete()]);
    assert_eq!(ended(&decide(&other, &policy, &approved)), ("run", "session", 1));

    let unclear = || vec![finding(Verdict::Ask, EffectKind::Unclear, "program word is not literal")];
    approved.add(&command("$X", unclear()));
    assert_eq!(ended(&decide(&command("$X", unclear()), &policy, &approved)).0, "run");
    assert_eq!(ended(&decide(&command("$Y", unclear()), &policy, &approved)).0, "ask");
    assert_eq!(approved.writable().count(), 1);

    approved.clear();
    assert_eq!(ended(&decide(&other, &policy, &approved)).0, "ask");
    approved.set_yolo(true);
    assert_eq!(ended(&decide(&other, &policy, &approved)), ("run", "yolo", 0));
}

#[test]
fn coverage_names_rules_or_the_same_text() {
    let named = coverage(&command("rm -r x", vec![delete(), delete()]));
    assert_eq!(named.session.as_deref(), Some("every call of this session that matches: recursive delete"));
    let unclear = vec![finding(Verdict::Ask, EffectKind::Unclear, "u")];
    assert!(coverage(&command("$X $(y)", unclear.clone())).always.is_none());
    assert!(coverage(&command("tool x", unclear)).always.is_some());
}
