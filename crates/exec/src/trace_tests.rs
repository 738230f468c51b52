use super::*;
use hermes_sandbox::Places;
use rustix::process::{DumpableBehavior, dumpable_behavior};

fn traced(root: &std::path::Path, script: &str) -> TraceReport {
    for name in ["home/work", "home/other", "home/.ssh", "home/.hermes", "tmp"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::write(root.join("home/.ssh/id_rsa"), "SECRET").unwrap();
    let places = Places {
        project: root.join("home/work"),
        temporary: root.join("tmp"),
        user_home: Some(root.join("home")),
        hermes_home: root.join("home/.hermes"),
    };
    let program = Traced {
        argv: ["bash", "-c", script].map(str::to_owned).to_vec(),
        cwd: root.join("home/work"),
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        policy: Policy { places, ..Policy::default() },
    };
    run_traced(program, |_| {}).unwrap()
}

#[test]
fn each_denial_is_listed_once_with_its_grant() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let root = dir.path().canonicalize().unwrap();
    let script = "for i in 1 2; do echo x > ../other/new; done; cat ../.ssh/id_rsa; echo fine > own; unshare -U true; exit 3";
    let report = traced(&root, script);
    assert_eq!((report.exit_code, report.untraced), (3, None));
    // The child shares memory with this process while it changes its credentials.
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable);
    let find = |path: &str| -> Vec<&Refusal> {
        let path = root.join("home").join(path);
        report.refusals.iter().filter(|refusal| refusal.path.as_ref() == Some(&path)).collect()
    };
    // Paths are given as the program wrote them.
    let written = find("work/../other/new");
    assert_eq!(written.len(), 1, "{:?}", report.refusals);
    assert_eq!(written[0].grant, Some(Grant::Write(root.join("home/other"))));
    let read = find("work/../.ssh/id_rsa");
    assert_eq!(read.len(), 1, "{:?}", report.refusals);
    assert_eq!(read[0].grant, Some(Grant::Read(root.join("home/.ssh/id_rsa"))));
    let by_filter = report.refusals.iter().find(|refusal| refusal.call == "unshare").unwrap();
    assert_eq!((by_filter.error, by_filter.sentence.is_some()), ("EPERM", true));
    assert!(
        report.refusals.iter().all(|refusal| refusal.path.as_deref() != Some(&root.join("home/work/own")))
    );
}
