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
        environment: Arc::default(),
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
fn answers_for_the_session_cover_what_is_below_their_paths() {
    let policy = ApprovalPolicy::default();
    let with = |grants: Vec<Grant>| command("rm -r x", vec![Finding { grants, ..delete() }]);
    let write = |path: &str| Grant::Write(path.into());
    let read = |path: &str| Grant::Read(path.into());
    let rows = [
        (vec![write("/other/x")], vec![write("/other/x/y")], "run"),
        (vec![write("/other/x")], vec![write("/other/xy")], "ask"),
        (vec![write("/other/x")], vec![write("/home/me/Documents")], "ask"),
        (vec![write("/other/x")], vec![write("/other/x"), write("/other/z")], "ask"),
        (vec![write("/other/x")], vec![read("/other/x")], "ask"),
        (vec![read("/other/x")], vec![read("/other/x/y")], "run"),
        (vec![read("/other/x")], vec![write("/other/x")], "ask"),
        // In the project: no access beyond the sandbox.
        (vec![write("/other/x")], vec![], "run"),
        (vec![], vec![write("/other/x")], "ask"),
        (vec![], vec![Grant::GitSettings], "ask"),
        (vec![Grant::GitSettings], vec![Grant::GitSettings], "run"),
        (vec![Grant::Unconfined], vec![Grant::Unconfined], "run"),
    ];
    for (approved, asked, want) in rows {
        let mut approvals = SessionApprovals::default();
        approvals.add(&with(approved.clone()));
        assert_eq!(
            ended(&decide(&with(asked.clone()), &policy, &approvals)).0,
            want,
            "{approved:?} {asked:?}"
        );
    }
}

#[test]
fn text_is_approved_in_its_directory() {
    let policy = ApprovalPolicy::default();
    let mut approved = SessionApprovals::default();
    let unclear = vec![finding(Verdict::Ask, EffectKind::Unclear, "u")];
    let action = command("$X", unclear);
    approved.add(&action);
    let elsewhere = Action { cwd: "/q".into(), ..action };
    assert_eq!(decide(&elsewhere, &policy, &approved), Decision::Ask);
}

#[test]
fn coverage_names_rules_or_the_same_text() {
    let named = coverage(&command("rm -r x", vec![delete(), delete()]));
    let want = "every call of this session that matches: recursive delete; only in /elsewhere";
    assert_eq!(named.session.as_deref(), Some(want));
    let inside = Finding { grants: Vec::new(), ..delete() };
    let named = coverage(&command("rm -r x", vec![inside]));
    assert_eq!(named.session.as_deref(), Some("every call of this session that matches: recursive delete"));
    let unclear = vec![finding(Verdict::Ask, EffectKind::Unclear, "u")];
    assert!(coverage(&command("$X $(y)", unclear.clone())).always.is_none());
    assert!(coverage(&command("tool x", unclear)).always.is_some());
}

/// An environment in which a command exported these variables.
fn environment(set: &[(&str, &str)]) -> Arc<Environment> {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let changes = hermes_exec::EnvChanges { set, ..Default::default() };
    let exports = hermes_exec::Exports { changes, left_out: Vec::new() };
    let base = [("PATH".to_owned(), "/usr/bin".to_owned())];
    Arc::new(Environment::default().with(exports, &base, &hermes_guard::Secrets::default()).0)
}

#[test]
fn answers_do_not_cover_other_environments() {
    let policy = ApprovalPolicy::default();
    let path = || environment(&[("PATH", "/x/bin:/usr/bin")]);
    let other_path = || environment(&[("PATH", "/y/bin:/usr/bin")]);
    let with = |action: Action, environment: Arc<Environment>| Action { environment, ..action };
    let unclear = || vec![finding(Verdict::Ask, EffectKind::Unclear, "program word is not literal")];
    let rule = |environment| with(command("rm -r y", vec![delete()]), environment);
    let text = |environment| with(command("rm -r $FOO", unclear()), environment);

    let mut approved = SessionApprovals::default();
    approved.add(&rule(path()));
    approved.add(&text(environment(&[("FOO", "a")])));
    for (name, action, want) in [
        ("rule, same environment", rule(path()), "run"),
        ("rule, start of the session", rule(Arc::default()), "ask"),
        ("rule, other PATH", rule(other_path()), "ask"),
        ("rule, FOO besides", rule(environment(&[("PATH", "/x/bin:/usr/bin"), ("FOO", "1")])), "run"),
        ("text, same environment", text(environment(&[("FOO", "a")])), "run"),
        ("text, other value", text(environment(&[("FOO", "/")])), "ask"),
        ("text, no value", text(Arc::default()), "ask"),
    ] {
        assert_eq!(ended(&decide(&action, &policy, &approved)).0, want, "{name}");
    }
    let mut shown = approved.describe();
    shown.retain(|line| !line.starts_with("sandbox"));
    assert_eq!(
        shown,
        ["rule: recursive delete (with changed PATH)", "exactly: rm -r $FOO, in /p (with changed FOO)"]
    );
    let covered = coverage(&rule(path())).session.unwrap();
    assert_eq!(
        covered,
        "every call of this session that matches: recursive delete; only in /elsewhere; until PATH changes"
    );
}

#[test]
fn list_gives_programs_of_another_path_no_access() {
    let policy = ApprovalPolicy { allow: list(&["recursive delete", "tool x"]), ..ApprovalPolicy::default() };
    let approved = SessionApprovals::default();
    let path = || environment(&[("PATH", "/x/bin:/usr/bin")]);
    let confined = Finding { grants: Vec::new(), ..delete() };
    for (name, findings, environment, want) in [
        ("with access", vec![delete()], Arc::default(), "run"),
        ("with access, FOO", vec![delete()], environment(&[("FOO", "1")]), "run"),
        ("with access, PATH", vec![delete()], path(), "ask"),
        ("confined, PATH", vec![confined], path(), "run"),
    ] {
        for text in ["rm -r x", "tool x"] {
            let action = Action { environment: environment.clone(), ..command(text, findings.clone()) };
            assert_eq!(ended(&decide(&action, &policy, &approved)).0, want, "{name}: {text}");
        }
    }
}

#[test]
fn command_outside_of_the_sandbox_is_asked_each_time_with_another_path() {
    let unconfined = Finding { grants: vec![Grant::Unconfined], ..delete() };
    let action = Action {
        environment: environment(&[("PATH", "/x/bin:/usr/bin")]),
        ..command("docker ps", vec![unconfined])
    };
    let policy = ApprovalPolicy { allow: list(&["*", "recursive delete"]), ..ApprovalPolicy::default() };
    let mut approved = SessionApprovals::default();
    approved.add(&action);
    assert_eq!(decide(&action, &policy, &approved), Decision::Ask);
    assert_eq!(coverage(&action), Coverage::default());
    let first = Action { environment: Arc::default(), ..action };
    assert_eq!(ended(&decide(&first, &policy, &approved)), ("run", "command_allowlist", 1));
}
