//! Runs a script in the sandbox and prints its output and denials, for trying out policies by hand.
//!
//! Usage: `sandbox_shell (namespaces|landlock) (on|off) PROJECT HOME SCRIPT`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

use hermes_exec::{Traced, run_traced};
use hermes_sandbox::{Network, Places, Policy, enforced, support};
use std::path::PathBuf;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let at = |index: usize| PathBuf::from(&arguments[index]).canonicalize().unwrap();
    let (project, home) = (at(3), at(4));
    let temporary = tempfile::tempdir_in("/var/tmp").unwrap();
    let session = temporary.path().canonicalize().unwrap();
    let policy = Policy {
        network: if arguments[2] == "off" { Network::Off } else { Network::On },
        without_namespaces: arguments[1] == "landlock",
        places: Places {
            project: project.clone(),
            temporary: session.clone(),
            hermes_home: home.join(".hermes"),
            user_home: Some(home.clone()),
        },
        max_processes: 1024,
        ..Policy::default()
    };
    println!("{}", enforced(&policy, support()).summary());
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let program = Traced {
        argv: vec!["bash".to_owned(), "-c".to_owned(), arguments[5].clone()],
        cwd: project,
        env: vec![
            variable("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"),
            variable("HOME", home.to_str().unwrap()),
            variable("TMPDIR", session.to_str().unwrap()),
        ],
        policy,
    };
    let report = run_traced(program, |output| print!("{}", String::from_utf8_lossy(output))).unwrap();
    println!("exit code {}", report.exit_code);
    for refusal in report.refusals {
        println!("  {} {:?} {}: {:?}", refusal.call, refusal.path, refusal.error, refusal.sentence);
    }
}
