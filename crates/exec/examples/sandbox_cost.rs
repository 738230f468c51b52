//! Processor time of a command without a sandbox, with Landlock and seccomp, and with namespaces.
//!
//! Usage: `cargo run --release -p hermes-exec --example sandbox_cost [ROUNDS]`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people that measure")]

use hermes_exec::{Backend, Command, EnvChanges, Local, OutputLimits, Unwatched, Watch};
use hermes_sandbox::{Network, Places, Policy, Prepared, support};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const SCRIPT: &str = "true";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(500);
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["project", "session", "hermes"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let places = Places {
        project: root.join("project"),
        temporary: root.join("session"),
        user_home: home,
        hermes_home: root.join("hermes"),
    };
    let namespaces = Policy { places, max_processes: 1024, ..Policy::default() };
    let landlock = Policy { without_namespaces: true, ..namespaces.clone() };
    let off = Policy { network: Network::Off, ..namespaces.clone() };
    let modes = [
        ("plain", None),
        ("Landlock and seccomp", Some(landlock)),
        ("with namespaces", Some(namespaces)),
        ("with namespaces, network off", Some(off)),
    ];
    for (name, policy) in modes.iter().filter_map(|(name, policy)| Some((name, policy.as_ref()?))) {
        let begun = Instant::now();
        let prepared = Prepared::new(policy, support()).unwrap();
        println!("{name}: prepared in {:?}, {} rules", begun.elapsed(), prepared.rule_count());
    }
    let mut spent = [Duration::ZERO; 4];
    for _ in 0..rounds {
        for ((_, policy), spent) in modes.iter().zip(&mut spent) {
            let before = processor_time();
            run(&root.join("project"), policy.clone()).await;
            *spent += processor_time() - before;
        }
    }
    let each = |spent: Duration| spent.as_secs_f64() * 1e3 / rounds as f64;
    for ((name, _), spent) in modes.iter().zip(spent) {
        println!("{name}: {:.3} ms of processor time per command", each(spent));
    }
}

async fn run(cwd: &Path, sandbox: Option<Policy>) {
    let command = Command {
        key: None,
        script: SCRIPT.to_owned(),
        cwd: cwd.to_owned(),
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        timeout: Duration::from_secs(10),
        changes: EnvChanges::default(),
        report: None,
        output: OutputLimits::default(),
        sandbox,
        client: None,
    };
    let cancel = CancellationToken::new();
    let output = Local.run(command, Watch { started: &Unwatched, cancel: &cancel }).await.unwrap();
    assert_eq!(output.exit_code, 0, "{}", output.text);
}

/// User and system time of this process and of all collected children.
fn processor_time() -> Duration {
    // Fields 14 to 17, in ticks, are too coarse; the kernel has microseconds in `getrusage`.
    let of = |who| {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call fills the local value.
        #[expect(unsafe_code, reason = "there is no safe interface")]
        let usage = unsafe {
            libc::getrusage(who, usage.as_mut_ptr());
            usage.assume_init()
        };
        let time = |time: libc::timeval| {
            Duration::from_micros(time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_usec.unsigned_abs())
        };
        time(usage.ru_utime) + time(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}
